"""`spoor doctor`: what this installation is and lacks."""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from spoor.cli import installation
from spoor.cli.installation import Checkup
from spoor.cli.terminal import print_json, say

if TYPE_CHECKING:
    from spoor.compiled import CompiledCode


def run_doctor(arguments: argparse.Namespace) -> int:
    found = [*installation.checkups(time.time()), *_crawl_command()]
    can_crawl = all(checkup.state != "broken" for checkup in found)
    if arguments.json:
        print_json({"can_crawl": can_crawl, "checks": [as_json(checkup) for checkup in found]})
    else:
        width = max(len(checkup.name) for checkup in found)
        for checkup in found:
            remedy = f": {checkup.remedy}" if checkup.remedy else ""
            print(f"{checkup.state:<7}  {checkup.name:<{width}}  {checkup.says}{remedy}")
        say(summary(found))
    return 0 if can_crawl else 1


def as_json(checkup: Checkup) -> dict[str, str]:
    return {"name": checkup.name, "state": checkup.state, "says": checkup.says, "remedy": checkup.remedy}


def summary(found: list[Checkup]) -> str:
    states = {checkup.state for checkup in found}
    if "broken" in states:
        return "a crawl cannot run before what is broken is repaired"
    return "a crawl can run" + ("; what is lacking is optional" if "lacking" in states else "")


def _crawl_command() -> Iterator[Checkup]:
    """The last word: libraries may fit by their numbers and not in fact."""
    try:
        importlib.import_module("spoor.cli.crawling")
        from spoor.compiled import compiled_code
    except ImportError as error:
        yield Checkup("crawling", f"cannot be loaded ({error})", "install the versions of requirements.lock", True)
        return
    yield machine_code(compiled_code())
    yield Checkup("crawling", "all modules of `spoor crawl` can be loaded")


def machine_code(code: CompiledCode) -> Checkup:
    kept = (
        f"{code.kept} of {code.kernels} kernels kept in {code.folder}"
        if code.kept
        else "none: the first crawl compiles"
    )
    if code.is_writable:
        return Checkup("machine code", kept)
    remedy = "name a folder that you may write to with NUMBA_CACHE_DIR; otherwise every crawl compiles again"
    return Checkup("machine code", f"{kept}; {code.folder} cannot be written", remedy)

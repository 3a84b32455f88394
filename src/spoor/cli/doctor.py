"""`spoor doctor`: what this installation is and lacks."""

from __future__ import annotations

import argparse
import importlib
import time

from spoor.cli import installation
from spoor.cli.installation import Checkup
from spoor.cli.terminal import print_json, say


def run_doctor(arguments: argparse.Namespace) -> int:
    found = [*installation.checkups(time.time()), _crawl_command()]
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


def _crawl_command() -> Checkup:
    """The last word: libraries may fit by their numbers and not in fact."""
    try:
        importlib.import_module("spoor.cli.crawling")
    except ImportError as error:
        return Checkup("crawling", f"cannot be loaded ({error})", "install the versions of requirements.lock", True)
    return Checkup("crawling", "all modules of `spoor crawl` can be loaded")

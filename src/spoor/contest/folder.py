"""The folder of a contest, where all that it makes is kept: one that was interrupted goes on, and nothing is shown as
new that other code has made."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import spoor
from spoor.errors import BadInput
from spoor.measure.harvest import Score

ABOVE = (
    "cli",
    "reproduce",
    "samples",
    "session",
    "recollection",
    "snapshotting",
    "demo",
    "live",
    "export",
    "report",
    "tune",
    "seeding",
    "standings",
)
"""What no run can depend on, since the layers forbid it; what changes there leaves results as they are."""


@dataclass(frozen=True)
class ContestFolder:
    """Holds webs, models, verdicts, runs. The name of a file ends with a digest of all that its content follows from:
    the code, the web, and what was asked for. So one that is there is right. Webs are built once, whatever the code."""

    path: Path

    def web(self, name: str) -> Path:
        return self.path / "webs" / name

    def forget(self) -> None:
        """Everything but the webs."""
        for kind in ("models", "verdicts", "runs"):
            shutil.rmtree(self.path / kind, ignore_errors=True)

    def file(self, name: str, web: Path, *facts: str) -> Path:
        """`name` says what it is, such as runs/breadth-first.json; it follows from the code, the web and the facts."""
        told = json.dumps([name, code(), (web / "web.json").read_text("utf8"), *facts])
        kind, _, rest = name.partition("/")
        stem, dot, suffix = f"{web.name}--{rest}".rpartition(".")
        readable = re.sub(r"[^\w.+-]+", "-", stem)[:120]
        return self.path / kind / f"{readable}--{hashlib.sha256(told.encode()).hexdigest()[:16]}{dot}{suffix}"


@cache
def code() -> str:
    """A digest of the package and its data."""
    package, told = Path(spoor.__file__).parent, hashlib.sha256()
    for path in sorted(package.rglob("*")):
        name = path.relative_to(package)
        if path.is_file() and "__pycache__" not in name.parts and name.parts[0].removesuffix(".py") not in ABOVE:
            told.update(f"{name.as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return told.hexdigest()


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Nobody ever finds half a file, whenever the writing stops. `write` is given the path to write to."""
    part = path.with_name(f"{os.getpid()}.part{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(part)
        part.replace(path)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None


def write_score(path: Path, score: Score) -> None:
    """Of one run, before it is set beside an oracle."""

    def write(part: Path) -> None:
        part.write_text(json.dumps(asdict(score)), "utf8")

    write_whole(path, write)


def read_score(path: Path) -> Score:
    told = json.loads(path.read_text("utf8"))
    points = {name: tuple(map(tuple, told[name])) for name in ("curve", "curve_time") if told[name] is not None}
    found_at = {} if told["found_at"] is None else {"found_at": tuple(told["found_at"])}
    return Score(**told | points | found_at | {"orders": ()})

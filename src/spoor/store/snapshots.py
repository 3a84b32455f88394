"""The snapshots of a crawl: `learned/00012345.snapshot`, each named by its place in the journal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from spoor.errors import BadInput
from spoor.roles import Learner, Snapshotted
from spoor.store.findings import Finding
from spoor.store.snapshot_file import PackedSnapshot, Snapshot, read_snapshot, write_snapshot

SUFFIX = ".snapshot"
KEPT = 2
"""So that there is one to fall back to."""


@dataclass(frozen=True, slots=True)
class Snapshots:
    """Those in a folder, which need not exist."""

    folder: Path

    def files(self) -> list[Path]:
        """The newest first."""
        found = [file for file in self.folder.glob(f"*{SUFFIX}") if _number(file) is not None]
        return sorted(found, key=lambda file: -(_number(file) or 0))

    def read(self, file: Path) -> PackedSnapshot:
        """BadInput where it is damaged, or not what its name says."""
        snapshot = read_snapshot(file)
        if snapshot.place.number != _number(file):
            raise BadInput(f"{file} says that it stands for row {snapshot.place.number}")
        return snapshot

    def write(self, snapshot: Snapshot) -> Path:
        """All of it or nothing, whenever the process is killed. The two newest stay. A crawl only goes forward, so one
        that is ahead of this one is of rows that were lost."""
        self.folder.mkdir(exist_ok=True)
        partial, file = self.folder / ".partial", self.folder / f"{snapshot.place.number:08}{SUFFIX}"
        write_snapshot(partial, snapshot)
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        os.replace(partial, file)
        stay = [one for one in self.files() if (_number(one) or 0) <= snapshot.place.number][:KEPT]
        for other in self.files():
            if other not in stay:
                other.unlink(missing_ok=True)
        return file

    def check(self, tell: Callable[[Finding], None]) -> int:
        """How many there are. Changes nothing."""
        files = self.files()
        for file in files:
            if (damage := self._damage(file)) is not None:
                tell(Finding("snapshot", f"{self.folder.name}/{file.name}", damage))
        return len(files)

    def remove_damaged(self) -> list[str]:
        """What was learned is learned again from the journal, or read from the other one."""
        damaged = [file for file in self.files() if self._damage(file) is not None]
        for file in damaged:
            file.unlink(missing_ok=True)
        return [f"{file} was damaged and is removed" for file in damaged]

    def _damage(self, file: Path) -> str | None:
        try:
            self.read(file)
        except BadInput as error:
            # A running crawl removes old ones.
            return str(error).removeprefix(f"{file} ").removeprefix(f"{file}: ") if file.exists() else None
        return None


def named_parts(learners: Iterable[Learner]) -> dict[str, Snapshotted]:
    """Those that can hand over what they learned, by their parameters: a part with others has learned something else.
    Parts of the same parameters are told apart by their order."""
    named: dict[str, Snapshotted] = {}
    for part in learners:
        if isinstance(part, Snapshotted):
            same = sum(repr(part) == repr(other) for other in named.values())
            named[f"{part!r} {same + 1}" if same else repr(part)] = part
    return named


def _number(file: Path) -> int | None:
    return int(file.stem) if file.stem.isdecimal() and file.stem.isascii() else None

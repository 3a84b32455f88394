"""The inbox of a crawl folder: one file for each action that was submitted but not applied yet."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spoor.actions import Action, Submission, dumps, loads
from spoor.errors import BadInput
from spoor.files import read_bounded
from spoor.result_files import replacing

LARGEST = 1 << 27
"""Maximum size of a file in bytes, far more than the largest action needs."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Inbox:
    """Files are written atomically. Their names sort by the time of submission."""

    path: Path

    def leave(self, action: Action, who: str) -> Submission:
        at = time.time()
        submission = Submission(f"{int(at * 1e6):017d}-{secrets.token_hex(8)}", at, who, action)
        try:
            self.path.mkdir(exist_ok=True)
            with replacing(self._file(submission), durable=True) as partial:
                partial.write_text(dumps(submission), "utf8")
        except OSError as error:
            raise BadInput(f"cannot write to {self.path}: {error.strerror}; ask the owner of the folder") from None
        return submission

    def waiting(self) -> Iterator[Submission]:
        """The submissions, earliest first. An invalid file is refused and logged."""
        for name in self._names():
            try:
                submission = loads(read_bounded(self.path / name, LARGEST, "action"))
                if submission.id != name.removesuffix(".json"):
                    raise BadInput(f"its id is {submission.id[:40]!r}")
                yield submission
            except BadInput as error:
                self._set_aside(name, f"not an action that spoor submitted: {error}")

    def remove(self, submission: Submission) -> None:
        self._file(submission).unlink(missing_ok=True)

    def move_to(self, other: Path) -> None:
        """Moves all submissions to an inbox on another disk."""
        for name in self._names():
            other.mkdir(exist_ok=True)
            with replacing(other / name, durable=True) as partial:
                shutil.copyfile(self.path / name, partial)
            (self.path / name).unlink()

    def set_aside(self, submission: Submission, because: str) -> None:
        self._set_aside(f"{submission.id}.json", because)

    def _set_aside(self, name: str, because: str) -> None:
        _log.warning("%s is refused: %s", self.path / name, because)
        with contextlib.suppress(OSError):
            (self.path / name).rename(self.path / f"{name}.refused")

    def _names(self) -> list[str]:
        """Cheap if there are none: a running crawl calls this every second."""
        try:
            with os.scandir(self.path) as files:
                return sorted(file.name for file in files if file.name.endswith(".json"))
        except OSError:
            return []

    def _file(self, submission: Submission) -> Path:
        return self.path / f"{submission.id}.json"

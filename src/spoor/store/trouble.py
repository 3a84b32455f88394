"""Samples of what went wrong: for each exception that cost one URL a file that says where it happened and with what."""

from __future__ import annotations

import contextlib
import hashlib
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from spoor.store.in_work import InWork

MOST_FILES = 200
"""Samples that are saved; what goes wrong more often is only told."""
MOST_BYTES = 65_536
"""Of a response that a sample holds."""
_LONGEST = 200
"""Characters of the line that tells of an error."""


@dataclass
class SavedTroubles:
    """Saves samples in a folder, made when there is one; None: nothing is saved. A sample that cannot be written is
    lost: there is nothing to be gained by failing over it. Without `in_work` nobody is blamed for a death."""

    folder: Path | None
    in_work: InWork | None = None
    _left: int = field(default=MOST_FILES, init=False)

    def on(self, url: str) -> None:
        if self.in_work is not None:
            self.in_work.on(url)

    def off(self) -> None:
        if self.in_work is not None:
            self.in_work.off()

    def keep(self, url: str, doing: str, error: Exception, came: bytes = b"") -> str:
        told = line_of(doing, error)
        if self.folder is not None and self._left > 0:
            with contextlib.suppress(OSError):
                self._save(self.folder, url, told, error, came)
        return told

    def _save(self, folder: Path, url: str, told: str, error: Exception, came: bytes) -> None:
        folder.mkdir(exist_ok=True)
        self._left = MOST_FILES - sum(1 for _ in folder.iterdir())
        digest = hashlib.sha1(f"{url}\n{told}".encode("utf8", "replace")).hexdigest()[:16]
        file = folder / f"{digest}.txt"
        if file.exists() or self._left <= 0:
            return
        trace = "".join(traceback.format_exception(error))
        text = f"{url}\n{told}\n\n{trace}".encode("utf8", "replace")
        file.write_bytes(text + (b"\n" + came[:MOST_BYTES] if came else b""))


def line_of(doing: str, error: Exception) -> str:
    """The kind of error, what was done, and what the error says, in one line without what a terminal would obey."""
    first = next(iter(str(error).strip().splitlines()), "")
    said = f"{type(error).__name__} while it was {doing}" + (f": {first}" if first else "")
    return "".join(character if character.isprintable() else " " for character in said[:_LONGEST])

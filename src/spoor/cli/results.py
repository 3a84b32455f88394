"""Files that results are written to: found writable before the work, written after it."""

from __future__ import annotations

import os
from pathlib import Path

from spoor.errors import BadInput


def check_writable(*paths: Path | None) -> None:
    """Refuses before long work what could not be written after it."""
    for path in paths:
        if path is None:
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"cannot write {path}: {error.strerror}") from None
        if path.is_dir():
            raise BadInput(f"cannot write {path}: it is a folder")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise BadInput(f"cannot write {path}: permission denied")


def write_text(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf8")
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None

"""The files that a crawl refers to, such as models, dictionaries and ontologies, as copies in its folder.

inputs/9f86d081…/my.spoor   named by its SHA-256; a folder by that of the digests and names of its files

So a copy that was changed is known by its path, and the same file is copied once.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spoor.errors import BadInput, UsageError
from spoor.storage_errors import not_written

MAX_INPUT_BYTES = 200_000_000
"""Of all files together that a crawl refers to."""


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, as sha256sum prints it; of a folder, that of such lines for its files."""
    if path.is_dir():
        lines = (f"{digest_of(file)}  {file.relative_to(path).as_posix()}\n" for file in _files_in(path))
        return hashlib.sha256("".join(lines).encode("utf8", "surrogateescape")).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files_in(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def check_size(paths: Iterable[Path]) -> None:
    """Raises UsageError if these are too large to be copied together; the message names the largest."""
    sizes = {path: sum(file.stat().st_size for file in _files_in(path)) for path in paths if path.exists()}
    if sum(sizes.values()) > MAX_INPUT_BYTES:
        largest = max(sizes, key=lambda path: sizes[path])
        limit = f"files that a crawl refers to are copied into its folder, {MAX_INPUT_BYTES:,} bytes at most in all"
        raise UsageError(f"{largest} has {sizes[largest]:,} bytes: {limit}; use a smaller one")


@dataclass(frozen=True)
class Inputs:
    """The folder of the copies, which need not exist. `path` is absolute."""

    path: Path

    def holds(self, file: Path) -> bool:
        return file.is_relative_to(self.path)

    def check(self, copy: Path) -> None:
        """Raises BadInput if a copy is not what was copied."""
        digest, name = copy.relative_to(self.path).parts[:2]
        original = self.path / digest / name
        try:
            if digest_of(original) == digest:
                return
            problem = "was changed since the crawl began: its SHA-256 is no longer that in its path"
        except OSError as error:
            problem = f"cannot be read: {error.strerror}"
        raise BadInput(f"{original} {problem}; restore it, or name another file by an option of `spoor crawl`")

    def copy_of(self, source: Path) -> Path:
        """The path of the copy, which is complete or absent."""
        try:
            self.path.mkdir(exist_ok=True)
            partial = Path(tempfile.mkdtemp(prefix=".", suffix=".partial", dir=self.path))
            try:
                copy = partial / source.name
                if source.is_dir():
                    shutil.copytree(source, copy)
                else:
                    shutil.copyfile(source, copy)
                partial.chmod(0o755)
                place = self.path / digest_of(copy)
                if not place.exists():
                    os.replace(partial, place)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
        except OSError as error:
            raise not_written(self.path, error) from None
        return place / source.name

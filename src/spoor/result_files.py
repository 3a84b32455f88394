"""Writes files that are complete or as they were before, and results to whatever a person named."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: Path, partial: str = "", durable: bool = False) -> Iterator[Path]:
    """Yields a file to write to, which replaces `path` only on success. `partial` is its name until then: by default
    one that no other process uses; a fixed one if only one process writes, so that killed processes leave at most one.
    `durable`: complete even after a power failure."""
    part = path.with_name(partial or f".{path.name}.{os.getpid()}.partial")
    try:
        yield part
        if durable:
            with part.open("rb") as written:
                os.fsync(written.fileno())
        os.replace(part, path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


STANDARD_OUTPUT = Path("-")
"""What a person names to have a result on standard output."""


def is_standard_output(path: Path | None) -> bool:
    """Whether it is `-`, or another name of the same: /dev/stdout, or the file to which the output is redirected."""
    if path is None or path == STANDARD_OUTPUT:
        return path is not None
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:
        return False


@contextlib.contextmanager
def output_file(path: Path) -> Iterator[BinaryIO]:
    """The file of a result, as a person named it. A regular file is complete or as it was before; where the name is a
    link, that holds for the file behind it, and the link stays. Pipes, devices and standard output are written into:
    nothing can take their place."""
    if is_standard_output(path):
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif path.exists() and not path.is_file():
        with path.open("wb") as output:
            yield output
    else:
        with replacing(path.resolve()) as partial, partial.open("wb") as output:
            yield output

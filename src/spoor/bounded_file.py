"""A file that somebody else made, read into memory only if it is not too large for that."""

from __future__ import annotations

from pathlib import Path

from spoor.errors import BadInput

_CHUNK = 1 << 20


def read_bounded(path: Path, most: int, kind: str) -> bytes:
    """`kind` is what complaints call it. What has no size of its own, such as a pipe, is read as far as it may be."""
    content = bytearray()
    try:
        with path.open("rb") as file:
            while len(content) <= most and (chunk := file.read(_CHUNK)):
                content += chunk
    except OSError as error:
        raise BadInput(f"cannot read the {kind} {path}: {error.strerror}") from None
    if len(content) > most:
        raise BadInput(f"the {kind} {path} has more than {most:,} bytes, which is more than one can be; give another")
    return bytes(content)


def read_start(path: Path, size: int, kind: str) -> bytes:
    """The first bytes of a file of any size."""
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise BadInput(f"cannot read the {kind} {path}: {error.strerror}") from None

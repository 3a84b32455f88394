"""A compressed stream that may be cut or damaged: what can be read of it, then the end."""

from __future__ import annotations

import gzip
import lzma
import zlib
from pathlib import Path
from typing import BinaryIO, cast

_XZ_MAGIC, _GZIP_MAGIC = b"\xfd7zXZ\x00", b"\x1f\x8b"


class UntilItBreaks:
    """Never raises while reading; `broken` tells afterwards whether the end was the true one."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.broken = False

    def read(self, size: int = -1) -> bytes:
        try:
            # `read1`, because `read` would lose what lies between its start and the damage.
            return cast(gzip.GzipFile, self._stream).read1(size)
        except (EOFError, OSError, lzma.LZMAError, zlib.error):
            self.broken = True
            return b""

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def close(self) -> None:
        self._stream.close()


def open_unpacked(file: Path) -> UntilItBreaks:
    """Undoes gzip and xz, which the file is known by, not its name. OSError when it cannot be opened."""
    with file.open("rb") as stream:
        magic = stream.read(len(_XZ_MAGIC))
    if magic == _XZ_MAGIC:
        return UntilItBreaks(cast(BinaryIO, lzma.open(file)))
    return UntilItBreaks(cast(BinaryIO, gzip.open(file)) if magic.startswith(_GZIP_MAGIC) else file.open("rb"))

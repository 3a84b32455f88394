"""Many small JSON values in one compressed file, read back one at a time."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from spoor.errors import BadInput
from spoor.webs.arrays import check_offsets, damaged, opened

LARGEST = 1 << 28
"""Bytes of one value: a few may stand for gigabytes."""


def compress(value: Any) -> bytes:
    """The stored form of one value. Apart from `BlobWriter` so that worker processes can do it."""
    return zlib.compress(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), 6)


class BlobWriter:
    """Appends compressed values; `close` writes the offsets beside them."""

    def __init__(self, folder: Path, name: str) -> None:
        self._offsets_path = folder / f"{name}_offsets.npy"
        self._file = (folder / f"{name}.bin").open("wb")
        self._offsets = [0]

    def append(self, blob: bytes) -> None:
        """`blob` comes from `compress`; b"" stands for no value."""
        self._file.write(blob)
        self._offsets.append(self._offsets[-1] + len(blob))

    def __enter__(self) -> BlobWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()
        np.save(self._offsets_path, np.array(self._offsets, dtype=np.int64))


Fits = Callable[[int, Any], bool]
"""Whether a value can be the one at a place."""


class Blobs:
    """Reads what a `BlobWriter` wrote. `fits` is asked of every value that is read."""

    def __init__(self, folder: Path, name: str, fits: Fits = lambda index, value: True) -> None:
        self._path, self._fits = folder / f"{name}.bin", fits
        self._offsets = opened(folder, f"{name}_offsets")
        try:
            size = self._path.stat().st_size
            self._bytes = np.memmap(self._path, np.uint8, "r") if size else np.zeros(0, np.uint8)
        except OSError as error:
            raise BadInput(f"cannot read {self._path}: {error.strerror}") from None
        check_offsets(folder / f"{name}_offsets.npy", self._offsets, size)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @property
    def nbytes(self) -> int:
        """Of all stored values together."""
        return len(self._bytes)

    def __getitem__(self, index: int) -> Any:
        """None: no value was stored."""
        blob = self.stored(index)
        if not blob:
            return None
        try:
            value = json.loads(_unpacked(blob))
        except (ValueError, RecursionError, zlib.error) as error:
            raise damaged(self._path, f"value {index} cannot be read, {error}") from None
        if not self._fits(index, value):
            raise damaged(self._path, f"value {index} is not of the right kind")
        return value

    def stored(self, index: int) -> bytes:
        """A value as it was appended."""
        return self._bytes[int(self._offsets[index]) : int(self._offsets[index + 1])].tobytes()


def _unpacked(blob: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    value = unpacker.decompress(blob, LARGEST)
    if not unpacker.eof:
        raise ValueError(f"it is cut, or larger than {LARGEST:,} bytes")
    return value

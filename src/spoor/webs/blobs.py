"""Many small JSON values in one compressed file, read back one at a time."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np


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


class Blobs:
    """Reads what a `BlobWriter` wrote."""

    def __init__(self, folder: Path, name: str) -> None:
        self._offsets = np.load(folder / f"{name}_offsets.npy", mmap_mode="r")
        path = folder / f"{name}.bin"
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r") if path.stat().st_size else np.zeros(0, np.uint8)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @property
    def nbytes(self) -> int:
        """Of all stored values together."""
        return len(self._bytes)

    def __getitem__(self, index: int) -> Any:
        """None: no value was stored."""
        blob = self.stored(index)
        return json.loads(zlib.decompress(blob)) if blob else None

    def stored(self, index: int) -> bytes:
        """A value as it was appended."""
        return self._bytes[int(self._offsets[index]) : int(self._offsets[index + 1])].tobytes()

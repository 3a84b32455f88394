"""The files of a web: compressed JSON values, arrays that are checked when opened, and the table of URLs."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput

# The arrays of a web, all checked: compiled code does no bounds checks.


WHOLE, REAL = "iu", "f"
"""NumPy kinds of numbers."""
_AT_ONCE = 1 << 22


def opened(folder: Path, name: str, kind: str = WHOLE) -> NDArray[Any]:
    """A one-dimensional array, memory-mapped."""
    path = folder / f"{name}.npy"
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise BadInput(f"{path} is missing; build or generate the web again") from None
    except Exception as error:  # Errors for damaged file headers have no common base class.
        raise damaged(path, " ".join(str(error).split())[:100]) from None
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in kind:
        raise damaged(path, "it has no numbers of the right type")
    # A plain view: reading one element of a memmap object takes several times as long.
    return array.view(np.ndarray)


def check_offsets(path: Path, offsets: NDArray[Any], end: int, count: int | None = None) -> None:
    """Offsets must start with 0, never decrease, and end with `end`; there must be `count` + 1 of them, if given."""
    if len(offsets) < 1 or (count is not None and len(offsets) != count + 1):
        raise damaged(path, f"it has {len(offsets):,} offsets" + ("" if count is None else f", not {count + 1:,}"))
    if offsets[0] != 0 or offsets[-1] != end:
        raise damaged(path, f"its offsets go from {offsets[0]} to {offsets[-1]}, not from 0 to {end}")
    for start in range(0, len(offsets) - 1, _AT_ONCE):
        part = offsets[start : start + _AT_ONCE + 1]
        if (part[1:] < part[:-1]).any():
            raise damaged(path, "its offsets fall")


def check_range(path: Path, values: NDArray[Any], low: int, high: int, count: int | None = None) -> None:
    """All values must be at least `low` and below `high`; there must be `count` of them, if given."""
    if count is not None and len(values) != count:
        raise damaged(path, f"it has {len(values):,} numbers, not {count:,}")
    for start in range(0, len(values), _AT_ONCE):
        part = values[start : start + _AT_ONCE]
        least, most = part.min(), part.max()
        # NaN fails both comparisons.
        if not (low <= least and most < high):
            raise damaged(path, f"its numbers go from {least} to {most}; they must be from {low} to below {high}")


def damaged(path: Path, why: str) -> BadInput:
    return BadInput(f"{path} is damaged: {why}; build or generate the web again")


# Many small JSON values in one file, each compressed, read one at a time.


LARGEST = 1 << 28
"""Maximum size of one decompressed value in bytes: a few compressed bytes can expand to gigabytes."""


def compress(value: Any) -> bytes:
    """The stored form of one value. Not a method of `BlobWriter`, so that worker processes can call it."""
    return zlib.compress(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), 6)


class BlobWriter:
    """Appends compressed values. `close` writes the offsets."""

    def __init__(self, folder: Path, name: str) -> None:
        self._offsets_path = folder / f"{name}_offsets.npy"
        self._file = (folder / f"{name}.bin").open("wb")
        self._offsets = [0]

    def append(self, blob: bytes) -> None:
        """`blob` is the result of `compress`; b"" for no value."""
        self._file.write(blob)
        self._offsets.append(self._offsets[-1] + len(blob))

    def __enter__(self) -> BlobWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()
        np.save(self._offsets_path, np.array(self._offsets, dtype=np.int64))


T = TypeVar("T")
Fits = Callable[[int, Any], bool]
"""Whether a value is valid at an index."""


class Blobs:
    """Reads the values that a `BlobWriter` wrote. `fits` validates each JSON value that is read."""

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
        """The size of all stored values, compressed."""
        return len(self._bytes)

    def __getitem__(self, index: int) -> Any:
        """None if no value was stored."""
        value = self.read(index, json.loads)
        if value is not None and not self._fits(index, value):
            raise damaged(self._path, f"value {index} is not of the right kind")
        return value

    def read(self, index: int, parse: Callable[[bytes], T]) -> T | None:
        """What `parse` makes of the decompressed bytes of a value; None if no value was stored. It may raise
        ValueError."""
        blob = self.stored(index)
        if not blob:
            return None
        try:
            return parse(_unpacked(blob))
        except (ValueError, RecursionError, zlib.error) as error:
            raise damaged(self._path, f"value {index} cannot be read, {error}") from None

    def stored(self, index: int) -> bytes:
        """The compressed bytes of a value."""
        return self._bytes[int(self._offsets[index]) : int(self._offsets[index + 1])].tobytes()


def _unpacked(blob: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    value = unpacker.decompress(blob, LARGEST)
    if not unpacker.eof:
        raise ValueError(f"it is truncated, or larger than {LARGEST:,} bytes")
    return value


# The URLs of a web: number to URL and back, without keeping all of them in memory.


class UrlTable(Protocol):
    """Maps numbers to URLs and back: recorded pages first (0 .. pages-1), then URLs that were only linked to."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int) -> str: ...

    def find(self, url: str) -> int | None:
        """The number of a URL; None if it is not in the web."""
        ...


class ListedUrls:
    """Stored URLs, found through a sorted table of hashes."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "urls.bin"
        self._offsets, self._hashes = opened(folder, "url_offsets"), opened(folder, "url_hashes")
        self._ids = opened(folder, "url_hash_ids")
        try:
            size = self._path.stat().st_size
            self._bytes = np.memmap(self._path, np.uint8, "r").view(np.ndarray) if size else np.zeros(0, np.uint8)
        except OSError as error:
            raise BadInput(f"cannot read {self._path}: {error.strerror}") from None
        check_offsets(folder / "url_offsets.npy", self._offsets, size)
        check_range(folder / "url_hash_ids.npy", self._ids, 0, len(self), len(self))
        if len(self._hashes) != len(self):
            raise damaged(folder / "url_hashes.npy", f"it has {len(self._hashes):,} hashes for {len(self):,} URLs")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> str:
        try:
            return self._bytes[self._offsets[number] : self._offsets[number + 1]].tobytes().decode()
        except UnicodeDecodeError:
            raise damaged(self._path, f"URL {number} is not a string") from None

    def find(self, url: str) -> int | None:
        relevant = _hash(url)
        place = int(np.searchsorted(self._hashes, relevant))
        while place < len(self._hashes) and self._hashes[place] == relevant:
            if self[int(self._ids[place])] == url:
                return int(self._ids[place])
            place += 1
        return None

    @staticmethod
    def write(folder: Path, urls: Iterable[str]) -> None:
        offsets, hashes = [0], []
        with (folder / "urls.bin").open("wb") as file:
            for url in urls:
                offsets.append(offsets[-1] + file.write(url.encode()))
                hashes.append(_hash(url))
        table: NDArray[np.uint64] = np.array(hashes, dtype=np.uint64)
        order = np.argsort(table, kind="stable")
        np.save(folder / "url_offsets.npy", np.array(offsets, dtype=np.int64))
        np.save(folder / "url_hashes.npy", table[order])
        np.save(folder / "url_hash_ids.npy", order.astype(np.int32))


class PatternUrls:
    """URLs generated from the host number and the index of the page on it, as in `http://h{host}.thai.test/{path}`.

    The pages of a host form a tree with four children per node, in level order; the path has the child taken at each
    level. So page 0 is `/`, its children are `/0` to `/3`, and page 5 is `/0/0`.
    """

    CHILDREN = 4

    def __init__(self, pattern: str, host_offsets: NDArray[np.int32]) -> None:
        self._before, self._between = pattern.replace("{path}", "", 1).split("{host}")
        self._offsets = host_offsets

    def __len__(self) -> int:
        return int(self._offsets[-1])

    def __getitem__(self, number: int) -> str:
        host = int(np.searchsorted(self._offsets, number, side="right")) - 1
        return f"{self._before}{host}{self._between}{self._path(number - int(self._offsets[host]))}"

    def find(self, url: str) -> int | None:
        host, _, path = url.removeprefix(self._before).partition(self._between)
        if not (host.isascii() and host.isdigit() and len(host) < 10) or int(host) >= len(self._offsets) - 1:
            return None
        number = int(self._offsets[int(host)]) + self._page(path)
        return number if number < self._offsets[int(host) + 1] and self[number] == url else None

    def _path(self, page: int) -> str:
        steps: list[str] = []
        while page:
            page, step = divmod(page - 1, self.CHILDREN)
            steps.append(str(step))
        return "/".join(reversed(steps))

    def _page(self, path: str) -> int:
        """Accepts any path; `find` verifies the result."""
        page = 0
        for step in path.split("/") if path else ():
            page = page * self.CHILDREN + 1 + (int(step) if step in ("0", "1", "2", "3") else 0)
            if page >= len(self):
                break
        return page


def _hash(url: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8).digest(), "little"))

"""The URLs of a web: number to URL and back, without holding them all in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.webs.arrays import check_offsets, check_range, damaged, opened


class UrlTable(Protocol):
    """Page numbers first (0 .. pages-1), then URLs that were only linked to."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int) -> str: ...

    def find(self, url: str) -> int | None:
        """The number of a URL; None: the web does not know it."""
        ...


class ListedUrls:
    """URLs written out one by one, found by a sorted table of hashes."""

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
            raise damaged(self._path, f"URL {number} is no text") from None

    def find(self, url: str) -> int | None:
        wanted = _hash(url)
        place = int(np.searchsorted(self._hashes, wanted))
        while place < len(self._hashes) and self._hashes[place] == wanted:
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
    """URLs made from the number of the host and the place of the page on it, as in `http://h{host}.thai.test/{path}`.

    The pages of a host are a tree with four children each, the root first, level by level; the path says which child
    to take at each level. So page 0 is `/`, its children are `/0` to `/3`, and page 5 is `/0/0`.
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
        """Whatever the path is; `find` makes sure that it is one of ours."""
        page = 0
        for step in path.split("/") if path else ():
            page = page * self.CHILDREN + 1 + (int(step) if step in ("0", "1", "2", "3") else 0)
            if page >= len(self):
                break
        return page


def _hash(url: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8).digest(), "little"))

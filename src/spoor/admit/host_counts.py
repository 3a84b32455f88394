"""How many pages came of each host, for any number of hosts: sixteen bytes each."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.saved_state import ANY, State, array_in, texts_in

RECENT = 1 << 15
"""Hosts that are counted apart before they are merged with the others: some three megabytes."""
_LEAST, _MOST = float(-(2**63)), float(2**63)


class HostCounts:
    """Hosts are known by 64 bits of a hash: `_hosts` are sorted and have their counts beside them; `_recent` has the
    whole count of those that were counted since the last merging."""

    def __init__(self) -> None:
        self._hosts: NDArray[np.int64] = np.zeros(0, np.int64)
        self._counts: NDArray[np.int64] = np.zeros(0, np.int64)
        self._recent: dict[int, int] = {}

    def of(self, host: str) -> int:
        return self._of(_hash(host))

    def count(self, host: str) -> None:
        hashed = _hash(host)
        self._recent[hashed] = self._of(hashed) + 1
        if len(self._recent) >= RECENT:
            self._merge()

    def state(self) -> State:
        self._merge()
        return {"hashes": self._hosts.copy(), "pages": self._counts.copy()}

    def restore(self, state: State) -> None:
        """Snapshots of folders of version 3 have the names of hosts."""
        if "hosts" in state:
            hosts = np.array([_hash(host) for host in texts_in(state, "hosts")], np.int64)
        else:
            hosts = array_in(state, "hashes", np.int64, (ANY,), _LEAST, _MOST).astype(np.int64)
        counts = array_in(state, "pages", np.int64, (len(hosts),), 0).astype(np.int64)
        order = np.argsort(hosts)
        self._hosts, self._counts, self._recent = hosts[order], counts[order], {}
        if (self._hosts[1:] == self._hosts[:-1]).any():
            raise BadInput("a host is counted twice")

    def _of(self, hashed: int) -> int:
        if (count := self._recent.get(hashed)) is not None:
            return count
        place = int(np.searchsorted(self._hosts, hashed))
        found = place < len(self._hosts) and int(self._hosts[place]) == hashed
        return int(self._counts[place]) if found else 0

    def _merge(self) -> None:
        recent = np.fromiter(self._recent, np.int64)
        kept = ~np.isin(self._hosts, recent)
        hosts = np.concatenate([self._hosts[kept], recent])
        counts = np.concatenate([self._counts[kept], np.fromiter(self._recent.values(), np.int64)])
        order = np.argsort(hosts)
        self._hosts, self._counts, self._recent = hosts[order], counts[order], {}


def _hash(host: str) -> int:
    return int.from_bytes(hashlib.blake2b(host.encode(), digest_size=8).digest(), "big", signed=True)

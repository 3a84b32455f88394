"""The scope of a crawl: patterns, hosts, domains, depth, pages per host."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput, UsageError
from spoor.files import ANY, State, array_in, texts_in
from spoor.records import ADMIT, Evidence, Link, Ruling, Sighting, TrailState, Visit
from spoor.urls import host_named, host_of, registrable_domain

# Pages per host, for any number of hosts: sixteen bytes each.


RECENT = 1 << 15
"""Hosts counted in a dict before they are merged into the arrays: some three megabytes."""
_LEAST, _MOST = float(-(2**63)), float(2**63)


class HostCounts:
    """Hosts are identified by a 64-bit hash: `_hosts` is sorted and parallel to `_counts`; `_recent` has the total
    count of hosts counted since the last merge."""

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
        """Snapshots of folders of version 3 have host names instead of hashes."""
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


# Scope: patterns, hosts, domains, depth, pages per host.


T = TypeVar("T")


@dataclass
class Scope:
    """An empty rule allows everything. `include` and `exclude` are regular expressions, searched anywhere in the URL; a
    link must match one of `include` and none of `exclude`. A host must be in `hosts` (exact) or `domains` (registrable
    domains, with all their hosts). A page at `max_depth` is visited, its links are not; seeds have depth 0.
    `pages_per_host` counts judged pages; links beyond it are parked, all other links out of scope are dropped."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    max_depth: int | None = None
    pages_per_host: int | None = None
    _include: list[re.Pattern[str]] = field(init=False, repr=False, compare=False)
    _exclude: list[re.Pattern[str]] = field(init=False, repr=False, compare=False)
    _hosts: frozenset[str] = field(init=False, repr=False, compare=False)
    _domains: frozenset[str] = field(init=False, repr=False, compare=False)
    _pages: HostCounts = field(init=False, repr=False, compare=False, default_factory=HostCounts)

    def __post_init__(self) -> None:
        self._include = _each("include", self.include, _pattern)
        self._exclude = _each("exclude", self.exclude, _pattern)
        self._hosts = frozenset(_each("hosts", self.hosts, host_named))
        self._domains = frozenset(_each("domains", self.domains, _domain))

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return _dropped(self._outside(link.url))

    def at_pop(self, visit: Visit) -> Ruling:
        """The URL is checked again: the target of a redirect was never offered."""
        if self.max_depth is not None and visit.depth > self.max_depth:
            return Ruling("drop", f"outside scope: depth {visit.depth}, max_depth is {self.max_depth}")
        if self.pages_per_host is not None and self._pages.of(visit.host) >= self.pages_per_host:
            return Ruling("park", f"{self.pages_per_host} pages of {visit.host} visited, the pages_per_host")
        return _dropped(self._outside(visit.url))

    def covers(self, host: str) -> bool:
        anywhere = not (self._hosts or self._domains)
        return anywhere or host in self._hosts or registrable_domain(host) in self._domains

    def learn(self, sighting: Sighting) -> None:
        if self.pages_per_host is not None:
            self._pages.count(sighting.visit.host)

    relearn = learn

    def state(self) -> State:
        return self._pages.state()

    def restore(self, state: State) -> None:
        self._pages.restore(state)

    def _outside(self, url: str) -> str:
        """The rule that excludes the URL; "" if none does."""
        if (self._hosts or self._domains) and not self.covers(host := host_of(url)):
            return f"{host} is not in {_joined(hosts=self._hosts, domains=self._domains)}"
        if found := next((pattern for pattern in self._exclude if pattern.search(url)), None):
            return f"exclude {found.pattern!r} matches"
        if self._include and not any(pattern.search(url) for pattern in self._include):
            return f"no pattern of include matches ({', '.join(map(repr, self.include[:3]))})"
        return ""


def _dropped(outside: str) -> Ruling:
    return Ruling("drop", f"outside scope: {outside}") if outside else ADMIT


def _joined(**rules: frozenset[str]) -> str:
    return " or ".join(name for name, values in rules.items() if values)


def _each(rule: str, values: Iterable[str], made: Callable[[str], T]) -> list[T]:
    try:
        return [made(value) for value in values]
    except ValueError as error:
        raise UsageError(f"{rule}: {error}") from None


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from None


def _domain(text: str) -> str:
    host = host_named(text)
    if registrable_domain(f"any.{host}") != host:
        own = registrable_domain(host)
        remedy = (
            f"write {own!r}, or put it into hosts" if own != host else rf"for all below it use include '\.{host}[:/]'"
        )
        raise ValueError(f"{text!r} is not a registrable domain; {remedy}")
    return host

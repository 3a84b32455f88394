"""Where pages never end and never say anything new: traps, told by what they yield and by the shape of their URLs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from spoor.admit.novelty import Memory, names, passages
from spoor.admit.url_shape import repeated_part, template, wider_groups
from spoor.errors import UsageError
from spoor.records import ADMIT, Evidence, Link, Ruling, Sighting, TrailState, Visit
from spoor.saved_state import State, as_counts, counts_in, slices, state_in, texts_in
from spoor.sketch import sketch
from spoor.urls import host_of

LONGEST = 2_000
"""Characters of a URL; servers and browsers of old took no more."""

DEEPEST = 30
"""Folders in a URL."""

TIMES = 3
"""How often folders may not follow themselves."""

WIDER = 3
"""How much more patience groups have that are wider than a template."""

REMEMBERED = 50_000
"""Groups that begin to disappoint, and hosts that have traps, kept in mind; those met last."""

SLOTS = 2**20
"""Passages of text that are kept in mind: eight megabytes, some 16,000 pages."""


@dataclass
class Traps:
    """A template that gave nothing new `patience` times in a row loses its turn: its links are parked. So do wider
    groups (a folder, a query on any path) after three times as many. There is no cap: what keeps giving goes on.

    A page is new when at least `least_new` of its text was not read on its host before, relevant or not: a calendar in
    the wanted language is a trap too. A page without text is new when it is relevant or links to templates not met.
    """

    patience: int = 20
    least_new: float = 0.1
    _barren: OrderedDict[str, int] = field(init=False, repr=False, compare=False, default_factory=OrderedDict)
    _given_up: OrderedDict[str, dict[str, int]] = field(
        init=False, repr=False, compare=False, default_factory=OrderedDict
    )
    _memory: Memory = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.patience < 1:
            raise UsageError(f"patience={self.patience}: a template needs at least one page to show its worth")
        if not 0.0 < self.least_new <= 1.0:
            raise UsageError(f"least_new={self.least_new:g} is not a share above 0, at most 1")
        self._memory = Memory(SLOTS)

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return self._rule(link.url)

    def at_pop(self, visit: Visit) -> Ruling:
        return self._rule(visit.url)

    def learn(self, sighting: Sighting) -> None:
        new, url = self._is_new(sighting), sighting.visit.url
        for group in _groups(url):
            if new:
                self._restore(host_of(url), group)
            else:
                self._disappointed(host_of(url), group)

    def state(self) -> State:
        given_up = self._given_up.values()
        return {
            "barren": list(self._barren),
            "barren pages": as_counts(self._barren.values()),
            "hosts": list(self._given_up),
            "sizes": as_counts(map(len, given_up)),
            "given up": list(chain.from_iterable(given_up)),
            "pages": as_counts(chain.from_iterable(groups.values() for groups in given_up)),
            "memory": self._memory.state(),
        }

    def restore(self, state: State) -> None:
        barren, hosts, given_up = (texts_in(state, name) for name in ("barren", "hosts", "given up"))
        barren_pages = counts_in(state, "barren pages", len(barren))
        pages = list(zip(given_up, counts_in(state, "pages", len(given_up)), strict=True))
        places = slices(counts_in(state, "sizes", len(hosts)), len(pages))
        self._barren = OrderedDict(zip(barren, barren_pages, strict=True))
        self._given_up = OrderedDict((host, dict(pages[at])) for host, at in zip(hosts, places, strict=True))
        self._memory.restore(state_in(state, "memory"))

    def _rule(self, url: str) -> Ruling:
        if misshapen := _misshapen(url):
            return Ruling("drop", misshapen)
        given_up = self._given_up.get(host_of(url))
        if given_up is None:
            return ADMIT
        group = next((group for group in _groups(url) if group in given_up), None)
        return Ruling("park", f"{given_up[group]} pages like {group} gave nothing new") if group else ADMIT

    def _is_new(self, sighting: Sighting) -> bool:
        page, host = sighting.page, sighting.visit.host
        if page.text or page.sketch is not None:
            return self._memory.unseen(passages(page.sketch or sketch(page.text), host)) >= self.least_new
        met = self._memory.unseen(names([template(link.url) for link in page.links], host))
        return sighting.verdict.relevant or met > 0.0

    def _disappointed(self, host: str, group: str) -> None:
        self._barren[group] = pages = self._barren.pop(group, 0) + 1
        if pages >= self._patience_with(group):
            del self._barren[group]
            self._given_up.setdefault(host, {})[group] = pages
            self._given_up.move_to_end(host)
        _forget_oldest(self._barren)
        _forget_oldest(self._given_up)

    def _restore(self, host: str, group: str) -> None:
        """One new page is enough, also for a group that was given up: what was in transit still arrives."""
        self._barren.pop(group, None)
        if host in self._given_up:
            self._given_up[host].pop(group, None)
            if not self._given_up[host]:
                del self._given_up[host]

    def _patience_with(self, group: str) -> int:
        return self.patience * WIDER if "…" in group else self.patience


def _groups(url: str) -> Iterator[str]:
    yield template(url)
    yield from wider_groups(url)


def _misshapen(url: str) -> str:
    """Why no honest site has such a URL; "" when one may."""
    if len(url) > LONGEST:
        return f"trap: the URL has {len(url):,} characters, more than {LONGEST:,}"
    folders = url.partition("?")[0].count("/") - 3
    if folders > DEEPEST:
        return f"trap: {folders} folders deep, more than {DEEPEST}"
    part = repeated_part(url, TIMES) if folders >= TIMES - 1 else ""
    return f"trap: {part} follows itself {TIMES} times in the path" if part else ""


def _forget_oldest(remembered: OrderedDict[str, Any]) -> None:
    if len(remembered) > REMEMBERED:
        remembered.popitem(last=False)

"""Hit rates of hosts, folders, pages and lists, and the credit of links for the pages behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from spoor.errors import BadInput
from spoor.files import ANY, LARGEST_NUMBER, State, array_in, as_counts, count_in, counts_in, slices, texts_in
from spoor.ordering.learned.logistic import OnlineLogistic

# Outcomes of tries: how many brought a page, and how many pages were relevant, per domain, host or folder, per
# referring page, and per list on it. Counted in fixed space.


BITS = 20
"""log2 of the number of counters; collisions are rare up to millions of hosts and folders."""
MASK = np.uint32((1 << BITS) - 1)

LEVELS = 6
"""Levels of first tries: a domain, a host, three folders, a referring page."""
CELLS = 5 * LEVELS
"""First tries are counted by level, separately for links from relevant pages and for links within a domain, and in
total."""


@dataclass(frozen=True, slots=True)
class FirstTries:
    """Whether a link was the first try of a domain, host or folder, and of the referring page: the cell of
    `Yields.untried` (-1 if it was not) and the expected rate, for answers and for finds; and the slots of both."""

    answers: tuple[tuple[int, float], tuple[int, float]]
    finds: tuple[tuple[int, float], tuple[int, float]]
    slots: tuple[int, int]


OWED = 1 << 15
"""Maximum number of slots without a find that are remembered; the oldest are dropped."""


class Yields:
    """Tries, answers and finds by slot, the lower bits of a hash. A try in transit counts as unsuccessful until its
    outcome is known. `untried` has, for answers and for finds, the sums of actual and of expected results of first
    tries by cell; a slot counts as a find after its first find, however late."""

    def __init__(self) -> None:
        self.counts = np.zeros((1 << BITS, 3), np.float32)
        """What is read together is stored together."""
        self.tries, self.answers, self.finds = self.counts.T
        self.untried = np.zeros((2, CELLS, 2), np.float64)
        self._owed: dict[int, int] = {}
        self._tried = self._found = 0

    def state(self, under_way: Iterable[Sequence[int]]) -> State:
        """`under_way` are the slots of tries in transit, which are excluded."""
        tries = self.tries.copy()
        for slots in under_way:
            tries[slots] -= 1.0
        return {
            "tries": tries,
            "answers": self.answers.copy(),
            "finds": self.finds.copy(),
            "untried": self.untried.copy(),
            "owed slots": as_counts(self._owed),
            "owed cells": as_counts(self._owed.values()),
            "tried": self._tried,
            "found": self._found,
        }

    def restore(self, state: State) -> None:
        for name, kept, least in (
            ("tries", self.tries, 0.0),
            ("answers", self.answers, 0.0),
            ("finds", self.finds, -LARGEST_NUMBER),  # Credits may be revoked, and are rounded.
            ("untried", self.untried, 0.0),
        ):
            kept[:] = array_in(state, name, kept.dtype, kept.shape, least, LARGEST_NUMBER)
        slots = array_in(state, "owed slots", np.int64, (ANY,), 0, (1 << BITS) - 1).tolist()
        cells = counts_in(state, "owed cells", len(slots), 4 * LEVELS - 1)
        if len(slots) > OWED:
            raise BadInput(f"{len(slots)} hosts and folders wait for a first find, more than {OWED}")
        self._owed = dict(zip(slots, cells, strict=True))
        self._tried, self._found = count_in(state, "tried"), count_in(state, "found")
        if self._found > self._tried:
            raise BadInput("there are more finds than tries")

    @property
    def rate(self) -> float:
        """The share of finds among all tries, initially one in five."""
        return (self._found + 1) / (self._tried + 5)

    def begin(self, slots: Sequence[int]) -> None:
        for slot in slots:
            self.tries[slot] += 1.0

    def take_back(self, slots: Sequence[int]) -> None:
        """Removes a try in transit; `note` counts its outcome."""
        for slot in slots:
            self.tries[slot] -= 1.0

    def note(self, slots: Sequence[int], answered: bool, found: bool) -> None:
        self._tried += 1
        self._found += found
        for slot in slots:
            self.tries[slot] += 1.0
            if answered:
                self.answers[slot] += 1.0
            if found:
                self.finds[slot] += 1.0
                if slot in self._owed:
                    self._count(1, self._owed.pop(slot), 1.0, 0.0)

    def credit(self, slots: Sequence[int], finds: float) -> None:
        """Adds finds made later, through links of the pages found."""
        for slot in slots:
            self.finds[slot] += finds

    def share(self, slot: int, trust: float) -> float:
        """The share of finds among tries, after adding `trust` unsuccessful tries."""
        return float(self.finds[slot]) / (float(self.tries[slot]) + trust)

    def note_first_tries(self, first: FirstTries, answered: bool, found: bool) -> None:
        for cell, expected in first.answers:
            if cell >= 0:
                self._count(0, cell, answered, expected)
        # Without a page nothing is known about the share of relevant ones among pages.
        for (cell, expected), slot in zip(first.finds, first.slots, strict=True):
            if cell >= 0 and answered:
                self._count(1, cell, found, expected)
                if not found:
                    self._owe(slot, cell)

    def _owe(self, slot: int, cell: int) -> None:
        """A host whose first page is irrelevant may still have relevant ones; then the first try was worthwhile."""
        self._owed[slot] = cell
        if len(self._owed) > OWED:
            del self._owed[next(iter(self._owed))]

    def _count(self, kind: int, cell: int, came: float, expected: float) -> None:
        for counted in (cell, 4 * LEVELS + cell // 4):
            self.untried[kind, counted, 0] += came
            self.untried[kind, counted, 1] += expected


# Pages found behind an irrelevant page are credited to the link to it: such a page was worth its request.


DISCOUNT = 0.8
"""Value of a relevant page one link further, relative to a relevant page."""
PAGES = 1 << 14
"""Maximum number of pages remembered; the oldest are dropped."""


@dataclass(slots=True)
class _Passed:
    """An irrelevant page: the slots of the link to it, the number of its example, and its credit."""

    slots: Sequence[int]
    example: int
    credit: float = 0.0


class TunnelCredit:
    """The irrelevant pages fetched last, by URL."""

    def __init__(self, yields: Yields, logistic: OnlineLogistic) -> None:
        self._yields, self._logistic = yields, logistic
        self._pages: dict[str, _Passed] = {}

    def passed(self, url: str, slots: Sequence[int], example: int) -> None:
        self._pages[url] = _Passed(slots, example)
        if len(self._pages) > PAGES:
            del self._pages[next(iter(self._pages))]

    def state(self) -> State:
        passed = self._pages.values()
        slots = [page.slots for page in passed]
        return {
            "urls": list(self._pages),
            "sizes": as_counts(map(len, slots)),
            "slots": as_counts(chain.from_iterable(slots)),
            "examples": as_counts(page.example for page in passed),
            "credits": np.array([page.credit for page in passed], np.float64),
        }

    def restore(self, state: State) -> None:
        """`Yields` and `OnlineLogistic` must be restored first."""
        urls = texts_in(state, "urls")
        slots = array_in(state, "slots", np.int64, (ANY,), 0, int(MASK)).tolist()
        places = slices(counts_in(state, "sizes", len(urls)), len(slots))
        examples = counts_in(state, "examples", len(urls), self._logistic.seen)
        credited = array_in(state, "credits", np.float64, (len(urls),), -1.0, 1.0).tolist()
        if len(urls) > PAGES:
            raise BadInput(f"{len(urls)} pages are remembered, more than {PAGES}")
        passed = (_Passed(slots[place], *known) for place, *known in zip(places, examples, credited, strict=True))
        self._pages = dict(zip(urls, passed, strict=True))

    def tried(self, url: str, share: float) -> None:
        """A link on the page was tried; `share` of those tried were relevant."""
        page = self._pages.get(url)
        if page is None:
            return
        worth = DISCOUNT * share
        self._yields.credit(page.slots, worth - page.credit)
        self._logistic.relabel(page.example, worth)
        page.credit = worth

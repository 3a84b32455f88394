"""When a crawl has found what it can find: fewer than so many relevant pages in its last requests. And what it may
still find: relevant pages among the links that wait, and among the next requests.

Never how many there are in all: what is missing most of the time is not linked from anything that was visited yet.
"""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spoor.checks import text
from spoor.events import Event, Failed, Redirected, Visited

_RULE = re.compile(r"fewer than (\d{1,9})(?: in (\d{1,9}))?")
USUAL = 1000
"""Requests that a rule looks back on when it does not say how many. With half as many, crawls of recorded webs stopped
with less than half of what they would have found: see docs/stopping.md."""
SHORTEST = 500
"""Requests that it must look back on."""


@dataclass(frozen=True, slots=True)
class TooFew:
    """Fewer than `finds` relevant pages in the last `requests`."""

    finds: int
    requests: int

    def __str__(self) -> str:
        return f"fewer than {self.finds} in {self.requests}"


def stop_rule(value: Any) -> str:
    """The check of a setting: what it says, or "" for never."""
    return str(too_few(text(value))) if value != "" else ""


def too_few(rule: str) -> TooFew:
    """Raises ValueError with what would be right."""
    match = _RULE.fullmatch(rule)
    if match is None:
        raise ValueError('must be like "fewer than 5 in 1000"')
    found = TooFew(int(match[1]), int(match[2] or USUAL))
    if found.requests < SHORTEST:
        raise ValueError(f"must cover at least {SHORTEST} requests")
    if not 0 < found.finds <= found.requests:
        raise ValueError(f"must ask for 1 to {found.requests} relevant pages in {found.requests} requests")
    return found


@dataclass
class LastRequests:
    """Which of the last requests for pages brought a relevant one. `earlier` are those of the runs before, oldest
    first."""

    rule: TooFew
    earlier: Iterable[bool] = ()
    _finds: deque[bool] = field(init=False)

    def __post_init__(self) -> None:
        self._finds = deque(self.earlier, self.rule.requests)

    def note(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, Visited):
                self._finds.append(event.verdict.relevant)
            elif isinstance(event, Redirected) or (isinstance(event, Failed) and _counts(event)):
                self._finds.append(False)

    @property
    def are_too_few(self) -> bool:
        return len(self._finds) == self.rule.requests and sum(self._finds) < self.rule.finds


def _counts(failed: Failed) -> bool:
    return not failed.excused and failed.visit.purpose != "robots"


# What a crawl may still find.


TRIES = 200
"""Of the last requests, for what a key is worth. What links of a key led to long ago says little of those that are
left: the best of them are gone."""
STEEPNESS = 100.0
"""So much the slope is held to one, which it has where keys are log odds. In a drought the slope of so few finds is
noise."""
LEVEL = 0.1
FEW = 10.0
"""So many tries of a key weigh as much as the curve over all keys."""
NEWEST = 50
"""Requests of whose rate the next ones are expected to have their part."""
STEPS, FARTHEST = 25, 2.0
"""Of Newton's method; and how far it goes in one."""
MOST = 30.0
"""Log odds that differ from certainty."""

Try = tuple[float, float]
"""The first part of the key of a link when it was fetched, and how sure it is that it led to a relevant page: 0 or 1
where the judge is not one that is taught."""


@dataclass(frozen=True, slots=True)
class ExpectedFinds:
    """`among_waiting`: relevant pages to be expected among the links that wait; `next_200`, `next_500`: among the next
    requests."""

    among_waiting: float
    next_200: float
    next_500: float


def expected_finds(waiting: Mapping[float, int], tries: Sequence[Try]) -> ExpectedFinds | None:
    """`waiting`: how many links wait at each first part of a key. `tries`: the last ones, oldest first. None: nothing
    was tried."""
    known = [(key, found) for key, found in tries if math.isfinite(key)]
    if not known:
        return None
    worth = _worth(known[-TRIES:])
    links = sorted(((key, count) for key, count in waiting.items() if math.isfinite(key)), reverse=True)
    expected = sum(count * worth.of(key) for key, count in links)
    newest = [found for _, found in tries[-NEWEST:]]
    rate = sum(newest) / len(newest)
    return ExpectedFinds(expected, *(math.sqrt(_of_best(links, worth, n) * n * rate) for n in (200, 500)))


@dataclass(frozen=True, slots=True)
class _Worth:
    """The probability that a link leads to a relevant page: how often links of its key did, and where few were tried, a
    logistic function of the key. Links below all that were tried are worth nothing as yet: they are many, and how
    little each is worth nobody knows."""

    curve: _Curve
    finds: Mapping[float, float]
    tries: Mapping[float, int]
    lowest: float

    def of(self, key: float) -> float:
        if key < self.lowest:
            return 0.0
        return (self.finds.get(key, 0.0) + FEW * self.curve.at(key)) / (self.tries.get(key, 0) + FEW)


@dataclass(frozen=True, slots=True)
class _Curve:
    level: float
    slope: float

    def at(self, key: float) -> float:
        return 1.0 / (1.0 + math.exp(-max(-MOST, min(MOST, self.level + self.slope * key))))


def _worth(tries: Sequence[Try]) -> _Worth:
    finds: dict[float, float] = {}
    for key, found in tries:
        finds[key] = finds.get(key, 0.0) + found
    return _Worth(_fitted(Counter(tries)), finds, Counter(key for key, _ in tries), min(finds))


def _fitted(counts: Counter[Try]) -> _Curve:
    """To tries by Newton's method, the slope held to one."""
    level, slope = 0.0, 1.0
    for _ in range(STEPS):
        to_level, to_slope = -LEVEL * level, -STEEPNESS * (slope - 1.0)
        level2, both, slope2 = LEVEL, 0.0, STEEPNESS
        curve = _Curve(level, slope)
        for (key, found), count in counts.items():
            share = curve.at(key)
            error, bend = count * (found - share), count * share * (1.0 - share)
            to_level, to_slope = to_level + error, to_slope + error * key
            level2, both, slope2 = level2 + bend, both + bend * key, slope2 + bend * key * key
        determinant = level2 * slope2 - both * both
        level += _bounded((slope2 * to_level - both * to_slope) / determinant)
        slope += _bounded((level2 * to_slope - both * to_level) / determinant)
    return _Curve(level, slope)


def _bounded(step: float) -> float:
    return max(-FARTHEST, min(FARTHEST, step))


def _of_best(links: Iterable[tuple[float, int]], worth: _Worth, requests: int) -> float:
    """Relevant pages to be expected of so many of the best links."""
    expected, left = 0.0, requests
    for key, count in links:
        expected += min(left, count) * worth.curve.at(key)
        left -= min(left, count)
    return expected

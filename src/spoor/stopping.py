"""The stop rule: ends a crawl that found fewer than N relevant pages in its last requests. And a forecast of the
relevant pages among the waiting links and among the next requests.

It does not estimate the total: most missing relevant pages are not linked from any page visited so far.
"""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spoor.checks import text
from spoor.events import Event, Result, Visited, result_of

_RULE = re.compile(r"fewer than (\d{1,9})(?: in (\d{1,9}))?")
USUAL = 1000
"""Default window of a rule, in requests. With half of it, crawls of recorded webs stopped with less than half of what
they would have found: see docs/stopping.md."""
SHORTEST = 500
"""Minimum window, in requests."""


@dataclass(frozen=True, slots=True)
class TooFew:
    """Fewer than `finds` relevant pages in the last `requests`."""

    finds: int
    requests: int

    def __str__(self) -> str:
        return f"fewer than {self.finds} in {self.requests}"


def stop_rule(value: Any) -> str:
    """Validates the setting. Returns the rule in its full form, or "" for never."""
    return str(too_few(text(value))) if value != "" else ""


def too_few(rule: str) -> TooFew:
    """Parses a rule. Raises ValueError that states the accepted form."""
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
    """Which of the last requests for pages returned a relevant page. `earlier` are those of previous runs, oldest
    first."""

    rule: TooFew
    earlier: Iterable[bool] = ()
    _finds: deque[bool] = field(init=False)

    def __post_init__(self) -> None:
        self._finds = deque(self.earlier, self.rule.requests)

    def note(self, events: Iterable[Event]) -> None:
        for event in events:
            if result_of(event) not in (None, Result.EXCUSED):
                self._finds.append(isinstance(event, Visited) and event.verdict.relevant)

    @property
    def are_too_few(self) -> bool:
        return len(self._finds) == self.rule.requests and sum(self._finds) < self.rule.finds


# Expected finds.


TRIES = 200
"""Number of last requests from which the value of a key is estimated. Older ones say little about the links that are
left: the best of them are already fetched."""
STEEPNESS = 100.0
"""Strength of the regularisation of the slope towards 1, its value where keys are log odds. With few finds, the slope
would be noise."""
LEVEL = 0.1
FEW = 10.0
"""Number of tries of a key that have the same weight as the curve over all keys."""
NEWEST = 50
"""Number of last requests whose hit rate enters the forecast for the next ones."""
STEPS, FARTHEST = 25, 2.0
"""Iterations of Newton's method, and the largest step of one."""
MOST = 30.0
"""Log odds are clipped to this: beyond it, a probability is 0 or 1 in practice."""

Try = tuple[float, float]
"""The first part of the key of a link when it was fetched, and how far the page counts as a find: 0 or 1 unless the
judge learns from answers, else `certainty`."""


def certainty(probability: float) -> float:
    """How far a page counts as a find whose relevance is a probability: 1 if certain, 0 from one half down. Near one
    half a verdict says hardly anything, and of the pages that a judge takes for relevant many are there."""
    return max(0.0, 2.0 * probability - 1.0)


@dataclass(frozen=True, slots=True)
class ExpectedFinds:
    """Expected relevant pages: `among_waiting` among the waiting links; `next_200` and `next_500` among the next 200
    and 500 requests."""

    among_waiting: float
    next_200: float
    next_500: float


def expected_finds(waiting: Mapping[float, int], tries: Sequence[Try]) -> ExpectedFinds | None:
    """`waiting` has the number of waiting links for each first part of a key, `tries` the last tries, oldest first.
    None if there are no tries."""
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
    """The probability that a link leads to a relevant page: the hit rate of its key, smoothed towards a logistic
    function of the key where there are few tries. It is 0 below the lowest key that was tried: such links are many,
    and their small probability is unknown."""

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
    """The curve fitted to tries by Newton's method, with the slope regularised towards 1."""
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
    """Expected relevant pages in the given number of requests, best links first."""
    expected, left = 0.0, requests
    for key, count in links:
        expected += min(left, count) * worth.curve.at(key)
        left -= min(left, count)
    return expected

"""When a crawl has found what it can find: fewer than so many relevant pages in its last requests."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
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
        raise ValueError(f"must look back on at least {SHORTEST} requests")
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

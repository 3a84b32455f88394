"""Visits that brought no page: retried, given up, or excused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from spoor.crawling.access import Access
from spoor.crawling.isolation import IsolatedParts, Isolation
from spoor.events import Event, Excused, Failed, Result
from spoor.frontier.entry import TROUBLE, State
from spoor.frontier.frontier import Frontier
from spoor.pricing import Limits
from spoor.records import SOONEST, Failure, Trouble, Visit

APART_AFTER = 60.0
"""Seconds before a URL is tried once more, in isolation, after an error of spoor."""

OUTAGE = "it failed because of an outage on our side"
"""Why a failed visit does not count after all."""


class Failures:
    """Handles failed visits. `waiting` is always the length of the queue before, for the event."""

    def __init__(
        self, frontier: Frontier, access: Access, parts: IsolatedParts, isolation: Isolation, limits: Limits
    ) -> None:
        self._frontier = frontier
        self._access = access
        self._parts = parts
        self._isolation = isolation
        self._limits = limits

    def retry_or_give_up(self, visit: Visit, failure: Failure, now: float, waiting: int) -> Event:
        wait = None if failure.again_after is None else self._limits.wait_before(visit.tries, failure.again_after)
        again_at = None if wait is None else now + wait
        if failure.whole_host and again_at is not None:
            self._frontier.delay_until(visit.host, now, again_at)
        if visit.tries + 1 >= self._limits.tries:
            again_at = None
        unreached = visit.key == SOONEST and again_at is None and not failure.reason.startswith("HTTP ")
        self._frontier.settle(visit.url, now, again_at, failure.reason if unreached else "")
        self._parts.learn_miss(visit, failure.reason)
        return Failed(visit, now, failure.reason, again_at, waiting)

    def on_internal_error(self, visit: Visit, trouble: Trouble, now: float, waiting: int) -> Event:
        """After an error of spoor: the URL is tried once more, in isolation, then parked for ever. Changes made before
        the error are kept."""
        self._isolation.forget(visit.url)
        if visit.purpose == "robots":
            failed = self._access.fail(visit, Failure(trouble.reason, APART_AFTER), now, waiting)
            return replace(failed, trouble=trouble)
        again_at = None if visit.apart else now + APART_AFTER
        (entry,) = self._frontier.find([visit.url])
        if entry is None or entry.state is not State.IN_TRANSIT:
            again_at = None
        elif again_at is None:
            self._frontier.give_up(visit.url, now, trouble.reason)
        else:
            self._frontier.settle(visit.url, now, again_at, TROUBLE + trouble.reason)
        self._parts.learn_miss(visit, trouble.reason)
        return Failed(visit, now, trouble.reason, again_at, waiting, trouble=trouble)

    def excuse(self, visit: Visit, failure: Failure, now: float, waiting: int) -> Failed:
        """During an outage on our side: the URL is tried again as if it had not been visited, and nothing is
        learned."""
        if visit.purpose == "robots":
            self._frontier.end_uncounted(visit.url, now)
        else:
            self._parts.over(visit)
            self._frontier.excuse(visit.url, now)
        return Failed(visit, now, failure.reason, now, waiting, excused=True)

    def restore(self, visit: Visit, now: float) -> Iterator[Excused]:
        """The same for a visit that failed before the outage was detected."""
        if visit.purpose == "robots":
            self._access.forget(visit.url, now)
            return
        before = self._frontier.restore(visit.url, visit.tries, now)
        if before is not None and visit.purpose == "page":
            result = Result.FAILURE if before is State.SETTLED else Result.RETRY
            yield Excused(now, visit.url, OUTAGE, result)

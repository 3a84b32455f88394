"""One line about a running crawl: redrawn on a terminal, printed every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from spoor.crawl import Crawl
from spoor.events import Event, Failed, Held, Paused, Resumed, Troubled, Visited
from spoor.report.showing import duration, moment

SECONDS_BETWEEN_LINES = 10.0
SECONDS_WITHOUT_A_PAGE = 600.0
"""After which it is said that the crawl gains nothing."""


class LiveLine:
    """Counts what it is told; everything goes to standard error."""

    def __init__(self, crawl: Crawl, most: int | None, minutes: float | None = None) -> None:
        """`most` is the budget of visits and `minutes` that of time; None: there is none."""
        self._crawl, self._frontier = crawl, crawl.frontier
        self._most = most
        self._minutes = minutes
        self._began = self._told = time.monotonic()
        self._visited = self._found = self._failed = self._troubled = 0
        self._holds = 0
        self._longest: Held | None = None
        self._last_failure = ""
        self._last_page, self._nothing_told, self._told_of = self._began, False, 0
        self._live = Live(console=Console(stderr=True), transient=True, refresh_per_second=4) if _terminal() else None

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def tell(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, Visited):
                self._last_page, self._nothing_told = time.monotonic(), False
                self._visited += 1
                self._found += event.verdict.relevant
            elif isinstance(event, Failed) and not event.excused:
                self._failed += 1
                self._last_failure = f"{event.visit.url}: {event.reason}"
            elif isinstance(event, Troubled):
                self._troubled += 1
            elif isinstance(event, Held):
                self._holds += 1
                if self._longest is None or event.seconds > self._longest.seconds:
                    self._longest = event
            elif isinstance(event, Paused):
                self._say(f"nothing answers since {moment(event.since)}, the last failure was: {event.reason}; paused")
            elif isinstance(event, Resumed):
                self._say(f"something answers again after {duration(event.seconds)}; resumed")
        self.tick()

    def tick(self) -> None:
        """To be called now and then, whether or not anything happened."""
        if self._live:
            self._live.update(Text(self.line()))
        elif time.monotonic() - self._told >= SECONDS_BETWEEN_LINES and self._visited + self._failed > self._told_of:
            self._told, self._told_of = time.monotonic(), self._visited + self._failed
            self._say(self.line())
        if time.monotonic() - self._last_page >= SECONDS_WITHOUT_A_PAGE and not self._nothing_told:
            self._nothing_told = True
            self._say(self._gains_nothing())

    def _gains_nothing(self) -> str:
        wake_at = self._crawl.wake_at()
        following = "" if wake_at is None else f", the next is tried from {moment(wake_at)} on"
        failure = f"; the last failure was {self._last_failure}" if self._last_failure else ""
        waiting = f"{len(self._frontier):,} links wait{following}"
        return f"no page has come for {duration(SECONDS_WITHOUT_A_PAGE)}: {waiting}{failure}"

    def _say(self, line: str) -> None:
        if self._live:
            self._live.console.print(Text(line))
        else:
            print(line, file=sys.stderr, flush=True)

    def line(self) -> str:
        seconds = max(1e-9, time.monotonic() - self._began)
        share = self._found / self._visited if self._visited else 0.0
        done = f"{self._visited:,} pages  {self._visited / seconds:,.1f}/s  {self._found:,} wanted ({share:.0%})"
        queue = f"{len(self._frontier):,} waiting  {self._frontier.hosts_resting():,} hosts resting"
        idle = f"idle by choice {self._crawl.idle / seconds:.0%}"
        since = self._crawl.paused_since
        end = self._end(seconds) if since is None else f"paused: nothing answers since {moment(since)}"
        return f"{done}  {queue}  {self._failed:,} failed  {idle}  {end}"

    def _end(self, seconds: float) -> str:
        """What will end the crawl, and when: the budget that will be spent first."""
        ends = []
        if self._most is not None:
            left = max(0, self._most - self._frontier.spent)
            ends.append((left * seconds / max(1, self._visited), f"{left:,} visits left"))
        if self._minutes is not None:
            ends.append((max(0.0, 60 * self._minutes - seconds), f"{self._minutes:g} minutes in all"))
        if not ends:
            return "ends when nothing waits"
        soonest, why = min(ends)
        return f"ends in {soonest:,.0f} s ({why})"

    @property
    def nothing_but(self) -> str:
        """The last failure, when no page has come at all; otherwise nothing."""
        return "" if self._visited else self._last_failure

    def summary(self, ended: str, folder: Path) -> str:
        seconds = time.monotonic() - self._began
        share = f" ({self._found / self._visited:.0%})" if self._visited else ""
        done = f"{self._visited:,} pages in {seconds:,.1f} s, {self._found:,} wanted{share}"
        left = f"{self._failed:,} failed visits, {len(self._frontier):,} links still waiting"
        idle = f"for {self._crawl.idle:,.1f} s a connection was left free for better links on hosts that had to rest"
        end = f"ended because {ended}; the crawl is in {folder}"
        return "\n".join([f"{done}, {left}", idle, *self._mishaps(), end])

    def _mishaps(self) -> Iterator[str]:
        if self._troubled:
            yield f"something went wrong with {self._troubled:,} URLs by a mistake of ours; samples are in trouble/"
        if self._longest is not None:
            about = f" with {self._longest.url}" if self._longest.url else ""
            longest = f"longest {self._longest.seconds:.1f} s{about}: {self._longest.where}"
            yield f"{self._holds:,} times one thing held up everything else, {longest}"


def _terminal() -> bool:
    return sys.stderr.isatty()

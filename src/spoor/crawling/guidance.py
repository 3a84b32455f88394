"""The actions of persons that affect a crawl: pauses, blocked patterns, longer host delays.

A pattern is a host (`ads.example.org`) or a whole URL (`example.org/calendar/*`, with or without `https://`). A star
matches any characters, including none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from spoor.actions import Action, Block, Budget, Pause, SlowDown, Unblock, Unpause
from spoor.events import Steered
from spoor.frontier.frontier import Frontier
from spoor.frontier.store import FIRST_HASH
from spoor.robots import Wildcard
from spoor.urls import host_of

BLOCKED = "blocked: "
"""Prefix of the reason of a link that a person blocked; the pattern follows."""


class CrawlFacts(Protocol):
    """The facts about a crawl by which an action is accepted or refused. A frontier provides them."""

    @property
    def spent(self) -> int:
        """Number of requests that count."""
        ...

    def polite_delay(self, host: str) -> float:
        """The minimum host delay for politeness, in seconds."""
        ...


@dataclass(frozen=True, slots=True)
class Pattern:
    """A blocked pattern. It is matched against `part` of a URL: the host, the URL, or the rest after the scheme.
    `pieces` are the text between the stars."""

    text: str
    part: Literal["host", "url", "rest"]
    pieces: tuple[str, ...]

    @staticmethod
    def of(text: str) -> Pattern:
        scheme, _, rest = text.rpartition("://")
        if "/" not in rest:
            return Pattern(text, "host", tuple(rest.split("*")))
        of_url = scheme in ("http", "https")
        return Pattern(text, "url" if of_url else "rest", tuple((text if of_url else rest).split("*")))

    @property
    def host(self) -> str:
        """The single host that is blocked as a whole; "" if there is none, or may be several."""
        return self.text if self.part == "host" and len(self.pieces) == 1 else ""

    def hosts(self, known: Iterable[str]) -> list[str]:
        """The hosts that may have matching links."""
        name, star, _ = self.text.rpartition("://")[2].partition("/")[0].partition("*")
        return [host for host in known if host.startswith(name)] if star else [name]

    def fits(self, url: str) -> bool:
        what = url if self.part == "url" else host_of(url) if self.part == "host" else url.partition("://")[2]
        if len(self.pieces) == 1:
            return what == self.pieces[0]
        return Wildcard((0, False), self.pieces, anchored=True).matches(what)


@dataclass
class Guidance:
    """The current effect of all actions, which are passed to `note`. `paused_by` is "" if the crawl is not paused."""

    paused_by: str = ""
    delays: dict[str, float] = field(default_factory=dict)
    patterns: dict[str, Pattern] = field(default_factory=dict)
    unblocked: set[str] = field(default_factory=set)
    _hosts: set[str] = field(default_factory=set)
    _others: list[Pattern] = field(default_factory=list)

    @staticmethod
    def of(steered: Iterable[Steered]) -> Guidance:
        guidance = Guidance()
        for event in steered:
            if not event.refused:
                guidance.note(event.action, event.who)
        return guidance

    def note(self, action: Action, who: str) -> None:
        """Records an action that was applied."""
        match action:
            case Pause():
                self.paused_by = who
            case Unpause():
                self.paused_by = ""
            case SlowDown(host, seconds):
                self.delays[host] = seconds
            case Block(text):
                self.patterns[text] = Pattern.of(text)
                self.unblocked.discard(text)
            case Unblock(text):
                self.patterns.pop(text, None)
                self.unblocked.add(text)
        self._hosts = {pattern.host for pattern in self.patterns.values() if pattern.host}
        self._others = [pattern for pattern in self.patterns.values() if not pattern.host]

    def blocks(self, url: str) -> str:
        """The reason why a URL is not fetched; "" if it is not blocked."""
        if not self.patterns:
            return ""
        if (host := host_of(url)) in self._hosts:
            return BLOCKED + host
        found = next((pattern for pattern in self._others if pattern.fits(url)), None)
        return "" if found is None else BLOCKED + found.text

    def refusal(self, action: Action, facts: CrawlFacts) -> str:
        """Why an action cannot be applied, in one line; "" if it can."""
        match action:
            case Pause() if self.paused_by:
                return f"it is already paused, by {self.paused_by}"
            case Unpause() if not self.paused_by:
                return "it is not paused"
            case Block(text) if text in self.patterns:
                return f"{text} is already blocked"
            case Unblock(text) if text not in self.patterns:
                return f"{text} is not blocked; {self._listed()}"
            case Budget(pages, _) if pages is not None and pages <= facts.spent:
                return f"max_pages {pages:,} is not above the {facts.spent:,} requests that were made; give more"
            case SlowDown(host, seconds) if seconds < (least := facts.polite_delay(host)):
                return f"{seconds:g} s is less than the {least:g} s that politeness requires for {host}; give more"
        return ""

    def _listed(self) -> str:
        return f"blocked are: {', '.join(sorted(self.patterns))}" if self.patterns else "nothing is"


# Links that were unblocked. There may be millions, so they are readmitted in batches.


AT_ONCE = 512
"""Links readmitted in one transaction."""


class Readmission:
    """Unblocked patterns with their hosts, until all their parked links wait again. After a crash it starts over with
    every pattern that was ever unblocked."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._left: deque[tuple[str, str, int]] = deque()

    @property
    def is_over(self) -> bool:
        return not self._left

    def add(self, *patterns: str) -> None:
        for text in patterns:
            hosts = Pattern.of(text).hosts(self._frontier.host_names())
            self._left += [(host, BLOCKED + text, FIRST_HASH) for host in hosts]

    def go_on(self) -> None:
        """To be called after a commit; readmits some links, which the next commit stores."""
        if self._left:
            host, because, after = self._left.popleft()
            further = self._frontier.readmit(host, because, after, AT_ONCE)
            if further is not None:
                self._left.appendleft((host, because, further))


def carry_out(action: Action, frontier: Frontier, guidance: Guidance, readmission: Readmission, now: float) -> None:
    """Applies an action to the frontier, after `guidance` has recorded it."""
    match action:
        case Block():
            frontier.call_off(lambda robots: bool(guidance.blocks(robots)))
        case Unblock(text):
            readmission.add(text)
        case SlowDown(host, seconds):
            frontier.slow_down(host, seconds, now)

"""What persons asked of a crawl: whether it is paused, what is blocked, which hosts have a longer delay.

A pattern is a host (`ads.example.org`) or a whole URL (`example.org/calendar/*`, with or without `https://`). A star
stands for any characters, none included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from spoor.actions import Action, Block, Budget, Pause, SlowDown, Unblock, Unpause
from spoor.events import Steered
from spoor.frontier.frontier import Frontier
from spoor.robots import Wildcard
from spoor.urls import host_of

BLOCKED = "blocked: "
"""The reason of a link that a person blocked begins so; the pattern follows."""


class CrawlFacts(Protocol):
    """What must be known of a crawl to say whether it can do something. A frontier knows it."""

    @property
    def spent(self) -> int:
        """Requests that count."""
        ...

    def polite_delay(self, host: str) -> float:
        """The host delay that politeness demands, in seconds."""
        ...


@dataclass(frozen=True, slots=True)
class Pattern:
    """One that was blocked. `pieces` follow one another with anything between."""

    text: str
    pieces: tuple[str, ...]
    of_host: bool

    @staticmethod
    def of(text: str) -> Pattern:
        of_host = "/" not in text
        whole = text if of_host or "://" in text else f"*://{text}"
        return Pattern(text, tuple(whole.split("*")), of_host)

    @property
    def host(self) -> str:
        """The one host that is concerned; "": there may be several."""
        return self.text if self.of_host and len(self.pieces) == 1 else ""

    def fits(self, url: str) -> bool:
        what = host_of(url) if self.of_host else url
        if len(self.pieces) == 1:
            return what == self.pieces[0]
        return Wildcard((0, False), self.pieces, anchored=True).matches(what)


@dataclass
class Guidance:
    """Nothing was asked for when it is made; `note` is told of all that was. `paused_by` "": it is not paused."""

    paused_by: str = ""
    delays: dict[str, float] = field(default_factory=dict)
    patterns: dict[str, Pattern] = field(default_factory=dict)
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
        """It was done."""
        match action:
            case Pause():
                self.paused_by = who
            case Unpause():
                self.paused_by = ""
            case SlowDown(host, seconds):
                self.delays[host] = seconds
            case Block(text):
                self.patterns[text] = Pattern.of(text)
            case Unblock(text):
                self.patterns.pop(text, None)
        self._hosts = {pattern.host for pattern in self.patterns.values() if pattern.host}
        self._others = [pattern for pattern in self.patterns.values() if not pattern.host]

    def blocks(self, url: str) -> str:
        """The reason why a URL is not fetched; "" when nobody blocked it."""
        if not self.patterns:
            return ""
        if (host := host_of(url)) in self._hosts:
            return BLOCKED + host
        found = next((pattern for pattern in self._others if pattern.fits(url)), None)
        return "" if found is None else BLOCKED + found.text

    def refusal(self, action: Action, facts: CrawlFacts) -> str:
        """Why something cannot be done, in one line; "" when it can."""
        match action:
            case Pause() if self.paused_by:
                return f"it is paused already, by {self.paused_by}"
            case Unpause() if not self.paused_by:
                return "it is not paused"
            case Block(text) if text in self.patterns:
                return f"{text} is blocked already"
            case Unblock(text) if text not in self.patterns:
                return f"{text} is not blocked; {self._listed()}"
            case Budget(pages, _) if pages is not None and pages <= facts.spent:
                return f"max_pages {pages:,} is not above the {facts.spent:,} requests that were made; give more"
            case SlowDown(host, seconds) if seconds < (least := facts.polite_delay(host)):
                return f"{seconds:g} s is less than the {least:g} s that politeness demands for {host}; give more"
        return ""

    def _listed(self) -> str:
        return f"blocked are: {', '.join(sorted(self.patterns))}" if self.patterns else "nothing is"


def carry_out(action: Action, frontier: Frontier, guidance: Guidance, now: float) -> None:
    """What an action changes in the frontier, after `guidance` was told of it."""
    match action:
        case Block():
            frontier.call_off(lambda robots: bool(guidance.blocks(robots)))
        case Unblock(text):
            for entry in frontier.parked(BLOCKED + text, Pattern.of(text).host):
                frontier.admit(entry)
        case SlowDown(host, seconds):
            frontier.slow_down(host, seconds, now)

"""One host: whether its rules are known, how many visits are under way, how long it rests."""

from __future__ import annotations

from dataclasses import dataclass, field

from spoor.frontier.entry import Entry, Order


@dataclass(frozen=True, slots=True)
class HostRules:
    """How hosts are treated until their own rules say otherwise.

    `rest` is in seconds, from the end of one visit to the start of the next; `address_rest` the same for all hosts at
    one IP address together. `ask_first` closes every host until its robots rules are known; they are asked for again
    when they are older than `rules_last` seconds.
    """

    rest: float = 0.0
    address_rest: float = 0.0
    connections: int = 1
    ask_first: bool = False
    rules_last: float = 86_400.0


@dataclass(slots=True)
class Host:
    """Closed until its rules are known; then free, busy (no connection left) or resting (before `free_at`).

    `robots` is the text of its robots.txt, good until `robots_until`; `address` the IP address it was found at;
    `asked` how often it was asked in vain for its rules.
    `head` is the best waiting link, None when nothing waits; `head_known` is False after that link left, until the
    store was asked for the next. `order` is the place of the head; `among_heads` and `among_ready` say whether it
    stands in those queues of the frontier.
    """

    name: str
    rest: float
    closed: bool
    free_at: float = 0.0
    robots: str = ""
    robots_until: float = float("inf")
    address: str = ""
    asked: int = 0
    visiting: int = 0
    head: Entry | None = None
    head_known: bool = True
    order: Order | None = field(default=None, init=False)
    among_heads: bool = field(default=False, init=False)
    among_ready: bool = field(default=False, init=False)

    def lead(self, head: Entry | None) -> None:
        """The best waiting link is known."""
        order = None if head is None else head.order
        self.head, self.head_known = head, True
        if order != self.order:
            self.order, self.among_heads, self.among_ready = order, False, False

    def begin(self, now: float) -> None:
        self.visiting += 1
        self._rest_from(now)

    def end(self, now: float) -> None:
        self.visiting -= 1
        self._rest_from(now)

    def _rest_from(self, now: float) -> None:
        if self.rest:
            self.free_at = max(self.free_at, now + self.rest)

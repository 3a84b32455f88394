"""One host: how many visits are under way, how long it rests, which rules it waits for."""

from __future__ import annotations

from dataclasses import dataclass, field

from spoor.frontier.entry import Entry, Order


@dataclass(frozen=True, slots=True)
class HostRules:
    """How hosts are treated until their own rules say otherwise.

    `rest` is in seconds, from the end of one visit to the start of the next; `address_rest` the same for all hosts at
    one IP address together. `ask_first`: nothing is visited before the robots.txt that holds for it is known; it is
    asked for again when it is older than `rules_last` seconds.
    """

    rest: float = 0.0
    address_rest: float = 0.0
    connections: int = 1
    ask_first: bool = False
    rules_last: float = 86_400.0


@dataclass(slots=True)
class Host:
    """Free, busy (no connection left), resting (before `free_at`) or closed (a robots.txt is on its way to it).

    `rest` is ours, or what its robots.txt asks for if that is more; http and https share it. `address` is the IP
    address it was found at; `waits_for` the URL of the robots.txt without which nothing of it may be visited, "" when
    there is none. `order` is the place of the best waiting link, None when nothing waits. `head` is that link, None
    until somebody asks for it. `among_heads` and `among_ready` say if the host stands in those queues of the frontier.
    """

    name: str
    rest: float
    free_at: float = 0.0
    address: str = ""
    waits_for: str = ""
    visiting: int = 0
    order: Order | None = None
    head: Entry | None = None
    among_heads: bool = field(default=False, init=False)
    among_ready: bool = field(default=False, init=False)

    def lead(self, order: Order | None, head: Entry | None) -> bool:
        """The place of the best waiting link is known. Says whether it is another than before."""
        moved = order != self.order
        self.head, self.order = head, order
        if moved:
            self.among_heads, self.among_ready = False, False
        return moved

    def begin(self, now: float) -> None:
        self.visiting += 1
        self._rest_from(now)

    def end(self, now: float) -> None:
        self.visiting -= 1
        self._rest_from(now)

    def change_rest(self, rest: float) -> None:
        """A longer one counts from the last visit on, too."""
        if self.free_at:
            self.free_at += max(0.0, rest - self.rest)
        self.rest = rest

    def _rest_from(self, now: float) -> None:
        if self.rest:
            self.free_at = max(self.free_at, now + self.rest)

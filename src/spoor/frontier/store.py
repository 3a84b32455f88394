"""The role behind the frontier: where entries and hosts are kept. It keeps; the frontier decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from spoor.frontier.entry import Entry, State
from spoor.frontier.host import Host
from spoor.robots_files import RobotsFile


@dataclass(slots=True)
class Counters:
    """What a frontier must not forget besides entries and hosts."""

    arrivals: int = 0
    visits: int = 0
    excused: int = 0
    by_state: dict[State, int] = field(default_factory=lambda: dict.fromkeys(State, 0))


class LinkStore(Protocol):
    """Changes become durable together, at `commit`; what was saved is seen by `find` and `best` at once."""

    def find(self, urls: Sequence[str]) -> list[Entry | None]:
        """What is known of each URL, in the same order."""
        ...

    def save(self, entry: Entry) -> None:
        """Insert the entry, or note that it has changed. Its host was saved before."""
        ...

    def best(self, host: str) -> Entry | None:
        """The waiting entry of a host that is first in order; None: nothing of it waits."""
        ...

    def met_on(self, url: str, most: int) -> list[Entry]:
        """The waiting entries that were first met on a page, by arrival, up to `most`."""
        ...

    def some(self, turn: int, count: int) -> list[Entry]:
        """Up to `count` of the waiting entries that were there at the last commit, in the order they came; turn by turn
        others, and all again and again."""
        ...

    def in_state(self, state: State) -> Iterator[Entry]:
        """All entries in a state as of the last commit, by arrival. For the few that were in transit or returning when
        a crawl stopped."""
        ...

    def save_host(self, host: Host) -> None: ...

    def hosts(self) -> Iterator[Host]:
        """The hosts as saved, their heads not known."""
        ...

    def save_robots(self, file: RobotsFile, text: str) -> None:
        """What is known of a robots.txt, in place of what was."""
        ...

    def robots_files(self) -> Iterator[RobotsFile]: ...

    def robots_text(self, url: str) -> str:
        """As saved last; "" when nothing was."""
        ...

    def counters(self) -> Counters: ...

    def commit(self, counters: Counters) -> None: ...

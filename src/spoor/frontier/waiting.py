"""What a strategy may see of the links that wait."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spoor.frontier.entry import OPEN, Entry
from spoor.frontier.store import Counters, LinkStore
from spoor.records import Evidence, WaitingLink


@dataclass(frozen=True, slots=True)
class Waiting:
    """The role `WaitingLinks`."""

    store: LinkStore
    counters: Counters

    def evidence_of(self, url: str) -> Evidence | None:
        (entry,) = self.store.find([url])
        return entry.evidence if entry is not None and entry.state in OPEN else None

    def links_found_on(self, url: str, most: int) -> list[WaitingLink]:
        return _links(self.store.links_found_on(url, most))

    def some(self, most: int) -> list[WaitingLink]:
        return _links(entry for entry in self.store.some(self.counters.visits, most) if entry.hints)


def _links(entries: Iterable[Entry]) -> list[WaitingLink]:
    return [WaitingLink(entry.url, entry.evidence, entry.trail, entry.hints) for entry in entries]

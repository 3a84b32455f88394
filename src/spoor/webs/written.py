"""A web written down by hand: for tests, examples, and explaining a strategy on paper."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from spoor.records import Failure, Link, Outcome, Page, RobotsRules, Visit


@dataclass(frozen=True)
class WrittenWorld:
    """`outcomes` by URL, the URLs that are really wanted, and the seconds each host takes to answer (default none).
    `rules` is what comes for a robots.txt: by its URL, or by its host where http and https have the same."""

    outcomes: Mapping[str, Outcome]
    relevant: Collection[str] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    rules: Mapping[str, Outcome] = field(default_factory=dict)

    @staticmethod
    def of_links(links: Mapping[str, Collection[str]], relevant: Collection[str] = ()) -> WrittenWorld:
        """Pages that have nothing but links."""
        pages = {url: Page(url, links=tuple(map(Link, targets))) for url, targets in links.items()}
        return WrittenWorld(pages, relevant)

    def look(self, visit: Visit) -> tuple[Outcome, float]:
        seconds = self.seconds.get(visit.host, 0.0)
        if visit.purpose == "robots":
            return self.rules.get(visit.url) or self.rules.get(visit.host, RobotsRules()), seconds
        return self.outcomes.get(visit.url, Failure("not recorded")), seconds

    def truth(self, url: str) -> bool:
        return url in self.relevant

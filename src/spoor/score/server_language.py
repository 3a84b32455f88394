"""The language of servers, learned from the pages visited there, together with the signs seen before a visit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spoor.language.signs import sign
from spoor.language.url_signs import named_in_url
from spoor.records import Evidence, Hints, Link, Miss, Page, Sighting
from spoor.roles import Merge
from spoor.saved_state import State
from spoor.score.language_signs import MERGES, WEIGHTS, LanguageSigns, check_kinds
from spoor.score.merging import latest
from spoor.score.place_shares import PlaceShares
from spoor.urls import host_of

SERVER = 3.0
"""What the language of the server weighs, beside `WEIGHTS`."""

CAREFUL = 4.0
"""With so many links of a page leading to an unknown server, half as much is hoped for from the next."""

_UNKNOWN = 0.5


@dataclass
class ServerLanguage:
    """Adds the evidence `server`, from -1 to 1: the share of wanted pages expected in the folder of the link, among
    pages whose URL says as much for or against the language. So a server of another language does not count against its
    /ja/, and folders that were never translated are found out. Of an unknown server the first links on a page are worth
    more than the later ones: it is tried, not flooded.

    Learns from every visit; has learned nothing when it is made.
    """

    language: str
    without: tuple[str, ...] = ()
    _signs: LanguageSigns = field(init=False, repr=False, compare=False)
    _shares: PlaceShares = field(init=False, repr=False, compare=False)

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {**MERGES, "server": latest}

    def __post_init__(self) -> None:
        check_kinds(self.without, self.merge)
        self._signs = LanguageSigns(self.language, tuple(name for name in self.without if name in WEIGHTS))
        self._shares = PlaceShares()

    def learn(self, sighting: Sighting) -> None:
        self._note(sighting.page.url, sighting.is_find)

    def learn_miss(self, miss: Miss) -> None:
        self._note(miss.visit.url, False)

    def recall(self, sighting: Sighting) -> None:
        self.learn(sighting)

    def state(self) -> State:
        return self._shares.state()

    def restore(self, state: State) -> None:
        self._shares.restore(state)

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        return self._signs.hints(page, links)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        turns = _turns(sighting.page.links)
        seen = self._signs.evidence(sighting, links)
        return [
            {**signs, "server": self._server(link.url, self._kind(signs["url"]), turns.get(link.url, 0))}
            for link, signs in zip(links, seen, strict=True)
        ]

    def key(self, evidence: Evidence) -> float:
        server = 0.0 if "server" in self.without else SERVER * evidence["server"]
        return self._signs.key(evidence) + server

    def _note(self, url: str, found: bool) -> None:
        self._shares.note(url, self._kind(sign(self._signs.tag, named_in_url(url))), found)

    def _kind(self, url_sign: float) -> int:
        return 0 if "url" in self.without else (url_sign > 0) - (url_sign < 0)

    def _server(self, url: str, kind: int, turn: int) -> float:
        hoped = _UNKNOWN * CAREFUL / (CAREFUL + turn)
        # Rounded, so that a link met again is not moved for next to nothing.
        return round(2 * self._shares.expected(url, kind, hoped) - 1, 2)


def _turns(links: Sequence[Link]) -> dict[str, int]:
    """How many links of a page lead to the same host before each of them."""
    so_far: Counter[str] = Counter()
    turns = {}
    for link in links:
        host = host_of(link.url)
        turns[link.url] = so_far[host]
        so_far[host] += 1
    return turns

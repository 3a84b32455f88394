"""Order by language: signs available before a page is fetched, and the language of servers learned during the crawl."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spoor.compiled import Kernels
from spoor.errors import UsageError
from spoor.files import State
from spoor.judging.language_signs import (
    KERNELS,
    UNNAMED,
    UrlSigns,
    claimed,
    named_in_anchors,
    signs_in_anchors,
    signs_in_url,
    signs_in_urls,
    words_signs,
)
from spoor.judging.profiles import tag_of
from spoor.ordering.correlation_degree import FolderHitRates
from spoor.ordering.host_yield import HostTally
from spoor.ordering.simple import clearest, latest
from spoor.records import ADMIT, Evidence, Hints, Link, Miss, Page, Ruling, Sighting, TrailState, Visit
from spoor.roles import Merge
from spoor.urls import host_of

# Signs of a language before the visit: in URLs, in claims of links and pages, in anchors.


WEIGHTS: Mapping[str, float] = {
    "url": 3.0,
    "hreflang": 3.0,
    "anchor": 2.0,
    "domain": 1.5,
    "referrer": 1.5,
    "words": 1.0,
    "choice": 1.0,
    "page": 0.5,
}
"""The weight of each kind of evidence. Those of `url` and `anchor` are close to the coefficients of a logistic
regression over links of two recorded webs, in which `domain` and `referrer` had none; the others are set by hand."""

MERGES: Mapping[str, Merge] = {
    "url": clearest,
    "hreflang": clearest,
    "anchor": max,
    "domain": clearest,
    "referrer": max,
    "words": max,
    "choice": max,
    "page": max,
}
MANY = 5
"""A page whose links name this many languages is a language selection page."""

_HINTS = ("url", "hreflang", "anchor", "domain", "words", "page", "choice")
_CLEARLY_AGAINST = -0.5


@dataclass(frozen=True)
class LanguageSigns:
    """Evidence between -1 and 1 for each name in `WEIGHTS`; the key is their weighted sum. `language` is a tag in
    canonical spelling, or a model file.

    `url`: a code or name of a language in host, path or query. `domain`: the country. `hreflang`: the language that the
    page claims for the link. `page`: the language it claims for itself. `anchor`: the name of a language, or the
    script. `words`: the n-grams of the anchor. `choice`: the page offers many languages, and this link does not lead to
    another one. `referrer`: the page is relevant.

    `without` names kinds of evidence that are always 0, to measure their contribution.
    """

    language: str
    without: tuple[str, ...] = ()
    tag: str = field(init=False, repr=False, compare=False)

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = MERGES
    kernels: ClassVar[Kernels] = KERNELS

    def __post_init__(self) -> None:
        check_kinds(self.without, WEIGHTS)
        object.__setattr__(self, "tag", tag_of(self.language))

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        tag, others, said = self.tag, _others(page, links), [link.anchor for link in links]
        of_page, _, _ = claimed(tag, page.language)
        claims = [claimed(tag, link.hreflang) if link.hreflang else UNNAMED for link in links]
        urls = signs_in_urls(tag, [*(link.url for link in links), *(link.url for link in others)])
        urls, of_others = urls[: len(links)], urls[len(links) :]
        signs = list(zip(claims, urls, signs_in_anchors(tag, said), strict=True))
        named = {claim.tag or url.tag or anchor for claim, (url, _), (_, anchor) in signs}
        choice = choice_among(named | self._named_by(_anchors(page, others), of_others))
        hints = []
        for ((claim, _, _), ((url, _, _), country), (anchor, _)), words in zip(
            signs, words_signs(self.language, said), strict=True
        ):
            against = url < _CLEARLY_AGAINST or claim < _CLEARLY_AGAINST or anchor < _CLEARLY_AGAINST
            hints.append((url, claim, anchor, country, words, of_page, 0.0 if against else choice))
        return hints

    def _named_by(self, anchors: Sequence[tuple[str, str]], urls: Sequence[UrlSigns]) -> set[str]:
        """The languages that links name: each the one that the page claims for it, or else that of its URL, or else
        that of its anchor. `anchors` have the claimed language as well."""
        named = [
            (claim and claimed(self.tag, claim).tag) or url.tag
            for (_, claim), (url, _) in zip(anchors, urls, strict=True)
        ]
        silent = [anchor for (anchor, _), tag in zip(anchors, named, strict=True) if not tag]
        return {*named, *named_in_anchors(self.tag, silent)}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        referrer = float(sighting.verdict.relevant)
        left_out = dict.fromkeys(self.without, 0.0)
        return [dict(zip(_HINTS, link.hints, strict=True)) | {"referrer": referrer} | left_out for link in links]

    def key(self, evidence: Evidence) -> float:
        return sum(weight * evidence[name] for name, weight in WEIGHTS.items())


def _others(page: Page, links: Sequence[Link]) -> list[Link]:
    """The other links of a page."""
    known = {link.url for link in links}
    return [link for link in page.links if link.url not in known]


def _anchors(page: Page, links: Sequence[Link]) -> list[tuple[str, str]]:
    """The anchor of each link of a page, and the language that the page claims for it."""
    if page.contexts is None or not links:
        return [(link.anchor, link.hreflang) for link in links]
    return page.contexts.anchors_of(links)


def choice_among(named: set[str]) -> float:
    """How much a page whose links name these languages, or "", looks like a language selection: 0 for one language, 1
    for `MANY` or more."""
    return min(1.0, max(0, len(named - {""}) - 1) / (MANY - 1))


def check_kinds(without: Sequence[str], kinds: Mapping[str, object]) -> None:
    for name in without:
        if name not in kinds:
            raise UsageError(f"there is no evidence {name!r} to leave out; there are {', '.join(kinds)}")


# The language of servers, learned from the pages visited there, combined with the signs before a visit.


SERVER = 3.0
"""The weight of the evidence `server`, beside `WEIGHTS`."""

CAREFUL = 4.0
"""After this many links of a page to an unknown server, the optimistic prior of the next one is halved."""

_UNKNOWN = 0.5


@dataclass
class ServerLanguage:
    """Adds the evidence `server`, from -1 to 1: the expected share of relevant pages in the folder of the link, among
    pages whose URL has the same sign for or against the language. So a server in another language does not count
    against its /ja/, and folders that were never translated are detected. The first links of a page to an unknown
    server score higher than the later ones, so that the server is explored but not flooded.

    Learns from every visit; starts untrained.
    """

    language: str
    without: tuple[str, ...] = ()
    _signs: LanguageSigns = field(init=False, repr=False, compare=False)
    _shares: FolderHitRates = field(init=False, repr=False, compare=False)

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {**MERGES, "server": latest}
    kernels: ClassVar[Kernels] = KERNELS

    def __post_init__(self) -> None:
        check_kinds(self.without, self.merge)
        self._signs = LanguageSigns(self.language, tuple(name for name in self.without if name in WEIGHTS))
        self._shares = FolderHitRates()

    def learn(self, sighting: Sighting) -> None:
        self._note(sighting.page.url, sighting.is_find)

    def learn_miss(self, miss: Miss) -> None:
        self._note(miss.visit.url, False)

    relearn = learn

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
        self._shares.note(url, self._kind(signs_in_url(self._signs.tag, url)[0].sign), found)

    def _kind(self, url_sign: float) -> int:
        return 0 if "url" in self.without else (url_sign > 0) - (url_sign < 0)

    def _server(self, url: str, kind: int, turn: int) -> float:
        optimistic = _UNKNOWN * CAREFUL / (CAREFUL + turn)
        # Rounded, so that negligible changes do not move a link that is found again.
        return round(2 * self._shares.expected(url, kind, optimistic) - 1, 2)


def _turns(links: Sequence[Link]) -> dict[str, int]:
    """For each link of a page, the number of links to the same host before it."""
    so_far: Counter[str] = Counter()
    turns = {}
    for link in links:
        host = host_of(link.url)
        turns[link.url] = so_far[host]
        so_far[host] += 1
    return turns


# Servers of other languages are abandoned after a while.


SIGNS = ("url", "hreflang", "anchor")
"""Evidence of `LanguageSigns` that admits a link nevertheless."""


@dataclass
class AbandonedServers(HostTally):
    """Parks links to a server if at least `patience` pages were visited there and fewer than one in `patience` was
    relevant, unless a sign supports the link itself; found again with such a sign, it is admitted. Learns from every
    visit; starts untrained."""

    patience: int = 50

    def __post_init__(self) -> None:
        if self.patience < 1:
            raise UsageError(f"patience={self.patience}: at least 1 page must be visited before a server is given up")

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return self._ruling(host_of(link.url), evidence)

    def at_pop(self, visit: Visit) -> Ruling:
        return self._ruling(visit.host, visit.evidence)

    def _ruling(self, host: str, evidence: Evidence) -> Ruling:
        visits, relevant = self.tally(host)
        left = visits >= self.patience and relevant * self.patience < visits
        if not left or any(evidence.get(name, 0.0) > 0 for name in SIGNS):
            return ADMIT
        return Ruling("park", f"{relevant} of {visits} pages of {host} were relevant: the server is given up")

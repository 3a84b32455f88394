"""The hyperlink correlation degree: scores a link before it is fetched, in four aspects (Ma, Yan, Zhang, Yang).

S = w_p rel(P) + w_a Sim(anchor, topic) + w_u Sim(words of the URL, topic) + w_c 2^(-hops)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Protocol
from urllib.parse import unquote

import numpy as np

from spoor.compiled import Kernels
from spoor.errors import UsageError
from spoor.files import State, array_in, as_counts, counts_in, texts_in
from spoor.judging.profile_search import KERNELS, recogniser
from spoor.ordering.simple import first, total
from spoor.parse.words import Words, place
from spoor.records import Evidence, Hints, Link, Page, Sighting
from spoor.roles import Comparing, Merge
from spoor.strategy import kernels_of
from spoor.urls import host_of

# Similarity of texts to a language: for strategies that compare link texts, if the target is a language.


@dataclass(frozen=True)
class LikeLanguage:
    """`language` is a BCP-47 tag or a model file."""

    language: str

    kernels: ClassVar[Kernels] = KERNELS

    def similarities(self, texts: Sequence[str]) -> list[float]:
        found: list[float] = recogniser(self.language).similarities(texts).tolist()
        return found


# The words of a URL, as a text that can be compared with a topic.


SAYS_NOTHING = frozenset(
    ("http", "https", "www", "com", "org", "net", "html", "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "cgi")
)
"""Words of a URL without meaning for the topic."""

_NO_LETTERS = re.compile(r"[\x00-@\[-`{-\x7f]+")
"""ASCII digits and punctuation; everything beyond ASCII counts as letters."""
_INSIDE = re.compile("(?<=[a-z])(?=[A-Z])")
"""Word boundaries in camel case, such as AfricanGeography."""


@lru_cache(1 << 16)
def url_words(url: str) -> str:
    """In lower case, without digits, separated by spaces."""
    words = _NO_LETTERS.split(_INSIDE.sub(" ", unquote(url)).lower())
    return " ".join(word for word in words if word and word not in SAYS_NOTHING)


# Features of a link before it is fetched: the words of its URL, of its anchor, and around it, each with its kind.


ANY_LINK = 0.0
"""A feature of every link, so that the features are never empty."""
_WORDS = Words()


def said_by(link: Link) -> Hints:
    """The hash of each word, below `PLACES` of `spoor.parse.words`; without duplicates."""
    return (ANY_LINK, *sorted({float(place(word)) for word in _words(link)}))


def said_by_url(url: str) -> Hints:
    return said_by(Link(url))


def _words(link: Link) -> Iterator[str]:
    for kind, text in (("url", url_words(link.url)), ("anchor", link.anchor), ("around", f"{link.left} {link.right}")):
        for word in _WORDS.of(text):
            yield f"{kind}: {word}"


# Share of relevant pages among those visited on a host, and in its folders.


FOLDERS = 3
"""Number of leading folders of a path that are counted separately."""

TRUST = 4.0
"""Weight of the prior expectation, in visits."""


class FolderHitRates:
    """Counts visits and relevant pages, separately for each `kind` of page. A folder with few visits is expected to
    have the share of its parent."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, int], tuple[int, int]] = {}

    def note(self, url: str, kind: int, relevant: bool) -> None:
        for folder in _folders(url):
            visits, found = self._counts.get((folder, kind), (0, 0))
            self._counts[folder, kind] = (visits + 1, found + relevant)

    def state(self) -> State:
        return {
            "places": [place for place, _ in self._counts],
            "kinds": as_counts(kind for _, kind in self._counts),
            "visits": as_counts(visits for visits, _ in self._counts.values()),
            "found": as_counts(found for _, found in self._counts.values()),
        }

    def restore(self, state: State) -> None:
        places = texts_in(state, "places")
        kinds = array_in(state, "kinds", np.int64, (len(places),), -1, 1).tolist()
        visits, found = (counts_in(state, name, len(places)) for name in ("visits", "found"))
        named = zip(places, kinds, strict=True)
        self._counts = dict(zip(named, zip(visits, found, strict=True), strict=True))

    def expected(self, url: str, kind: int, elsewhere: float) -> float:
        """The share of relevant pages expected in the folder of `url`, from 0 to 1; `elsewhere` is the prior of an
        unknown host."""
        share = elsewhere
        for folder in _folders(url):
            visits, found = self._counts.get((folder, kind), (0, 0))
            share = (found + TRUST * share) / (visits + TRUST)
        return share


def _folders(url: str) -> Iterator[str]:
    """The host, then its folders, each with its parents."""
    yield (place := host_of(url))
    for folder in url.partition("?")[0].split("/")[3:-1][:FOLDERS]:
        place = f"{place}/{folder}"
        yield place


# Four aspects of a link before it is fetched: the referring page, its anchor, its URL, and its distance from the most
# relevant pages found.


@dataclass(frozen=True)
class Shares:
    """The weight of each aspect; the sum is 1."""

    parent: float = 0.25
    anchor: float = 0.25
    url: float = 0.25
    chain: float = 0.25

    def __post_init__(self) -> None:
        shares = (self.parent, self.anchor, self.url, self.chain)
        if not min(shares) >= 0 or not abs(sum(shares) - 1) < 1e-6:
            shown = f"parent={self.parent:g}, anchor={self.anchor:g}, url={self.url:g}, chain={self.chain:g}"
            raise UsageError(f"the shares of the aspects of a link are 0 or more and add up to 1, not {shown}")


ALIKE = Shares()


@dataclass(frozen=True)
class Aspects:
    """`topic` defines relevance. Every aspect is between 0 and 1. If several pages contain a link, each aspect has its
    largest value.

    The aspect `chain` needs the trail `ChainHops`; without it, it is 0.
    """

    topic: Comparing
    shares: Shares = ALIKE

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"parent": max, "anchor": max, "url": max, "chain": max}

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        """Similarities of anchor and URL, in one batch per page; repeated texts, as in menus, are compared once."""
        said = [(link.anchor, url_words(link.url)) for link in links]
        texts = list(dict.fromkeys(text for pair in said for text in pair))
        near = dict(zip(texts, map(float, self.topic.similarities(texts)), strict=True))
        return [(near[anchor], near[url]) for anchor, url in said]

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        parent, hops = sighting.verdict.relevance, sighting.trail
        chain = 0.0 if hops is None else 2.0**-hops
        return [
            {"parent": parent, "anchor": anchor, "url": url, "chain": chain}
            for anchor, url in (link.hints for link in links)
        ]

    def key(self, evidence: Evidence) -> float:
        shares = self.shares
        said = shares.anchor * evidence["anchor"] + shares.url * evidence["url"]
        return shares.parent * evidence["parent"] + said + shares.chain * evidence["chain"]


# The hyperlink correlation degree for a language: how Mongolian (for example) a link looks before it is fetched.


MERGES: Mapping[str, Merge] = {"max": max, "first": first}
PARENTS = ("text", "link")


class Likeness(Protocol):
    """Measures similarity to the target language."""

    def similarities(self, texts: Sequence[str]) -> Iterable[float]:
        """The similarity of each text to the language, from 0 to 1; 0 for a text without evidence."""
        ...


@dataclass(frozen=True)
class Weights:
    """The weights of the anchor text, the parents and the depth; the sum is 1."""

    text: float = 0.5
    parents: float = 0.3
    depth: float = 0.2

    def __post_init__(self) -> None:
        shown = f"t={self.text:g}, s={self.parents:g}, d={self.depth:g}"
        if not min(self.text, self.parents, self.depth) >= 0:
            raise UsageError(f"the weights of a correlation degree are 0 or more, not {shown}")
        if not math.isclose(self.text + self.parents + self.depth, 1, abs_tol=1e-6):
            raise UsageError(f"the weights of a correlation degree add up to 1; {shown} do not")


@dataclass(frozen=True)
class CorrelationDegree:
    """R = w_t R_t + w_s R_s + w_d R_d, from 0 to 1: similarity of the anchor, the sum over the parents of their own
    degree divided by the number of their links, and the inverse of the depth of the URL.

    `merge_anchors` is which anchor counts if several pages link to a URL, `max` or `first`. `parent_degree` is the
    degree of a parent: the similarity of its text to the language (`text`), or the degree under which it was queued
    (`link`; for a seed, which has none, the text). `cap` is the upper bound of R_s inside R.
    """

    likeness: Likeness
    weights: Weights = Weights()
    merge_anchors: str = "max"
    parent_degree: str = "text"
    cap: float = 1.0

    reads_content: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.merge_anchors not in MERGES:
            raise UsageError(f"merge={self.merge_anchors} is not known; anchors are merged by {' or '.join(MERGES)}")
        if self.parent_degree not in PARENTS:
            raise UsageError(f"parent={self.parent_degree} is not known; parents count by {' or '.join(PARENTS)}")
        if not self.cap > 0:
            raise UsageError(f"cap={self.cap:g} ignores the parents; give more than 0, or inf for no cap")

    @property
    def kernels(self) -> Kernels:
        return kernels_of(self.likeness)

    @property
    def merge(self) -> Mapping[str, Merge]:
        return {"anchor": MERGES[self.merge_anchors], "parents": total, "depth": first}

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        """Similarities of the anchor and of the whole page. One batch per page; repeated texts are compared once."""
        texts = list(dict.fromkeys([page.text, *[link.anchor for link in links]]))
        likeness = dict(zip(texts, map(float, self.likeness.similarities(texts)), strict=True))
        return [(likeness[link.anchor], likeness[page.text]) for link in links]

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [
            {
                "anchor": anchor,
                "parents": self._degree_of_parent(sighting, text) / sighting.page.out_degree,
                "depth": 1 / path_size(link.url),
            }
            for link, (anchor, text) in ((link, link.hints) for link in links)
        ]

    def key(self, evidence: Evidence) -> float:
        parents = min(evidence["parents"], self.cap)
        weights = self.weights
        return weights.text * evidence["anchor"] + weights.parents * parents + weights.depth * evidence["depth"]

    def _degree_of_parent(self, sighting: Sighting, text: float) -> float:
        queued_by = sighting.visit.evidence
        return self.key(queued_by) if self.parent_degree == "link" and queued_by else text


def path_size(url: str) -> int:
    """The number of slashes in the path of a normalised URL: 1 for `http://a/` and `http://a/b.html`."""
    return url.partition("?")[0].count("/") - 2

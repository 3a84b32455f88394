"""The hyperlink correlation degree: how Mongolian (or whatever is wanted) a link looks before it is followed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from spoor.errors import UsageError
from spoor.records import Evidence, Hints, Link, Page, Sighting
from spoor.roles import Merge
from spoor.score.merging import first, total

MERGES: Mapping[str, Merge] = {"max": max, "first": first}
PARENTS = ("text", "link")


class Likeness(Protocol):
    """Knows the wanted language."""

    def similarities(self, texts: Sequence[str]) -> Iterable[float]:
        """For each text how much it is like the language, from 0 to 1; 0 when it says nothing."""
        ...


@dataclass(frozen=True)
class Weights:
    """What the anchor text, the parents and the depth count for; together 1."""

    text: float = 0.5
    parents: float = 0.3
    depth: float = 0.2

    def __post_init__(self) -> None:
        told = f"t={self.text:g}, s={self.parents:g}, d={self.depth:g}"
        if not min(self.text, self.parents, self.depth) >= 0:
            raise UsageError(f"the weights of a correlation degree are 0 or more, not {told}")
        if not math.isclose(self.text + self.parents + self.depth, 1, abs_tol=1e-6):
            raise UsageError(f"the weights of a correlation degree add up to 1; {told} do not")


@dataclass(frozen=True)
class CorrelationDegree:
    """R = w_t R_t + w_s R_s + w_d R_d, from 0 to 1: likeness of the anchor, sum over the parents of their own degree
    shared out among their links, and the inverse of the depth of the URL.

    `merge_anchors` says which anchor counts when several pages link to a URL, `max` or `first`. `parent_degree` is
    what a parent has to share out: how much its text is like the language (`text`), or the degree under which it was
    queued itself (`link`; for a seed, which has none, the text). `cap` is the most that R_s can be inside R.
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
            raise UsageError(f"cap={self.cap:g} leaves nothing of the parents; give more than 0, or inf for no cap")

    @property
    def merge(self) -> Mapping[str, Merge]:
        return {"anchor": MERGES[self.merge_anchors], "parents": total, "depth": first}

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        """The likeness of the anchor and of the whole page. One batch for a page; what menus repeat is read once."""
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
    """How many slashes the path of a normalised URL has: 1 for `http://a/` and `http://a/b.html`."""
    return url.partition("?")[0].count("/") - 2

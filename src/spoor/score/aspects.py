"""How a link looks before it is followed, in four aspects: the page it stands on, its anchor, its URL, and how near it
is to the most relevant pages found.

    S = w_p rel(P) + w_a Sim(anchor, topic) + w_u Sim(words of the URL, topic) + w_c 2^(-hops)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.errors import UsageError
from spoor.records import Evidence, Hints, Link, Page, Sighting
from spoor.roles import Comparing, Merge
from spoor.score.url_words import url_words


@dataclass(frozen=True)
class Shares:
    """What each aspect counts for; together 1."""

    parent: float = 0.25
    anchor: float = 0.25
    url: float = 0.25
    chain: float = 0.25

    def __post_init__(self) -> None:
        shares = (self.parent, self.anchor, self.url, self.chain)
        if not min(shares) >= 0 or not abs(sum(shares) - 1) < 1e-6:
            told = f"parent={self.parent:g}, anchor={self.anchor:g}, url={self.url:g}, chain={self.chain:g}"
            raise UsageError(f"the shares of the aspects of a link are 0 or more and add up to 1, not {told}")


@dataclass(frozen=True)
class Aspects:
    """`topic` knows what is wanted. Every aspect is between 0 and 1. A link that several pages hold is looked at from
    its best side: each aspect is the largest that was seen.

    The aspect `chain` goes with the trail `ChainHops`; without that trail it is 0.
    """

    topic: Comparing
    shares: Shares = Shares()

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"parent": max, "anchor": max, "url": max, "chain": max}

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        """Anchor and URL, in one batch for a page; what menus repeat is read once."""
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

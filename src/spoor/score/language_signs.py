"""Signs of a language that are seen before the visit: in URLs, in what links and pages claim, in anchors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

from spoor.errors import UsageError
from spoor.language.anchor_signs import named_in_anchor, script_sign, words_signs
from spoor.language.known import tag_of
from spoor.language.meanings import Meanings
from spoor.language.signs import claimed, sign
from spoor.language.url_signs import domain_sign, named_in_url
from spoor.records import Evidence, Hints, Link, Page, Sighting
from spoor.roles import Merge
from spoor.score.merging import clearest

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
"""How much each kind of evidence moves a link. Those of `url` and `anchor` are near the factors of a logistic
regression over links of two recorded webs, which had no use for `domain` and `referrer`; the others are set by hand."""

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
"""A page whose links name so many languages is one where languages are chosen."""

_HINTS = ("url", "hreflang", "anchor", "domain", "words", "page", "choice")
_CLEARLY_AGAINST = -0.5


@dataclass(frozen=True)
class LanguageSigns:
    """Evidence between -1 and 1 for each name in `WEIGHTS`; the key is their weighted sum. `language` is a tag in its
    one spelling, or a model file.

    `url`: a code or name of a language in host, path or query. `domain`: the country. `hreflang`: what the page claims
    for the target. `page`: what it claims for itself. `anchor`: the name of a language, or the script. `words`: the
    n-grams of the anchor. `choice`: the page offers many languages, and this link does not lead to another one.
    `referrer`: the page is relevant.

    `without` names kinds of evidence that are always 0, so that their worth can be seen.
    """

    language: str
    without: tuple[str, ...] = ()
    tag: str = field(init=False, repr=False, compare=False)

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = MERGES

    def __post_init__(self) -> None:
        check_kinds(self.without, WEIGHTS)
        object.__setattr__(self, "tag", tag_of(self.language))

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        of_page = sign(self.tag, claimed(page.language))
        on_page = [_of_link(self.tag, link.url, link.hreflang, link.anchor) for link in page.links]
        choice = choice_among({named for *_, named in on_page if named})
        of_links = on_page
        if links is not page.links:
            of_links = [_of_link(self.tag, link.url, link.hreflang, link.anchor) for link in links]
        words = words_signs(self.language, [link.anchor for link in links])
        return [
            (
                url,
                claim,
                anchor,
                country,
                of_words,
                of_page,
                0.0 if min(url, claim, anchor) < _CLEARLY_AGAINST else choice,
            )
            for (url, claim, anchor, country, _), of_words in zip(of_links, words, strict=True)
        ]

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        referrer = float(sighting.verdict.relevant)
        left_out = dict.fromkeys(self.without, 0.0)
        return [dict(zip(_HINTS, link.hints, strict=True)) | {"referrer": referrer} | left_out for link in links]

    def key(self, evidence: Evidence) -> float:
        return sum(weight * evidence[name] for name, weight in WEIGHTS.items())


@lru_cache(1 << 14)
def _of_link(tag: str, url: str, hreflang: str, anchor: str) -> tuple[float, float, float, float, str]:
    """What a link says wherever it stands, and the language that it names most clearly; the pages of a site go on
    naming the same links."""
    in_url, claim, in_anchor = named_in_url(url), claimed(hreflang), named_in_anchor(anchor)
    of_anchor = sign(tag, in_anchor) or script_sign(tag, anchor)
    return (
        sign(tag, in_url),
        sign(tag, claim),
        of_anchor,
        domain_sign(tag, url),
        _clearest(claim or in_url or in_anchor),
    )


def _clearest(means: Meanings) -> str:
    return max(means, key=means.__getitem__) if means else ""


def choice_among(named: set[str]) -> float:
    """How much a page whose links name these languages looks like one where languages are chosen: 1 from `MANY`
    languages on, 0 for one."""
    return min(1.0, max(0, len(named) - 1) / (MANY - 1))


def check_kinds(without: Sequence[str], kinds: Mapping[str, object]) -> None:
    for name in without:
        if name not in kinds:
            raise UsageError(f"there is no evidence {name!r} to leave out; there are {', '.join(kinds)}")

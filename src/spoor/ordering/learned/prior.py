"""The prior of each link, before the first visit: signs of the target language, words of the target topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from spoor.compiled import Kernels
from spoor.files import SUFFIX
from spoor.judging.language_tags import read_tag
from spoor.ordering.language_order import WEIGHTS, LanguageSigns
from spoor.ordering.learned import topic_words
from spoor.ordering.learned.topic_words import TopicWords
from spoor.records import Hints, Link, Page, TargetPrior

_IN_URL, _IN_ANCHOR, _AROUND, _ON_PAGE = 2.0, 2.0, 0.5, 2.0
_NAMED = (0.0, 1.0, 1.5, 2.0)
"""By the number of words of the target in a text: all pages of an encyclopedia name its subject, few the relevant
one."""
_URL, _HREFLANG, _ANCHOR, _DOMAIN, _WORDS, _PAGE, _CHOICE = (
    WEIGHTS[name] for name in ("url", "hreflang", "anchor", "domain", "words", "page", "choice")
)


@dataclass(frozen=True)
class LinkPrior:
    """The prior of each link, in log odds; 0 if the target has neither language nor words."""

    target_prior: TargetPrior
    _language: LanguageSigns | None = field(init=False, repr=False, compare=False, default=None)
    _words: TopicWords = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        language = self.target_prior.language
        if language.endswith(SUFFIX) or read_tag(language):
            object.__setattr__(self, "_language", LanguageSigns(language))
        object.__setattr__(self, "_words", TopicWords(self.target_prior.words))

    @property
    def kernels(self) -> Kernels:
        of_language = () if self._language is None else self._language.kernels
        return (*of_language, *(topic_words.KERNELS if self._words else ()))

    def of(self, page: Page, links: Sequence[Link]) -> list[tuple[float, float]]:
        """For each link its prior, and the part of it that is due to the URL: on a host with several languages, folders
        in one language say nothing about those in another."""
        if self._language is None:
            return [(said, 0.0) for said in self._by_words(page, links)] if self._words else [(0.0, 0.0)] * len(links)
        signs = [_weighed(of_link) for of_link in self._language.hints(page, links)]
        if not self._words:
            return signs
        return [(sign + said, url) for (sign, url), said in zip(signs, self._by_words(None, links), strict=True)]

    def _by_words(self, page: Page | None, links: Sequence[Link]) -> list[float]:
        """By words of the target in the URL, the anchor and the context of each link, and on the page unless None."""
        texts = ["" if page is None else f"{page.title} {_path(page.url)}"]
        for link in links:
            texts += (_path(link.url), link.anchor, f"{link.left} {link.right} {link.heading}")
        named = [_NAMED[count] for count in self._words.counts(texts)]
        on_page = _ON_PAGE * named[0]
        return [
            _IN_URL * in_url + _IN_ANCHOR * in_anchor + _AROUND * around + on_page
            for in_url, in_anchor, around in zip(named[1::3], named[2::3], named[3::3], strict=True)
        ]


def _weighed(hints: Hints) -> tuple[float, float]:
    """The weighted sum of all signs, and the sign of the URL. Without a loop: this runs for every link found."""
    url, claim, anchor, domain, words, page, choice = hints
    signs = _URL * url + _HREFLANG * claim + _ANCHOR * anchor + _DOMAIN * domain
    return signs + _WORDS * words + _PAGE * page + _CHOICE * choice, url


def _path(url: str) -> str:
    return url.partition("://")[2].partition("/")[2]

"""The prior of each link, before the first visit: signs of the target language, words of the target topic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from spoor.files import SUFFIX
from spoor.judging.language_tags import read_tag
from spoor.ordering.language_order import WEIGHTS, LanguageSigns
from spoor.records import Hints, Link, Page, TargetPrior

_WORD = re.compile(r"[^\W_]+")
_BEGINS, _ENDS = r"(?<![^\W_])", r"(?![^\W_])"
"""Word boundaries."""
_STEM = 5
"""Length of a stem in letters: biolo, of biology and biological."""
_IN_URL, _IN_ANCHOR, _AROUND, _ON_PAGE = 2.0, 2.0, 0.5, 2.0
_URL, _HREFLANG, _ANCHOR, _DOMAIN, _WORDS, _PAGE, _CHOICE = (
    WEIGHTS[name] for name in ("url", "hreflang", "anchor", "domain", "words", "page", "choice")
)


@dataclass(frozen=True)
class LinkPrior:
    """The prior of each link, in log odds; 0 if the target has neither language nor words."""

    target_prior: TargetPrior
    _language: LanguageSigns | None = field(init=False, repr=False, compare=False, default=None)
    _words: frozenset[str] = field(init=False, repr=False, compare=False, default=frozenset())
    _pattern: re.Pattern[str] = field(init=False, repr=False, compare=False, default=_WORD)

    def __post_init__(self) -> None:
        language = self.target_prior.language
        if language.endswith(SUFFIX) or read_tag(language):
            object.__setattr__(self, "_language", LanguageSigns(language))
        stems = frozenset(word[:_STEM] for word in self.target_prior.words if _WORD.fullmatch(word[:_STEM]))
        object.__setattr__(self, "_words", stems)
        object.__setattr__(self, "_pattern", _pattern(stems))

    def of(self, page: Page, links: Sequence[Link]) -> list[tuple[float, float]]:
        """For each link its prior, and the part of it that is due to the URL: on a host with several languages, folders
        in one language say nothing about those in another."""
        if self._language is None:
            of_page = _ON_PAGE * self._named(f"{page.title} {_path(page.url)}") if self._words else 0.0
            return [(self._by_words(link) + of_page, 0.0) for link in links]
        hints = self._language.hints(page, links)
        signs = [_weighed(of_link) for of_link in hints]
        if not self._words:
            return signs
        return [(sign + self._by_words(link), url) for (sign, url), link in zip(signs, links, strict=True)]

    def _by_words(self, link: Link) -> float:
        if not self._words:
            return 0.0
        in_url = self._named(_path(link.url))
        around = self._named(f"{link.left} {link.right} {link.heading}")
        return _IN_URL * in_url + _IN_ANCHOR * self._named(link.anchor) + _AROUND * around

    def _named(self, text: str) -> float:
        """1 for one word of the target, ½ more for each further one, at most 2: all pages of an encyclopedia name its
        subject, few the relevant one."""
        said = text.lower()
        # Most texts contain none of the stems, which the substring test finds out faster.
        if not any(map(said.__contains__, self._words)):
            return 0.0
        named = len({*self._pattern.findall(said)})
        return min(2.0, (1 + named) / 2) if named else 0.0


def _pattern(stems: frozenset[str]) -> re.Pattern[str]:
    """Words that begin with a stem; a stem shorter than `_STEM` must be a whole word."""
    return re.compile(
        f"{_BEGINS}(?:{'|'.join(stem if len(stem) == _STEM else stem + _ENDS for stem in sorted(stems))})"
    )


def _weighed(hints: Hints) -> tuple[float, float]:
    """The weighted sum of all signs, and the sign of the URL. Without a loop, because this runs for every link found."""
    url, claim, anchor, domain, words, page, choice = hints
    signs = _URL * url + _HREFLANG * claim + _ANCHOR * anchor + _DOMAIN * domain
    return signs + _WORDS * words + _PAGE * page + _CHOICE * choice, url


def _path(url: str) -> str:
    return url.partition("://")[2].partition("/")[2]

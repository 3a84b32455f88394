"""The topic of a page by the ontology terms it contains, weighted by importance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import ClassVar

from spoor.errors import UsageError
from spoor.judging.term_finder import Finder, Match, tokens
from spoor.judging.topic_judges import HEADINGS, IN_HEADING, IN_TITLE, SHORTEST
from spoor.parse.words import is_unspaced, word_count
from spoor.records import Page, TargetPrior, Verdict
from spoor.roles import Translator
from spoor.strategy import PageByPage

ENOUGH, FOR_EACH_FORM = 0.1, 0.0055
"""Summed importance of the terms found, divided by the square root of the number of words, at a relevance of 0.5: one
term of importance 1 in 100 words, three in a thousand. An ontology with many forms matches some on every page, so above
330 forms the value grows with the square root of their number. Measured (docs/ontologies.md)."""
PRIOR_TERMS = 20
"""Terms of the target prior."""
TEXT = "text"
COUNTS = {"title": IN_TITLE, "headings": IN_HEADING - 1, TEXT: 1}
"""Weight of a term by its position. A heading is also part of the text."""
SHOWN = 3
AROUND = 3
"""Words shown on each side of a term, without stop words."""


@dataclass(frozen=True)
class _Held:
    """The terms found in one part of a page."""

    tokens: list[str]
    matches: list[Match]
    worth: float


@dataclass(frozen=True)
class OntologyTerms(PageByPage):
    """Relevant at `least` or more. The `transcriber` first translates texts into the language of the ontology."""

    finder: Finder
    least: float = 0.5
    transcriber: Translator | None = None
    _target_prior: TargetPrior = field(init=False, repr=False, compare=False)
    _enough: float = field(init=False, repr=False, compare=False)

    reads_content: ClassVar[bool] = True
    reads_main_text: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0.0 < self.least <= 1.0:
            raise UsageError(f"least={self.least:g} is not a relevance above 0 and up to 1")
        forms = sum(len(term.forms) for term in self.finder.ontology.terms)
        object.__setattr__(self, "_enough", max(ENOUGH, FOR_EACH_FORM * math.sqrt(forms)))
        object.__setattr__(self, "_target_prior", TargetPrior(words=self.finder.ontology.most_important(PRIOR_TERMS)))

    @property
    def waits(self) -> bool:
        return self.transcriber is not None and self.transcriber.waits

    @property
    def target_prior(self) -> TargetPrior:
        return self._target_prior

    def similarities(self, texts: Sequence[str]) -> list[float]:
        worth = [self._held(text).worth for text in self._read(texts)]
        return [self._relevance(one, max(1, word_count(text))) for one, text in zip(worth, texts, strict=True)]

    def verdict(self, page: Page) -> Verdict:
        headings = "\n".join(page.tag_texts.get(tag, "") for tag in HEADINGS)
        read = self._read((page.title, headings, page.best_text))
        places = dict(zip(COUNTS, map(self._held, read), strict=True))
        words = word_count(page.best_text)
        worth = sum(COUNTS[place] * held.worth for place, held in places.items())
        relevance = self._relevance(worth, max(SHORTEST, words))
        return Verdict(relevance, relevance >= self.least, self._because(places, words))

    def _read(self, texts: Sequence[str]) -> Sequence[str]:
        return texts if self.transcriber is None else self.transcriber.translate(texts)

    def _held(self, text: str) -> _Held:
        cut = tokens(text)
        matches = self.finder.matches(cut)
        return _Held(cut, matches, self.finder.worth(matches))

    def _relevance(self, worth: float, words: int) -> float:
        """Longer pages contain more terms, but not in proportion to their length; hence the square root."""
        density = worth / math.sqrt(words)
        return density / (density + self._enough)

    def _because(self, places: Mapping[str, _Held], words: int) -> str:
        """The concepts with the highest weight on the page: how often each is mentioned, and where."""
        found: dict[str, list[tuple[str, Match]]] = {}
        worth: dict[str, float] = {}
        for place, held in places.items():
            for match in held.matches:
                term = self.finder.ontology.terms[match.term]
                found.setdefault(term.name, []).append((place, match))
                worth[term.name] = worth.get(term.name, 0.0) + COUNTS[place] * term.importance
        if not found:
            return f"none of the terms of {self.finder.ontology.name} in {words} words"
        most = sorted(worth, key=lambda name: -worth[name])[:SHOWN]
        mentions = [f"{name} {len(found[name])} ({_where(found[name], places[TEXT].tokens)})" for name in most]
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        return f"{', '.join(mentions)}{more} in {words} words"


def _where(found: Sequence[tuple[str, Match]], text: list[str]) -> str:
    """Title and headings by name; the text by the words around the first mention."""
    above = dict.fromkeys(place for place, _ in found if place != TEXT)
    quoted = (text[max(0, one.start - AROUND) : one.end + AROUND] for place, one in found if place == TEXT)
    return "; ".join([*above, *(f"“{_joined(words)}”" for words in islice(quoted, 1))])


def _joined(words: list[str]) -> str:
    """Joins tokens, with spaces except within scripts that have none."""
    said = words[0]
    for before, after in pairwise(words):
        said += after if is_unspaced(before[-1]) and is_unspaced(after[0]) else f" {after}"
    return said

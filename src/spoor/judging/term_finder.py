"""Finds the terms of an ontology in a text, and their total importance.

    OBRS = Σ over terms: times in the text · importance

One pass over the text finds all forms of all terms (Aho-Corasick), however many thousands there are.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from spoor.errors import BadInput, MissingExtra, UsageError
from spoor.judging.ontology import Ontology
from spoor.parse.words import STOP_WORDS, UNSPACED, any_word, folded, is_unspaced

# Tokens for term lookup: words in lower case, without punctuation and English stop words. In a script without spaces
# every letter is a token, so a term is found wherever its letters are adjacent, without word segmentation.


STOP = frozenset(STOP_WORDS["en"].split())
_ASCII_WORD = re.compile("[a-z0-9]+")
_UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_PIECE = re.compile(f"[{UNSPACED}]|[^{UNSPACED}]+")


def tokens(text: str) -> list[str]:
    seen = folded(text)
    if seen.isascii():
        words = _ASCII_WORD.findall(seen)
    else:
        words = any_word().findall(seen.replace("_", " "))
        if _UNSPACED_LETTER.search(seen):
            words = [piece for word in words for piece in _PIECE.findall(word)]
    return [word for word in words if word not in STOP]


# Segmentation of scripts without spaces: from left to right, longest term first.


@dataclass(frozen=True)
class Cutter:
    """Splits tokens at known terms."""

    terms: frozenset[str] = field(repr=False)

    def cut(self, tokens: Iterable[str]) -> list[str]:
        """The text between two terms stays one piece."""
        return [piece for token in tokens for piece in (self._pieces(token) if _has_run(token) else (token,))]

    def _pieces(self, token: str) -> Iterator[str]:
        begun = place = 0
        while place < len(token):
            end = self._end_of_term(token, place)
            if end:
                if begun < place:
                    yield token[begun:place]
                yield token[place:end]
                begun = place = end
            else:
                place += 1
        if begun < len(token):
            yield token[begun:]

    def _end_of_term(self, token: str, start: int) -> int:
        """0 if no term begins there. Never separates a letter from its combining marks."""
        for end in range(min(start + self._longest.get(token[start], 0), len(token)), start, -1):
            if token[start:end] in self.terms and not (end < len(token) and unicodedata.combining(token[end])):
                return end
        return 0

    @cached_property
    def _longest(self) -> dict[str, int]:
        """By the first letter of the terms."""
        longest: dict[str, int] = {}
        for term in self.terms:
            longest[term[0]] = max(longest.get(term[0], 0), len(term))
        return longest


def _has_run(token: str) -> bool:
    return not token.isascii() and any(map(is_unspaced, token))


# Finds the terms of an ontology in a text, and their total importance.


OVERLAPS = ("all", "longest")
DIGITS = 9


@dataclass(frozen=True, slots=True)
class Match:
    """One occurrence: the index of the term in the ontology, and the range of tokens, from 0; `end` is exclusive."""

    term: int
    start: int
    end: int


@dataclass(frozen=True)
class Finder:
    """`overlap` "all" counts every term separately, so `computer science` also contains `computer`; "longest" does not
    count terms inside a longer one. Occurrences of the same term never overlap, even in different forms."""

    ontology: Ontology
    overlap: str = "all"
    _automaton: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.overlap not in OVERLAPS:
            raise UsageError(
                f"overlap={self.overlap} is not known; terms inside others count by {' or '.join(OVERLAPS)}"
            )
        object.__setattr__(self, "_automaton", _automaton(self.ontology))

    def matches(self, words: list[str]) -> list[Match]:
        """`words` are `tokens` of a text. Sorted by position."""
        found = sorted(self._everywhere(words), key=lambda match: (match.start, -match.end))
        return _apart(found) if self.overlap == "all" else _longest(found)

    def worth(self, matches: Iterable[Match]) -> float:
        """Rounded so that three times 0.4 is 1.2 and thresholds are exact."""
        terms = self.ontology.terms
        return round(math.fsum(terms[match.term].importance for match in matches), DIGITS)

    def score(self, text: str) -> float:
        """The OBRS of a text."""
        return self.worth(self.matches(tokens(text)))

    def _everywhere(self, words: list[str]) -> Iterator[Match]:
        """Tokens are joined by spaces, so that only whole tokens match; token numbers are counted along the way."""
        joined = f" {' '.join(words)} "
        number, counted = 0, 1
        for last, (length, terms) in self._automaton.iter(joined):
            number += joined.count(" ", counted, last + 1)
            counted = last + 1
            for term in terms:
                yield Match(term, number - length, number)


def _apart(found: list[Match]) -> list[Match]:
    """Keeps non-overlapping matches of each term, the first one first, the longest if two begin together."""
    free: dict[int, int] = {}
    kept = []
    for match in found:
        if match.start >= free.get(match.term, 0):
            kept.append(match)
            free[match.term] = match.end
    return kept


def _longest(found: list[Match]) -> list[Match]:
    """The longest match first, the leftmost among equals; terms with a form in common may match at the same
    position."""
    taken: dict[int, tuple[int, int]] = {}
    kept = []
    for match in sorted(found, key=lambda match: match.start - match.end):
        place = (match.start, match.end)
        if all(taken.get(token, place) == place for token in range(*place)):
            kept.append(match)
            taken.update(dict.fromkeys(range(*place), place))
    return sorted(kept, key=lambda match: match.start)


def _automaton(ontology: Ontology) -> Any:
    """Maps each form, as tokens between spaces, to its length and the terms that have it."""
    try:
        import ahocorasick
    except ModuleNotFoundError:
        raise MissingExtra("ontologies need pyahocorasick; install it with: pip install 'spoor[ontology]'") from None
    by_form: dict[tuple[str, ...], dict[int, None]] = {}
    for number, term in enumerate(ontology.terms):
        for form in term.forms:
            if cut := tuple(tokens(form)):
                by_form.setdefault(cut, {})[number] = None
    if not by_form:
        raise BadInput(
            f"the ontology {ontology.name}: all its terms are stop words, which are not searched for; add other terms"
        )
    automaton = ahocorasick.Automaton()
    for cut, numbers in by_form.items():
        automaton.add_word(f" {' '.join(cut)} ", (len(cut), tuple(numbers)))
    automaton.make_automaton()
    return automaton

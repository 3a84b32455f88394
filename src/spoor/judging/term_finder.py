"""Which terms of an ontology does a text hold, and what are they worth together?

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

# A text as terms are looked up in it: words in small letters, without punctuation and without the stop words of
# English. A script without spaces gives its letters one by one, so that a term is found wherever its letters
# stand together; nobody needs to know where its words end.


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


# Where are the terms in scripts that put no spaces between words? From left to right, the longest first.


@dataclass(frozen=True)
class Cutter:
    """Knows the terms to be found."""

    terms: frozenset[str] = field(repr=False)

    def cut(self, tokens: Iterable[str]) -> list[str]:
        """What is between two terms stays in one piece."""
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
        """0: none begins there. No letter is parted from its marks."""
        for end in range(min(start + self._longest.get(token[start], 0), len(token)), start, -1):
            if token[start:end] in self.terms and not (end < len(token) and unicodedata.combining(token[end])):
                return end
        return 0

    @cached_property
    def _longest(self) -> dict[str, int]:
        """By the letter with which terms begin."""
        longest: dict[str, int] = {}
        for term in self.terms:
            longest[term[0]] = max(longest.get(term[0], 0), len(term))
        return longest


def _has_run(token: str) -> bool:
    return not token.isascii() and any(map(is_unspaced, token))


# Which terms of an ontology does a text hold, and what are they worth together?


OVERLAPS = ("all", "longest")
DIGITS = 9


@dataclass(frozen=True, slots=True)
class Match:
    """One occurrence: the number of the term in the ontology, and the tokens of the text that it takes, counted from 0;
    `end` is the first behind it."""

    term: int
    start: int
    end: int


@dataclass(frozen=True)
class Finder:
    """`overlap` is "all": every term is counted by itself, so that computer science is also a computer; or "longest":
    what stands inside a longer term does not count again. Occurrences of one term never overlap, whichever of its forms
    they are."""

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
        """In a text cut into `tokens`: in the order of the text."""
        found = sorted(self._everywhere(words), key=lambda match: (match.start, -match.end))
        return _apart(found) if self.overlap == "all" else _longest(found)

    def worth(self, matches: Iterable[Match]) -> float:
        """Rounded so that three times 0.4 is 1.2: thresholds are exact."""
        terms = self.ontology.terms
        return round(math.fsum(terms[match.term].importance for match in matches), DIGITS)

    def score(self, text: str) -> float:
        """The OBRS of a text."""
        return self.worth(self.matches(tokens(text)))

    def _everywhere(self, words: list[str]) -> Iterator[Match]:
        """Tokens are put between spaces, so that terms are found as whole ones; the numbers of those that matter are
        counted along."""
        joined = f" {' '.join(words)} "
        number, counted = 0, 1
        for last, (length, terms) in self._automaton.iter(joined):
            number += joined.count(" ", counted, last + 1)
            counted = last + 1
            for term in terms:
                yield Match(term, number - length, number)


def _apart(found: list[Match]) -> list[Match]:
    """Of each term the first, the longest where two begin together, and what does not overlap it."""
    free: dict[int, int] = {}
    kept = []
    for match in found:
        if match.start >= free.get(match.term, 0):
            kept.append(match)
            free[match.term] = match.end
    return kept


def _longest(found: list[Match]) -> list[Match]:
    """The longest take their tokens, those to the left first; terms with a form in common share the place."""
    taken: dict[int, tuple[int, int]] = {}
    kept = []
    for match in sorted(found, key=lambda match: match.start - match.end):
        place = (match.start, match.end)
        if all(taken.get(token, place) == place for token in range(*place)):
            kept.append(match)
            taken.update(dict.fromkeys(range(*place), place))
    return sorted(kept, key=lambda match: match.start)


def _automaton(ontology: Ontology) -> Any:
    """Each form, as tokens between spaces, leads to its length and the terms that have it."""
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

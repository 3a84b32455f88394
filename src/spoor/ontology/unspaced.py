"""Where are the terms in scripts that put no blanks between words? From left to right, the longest first."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from spoor.text.words import is_unspaced


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

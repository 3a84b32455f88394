"""Texts in two languages as if they were written in one: by a dictionary, word by word, the longest term first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from spoor.errors import UsageError
from spoor.ontology.dictionary import Dictionary
from spoor.ontology.scripts import has_letter_of, script_of, scripts_of
from spoor.ontology.spelling import parts, spelt_terms
from spoor.ontology.unspaced import Cutter
from spoor.text.words import is_unspaced

LONGEST = 3
"""Words of a term at most; longer ones in a dictionary explain rather than translate."""


@dataclass(frozen=True)
class Transcriber:
    """What it does not know it keeps, so a text may mix both languages as it likes, and one that is in the language of
    the translations alone comes back as it was, where the two differ in script.

    `script` is that of the terms to look for, as Unicode names it: `devanagari`. "" stands for those that the terms of
    the dictionary are in and its translations are not; where both languages share a script, for every script.
    `stop_words` are left out where they are not part of a longer term, whatever the dictionary has for them.
    """

    dictionary: Dictionary
    stop_words: frozenset[str] = field(default=frozenset(), repr=False)
    script: str = ""

    def __post_init__(self) -> None:
        if self.script and not self._terms:
            known = ", ".join(self._scripts_of_terms())
            raise UsageError(f"no term of the dictionary is in the script {self.script!r}; they are in {known}")

    def transcribe(self, text: str) -> str:
        if self._scripts and not has_letter_of(self._scripts, text):
            return text
        tokens = text.split() if self._cutter is None else self._cutter.cut(text.split())
        reach, said, place = self._reach, list[str](), 0
        while place < len(tokens):
            token = tokens[place]
            reached = reach.get(parts(token)[1])
            if reached is None:
                said.append(token)
                place += 1
            else:
                place += self._translate(tokens[place : place + reached], said)
        return " ".join(said)

    def _translate(self, tokens: Sequence[str], said: list[str]) -> int:
        """Tells what the first of the tokens mean, and returns how many these are."""
        apart = [parts(token) for token in tokens]
        for count in range(len(tokens), 0, -1):
            term = apart[:count]
            sense = self._terms.get(tuple([word for _, word, _ in term]))
            if sense is not None and not _is_broken_up(term):
                said.append(term[0][0] + sense + term[-1][2])
                return count
        if (apart[0][1],) not in self._stop_words:
            said.append(tokens[0])
        return 1

    @cached_property
    def _scripts(self) -> frozenset[str]:
        """Empty: terms may be in any script."""
        if self.script:
            return frozenset({self.script})
        return frozenset(self._scripts_of_terms()) - frozenset(scripts_of(list(self.dictionary.entries.values()))[:1])

    def _scripts_of_terms(self) -> list[str]:
        return scripts_of(list(map("".join, self.dictionary.entries)))

    @cached_property
    def _terms(self) -> Mapping[tuple[str, ...], str]:
        entries = self.dictionary.entries
        terms: dict[tuple[str, ...], str] = {}
        for term, sense in zip(spelt_terms(map(" ".join, entries)), entries.values(), strict=True):
            if 0 < len(term) <= LONGEST and term not in self._stop_words and self._is_looked_for(term):
                terms.setdefault(term, sense)
        return terms

    @cached_property
    def _stop_words(self) -> frozenset[tuple[str]]:
        """As terms of one word."""
        terms = [(word,) for term in spelt_terms(self.stop_words) for word in term]
        return frozenset(filter(self._is_looked_for, terms))

    def _is_looked_for(self, term: tuple[str, ...]) -> bool:
        return not self._scripts or any(script_of(letter) in self._scripts for letter in "".join(term))

    @cached_property
    def _reach(self) -> Mapping[str, int]:
        """The words of the longest term that begins with a word; 1 for stop words."""
        reach = {word: 1 for (word,) in self._stop_words}
        for term in self._terms:
            if len(term) > reach.get(term[0], 0):
                reach[term[0]] = len(term)
        return reach

    @cached_property
    def _cutter(self) -> Cutter | None:
        """None: the terms are in scripts that put blanks between words."""
        unspaced = {letter for letter in set("".join(self._reach)) if is_unspaced(letter)}
        return Cutter(frozenset(word for word in self._reach if not unspaced.isdisjoint(word))) if unspaced else None


def _is_broken_up(term: Sequence[tuple[str, str, str]]) -> bool:
    """Whether punctuation stands inside."""
    return any(after for _, _, after in term[:-1]) or any(before for before, _, _ in term[1:])

"""A bilingual dictionary, and a transcriber that replaces its terms in a text by their translations."""

from __future__ import annotations

import json
import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from operator import itemgetter
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from spoor.errors import BadInput, MissingExtra, UsageError
from spoor.files import read_bounded
from spoor.judging.term_finder import Cutter
from spoor.parse.words import STEMMERS, any_letter, folded, is_unspaced, stemmer

# The script of a text, by the Unicode names of its letters: `devanagari`, `latin`, `cjk`.


LEAST = 0.1
"""Share of the letters at which a script counts as one of the texts; below it, it occurs only in quoted words."""
SAMPLE = 10_000
"""Texts examined; of more, only every second, third … one."""


def scripts_of(texts: Sequence[str]) -> list[str]:
    """Scripts with at least a share `LEAST` of the letters, most frequent first."""
    letters: Counter[str] = Counter()
    for letter, count in Counter("".join(texts[:: 1 + len(texts) // SAMPLE])).items():
        if script := script_of(letter):
            letters[script] += count
    return [script for script, count in letters.most_common() if count >= LEAST * letters.total()]


def has_letter_of(scripts: frozenset[str], text: str) -> bool:
    return not scripts.isdisjoint(map(script_of, set(text)))


@cache
def script_of(letter: str) -> str:
    """Script of a letter or combining mark; "" for other characters."""
    if unicodedata.category(letter)[0] not in "LM":
        return ""
    return unicodedata.name(letter, "").partition(" ")[0].partition("-")[0].lower()


# Normalisation of tokens, so that the same word compares equal whatever its punctuation and spelling.


REMEMBERED = 1 << 16
"""Cached tokens with their parts: few words make up most of a text."""

_HIDDEN = re.compile("[\u200b-\u200d\u2060\ufeff]")
_NASAL = re.compile("ङ्(?=[क-घ])|ञ्(?=[च-झ])|ण्(?=[ट-ढ])|न्(?=[त-ध])|म्(?=[प-भ])|ँ")
_ANUSVARA, _NUKTA = "ं", "\u093c"


@lru_cache(REMEMBERED)
def parts(token: str) -> tuple[str, str, str]:
    """The punctuation before the word, the normalised word, and the punctuation after it. A token of punctuation only
    has an empty word, and all of it comes before."""
    if token.isalnum():
        return "", spelt(token), ""
    letters = [letter.span() for letter in any_letter().finditer(token)]
    if not letters:
        return token, "", ""
    start, end = letters[0][0], letters[-1][1]
    return token[:start], spelt(token[start:end]), token[end:]


def spelt(text: str) -> str:
    """The normalised spelling for comparison. In Devanagari, a nasal before a consonant of the same class is often
    written as a dot above, `हिन्दी` as `हिंदी`; the dot below that marks Persian sounds is often omitted."""
    text = folded(text)
    return text if text.isascii() else _NASAL.sub(_ANUSVARA, _HIDDEN.sub("", text)).replace(_NUKTA, "")


def spelt_terms(terms: Iterable[str]) -> list[tuple[str, ...]]:
    """The words of each term as `parts` would return them; all at once, which is faster."""
    text = _clinging().sub("", spelt("".join([f"{term}\n" for term in terms])))
    return [tuple(line.split()) for line in text.split("\n")[:-1]]


@cache
def _clinging() -> re.Pattern[str]:
    """Punctuation at either end of a token."""
    no_letter = rf"(?:(?!{any_letter().pattern})\S)+"
    return re.compile(rf"(?<!\S){no_letter}|{no_letter}(?!\S)")


# A bilingual dictionary from a file: one term a line, a tab, and its translation.


Source = Literal["foreign", "left", "right"]
"""The source column of the file. `foreign` is the column that is not in Latin letters; if that is ambiguous, the left
one."""
SOURCES: tuple[Source, ...] = ("foreign", "left", "right")

_log = logging.getLogger(__name__)
_LINE = re.compile(r"^[^\S\n]*[^#\s].*$", re.M)
_ENTRY = re.compile(r"^([^#\t\n\ufffd][^\t\n\ufffd]*)\t(?:[^\t\n\ufffd]*\t)?([^\t\n\ufffd]+)$", re.M)
"""Term and senses; U+FFFD marks bytes that are not UTF-8."""
_NOTES = re.compile(r"\{[^}\t\n]{0,999}\}|\[[^\]\t\n]{0,999}\]|\([^)\t\n]{0,999}\)|（[^）\t\n]{0,999}）")
"""Bounded in length; otherwise every unclosed bracket in a line would cause a scan to the end of the line."""
_BLANKS = re.compile(r"[^\S\t\n]{2,}")
_BETWEEN_SENSES = re.compile(r"[|;,；，、؛،]")
_LARGEST = 1 << 28
"""Maximum size of a file, in bytes."""
_AROUND = " .\r"
"""Characters stripped from terms and senses."""


@dataclass(frozen=True)
class Dictionary:
    """Terms, each as a tuple of words, with the first sense of each. `broken` counts the lines of the file that are not
    entries."""

    entries: Mapping[tuple[str, ...], str] = field(repr=False)
    broken: int = 0


class _Entry(NamedTuple):
    """A line of the file."""

    term: str
    senses: tuple[str, ...]


def read_dictionary(path: Path, source: Source = "foreign") -> Dictionary:
    """A line is `term`, tab, `sense|sense`; or `term`, tab, part of speech, tab, `sense; sense`; or JSON with a `word`
    and the `glosses` of its `senses`. Notes in brackets are removed. Empty lines and lines that begin with # are
    skipped. One warning counts all lines that are not entries."""
    if source not in SOURCES:
        raise UsageError(f"unknown source {source!r} of a dictionary; known are {', '.join(SOURCES)}")
    text = _text(path)
    entries = [entry for term, senses in _ENTRY.findall(text) if (entry := _entry(term, senses)) is not None]
    if not entries:
        raise BadInput(f"the dictionary {path} holds no entries; write one a line: term, tab, translation")
    lines = len(_LINE.findall(text))
    if broken := lines - len(entries):
        message = "%s of %s lines of the dictionary %s are not entries (term, tab, translation) and are skipped"
        _log.warning(message, broken, lines, path)
    meanings = _turned(entries) if _is_turned(entries, source) else [(entry.term, entry.senses[0]) for entry in entries]
    found: dict[tuple[str, ...], str] = {}
    for term, sense in meanings:
        found.setdefault(tuple(term.split()), sense)
    return Dictionary(found, broken)


def _text(path: Path) -> str:
    text = read_bounded(path, _LARGEST, "dictionary").decode("utf-8-sig", "replace")
    table = "\n".join(map(_row, text.splitlines())) if text.startswith("{") else text
    return _BLANKS.sub(" ", _NOTES.sub(" ", table))


def _row(line: str) -> str:
    """Converts a line of JSON, the format of Wiktionary extracts, to a line of a table: the first gloss of every sense.
    U+FFFD if the line is anything else."""
    try:
        said = json.loads(line)
        glosses = [sense["glosses"][0] for sense in said["senses"] if sense.get("glosses")]
        return f"{said['word']}\t{'; '.join(glosses)}".replace("\n", " ")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "\ufffd"


def _entry(term: str, senses: str) -> _Entry | None:
    """None if there are only notes and punctuation."""
    term = term.strip(_AROUND)
    said = tuple([sense for one in _BETWEEN_SENSES.split(senses) if (sense := one.strip(_AROUND))])
    return _Entry(term, said) if term and said else None


def _is_turned(entries: Sequence[_Entry], source: Source) -> bool:
    """Whether the right column is the source."""
    if source != "foreign":
        return source == "right"
    left, right = scripts_of([entry.term for entry in entries]), scripts_of([entry.senses[0] for entry in entries])
    return left[:1] == ["latin"] and right[:1] not in ([], ["latin"])


def _turned(entries: Sequence[_Entry]) -> list[tuple[str, str]]:
    """Every sense with its term. Of terms that share a sense, first the one for which it is an earlier sense; then the
    one with fewer words, with words that occur in more terms (the common ones), and with fewer senses."""
    uses = Counter(word for entry in entries for word in entry.term.split())
    ranked = [
        (place, *rank, len(entry.senses), sense, entry.term)
        for entry in entries
        for rank in [_commonness(entry.term.split(), uses)]
        for place, sense in enumerate(entry.senses)
    ]
    ranked.sort(key=itemgetter(0, 1, 2, 3))
    return [(sense, term) for *_, sense, term in ranked]


def _commonness(words: Sequence[str], uses: Mapping[str, int]) -> tuple[int, int]:
    """Smaller is more common."""
    return len(words), -min(uses[word] for word in words)


# Transcribes mixed texts into one language by a dictionary, word by word, longest term first.


LONGEST = 3
"""Maximum number of words in a term; longer ones in a dictionary are explanations rather than translations."""


@dataclass(frozen=True)
class Transcriber:
    """Unknown words are kept, so a text may mix both languages. If the two differ in script, a text in the language of
    the translations is returned unchanged.

    `script` is the Unicode name of the script of the terms: `devanagari`. "" means the scripts of the terms of the
    dictionary without the main script of its translations; if both languages share a script, any script. `stop_words`
    are removed unless they are part of a longer term, even if the dictionary translates them. If `language`, the BCP-47
    tag of the terms, is set and has a stemmer, a term that is not in the dictionary is looked up by the stems of its
    words.
    """

    dictionary: Dictionary
    stop_words: frozenset[str] = field(default=frozenset(), repr=False)
    script: str = ""
    language: str = ""

    waits: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.script and not self._terms:
            known = ", ".join(self._scripts_of_terms())
            raise UsageError(f"no term of the dictionary is in the script {self.script!r}; they are in {known}")

    def translate(self, texts: Sequence[str]) -> list[str]:
        return list(map(self.transcribe, texts))

    def transcribe(self, text: str) -> str:
        if self._scripts and not has_letter_of(self._scripts, text):
            return text
        tokens = text.split() if self._cutter is None else self._cutter.cut(text.split())
        said, place = list[str](), 0
        while place < len(tokens):
            token = tokens[place]
            reached = self._reached(parts(token)[1])
            if reached == 0:
                said.append(token)
                place += 1
            else:
                place += self._translate(tokens[place : place + reached], said)
        return " ".join(said)

    def _translate(self, tokens: Sequence[str], said: list[str]) -> int:
        """Appends the translation of the first tokens to `said`, and returns how many tokens it covers."""
        apart = [parts(token) for token in tokens]
        for count in range(len(tokens), 0, -1):
            term = apart[:count]
            sense = self._sense(tuple([word for _, word, _ in term]))
            if sense is not None and not _is_broken_up(term):
                said.append(term[0][0] + sense + term[-1][2])
                return count
        if (apart[0][1],) not in self._stop_words:
            said.append(tokens[0])
        return 1

    def _sense(self, words: tuple[str, ...]) -> str | None:
        sense = self._terms.get(words)
        if sense is None and self._stem is not None and words not in self._stop_words:
            return self._stems.get(tuple(map(self._stem, words)))
        return sense

    def _reached(self, word: str) -> int:
        """Number of words of the longest term that may begin with this word; 0 if none does."""
        reached = self._reach.get(word, 0)
        return reached if self._stem is None or not word else max(reached, self._reach_by_stem.get(self._stem(word), 0))

    @cached_property
    def _scripts(self) -> frozenset[str]:
        """Empty if terms may be in any script."""
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

    @property
    def _stem(self) -> Callable[[str], str] | None:
        """None if words are looked up unchanged. Not stored on the instance, because a transcriber must be picklable
        for workers."""
        return stemmer_for(self.language) if self.language else None

    @cached_property
    def _stems(self) -> Mapping[tuple[str, ...], str]:
        """Terms by the stems of their words; of several with the same stems, the first counts."""
        stem, stems = self._stem, dict[tuple[str, ...], str]()
        if stem is not None:
            for term, sense in self._terms.items():
                stems.setdefault(tuple(map(stem, term)), sense)
        return stems

    @cached_property
    def _stop_words(self) -> frozenset[tuple[str]]:
        """As terms of one word."""
        terms = [(word,) for term in spelt_terms(self.stop_words) for word in term]
        return frozenset(filter(self._is_looked_for, terms))

    def _is_looked_for(self, term: tuple[str, ...]) -> bool:
        return not self._scripts or any(script_of(letter) in self._scripts for letter in "".join(term))

    @cached_property
    def _reach(self) -> Mapping[str, int]:
        """Number of words of the longest term that begins with each word; 1 for stop words."""
        return _reaches(self._terms, {word: 1 for (word,) in self._stop_words})

    @cached_property
    def _reach_by_stem(self) -> Mapping[str, int]:
        return _reaches(self._stems, {})

    @cached_property
    def _cutter(self) -> Cutter | None:
        """None if the scripts of the terms put spaces between words."""
        unspaced = {letter for letter in set("".join(self._reach)) if is_unspaced(letter)}
        return Cutter(frozenset(word for word in self._reach if not unspaced.isdisjoint(word))) if unspaced else None


def _reaches(terms: Iterable[tuple[str, ...]], reach: dict[str, int]) -> dict[str, int]:
    """Adds to `reach`: the number of words of the longest term that begins with each word."""
    for term in terms:
        if len(term) > reach.get(term[0], 0):
            reach[term[0]] = len(term)
    return reach


@cache
def stemmer_for(language: str) -> Callable[[str], str] | None:
    """None if there is no stemmer for the language, with one warning. Stems are normalised like the words of
    dictionaries."""
    tag = language.partition("-")[0].lower()
    try:
        stem = stemmer(STEMMERS[tag])
    except KeyError:
        _log.warning("there is no stemmer for %s: words are looked up unchanged", language)
    except MissingExtra as missing:
        _log.warning("words are looked up unchanged: %s", missing)
    else:
        return lambda word: spelt(stem(word))
    return None


def _is_broken_up(term: Sequence[tuple[str, str, str]]) -> bool:
    """Whether there is punctuation inside."""
    return any(after for _, _, after in term[:-1]) or any(before for before, _, _ in term[1:])

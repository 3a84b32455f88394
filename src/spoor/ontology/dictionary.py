"""A dictionary of two languages from a file: one term a line, a tab, and what it means."""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Literal, NamedTuple

from spoor.bounded_file import read_bounded
from spoor.errors import BadInput, UsageError
from spoor.ontology.scripts import scripts_of

Source = Literal["foreign", "left", "right"]
"""The column of a file that is translated from. `foreign` is the one that is not in Latin letters; where that does not
tell, the left one."""
SOURCES: tuple[Source, ...] = ("foreign", "left", "right")

_log = logging.getLogger(__name__)
_LINE = re.compile(r"^[^\S\n]*[^#\s].*$", re.M)
_ENTRY = re.compile(r"^([^#\t\n\ufffd][^\t\n\ufffd]*)\t(?:[^\t\n\ufffd]*\t)?([^\t\n\ufffd]+)$", re.M)
"""Term and senses; U+FFFD stands for bytes that are no text."""
_NOTES = re.compile(r"\{[^}\t\n]{0,999}\}|\[[^\]\t\n]{0,999}\]|\([^)\t\n]{0,999}\)|（[^）\t\n]{0,999}）")
"""Not of any length, or a line of brackets that are never closed would be searched to its end from each of them."""
_BLANKS = re.compile(r"[^\S\t\n]{2,}")
_BETWEEN_SENSES = re.compile(r"[|;,；，、؛،]")
_LARGEST = 1 << 28
"""Bytes of a file."""
_AROUND = " .\r"
"""What may stand around a term or a sense and is no part of it."""


@dataclass(frozen=True)
class Dictionary:
    """Terms, each as its words, and the first sense of each. `broken` counts the lines of its file that are no
    entries."""

    entries: Mapping[tuple[str, ...], str] = field(repr=False)
    broken: int = 0


class _Entry(NamedTuple):
    """A line of the file."""

    term: str
    senses: tuple[str, ...]


def read_dictionary(path: Path, source: Source = "foreign") -> Dictionary:
    """A line is `term`, tab, `sense|sense`; or `term`, tab, part of speech, tab, `sense; sense`; or JSON with a `word`
    and the `glosses` of its `senses`. Notes in brackets are left out; empty lines, and those that begin with #, are
    passed over. One warning tells of all lines that are no entries."""
    if source not in SOURCES:
        raise UsageError(f"unknown source {source!r} of a dictionary; known are {', '.join(SOURCES)}")
    text = _text(path)
    entries = [entry for term, senses in _ENTRY.findall(text) if (entry := _entry(term, senses)) is not None]
    if not entries:
        raise BadInput(f"the dictionary {path} holds no entries; write one a line: term, tab, translation")
    lines = len(_LINE.findall(text))
    if broken := lines - len(entries):
        told = "%s of %s lines of the dictionary %s are no entries (term, tab, translation); they are passed over"
        _log.warning(told, broken, lines, path)
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
    """A line of JSON, as extracts from Wiktionary have it, as one of a table: the first gloss of every sense. U+FFFD
    where it is something else."""
    try:
        said = json.loads(line)
        glosses = [sense["glosses"][0] for sense in said["senses"] if sense.get("glosses")]
        return f"{said['word']}\t{'; '.join(glosses)}".replace("\n", " ")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "\ufffd"


def _entry(term: str, senses: str) -> _Entry | None:
    """None: nothing but notes and punctuation."""
    term = term.strip(_AROUND)
    said = tuple([sense for one in _BETWEEN_SENSES.split(senses) if (sense := one.strip(_AROUND))])
    return _Entry(term, said) if term and said else None


def _is_turned(entries: Sequence[_Entry], source: Source) -> bool:
    """Whether the right column is translated from."""
    if source != "foreign":
        return source == "right"
    left, right = scripts_of([entry.term for entry in entries]), scripts_of([entry.senses[0] for entry in entries])
    return left[:1] == ["latin"] and right[:1] not in ([], ["latin"])


def _turned(entries: Sequence[_Entry]) -> list[tuple[str, str]]:
    """Every sense with its term. Of terms that share a sense, the one that means it first comes first; then one of few
    words, of words that many terms are made with, as common ones are, and of few meanings."""
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

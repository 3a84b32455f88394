"""Legacy font encodings: fonts with the letters of a script at code points of their own, as tables."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput

# Legacy font encodings: fonts whose letters are at code points that Unicode does not assign.


Compare = Callable[[Sequence[str]], NDArray[np.float64]]
"""Maps texts to similarities: a number, or a row, for each."""

LEAST_IN_FONT = 0.5
"""Similarity to the language that a text must reach to be accepted as a text in one of its fonts."""

Interval = tuple[int, int]
"""The first and the last code point."""


@dataclass(frozen=True)
class Encoding:
    """The code points of the letters of a language in a font. `language` is a BCP-47 tag.

    `letters` are the intervals of its letters, `unicode` those of the same letters in Unicode. A font has several
    glyphs for a letter: `blocks` has the first glyph of each block and its Unicode letter, "" if unknown; a block ends
    before the next one or at the end of the interval. `ends` are the characters that end a sentence.
    """

    name: str
    language: str
    letters: tuple[Interval, ...]
    unicode: tuple[Interval, ...] = ()
    blocks: tuple[tuple[int, str], ...] = ()
    ends: str = ""


def share_inside(text: str, intervals: Iterable[Interval]) -> float:
    """The share of the non-space characters of a text that are in one of the intervals."""
    characters = sum(map(len, text.split()))
    return len(_outside(tuple(intervals)).sub("", text)) / characters if characters else 0.0


def encodings_in(text: str, among: Sequence[Encoding]) -> list[Encoding]:
    """The encodings with a letter in the text. Intervals overlap, so the result may include encodings not used in the
    text."""
    return [encoding for encoding in among if share_inside(text, encoding.letters)]


def collapse(text: str, encoding: Encoding) -> str:
    """Replaces every glyph by its Unicode letter. The form of the glyph, and so the exact spelling, is lost. Characters
    without a letter are kept."""
    return text.translate(_letters(encoding))


def readings(text: str, among: Sequence[Encoding]) -> list[str]:
    """The text unchanged, and decoded by each encoding that has letters in it. The one most similar to the language is
    right; one page may contain both font and Unicode letters."""
    return [text, *(collapse(text, encoding) for encoding in encodings_in(text, among) if encoding.blocks)]


def best_reading(compare: Compare, texts: Sequence[str], among: Sequence[Encoding]) -> NDArray[np.float64]:
    """The result of `compare` for each text, the highest over its readings. A decoded reading counts only from a
    similarity of `LEAST_IN_FONT`, because icons use the same code points."""
    ways = [readings(text, among) for text in texts] if among else []
    if all(len(way) == 1 for way in ways):
        return compare(texts)
    near = compare([text for way in ways for text in way])
    starts = np.cumsum([0, *map(len, ways)])[:-1]
    guessed = np.ones(len(near), np.bool_)
    guessed[starts] = False
    near[guessed] *= near[guessed] >= LEAST_IN_FONT
    best: NDArray[np.float64] = np.maximum.reduceat(near, starts, axis=0)
    return best


def encoded(text: str, encoding: Encoding) -> str:
    """Replaces every Unicode letter by the first glyph of its block; a real font would choose the glyph by the position
    in the word. Characters without a block are kept."""
    return text.translate(_glyphs(encoding))


@cache
def _outside(intervals: tuple[Interval, ...]) -> re.Pattern[str]:
    inside = "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in intervals)
    return re.compile(f"[^{inside}]+|\\s+")


@cache
def _letters(encoding: Encoding) -> dict[int, str]:
    last = {code: end for start, end in encoding.letters for code in range(start, end + 1)}
    starts = [code for code, _ in encoding.blocks]
    ends = [min(last[code], following - 1) for code, following in pairwise([*starts, max(last) + 1])]
    blocks = zip(encoding.blocks, ends, strict=True)
    return {code: letter for (start, letter), end in blocks if letter for code in range(start, end + 1)}


@cache
def _glyphs(encoding: Encoding) -> dict[int, str]:
    return {ord(letter): chr(code) for code, letter in reversed(encoding.blocks) if len(letter) == 1}


# Font encodings as tables: those shipped with spoor, and those that a user describes in a TOML file.


SHIPPED = ("menksoft", "saiyin")

_INTERVAL = re.compile(r"([0-9A-F]{2,6})(?:-([0-9A-F]{2,6}))?", re.IGNORECASE)
_LAST_CODE = 0x10FFFF


@cache
def shipped() -> dict[str, Encoding]:
    """By name."""
    folder = files("spoor.judging")
    return {name: read(folder.joinpath(f"{name}.toml").read_text("utf8"), name) for name in SHIPPED}


def shipped_for(language: str) -> tuple[Encoding, ...]:
    """The shipped encodings of a language; empty if its pages are always in Unicode or a standard charset."""
    return tuple(encoding for encoding in shipped().values() if encoding.language == language)


def load(path: Path) -> Encoding:
    """Reads an encoding from a TOML file. BadInput, in one line, if it is invalid."""
    try:
        text = path.read_text("utf8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read the encoding table {path}: {getattr(error, 'strerror', None) or error}") from None
    return read(text, str(path))


def read(text: str, source: str) -> Encoding:
    """`source` is the name of the table in error messages."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{source} cannot be read as TOML: {error}") from None
    for key in table:
        if key not in _READERS:
            raise BadInput(f"{source}: unknown key {key!r}; an encoding table has {', '.join(_READERS)}")
    for key in ("name", "language", "letters"):
        if not table.get(key):
            raise BadInput(f"{source} lacks {key}; write, for example, {_EXAMPLES[key]}")
    return _checked(Encoding(**{key: _value(key, value, source) for key, value in table.items()}), source)


def _value(key: str, value: Any, source: str) -> Any:
    try:
        return _READERS[key](value)
    except ValueError as error:
        raise BadInput(f"{source}: {key}: {error}; write, for example, {_EXAMPLES[key]}") from None


def _checked(encoding: Encoding, source: str) -> Encoding:
    for code, _ in encoding.blocks:
        if not any(first <= code <= last for first, last in encoding.letters):
            raise BadInput(f"{source}: blocks: {code:04X} is outside of letters; widen letters or leave the block out")
    return encoding


def _word(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"{value!r} is not a word in quotes")
    return value


def _intervals(value: Any) -> tuple[Interval, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is not a list")
    return tuple(map(_interval, value))


def _interval(value: Any) -> Interval:
    found = _INTERVAL.fullmatch(value) if isinstance(value, str) else None
    first, last = (int(found[1], 16), int(found[2] or found[1], 16)) if found else (1, 0)
    if not first <= last <= _LAST_CODE:
        raise ValueError(f"{value!r} is not an interval of hexadecimal code points")
    return first, last


def _signs(value: Any) -> str:
    return "".join(chr(code) for first, last in _intervals(value) for code in range(first, last + 1))


def _blocks(value: Any) -> tuple[tuple[int, str], ...]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{value!r} is not a table")
    return tuple(sorted((_interval(code)[0], _letter(letter)) for code, letter in value.items()))


def _letter(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a letter in quotes")
    return value


_READERS: dict[str, Callable[[Any], Any]] = {
    "name": _word,
    "language": _word,
    "letters": _intervals,
    "unicode": _intervals,
    "ends": _signs,
    "blocks": _blocks,
}
_EXAMPLES = {
    "name": 'name = "menksoft"',
    "language": 'language = "mn-Mong"',
    "letters": 'letters = ["E264-E34F"]',
    "unicode": 'unicode = ["1800-18AF"]',
    "ends": 'ends = ["E236", "E237"]',
    "blocks": 'E264 = "ᠠ" under [blocks]',
}

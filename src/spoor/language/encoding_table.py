"""Font encodings as tables: those that come with spoor, and those that a user describes in a TOML file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from spoor.errors import BadInput
from spoor.language.encodings import Encoding, Interval

SHIPPED = ("menksoft", "saiyin")

_INTERVAL = re.compile(r"([0-9A-F]{2,6})(?:-([0-9A-F]{2,6}))?", re.IGNORECASE)
_LAST_CODE = 0x10FFFF


@cache
def shipped() -> dict[str, Encoding]:
    """By name."""
    folder = files("spoor.language")
    return {name: read(folder.joinpath(f"{name}.toml").read_text("utf8"), name) for name in SHIPPED}


def shipped_for(language: str) -> tuple[Encoding, ...]:
    """The shipped encodings of a language; none when its pages were always in Unicode or in charsets."""
    return tuple(encoding for encoding in shipped().values() if encoding.language == language)


def load(path: Path) -> Encoding:
    """The encoding that a TOML file describes; BadInput says in one line what is wrong with it."""
    try:
        text = path.read_text("utf8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read the encoding table {path}: {getattr(error, 'strerror', None) or error}") from None
    return read(text, str(path))


def read(text: str, source: str) -> Encoding:
    """`source` is what complaints call the table."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{source} cannot be read as TOML: {error}") from None
    for key in table:
        if key not in _READERS:
            raise BadInput(f"{source}: unknown key {key!r}; an encoding table has {', '.join(_READERS)}")
    for key in ("name", "language", "letters"):
        if not table.get(key):
            raise BadInput(f"{source} does not say {key}; write, for example, {_EXAMPLES[key]}")
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

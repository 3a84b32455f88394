"""The HTML tags and attributes that the parser uses, as tables for compiled code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import array, compiled, named_tuple, plain

# Block elements, which begin a new line.


HEADINGS = "h1 h2 h3 h4 h5 h6"
_NAMES = f"""
    address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure
    footer form frameset header hr legend li main menu nav ol optgroup option p pre section select summary table tbody
    td tfoot th thead tr ul {HEADINGS}
"""
BLOCKS = frozenset(_NAMES.split())


# Flags, actions and attributes of tags, as tables for compiled code.


BLOCK, APART, HEADING, TELLING, HOLDS_TEXT, UNREAD, EMPTY = (1 << bit for bit in range(7))
"""The tag begins a line; is outside the main content; is a heading; has its text collected separately; contains only
text until its end tag, no markup; has its content skipped; has no end tag."""

A, AREA, FRAME, IMG, HTML, META, LINK, BASE, TITLE, SCRIPT, NOSCRIPT, LITERAL, TO_THE_END = range(1, 14)
"""The action at a tag. `LITERAL`: its text is read as it is; `TO_THE_END`: up to its last end tag."""

ACT, NUMBER = 8, 16
"""The bits of a kind at which its action, and the number of its tag, begin."""

SLOTS = 5
"""Maximum number of attributes used per tag."""

_EMPHASES = "b strong em u i"
_ACTS: dict[int, tuple[str, str]] = {
    A: ("a", "href title rel hreflang"),
    AREA: ("area", "href alt rel hreflang"),
    FRAME: ("frame iframe", "src title rel hreflang"),
    IMG: ("img", "- alt"),
    HTML: ("html", "lang xml:lang"),
    META: ("meta", "name content http-equiv"),
    LINK: ("link", "href title rel hreflang type"),
    BASE: ("base", "href"),
    TITLE: ("title", ""),
    SCRIPT: ("script", "src type"),
    NOSCRIPT: ("noscript", ""),
    LITERAL: ("xmp", ""),
    TO_THE_END: ("plaintext", ""),
}
"""The tags, and their attributes in the order of their slots. The description of a link is always in the second."""

_FLAGS = (
    (BLOCK, " ".join(BLOCKS)),
    (APART, "nav header footer aside menu"),
    (HEADING, HEADINGS),
    (TELLING, f"{HEADINGS} {_EMPHASES}"),
    (HOLDS_TEXT, "script style iframe noembed noframes xmp plaintext title"),
    (UNREAD, "template svg"),
    (
        EMPTY,
        "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr",
    ),
)
TELLING_TAGS = tuple(f"{HEADINGS} {_EMPHASES}".split())
"""By their numbers."""

LONGEST_NAME = 16
"""Maximum length of a known name: two packed numbers."""
_SIZE_BITS = 9
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class NameTable(NamedTuple):
    """A hash table with open addressing: names, packed into two numbers each, and the kinds of their tags."""

    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    kinds: NDArray[np.int64]
    attributes_low: NDArray[np.uint64]
    attributes_high: NDArray[np.uint64]


NAME_TABLE = named_tuple(
    NameTable,
    array(np.uint64),
    array(np.uint64),
    array(np.int64),
    array(np.uint64, 2),
    array(np.uint64, 2),
)


def packed(name: str) -> tuple[int, int]:
    """The first eight letters, and the others."""
    letters = name.encode("ascii")
    return int.from_bytes(letters[:8], "big"), int.from_bytes(letters[8:], "big")


@compiled
def spread(low: np.uint64, high: np.uint64) -> np.int64:
    """The first slot of a packed name in the table."""
    return np.int64(((low ^ high * np.uint64(31)) * _SPREAD) >> np.uint64(64 - _SIZE_BITS))


def _kinds() -> dict[str, int]:
    kinds: dict[str, int] = {}
    for flag, tags in _FLAGS:
        for tag in tags.split():
            kinds[tag] = kinds.get(tag, 0) | flag
    for act, (tags, _) in _ACTS.items():
        for tag in tags.split():
            kinds[tag] = kinds.get(tag, 0) | act << ACT
    for number, tag in enumerate(TELLING_TAGS):
        kinds[tag] |= number << NUMBER
    return kinds


def _table(kinds: Iterable[tuple[str, int]]) -> NameTable:
    size = 1 << _SIZE_BITS
    low, high = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    found = np.zeros(size, np.int64)
    for name, kind in kinds:
        first, second = packed(name)
        with np.errstate(over="ignore"):
            place = int(plain(spread)(np.uint64(first), np.uint64(second)))
        while low[place]:
            place = (place + 1) % size
        low[place], high[place], found[place] = first, second, kind
    attributes = np.zeros((2, max(_ACTS) + 1, SLOTS), np.uint64)
    for act, (_, names) in _ACTS.items():
        for slot, name in enumerate(names.split()):
            attributes[:, act, slot] = packed(name)
    return NameTable(low, high, found, attributes[0].copy(), attributes[1].copy())


NAMES = _table(_kinds().items())

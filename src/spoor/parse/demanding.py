"""Detects pages that may take long to parse; they are parsed where parsing can be stopped.

Parsers take quadratic time in some quantities: unclosed formatting elements, attributes of a tag, nesting depth. A page
that is not demanding has none of them in large numbers, wherever a parser may see a tag: comments, scripts and quoted
values are scanned as if they were markup.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import array, compiled, kernel, kernels_in, nth

LARGEST = 500_000
"""Bytes."""
MOST_TAGS = 3_000
"""Start and end tags together, counted by `<`."""
MOST_ATTRIBUTES = 200
"""Attributes of one tag, and of all tags that refer to the same element: those of `html`, and of `body`."""
MOST_UNPAIRED = 60
"""Start tags of formatting elements that contain more than text, and as many end tags: a parser reopens an unclosed
formatting element in every block, and closing it may move all blocks since."""
MOST_READS = 8
"""How often a byte may be read on average; the bytes of tags inside tags are read repeatedly."""

_FORMATTING = "b big code em font i nobr s small strike strong tt u"
_LESS_THAN, _MORE_THAN, _SLASH, _EQUALS, _QUOTE, _APOSTROPHE = b"<>/=\"'"
_SMALL_LETTER = 32
"""The bit that distinguishes lower from upper case."""

_PLAIN, _BLANK, _STROKE, _END, _ASSIGNS = 0, 1, 2, 4, 8
_LONGEST_NAME = 6
"""Letters in the longest name of a formatting element."""


def demanding(html: bytes) -> bool:
    if len(html) > LARGEST or _hides_markup(html):
        return True
    octets = np.frombuffer(html, np.uint8)
    tags = np.flatnonzero(octets == _LESS_THAN)
    return tags.size > MOST_TAGS or not _is_orderly(octets, tags)


def _hides_markup(html: bytes) -> bool:
    """Whether the charset may not be ASCII-compatible: UTF-16, ISO-2022, HZ."""
    return b"\0" in html or b"\x1b" in html or (b"~" in html and b"~{" in html)  # Searching a single byte is fast.


def _kinds() -> NDArray[np.uint8]:
    kinds = np.zeros(256, np.uint8)
    kinds[list(b"\t\n\f\r ")] = _BLANK
    kinds[[_SLASH, _MORE_THAN, _EQUALS]] = _STROKE, _END, _ASSIGNS
    return kinds


def _code(name: str) -> int:
    return int.from_bytes(name.encode())


_KINDS = _kinds()
_FORMATTING_CODES = tuple(_code(name) for name in _FORMATTING.split())
_HTML, _BODY = _code("html"), _code("body")


@kernel(array(np.uint8, read_only=True), array(np.int64))
def _is_orderly(html: NDArray[np.uint8], starts: NDArray[np.int64]) -> bool:
    """Whether there are few attributes and few unpaired formatting elements. `starts` are the positions of all `<`."""
    end = html.size
    unpaired = unpaired_ends = of_whole_page = 0
    reads = MOST_READS * end
    for start in starts:
        name = start + 1
        closes = name < end and nth(html, name) == _SLASH
        if closes:
            name += 1
        if name >= end or not 97 <= nth(html, name) | _SMALL_LETTER <= 122:
            continue
        place, code = name, 0
        while place < end and _KINDS[nth(html, place)] & (_BLANK | _STROKE | _END) == 0:
            if place - name < _LONGEST_NAME + 1:
                code = code * 256 + int(nth(html, place) | _SMALL_LETTER)
            place += 1
        length = place - name
        place, attributes = _end_of_tag(html, place)
        if code in (_HTML, _BODY):
            of_whole_page += attributes
        if max(attributes, of_whole_page) > MOST_ATTRIBUTES:
            return False
        if length <= _LONGEST_NAME and code in _FORMATTING_CODES:
            if closes:
                unpaired_ends += 1
            else:
                while place < end and nth(html, place) != _LESS_THAN:
                    place += 1
                if _closes_at(html, place, name, length):
                    unpaired_ends -= 1
                else:
                    unpaired += 1
        reads -= place - start
        if max(unpaired, unpaired_ends) > MOST_UNPAIRED or reads < 0:
            return False
    return True


@compiled
def _end_of_tag(html: NDArray[np.uint8], place: int) -> tuple[int, int]:
    """The end of a tag whose name ends at `place`, as parsers read it, and the number of its attributes up to there.
    Stops early if there are too many."""
    end = html.size
    attributes = 0
    while place < end and nth(html, place) != _MORE_THAN and attributes <= MOST_ATTRIBUTES:
        if _KINDS[nth(html, place)] & (_BLANK | _STROKE):
            place += 1
            continue
        attributes += 1
        place += 1
        while place < end and _KINDS[nth(html, place)] == _PLAIN:
            place += 1
        while place < end and _KINDS[nth(html, place)] == _BLANK:
            place += 1
        if place < end and nth(html, place) == _EQUALS:
            place = _end_of_value(html, place + 1)
    return place, attributes


@compiled
def _end_of_value(html: NDArray[np.uint8], place: int) -> int:
    """The end of an attribute value, from after the equals sign."""
    end = html.size
    while place < end and _KINDS[nth(html, place)] == _BLANK:
        place += 1
    if place < end and (nth(html, place) == _QUOTE or nth(html, place) == _APOSTROPHE):
        quote = nth(html, place)
        place += 1
        while place < end and nth(html, place) != quote:
            place += 1
        return place + 1
    while place < end and _KINDS[nth(html, place)] & (_BLANK | _END) == 0:
        place += 1
    return place


@compiled
def _closes_at(html: NDArray[np.uint8], place: int, name: int, length: int) -> bool:
    """Whether the end tag for the name of `length` letters at `name` is at `place`."""
    after = place + 2 + length
    if after >= html.size or nth(html, place + 1) != _SLASH or nth(html, after) != _MORE_THAN:
        return False
    for letter in range(length):
        if nth(html, place + 2 + letter) | _SMALL_LETTER != nth(html, name + letter) | _SMALL_LETTER:
            return False
    return True


KERNELS = kernels_in(__name__)

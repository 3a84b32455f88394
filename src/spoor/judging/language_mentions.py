"""Which of many short texts may name a language: a quick test, so that few must be read word by word.

One pass over the code points of all texts, because this runs for every link of a page. No text that names a language is
missed; some that name none are taken for such.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import INT, array, kernel, kernels_in, nth
from spoor.judging.language_tags import codes_and_countries, names

Codes = NDArray[np.uint32]
Marks = NDArray[np.uint8]

LETTERS, NAME, CODE, CODE_FIRST, MANY = 1, 2, 4, 8, 16
"""What is marked in a text: it has words; one of them may be the name of a language, or the first word of one; one may
be a code or a country; the first may; it has more words than a code, `zh-Hant-TW`."""
_MOST = 3

WORD = re.compile(r"[^\W\d_]+")
_PLANE = 1 << 16
_PLACES = 1 << 18


def marked(texts: Sequence[str]) -> list[int]:
    """What is marked in each text, in any case."""
    if not texts:
        return []
    said = "\0".join(texts)
    if said.count("\0") >= len(texts):
        said = "\0".join([text.replace("\0", " ") for text in texts])
    codes = np.frombuffer(f"{said}\0".lower().encode("utf-32-le", "surrogatepass"), np.uint32)
    marks: list[int] = _marked(codes, len(texts), _kinds(), _known()).tolist()
    return marks


def may_name(mark: int) -> bool:
    """Whether a text may name a language, alone or among other words; a code only alone."""
    return bool(mark & NAME) or mark & (CODE_FIRST | MANY) == CODE_FIRST


@cache
def names_among_others() -> dict[str, str]:
    """Names that need no spaces around them: 日本語 in 日本語版."""
    return {name: tag for name, tag in names().items() if unicodedata.name(name[0], "").startswith("CJK")}


@cache
def _kinds() -> Marks:
    """What each code point of the first plane marks: letters, of which some end such a name."""
    letters = np.arange(_PLANE, dtype=np.uint32).view("U1")
    kinds = (np.strings.isalnum(letters) & ~np.strings.isdecimal(letters)).astype(np.uint8) * np.uint8(LETTERS)
    kinds[[ord(name[-1]) for name in names_among_others()]] |= NAME
    return kinds


@cache
def _known() -> Marks:
    """What a word marks, by its hash."""
    known = np.zeros(_PLACES, np.uint8)
    _note([WORD.findall(name)[0] for name in names()], NAME, known)
    _note(codes_and_countries(), CODE, known)
    return known


def _note(words: Iterable[str], mark: int, known: Marks) -> None:
    for word in words:
        codes = np.frombuffer(word.encode("utf-32-le"), np.uint32)
        known[_place(codes, 0, len(codes))] |= mark


@kernel(array(np.uint32, read_only=True), INT, INT)
def _place(codes: Codes, start: int, end: int) -> int:
    """FNV-1a."""
    hashed = np.uint64(0xCBF29CE484222325)
    for place in range(start, end):
        hashed = (hashed ^ np.uint64(nth(codes, place))) * np.uint64(0x100000001B3)
    return np.int64((hashed ^ hashed >> np.uint64(32)) & np.uint64(_PLACES - 1))  # type: ignore[return-value]


@kernel(array(np.uint32, read_only=True), INT, array(np.uint8), array(np.uint8))
def _marked(codes: Codes, texts: int, kinds: Marks, known: Marks) -> Marks:
    """A 0 ends each text."""
    marks = np.zeros(texts, np.uint8)
    text = words = 0
    start = -1
    for place in range(len(codes)):
        code = nth(codes, place)
        kind = nth(kinds, int(code)) if code < _PLANE else LETTERS | NAME
        if kind:
            marks[text] |= kind
            start = place if start < 0 else start
            continue
        if start >= 0:
            mark = nth(known, _place(codes, start, place))
            words += 1
            marks[text] |= mark
            if words == 1 and mark & CODE:
                marks[text] |= CODE_FIRST
            if words > _MOST:
                marks[text] |= MANY
            start = -1
        if code == 0:
            text += 1
            words = 0
    return marks


KERNELS = kernels_in(__name__)

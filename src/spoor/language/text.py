"""Text as n-grams see it: which units it is made of, and where a sentence ends."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Unit = Literal["letter", "byte"]
UNITS: tuple[Unit, ...] = ("letter", "byte")

LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
MONGOLIAN_STOPS = "\u1802\u1803\u1805\u1808\u1809"
MENKSOFT_STOPS = "\ue236\ue237\ue23c\ue23d"
BORDERS = LINE_ENDS + ".!?;。！？" + MONGOLIAN_STOPS + MENKSOFT_STOPS
"""Characters that end a sentence. No n-gram crosses one, and none holds one."""

_BORDER = re.compile(f"[{re.escape(BORDERS)}]")
_UNIT, _BLANK, _END = 0, 1, 2


def sentences(text: str, unit: Unit = "letter") -> list[str]:
    """Composed (NFC), in small letters, blanks collapsed; none is empty. A byte of UTF-8 is written as the letter with
    its number, so that bytes and letters are counted by the same code."""
    pieces = (" ".join(piece.split()) for piece in _BORDER.split(_folded(text)))
    whole = [piece for piece in pieces if piece]
    return [_as_bytes(piece) for piece in whole] if unit == "byte" else whole


def codes(text: str, unit: Unit = "letter") -> NDArray[np.uint32]:
    """The code points of what `sentences` would look at. `kinds` says of each what it is."""
    seen = "\n".join(sentences(text, unit)) if unit == "byte" else _folded(text)
    return np.frombuffer(seen.encode("utf-32-le", "surrogatepass"), np.uint32)


@cache
def kinds(unit: Unit = "letter") -> NDArray[np.uint8]:
    """For every code point: 0 a unit, 1 a blank, 2 the end of a sentence."""
    table = np.zeros(sys.maxunicode + 1, np.uint8)
    if unit == "byte":
        table[[ord("\n")]] = _END
        return table
    table[[code for code in range(sys.maxunicode + 1) if chr(code).isspace()]] = _BLANK
    table[[ord(border) for border in BORDERS]] = _END
    return table


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _as_bytes(piece: str) -> str:
    return piece.encode("utf8", "surrogatepass").decode("latin-1")

"""A text as terms are looked up in it: words in small letters, without punctuation and without the stop words of
English. A script without blanks gives its letters one by one, so that a term is found wherever its letters stand
together; nobody needs to know where its words end."""

from __future__ import annotations

import re

from spoor.text.stop_words import STOP_WORDS
from spoor.text.words import UNSPACED, any_word, folded

STOP = frozenset(STOP_WORDS["en"].split())
_ASCII_WORD = re.compile("[a-z0-9]+")
_UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_PIECE = re.compile(f"[{UNSPACED}]|[^{UNSPACED}]+")


def tokens(text: str) -> list[str]:
    seen = folded(text)
    if seen.isascii():
        words = _ASCII_WORD.findall(seen)
    else:
        words = any_word().findall(seen.replace("_", " "))
        if _UNSPACED_LETTER.search(seen):
            words = [piece for word in words for piece in _PIECE.findall(word)]
    return [word for word in words if word not in STOP]

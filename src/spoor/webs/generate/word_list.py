"""The words of traditional Mongolian pages in each of their codings: our own, or from a list that a user gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spoor.errors import BadInput
from spoor.language.encoding_table import shipped
from spoor.language.encodings import Encoding, collapse, encoded, share_inside
from spoor.webs.generate.mongolian_words import MONGOLIAN_WORDS

_MENKSOFT = re.compile("[\ue234-\ue34f]+")
_UNICODE = re.compile("[\u1800-\u18af\u202f]+")
_JOINTS = re.compile("[\u180b-\u180f\u202f]")
"""What Unicode has to choose between forms of a letter; in fonts the glyph itself says it."""


@dataclass(frozen=True)
class CodedWords:
    """The same words three times, in the same order. `by_frequency`: the most frequent come first."""

    unicode: tuple[str, ...]
    menksoft: tuple[str, ...]
    saiyin: tuple[str, ...]
    by_frequency: bool


def own_words() -> CodedWords:
    return _coded([word for word, _ in MONGOLIAN_WORDS], [glyphs for _, glyphs in MONGOLIAN_WORDS], by_frequency=True)


def words_in(path: Path) -> CodedWords:
    """A word a line, in Menksoft glyphs or in Unicode. Such a list does not tell how frequent the words are.

    A word that is given in Unicode has the first glyph of each letter in Menksoft, which real pages have not.
    """
    font = shipped()["menksoft"]
    words = [word for word in _lines(path) if share_inside(word, (*font.letters, *font.unicode))]
    if not words:
        raise BadInput(f"the word list {path} holds no words; give one a line, in Menksoft glyphs or in Unicode")
    unicode, menksoft = [collapse(word, font) for word in words], [_in_font(word, font) for word in words]
    return _coded(unicode, menksoft, by_frequency=False)


def _coded(unicode: Sequence[str], menksoft: Sequence[str], by_frequency: bool) -> CodedWords:
    saiyin = tuple(_in_font(word, shipped()["saiyin"]) for word in unicode)
    return CodedWords(tuple(unicode), tuple(menksoft), saiyin, by_frequency)


def _in_font(word: str, font: Encoding) -> str:
    return encoded(_JOINTS.sub("", word), font)


def _lines(path: Path) -> list[str]:
    try:
        lines = path.read_text("utf8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read the word list {path}: {getattr(error, 'strerror', None) or error}") from None
    for number, line in enumerate(lines, 1):
        word = line.strip()
        if word and not (_MENKSOFT.fullmatch(word) or _UNICODE.fullmatch(word)):
            raise BadInput(f"{path}, line {number}: {word!r} is not Mongolian, in Menksoft glyphs or in Unicode")
    return [line.strip() for line in lines]

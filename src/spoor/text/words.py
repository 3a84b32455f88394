"""Which words is a text made of, in whatever script?

Most scripts put blanks between words. Those that do not are cut into pairs of letters, each letter with its marks (of
syllables in Tibetan, which separates these): two texts that share a word then share its pairs, and no dictionary is
needed. For Chinese there is one, jieba's. It is asked when the language is said to be `zh`, and only then: it takes
forty times as long, it would cut Japanese, and texts without a known language should be cut alike on every machine.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from spoor.errors import MissingExtra, UsageError
from spoor.text.stop_words import STOP_WORDS

STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Languages whose words snowball can reduce to their stems, by its names."""

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_BEGINNING = 500
TIBETAN = "\u0f00-\u0f0a\u0f0d-\u0fff"
TSHEG = "\u0f0b\u0f0c"
"""What stands between two syllables of Tibetan."""
UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Myanmar, Khmer
    "\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\ua9df\uaa60-\uaadf"  # Tai Le and Lue and Tham, Balinese, Javanese …
    "\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff\uff66-\uff9f\ua000-\ua4cf" + HAN  # kana, bopomofo, Yi
)
"""Ranges of code points, as inside a character class."""

_JOINERS = "\u200c\u200d" + TSHEG
_ASCII_WORD = re.compile("[a-z0-9]+")
_UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
_SAME_SPACING = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")
_SAME_HAN = re.compile(f"[{HAN}]+|[^{HAN}]+")
_UNSPACED_LETTERS_IN_A_WORD = 3
"""A middling figure: Chinese has less than two, Thai and Khmer have four or five."""


@dataclass(frozen=True)
class Words:
    """`language` is a BCP-47 tag, "" when nobody knows; without it there are neither stems nor stop words."""

    language: str = ""
    stem: bool = False
    stop_words: bool = True

    def __post_init__(self) -> None:
        if self.stem and self._tag not in STEMMERS:
            known = ", ".join(STEMMERS)
            raise UsageError(f"no stemmer for the language {self.language!r}; leave stem out, or name one of {known}")

    def of(self, text: str) -> list[str]:
        """In the order of the text, in small letters; numbers are words too."""
        words = _cut(folded(text), self._tag == "zh")
        if self.stop_words and self._tag in STOP_WORDS:
            stop = _stop(self._tag)
            words = [word for word in words if word not in stop]
        if self.stem:
            words = list(map(_stemmer(STEMMERS[self._tag]), words))
        return words

    @property
    def _tag(self) -> str:
        return self.language.partition("-")[0].lower()


def folded(text: str) -> str:
    """In small letters, composed, soft hyphens left out: as words are compared."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text.replace("\xad", "").casefold())


def word_count(text: str) -> int:
    """About how many words: exact enough to tell long texts from short ones in any script, and quick."""
    if text.isascii():
        return len(text.split())
    unspaced = sum(map(len, _UNSPACED_RUN.findall(text))) if _UNSPACED_LETTER.search(text) else 0
    return len(text.split()) + unspaced // _UNSPACED_LETTERS_IN_A_WORD


@cache
def any_word() -> re.Pattern[str]:
    """A word in folded text without underscores, or a run of words in a script without blanks. Python takes the vowel
    signs of India and the points of Hebrew for borders of words; nobody else does."""
    return re.compile(rf"[^\W_][\w{_JOINERS}{_marks()}]*")


@cache
def any_letter() -> re.Pattern[str]:
    """What a word may go on with."""
    return re.compile(rf"[^\W_]|[{_JOINERS}{_marks()}]")


def is_unspaced(letter: str) -> bool:
    """Whether its script puts no blanks between words."""
    return _UNSPACED_LETTER.match(letter) is not None


def begins_unspaced(text: str) -> bool:
    """Whether a text, as far as its beginning tells, has mostly pairs of letters for words."""
    beginning = text[:_BEGINNING]
    return 3 * len(_UNSPACED_LETTER.findall(beginning)) > len(beginning)


def _cut(text: str, chinese: bool) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text)
    words: list[str] = any_word().findall(text.replace("_", " "))
    if _UNSPACED_LETTER.search(text) is None:
        return words
    cut: list[str] = []
    for word in words:
        if word.isascii() or _UNSPACED_LETTER.search(word) is None:
            cut.append(word)
        else:
            for piece in _SAME_SPACING.findall(word):
                cut += _cut_unspaced(piece, chinese) if _UNSPACED_LETTER.match(piece) else [piece]
    return cut


def _cut_unspaced(run: str, chinese: bool) -> list[str]:
    if not chinese:
        return _pairs(run)
    pieces = _SAME_HAN.findall(run)
    return [word for piece in pieces for word in (_jieba()(piece) if re.match(f"[{HAN}]", piece) else _pairs(piece))]


def _pairs(run: str) -> list[str]:
    units: Sequence[str] = _unit().findall(run) if _not_single().search(run) else run
    return [first + second for first, second in pairwise(units)] if len(units) > 1 else list(units)


@cache
def _unit() -> re.Pattern[str]:
    """A syllable of Tibetan, or a letter with its marks."""
    return re.compile(f"[{TIBETAN}]+|[^{TSHEG}][{_marks()}]*")


@cache
def _not_single() -> re.Pattern[str]:
    """Where a letter is not a unit by itself."""
    return re.compile(f"[{TIBETAN}{_marks()}]")


@cache
def _marks() -> str:
    return "".join(chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code)).startswith("M"))


@cache
def _stop(tag: str) -> frozenset[str]:
    """Stop words cut as texts are: in pairs of letters, where words are not known."""
    return frozenset(_cut(folded(STOP_WORDS[tag]), tag == "zh"))


@cache
def _stemmer(name: str) -> Callable[[str], str]:
    try:
        import snowballstemmer
    except ModuleNotFoundError:
        raise MissingExtra("stems need snowballstemmer; install it with: pip install 'spoor[topics]'") from None
    stem: Callable[[str], str] = snowballstemmer.stemmer(name).stemWord
    return lru_cache(maxsize=100_000)(stem)


@cache
def _jieba() -> Callable[[str], list[str]]:
    """Over a second to load, so only when it is asked."""
    try:
        import jieba
    except ModuleNotFoundError:
        raise MissingExtra("Chinese words need jieba; install it with: pip install 'spoor[topics]'") from None
    jieba.setLogLevel("ERROR")
    cut: Callable[[str], list[str]] = jieba.lcut
    return cut

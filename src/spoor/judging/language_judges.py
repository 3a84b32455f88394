"""Judges of language: by charset, code interval, script, n-gram ranks, and nearest profile."""

from __future__ import annotations

import math
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import Kernels
from spoor.errors import UsageError
from spoor.files import SUFFIX
from spoor.judging.encodings import (
    LEAST_IN_FONT,
    Encoding,
    Interval,
    best_reading,
    encodings_in,
    load,
    share_inside,
    shipped,
    shipped_for,
)
from spoor.judging.language_tags import hint_at_tag, read_tag
from spoor.judging.profile_search import KERNELS, THRESHOLD, Identifier, Recogniser, identifier, recogniser
from spoor.judging.profiles import is_in, profiles_of, tag_of
from spoor.parse.charset import canonical
from spoor.records import Page, TargetPrior, Verdict
from spoor.strategy import PageByPage

# The language of a page by its character encoding, as in the first language-specific crawlers.


CHARSETS: dict[str, frozenset[str]] = {
    "el": frozenset({"iso-8859-7", "windows-1253"}),
    "he": frozenset({"iso-8859-8", "iso-8859-8-i", "windows-1255"}),
    "ja": frozenset({"euc-jp", "shift_jis", "iso-2022-jp"}),
    "ko": frozenset({"euc-kr", "iso-2022-kr"}),
    "th": frozenset({"windows-874"}),
    "vi": frozenset({"windows-1258"}),
    "zh": frozenset({"big5", "gb18030", "gbk", "hz-gb-2312"}),
}
"""Encodings that identify a language, by their WHATWG names."""

SOURCES = ("meta", "header", "detected")


def _hint(language: str) -> str:
    hint = hint_at_tag(language) if read_tag(language) is None else ""
    return f"; {hint}" if hint else ""


@dataclass(frozen=True)
class Charset(PageByPage):
    """The first of `sources` that names an encoding decides: the META declaration, the HTTP header, or the encoding
    detected in the bytes. UTF-8 does not identify a language, so this judge finds UTF-8 pages irrelevant."""

    language: str
    sources: tuple[str, ...] = SOURCES

    reads_content: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.language not in CHARSETS:
            known = ", ".join(sorted(CHARSETS))
            raise UsageError(
                f"no character encoding identifies the language {self.language!r}; the charset judge knows {known}"
                f"{_hint(self.language)}"
            )

    @property
    def target_prior(self) -> TargetPrior:
        return TargetPrior(language=self.language)

    def verdict(self, page: Page) -> Verdict:
        for source in self.sources:
            if label := getattr(page, f"{source}_charset").strip().lower():
                relevant = canonical(label) in CHARSETS[self.language]
                verb = "means" if relevant else "does not mean"
                return Verdict(float(relevant), relevant, f"{source} charset {label} {verb} {self.language}")
        return Verdict(0.0, False, "no charset given")


# The language of a page by the code points of the letters of a legacy font: Ma and others (2014).


PRESETS = {"paper": 0.0, "ratio": 0.10}
"""The smallest relevant share. With `paper`, any share above 0: one code point in the intervals is enough."""


@dataclass(frozen=True)
class CodeInterval(PageByPage):
    """The relevance is the share of non-space characters that are letters in any encoding of the language.

    `language` is a BCP-47 tag or the path of a user's encoding table (`FILE.toml`). Unicode pages lie outside the
    intervals and are missed, a known defect of the method; `include_unicode` fixes it.
    """

    language: str = "mn-Mong"
    preset: str = "paper"
    include_unicode: bool = False
    _intervals: tuple[Interval, ...] = field(init=False, repr=False, compare=False)

    reads_content: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise UsageError(f"unknown preset {self.preset!r}; known are {', '.join(PRESETS)}")
        encodings = _encodings(self.language)
        letters = [interval for encoding in encodings for interval in encoding.letters]
        in_unicode = [interval for encoding in encodings for interval in encoding.unicode if self.include_unicode]
        object.__setattr__(self, "_intervals", (*letters, *in_unicode))

    @property
    def target_prior(self) -> TargetPrior:
        return TargetPrior(language=_encodings(self.language)[0].language)

    def verdict(self, page: Page) -> Verdict:
        share = share_inside(page.text, self._intervals)
        least = PRESETS[self.preset]
        relevant = share > 0.0 and share >= least
        return Verdict(share, relevant, f"{share:.1%} of the characters are in the code intervals of {self.language}")


@cache
def _encodings(language: str) -> tuple[Encoding, ...]:
    if language.endswith(".toml"):
        return (load(Path(language)),)
    if found := shipped_for(language):
        return found
    known = ", ".join(sorted({encoding.language for encoding in shipped().values()}))
    raise UsageError(f"no font encoding of {language!r} is known, only of {known}; describe it in a FILE.toml")


# The language of a page by its script: the share of letters in that script.


SCRIPTS: dict[str, str] = {
    "arabic": "\u0600-\u06ff\u0750-\u077f",
    "armenian": "\u0530-\u058f",
    "bengali": "\u0980-\u09ff",
    "cyrillic": "\u0400-\u052f",
    "devanagari": "\u0900-\u097f",
    "ethiopic": "\u1200-\u139f",
    "georgian": "\u10a0-\u10ff",
    "greek": "\u0370-\u03ff",
    "gujarati": "\u0a80-\u0aff",
    "gurmukhi": "\u0a00-\u0a7f",
    "hangul": "\u1100-\u11ff\uac00-\ud7af",
    "hebrew": "\u0590-\u05ff",
    "kana": "\u3040-\u30ff",
    "kannada": "\u0c80-\u0cff",
    "khmer": "\u1780-\u17ff",
    "lao": "\u0e80-\u0eff",
    "malayalam": "\u0d00-\u0d7f",
    "mongolian": "\u1800-\u18af",
    "myanmar": "\u1000-\u109f",
    "sinhala": "\u0d80-\u0dff",
    "tamil": "\u0b80-\u0bff",
    "telugu": "\u0c00-\u0c7f",
    "thai": "\u0e00-\u0e7f",
    "tibetan": "\u0f00-\u0fff",
}
"""Ranges of code points, as inside a character class."""


@cache
def _letters() -> NDArray[np.bool_]:
    """Which code points are letters. Vowel signs of the scripts above count as letters."""
    letters: NDArray[np.bool_] = np.strings.isalpha(np.arange(sys.maxunicode + 1, dtype=np.uint32).view("U1"))
    for ranges in SCRIPTS.values():
        for code in _codes(ranges):
            letters[code] |= unicodedata.category(chr(code)).startswith("M")
    return letters


@cache
def _kinds(script: str) -> NDArray[np.uint8]:
    """For each code point: 0 if it is not a letter, 2 if it is a letter of the script, 1 if of another script."""
    kinds = _letters().astype(np.uint8)
    kinds[list(_codes(SCRIPTS[script]))] *= 2
    return kinds


def _codes(ranges: str) -> Iterator[int]:
    for first, last in re.findall("(.)-(.)", ranges):
        yield from range(ord(first), ord(last) + 1)


@dataclass(frozen=True)
class ScriptShare(PageByPage):
    """Relevant at a share of `least` or more. The relevance is the share; vowel signs count as letters."""

    script: str
    least: float = 0.3

    reads_content: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.script not in SCRIPTS:
            raise UsageError(f"unknown script {self.script!r}; known are {', '.join(SCRIPTS)}")
        if not 0.0 <= self.least <= 1.0:
            raise UsageError(f"least={self.least:g} is not a share between 0 and 1")

    def verdict(self, page: Page) -> Verdict:
        codes = np.frombuffer(page.text.encode("utf-32-le", "surrogatepass"), np.uint32)
        kinds = _kinds(self.script)[codes]
        letters = int(np.count_nonzero(kinds))
        if not letters:
            return Verdict(0.0, False, "no letters")
        share = int(np.count_nonzero(kinds == 2)) / letters
        return Verdict(share, share >= self.least, f"{share:.0%} of {letters} letters are {self.script}")


# The language of a page by the ranks of its n-grams: its similarity to the profiles of one language.


PROFILES = ("each", "merged")
ORIENTATIONS = ("similarity", "as_printed")


@dataclass(frozen=True)
class NgramRank:
    """Relevant above `least`. `language` is a tag or a model file. `profiles`: "each" compares with every orthography
    separately, and the nearest counts; "merged" compares with one merged profile, as in the paper. `orientation`
    "as_printed" follows the paper's misprint, for audits: it keeps pages whose *distance* is above the threshold. If
    `distance` is set, a page is relevant if the mean rank distance of its n-grams from the merged profile is at most
    `distance`; `least` is then ignored."""

    language: str
    n: int = 3
    least: float = THRESHOLD
    profiles: str = "each"
    orientation: str = "similarity"
    distance: float = 0.0

    reads_content: ClassVar[bool] = True
    kernels: ClassVar[Kernels] = KERNELS

    def __post_init__(self) -> None:
        if not 0.0 <= self.least <= 1.0:
            raise UsageError(f"least={self.least:g} is not a similarity between 0 and 1")
        if self.profiles not in PROFILES:
            raise UsageError(f"profiles={self.profiles}: must be {' or '.join(PROFILES)}")
        if self.orientation not in ORIENTATIONS:
            raise UsageError(f"orientation={self.orientation}: must be {' or '.join(ORIENTATIONS)}")
        if not 1 <= self.n <= 4:
            raise UsageError(f"n={self.n}: n-grams have 1 to 4 letters")
        if not 0.0 <= self.distance < math.inf:
            raise UsageError(f"distance={self.distance:g}: a mean distance of ranks is 0 or more")
        if self.distance and (self.profiles, self.orientation) != ("merged", "similarity"):
            raise UsageError("distance= counts the ranks of one profile; give profiles=merged, and no orientation")
        profiles_of(self.language)

    @property
    def target_prior(self) -> TargetPrior:
        return TargetPrior(language=self.language)

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        near = self._recogniser().similarities([page.text for page in pages]).tolist()
        return [self._verdict(page, similarity) for page, similarity in zip(pages, near, strict=True)]

    def _recogniser(self) -> Recogniser:
        return recogniser(self.language, self.n, one_profile=self.profiles == "merged")

    def _verdict(self, page: Page, similarity: float) -> Verdict:
        tag = tag_of(self.language)
        if len(page.text.split()) == 0:
            return Verdict(0.0, False, "no text")
        if self.distance:
            away = (1.0 - similarity) * self._recogniser().farthest
            near = away <= self.distance
            because = f"{self.n}-grams are {away:.0f} ranks away from {tag}, at most {self.distance:g} are allowed"
            return Verdict(similarity, near, because, tag if near else None)
        if self.orientation == "as_printed":
            distance = 1.0 - similarity
            return Verdict(distance, distance > self.least, f"{self.n}-grams are {distance:.2f} away from {tag}")
        relevant = similarity > self.least
        because = f"{self.n}-grams are {similarity:.2f} similar to {tag}"
        return Verdict(similarity, relevant, because, tag if relevant else None)


# The language of a page as the language of the nearest among all known profiles.


LONGEST = 4_000
"""Characters of a page that are compared. More hardly change the result and take time."""
SHORTEST = 20
"""Non-space characters; shorter pages are not judged."""
LEAST_SIMILARITY = 0.15
"""Below this similarity to the nearest profile, the page is in no known language, or is not text."""
STEEPNESS = 20.0
"""Steepness of the logistic function of the lead over the best rival: a lead of 0.1 is a relevance of 0.88."""


@dataclass(frozen=True)
class NearestProfile:
    """`language` is a tag, or a model file whose profiles compete with the shipped ones. The relevance is 0.5 if the
    target language and its best rival are equally near; a page nearer to the target language is relevant. The label of
    a verdict is the detected language."""

    language: str

    reads_content: ClassVar[bool] = True
    kernels: ClassVar[Kernels] = KERNELS

    def __post_init__(self) -> None:
        profiles_of(self.language)

    @property
    def target_prior(self) -> TargetPrior:
        return TargetPrior(language=self.language)

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        known = self._identifier()
        own = np.array([is_in(profile.tag, tag_of(self.language)) for profile in known.profiles])
        texts = [page.text[:LONGEST] for page in pages]
        near = best_reading(known.similarities, texts, shipped_for(tag_of(self.language)))
        return [self._verdict(page.text[:LONGEST], row, own) for page, row in zip(pages, near, strict=True)]

    def _identifier(self) -> Identifier:
        return identifier(self.language if self.language.endswith(SUFFIX) else "")

    def _verdict(self, text: str, near: NDArray[np.float64], own: NDArray[np.bool_]) -> Verdict:
        letters = sum(map(len, text.split()))
        if letters < SHORTEST:
            return Verdict(0.0, False, f"too short: {letters} characters, the profiles need {SHORTEST}")
        mine, rival = np.where(own, near, -1.0).argmax(), np.where(own, -1.0, near).argmax()
        lead = float(near[mine] - near[rival])
        first, second = (mine, rival) if lead > 0 else (rival, mine)
        ranking = ", then ".join(f"{self._tag(int(k))} ({near[k]:.2f})" for k in (first, second))
        if near[first] < self._least_similarity(text):
            return Verdict(0.0, False, f"in no language with a profile; the nearest is {ranking}")
        relevance = 1.0 / (1.0 + math.exp(-STEEPNESS * lead))
        return Verdict(relevance, lead > 0, f"nearest profile is {ranking}", self._tag(int(first)))

    def _least_similarity(self, text: str) -> float:
        in_fonts = encodings_in(text, shipped_for(tag_of(self.language)))
        return LEAST_IN_FONT if in_fonts else LEAST_SIMILARITY

    def _tag(self, number: int) -> str:
        return self._identifier().profiles[number].tag

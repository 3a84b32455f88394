"""The judge of a language: a library (CLD2, py3langid) if it knows the language, n-gram profiles otherwise.

CLD2 is more accurate for the languages it knows than profiles trained on ten kilobytes of text, so it is used if it
knows the target language. Profiles cover the other languages and all model files. If the language has profiles in a
script that CLD2 cannot read, as Mongolian has, which also comes in fonts of its own, both judge and the more favourable
verdict counts. The reason of every verdict names the method.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import pycld2
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from spoor.errors import UsageError
from spoor.files import SUFFIX
from spoor.judging.language_judges import NearestProfile
from spoor.judging.language_signs import COMMON
from spoor.judging.language_tags import languages
from spoor.judging.profiles import is_in, shipped, tag_of
from spoor.records import Page, TargetPrior, Verdict
from spoor.roles import Judge
from spoor.strategy import PageByPage

# The language of a page as detected by a library: CLD2, or py3langid. Neither can be trained.


PIECE = 700
"""Characters taken from the beginning, the middle and the end of a page. More do not improve detection and take
time."""

UNKNOWN = "und"
"""BCP-47 tag of a text in no known language."""

_CURRENT = {"iw": "he", "jw": "jv", "bh": "bih", "xx-Bugi": "bug", "xx-Goth": "got", "kik": "ki", "un": UNKNOWN}
"""Codes of the libraries that BCP-47 has replaced or does not have."""

_NO_LANGUAGES = {UNKNOWN, "xxx", "zxx", "tlh", "zzp"}
"""Results of a library that cannot be a target language: no text, and the joke languages of CLD2."""

_REFUSED_BY_CLD2 = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef"
    + "".join(chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))
    + "]"
)

Shares = dict[str, float]
"""BCP-47 tag to the share of the text, or to its probability; largest first, never empty."""


def excerpt(text: str) -> str:
    """Beginning, middle and end of a text; a short text whole."""
    if len(text) <= 3 * PIECE:
        return text
    middle = (len(text) - PIECE) // 2
    return "\n".join((text[:PIECE], text[middle : middle + PIECE], text[-PIECE:]))


def cld2_shares(text: str) -> Shares:
    """The share of the text in each of up to three languages, by CLD2."""
    legible = excerpt(text)
    if not legible.replace("\n", " ").isprintable():  # most texts are printable and have no refused characters
        legible = _REFUSED_BY_CLD2.sub(" ", legible)
    _, _, found = pycld2.detect(legible, isPlainText=True, bestEffort=True)
    return {_tag(code): percent / 100 for _, code, percent, _ in found if code != "un"} or {UNKNOWN: 1.0}


def py3langid_shares(text: str) -> Shares:
    """The probability of each language; py3langid assumes that the text is in one."""
    if not text.strip():
        return {UNKNOWN: 1.0}
    return {_tag(code): float(probability) for code, probability in _py3langid().rank(excerpt(text))}


def _tags_of_cld2() -> list[str]:
    return [_tag(code) for name, code in pycld2.LANGUAGES if name in pycld2.DETECTED_LANGUAGES]


def _tags_of_py3langid() -> list[str]:
    return [_tag(code) for code in _py3langid().labels]


@dataclass(frozen=True)
class Library:
    shares: Callable[[str], Shares]
    tags: Callable[[], list[str]]


LIBRARIES = {
    "cld2": Library(cld2_shares, _tags_of_cld2),
    "py3langid": Library(py3langid_shares, _tags_of_py3langid),
}


@cache
def known_tags(library: str) -> frozenset[str]:
    """The languages that a library can detect, as BCP-47 tags: `he`, `zh`, `zh-Hant`."""
    if library not in LIBRARIES:
        raise UsageError(f"unknown detector {library!r}; known are {', '.join(LIBRARIES)}")
    return frozenset(LIBRARIES[library].tags()) - _NO_LANGUAGES


@dataclass(frozen=True)
class Detector(PageByPage):
    """Relevant at a share of `least` or more. `zh` means Chinese in any script, `zh-Hant` in the traditional one. The
    label of a verdict is the detected language."""

    language: str
    tool: str = "cld2"
    least: float = 0.5

    reads_content: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.language not in known_tags(self.tool):
            raise UsageError(_cannot_tell(self.language, self.tool))
        if not 0.0 <= self.least <= 1.0:
            raise UsageError(f"least={self.least:g} is not a share between 0 and 1")

    @property
    def target_prior(self) -> TargetPrior:
        return TargetPrior(language=self.language)

    def verdict(self, page: Page) -> Verdict:
        shares = LIBRARIES[self.tool].shares(page.text)
        share = min(1.0, sum(part for tag, part in shares.items() if _within(tag, self.language)))
        found = next(iter(shares))
        because = f"{self.tool} finds {self._finding(shares, found, share)}"
        return Verdict(share, share >= self.least, because, found)

    def _finding(self, shares: Shares, found: str, share: float) -> str:
        if found == UNKNOWN:
            return "no language it knows"
        if _within(found, self.language):
            return f"{share:.0%} {self.language}"
        return f"{shares[found]:.0%} {found}, {share:.0%} {self.language}"


def _tag(code: str) -> str:
    return _CURRENT.get(code, code)


def _within(tag: str, target: str) -> bool:
    return tag == target or tag.startswith(f"{target}-")


def _cannot_tell(language: str, library: str) -> str:
    """Error message with the nearest remedy: a shorter tag, the other library, or a profile trained by the user."""
    general = language.partition("-")[0]
    others = [name for name in LIBRARIES if name != library and language in known_tags(name)]
    if general in known_tags(library):
        remedy = f"it knows {general!r}"
    elif others:
        remedy = f"{others[0]} does: library={others[0]}"
    else:
        remedy = "train a profile of it with `spoor train language`"
    return f"{library} does not know the language {language!r}; {remedy}"


@cache
def _py3langid() -> Any:
    """Loaded on first use: it takes half a second."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


# The judge of a target language: selects the method that suits it.


LIBRARY = "cld2"

PARTLY, MOSTLY = 0.2, 0.7
"""Share of a page that must be in the target language: a fifth, because pages of all languages contain code, names and
menus in English; most of it if English is the target, for the same reason."""


@dataclass(frozen=True)
class DetectorOrProfiles:
    """The more favourable of two verdicts."""

    detector: Detector
    profiles: NearestProfile

    reads_content: ClassVar[bool] = True

    @property
    def target_prior(self) -> TargetPrior:
        return self.detector.target_prior

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        both = zip(self.detector.judge(pages), self.profiles.judge(pages), strict=True)
        return [max(verdicts, key=lambda verdict: (verdict.relevant, verdict.relevance)) for verdicts in both]


def language_judge(language: str) -> Judge:
    """`language` is a BCP-47 tag or the path of a model file. UsageError if there is neither a detector nor a
    profile."""
    tag = tag_of(language)
    if language.endswith(SUFFIX) or tag not in known_tags(LIBRARY):
        return NearestProfile(language)
    if unread := _unread_script(tag):
        return DetectorOrProfiles(_detector(tag), NearestProfile(unread))
    return _detector(tag)


def _detector(tag: str) -> Detector:
    return Detector(tag, LIBRARY, MOSTLY if tag in COMMON else PARTLY)


def _unread_script(tag: str) -> str | None:
    """The tag with a script that the detector cannot read, if there are shipped profiles of the language in one."""
    written = (known for known in shipped().tags if is_in(known, tag) and "-" in known)
    return next((known for known in written if known.partition("-")[2] not in _scripts_read()), None)


@cache
def _scripts_read() -> frozenset[str]:
    """The scripts in which the detector knows a language."""
    parts = [tag.partition("-") for tag in known_tags(LIBRARY)]
    return frozenset(script or languages()[language].script for language, _, script in parts if language in languages())

"""The judge of a wanted language: which of the ways to tell a language suits the one that was asked for.

CLD2 tells the languages it knows better than profiles from ten kilobytes of text can; so it is asked where it knows the
wanted one. Profiles tell the others, and all model files. Both are asked, and the more favourable believed, where the
language has profiles in a script that CLD2 cannot read, as Mongolian has: it also comes in fonts of its own.
The reason of every verdict says who was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from spoor.judge.detector import Detector, known_tags
from spoor.judge.nearest_profile import NearestProfile
from spoor.language.known import is_in, shipped, tag_of
from spoor.language.signs import COMMON
from spoor.language.tags import languages
from spoor.model_file import SUFFIX
from spoor.records import Page, Verdict, Wish
from spoor.roles import Judge

LIBRARY = "cld2"

PARTLY, MOSTLY = 0.2, 0.7
"""How much of a page must be in the wanted language: a fifth, because code, names and menus in English stand on pages
of all languages; for the same reason most of it, when English is wanted."""


@dataclass(frozen=True)
class DetectorOrProfiles:
    """The more favourable of two verdicts."""

    detector: Detector
    profiles: NearestProfile

    reads_content: ClassVar[bool] = True

    @property
    def wish(self) -> Wish:
        return self.detector.wish

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        both = zip(self.detector.judge(pages), self.profiles.judge(pages), strict=True)
        return [max(verdicts, key=lambda verdict: (verdict.relevant, verdict.relevance)) for verdicts in both]


def language_judge(language: str) -> Judge:
    """For a BCP-47 tag, or the path of a model file. UsageError when there is neither a detector nor a profile."""
    tag = tag_of(language)
    if language.endswith(SUFFIX) or tag not in known_tags(LIBRARY):
        return NearestProfile(language)
    if unread := _unread_script(tag):
        return DetectorOrProfiles(_detector(tag), NearestProfile(unread))
    return _detector(tag)


def _detector(tag: str) -> Detector:
    return Detector(tag, LIBRARY, MOSTLY if tag in COMMON else PARTLY)


def _unread_script(tag: str) -> str | None:
    """The tag with the script that the detector cannot read, if we have profiles of the language in one."""
    written = (known for known in shipped().tags if is_in(known, tag) and "-" in known)
    return next((known for known in written if known.partition("-")[2] not in _scripts_read()), None)


@cache
def _scripts_read() -> frozenset[str]:
    """Those in which the detector knows a language."""
    parts = [tag.partition("-") for tag in known_tags(LIBRARY)]
    return frozenset(script or languages()[language].script for language, _, script in parts if language in languages())

"""Trains a language profile from text files: reading, minimum size, evaluation."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spoor.errors import BadInput, UsageError
from spoor.judging.language_tags import canonical_tag, read_tag
from spoor.judging.profile_search import LENGTHS, gram_index, identifier, similarities
from spoor.judging.profiles import Profile, is_in, learned

LEAST_CHARACTERS = 1_000
"""Minimum size of the text, spaces collapsed; ten times as much is better."""
_WELL_FORMED = re.compile(r"(x|[a-z]{2,8})(-[a-z0-9]{1,8})*")
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8-sig"}


@dataclass(frozen=True)
class LanguageEvaluation:
    """Evaluation of a profile trained on nine tenths of the text with the last tenth: its similarity, and that of the
    nearest shipped profile of another language."""

    similarity: float
    nearest: str
    nearest_similarity: float


def checked_tag(name: str) -> str:
    """The tag of a profile: that of a language, or any other well-formed tag, because there are more languages than
    codes."""
    tag = name.strip().lower().replace("_", "-")
    if _WELL_FORMED.fullmatch(tag):
        return read_tag(tag) or tag
    try:
        return canonical_tag(name)
    except UsageError as error:
        raise UsageError(f"{error}; a language without a code is called x-NAME, such as x-mine") from None


def read_texts(paths: Sequence[Path]) -> str:
    """Concatenates all files. They are UTF-8, or UTF-16 with a byte order mark."""
    for path in paths:
        if paths.count(path) > 1:
            raise UsageError(f"{path} is given twice; once is enough")
    return "\n".join(map(_read, paths))


def train_language(tag: str, name: str, text: str, trained_on: str) -> Profile:
    profile = learned(tag, name, text, trained_on)
    if profile.size < LEAST_CHARACTERS:
        raise BadInput(f"{trained_on}: {profile.size:,} characters are too few; {LEAST_CHARACTERS:,} are needed")
    return profile


def trial(profile: Profile, text: str) -> LanguageEvaluation:
    cut = len(text) * 9 // 10
    part, rest = learned(profile.tag, profile.name, text[:cut], profile.trained_on), text[cut:]
    own = float(similarities(gram_index([part], LENGTHS), [rest])[0, 0])
    shipped = identifier()
    others = np.array([not is_in(other.tag, profile.tag) for other in shipped.profiles])
    near = np.where(others, shipped.similarities([rest])[0], -1.0)
    return LanguageEvaluation(own, shipped.profiles[int(near.argmax())].tag, float(near.max()))


def _read(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read the text file {path}: {error.strerror}") from None
    coding = next((name for mark, name in _MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(coding)
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#04x} at {error.start:,}); convert it first"
        ) from None
    if "\x00" in text:
        raise BadInput(f"{path} is not text: it holds NUL characters, the first at {text.index(chr(0)):,}")
    if not text.strip():
        raise BadInput(f"{path} is empty; a profile is trained from text")
    return text

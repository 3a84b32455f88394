"""The language of a page by the rank of its n-grams: how near it is to the profiles of one language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.errors import UsageError
from spoor.language.known import profiles_of, tag_of
from spoor.language.recogniser import THRESHOLD, Recogniser, recogniser
from spoor.records import Page, Verdict, Wish

PROFILES = ("each", "merged")
ORIENTATIONS = ("similarity", "as_printed")


@dataclass(frozen=True)
class NgramRank:
    """Relevant above `least`. `language` is a tag or a model file. `profiles`: "each" orthography for itself, the
    nearest counts; "merged": all in one, as the paper has it. `orientation` "as_printed" is the paper's slip of the
    pen, for audits: it keeps pages whose *distance* is above the threshold."""

    language: str
    n: int = 3
    least: float = THRESHOLD
    profiles: str = "each"
    orientation: str = "similarity"

    reads_content: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0.0 <= self.least <= 1.0:
            raise UsageError(f"least={self.least:g} is not a similarity between 0 and 1")
        if self.profiles not in PROFILES:
            raise UsageError(f"profiles={self.profiles}: must be {' or '.join(PROFILES)}")
        if self.orientation not in ORIENTATIONS:
            raise UsageError(f"orientation={self.orientation}: must be {' or '.join(ORIENTATIONS)}")
        if not 1 <= self.n <= 4:
            raise UsageError(f"n={self.n}: n-grams have 1 to 4 letters")
        profiles_of(self.language)

    @property
    def wish(self) -> Wish:
        return Wish(language=self.language)

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        near = self._recogniser().similarities([page.text for page in pages]).tolist()
        return [self._verdict(page, similarity) for page, similarity in zip(pages, near, strict=True)]

    def _recogniser(self) -> Recogniser:
        return recogniser(self.language, self.n, one_profile=self.profiles == "merged")

    def _verdict(self, page: Page, similarity: float) -> Verdict:
        tag = tag_of(self.language)
        if len(page.text.split()) == 0:
            return Verdict(0.0, False, "no text")
        if self.orientation == "as_printed":
            distance = 1.0 - similarity
            return Verdict(distance, distance > self.least, f"{self.n}-grams are {distance:.2f} away from {tag}")
        relevant = similarity > self.least
        because = f"{self.n}-grams are {similarity:.2f} similar to {tag}"
        return Verdict(similarity, relevant, because, tag if relevant else None)

"""The language of a page as the one, of all that are known, whose profile it is nearest to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from spoor.language.encoding_table import shipped_for
from spoor.language.encodings import GOOD_SENSE, best_reading, encodings_in
from spoor.language.identifier import Identifier, identifier
from spoor.language.known import is_in, profiles_of, tag_of
from spoor.model_file import SUFFIX
from spoor.records import Page, Verdict, Wish

LONGEST = 4_000
"""Characters of a page that are looked at: more hardly change the answer, and cost time."""
SHORTEST = 20
"""Characters, blanks not counted, below which nothing is said of a page."""
LEAST_SIMILARITY = 0.15
"""What is less similar to the nearest profile is in no language that is known, or in none at all."""
STEEPNESS = 20.0
"""How fast a lead over the best rival becomes certainty: one of 0.1 is a relevance of 0.88."""


@dataclass(frozen=True)
class NearestProfile:
    """`language` is a tag, or a model file whose profiles compete with the shipped ones. The relevance is 0.5 when the
    wanted language and the best rival are equally near; relevant is what is nearer to the wanted one. The label of a
    verdict is the language found."""

    language: str

    reads_content: ClassVar[bool] = True

    def __post_init__(self) -> None:
        profiles_of(self.language)

    @property
    def wish(self) -> Wish:
        return Wish(language=self.language)

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
        told = ", then ".join(f"{self._tag(int(k))} ({near[k]:.2f})" for k in (first, second))
        if near[first] < self._least_similarity(text):
            return Verdict(0.0, False, f"in no language with a profile; the nearest is {told}")
        relevance = 1.0 / (1.0 + math.exp(-STEEPNESS * lead))
        return Verdict(relevance, lead > 0, f"nearest profile is {told}", self._tag(int(first)))

    def _least_similarity(self, text: str) -> float:
        in_fonts = encodings_in(text, shipped_for(tag_of(self.language)))
        return GOOD_SENSE if in_fonts else LEAST_SIMILARITY

    def _tag(self, number: int) -> str:
        return self._identifier().profiles[number].tag

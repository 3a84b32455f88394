"""How near texts are to a language: for strategies that compare texts of links, where a language is what is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spoor.language.recogniser import recogniser


@dataclass(frozen=True)
class LikeLanguage:
    """`language` is a BCP-47 tag or a model file."""

    language: str

    def similarities(self, texts: Sequence[str]) -> list[float]:
        found: list[float] = recogniser(self.language).similarities(texts).tolist()
        return found

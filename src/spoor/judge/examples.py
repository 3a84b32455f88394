"""The topic of a page by what was learned from pages that are wanted and pages that are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.errors import UsageError
from spoor.records import Page, Verdict, Wish
from spoor.text.topic_model import Opinion, TopicModel

WISHED = 20
"""Words of the topic that a strategy is told beforehand."""


@dataclass(frozen=True)
class Examples:
    """The relevance is the probability that the page is wanted. Relevant from `least` on; 0: from where the training
    found best."""

    model: TopicModel
    least: float = 0.0

    reads_content: ClassVar[bool] = True
    reads_main_text: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0.0 <= self.least <= 1.0:
            raise UsageError(f"least={self.least:g} is not a probability between 0 and 1")

    @property
    def wish(self) -> Wish:
        return Wish(words=self.model.words[:WISHED])

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self._verdict(self.model.opinion(page.title, page.main_text or page.text)) for page in pages]

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [self.model.opinion("", text).probability for text in texts]

    def _verdict(self, opinion: Opinion) -> Verdict:
        relevant = opinion.probability >= (self.least or self.model.threshold)
        return Verdict(opinion.probability, relevant, self._because(opinion))

    def _because(self, opinion: Opinion) -> str:
        if not opinion.speaks_for and not opinion.against:
            return f"holds no word that was met in training {self.model.name}"
        sides = {"for it": opinion.speaks_for, "against it": opinion.against}
        told = "; ".join(f"{side} {', '.join(words)}" for side, words in sides.items() if words)
        return f"probability {opinion.probability:.2f} of {self.model.name}: {told}"

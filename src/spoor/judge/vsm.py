"""The topic of a page by texts of the field: the cosine between TF-IDF vectors, if wanted with similar words alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spoor.errors import BadInput
from spoor.judge.near_topic import checked_least, judged_near
from spoor.language.ngrams import calibrate
from spoor.records import Page, Verdict, Wish
from spoor.text.field import Field
from spoor.text.rewriting import RewrittenTopic
from spoor.text.topic import Topic

UNCALIBRATED = 0.1
"""The threshold where there are no other texts to set it by."""
FOLDS = 5
WISHED = 20
"""Words of the field that a strategy is told beforehand."""


@dataclass(frozen=True)
class VectorSpaceModel:
    """`name` is what the field is called; relevant above `least`."""

    name: str
    topic: Topic | RewrittenTopic = field(repr=False)
    least: float = UNCALIBRATED

    reads_content: ClassVar[bool] = True
    reads_main_text: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_least(self.least)
        if not self.topic.heaviest(1):
            raise BadInput(f"{self.name} holds no words that tell its texts from others; give texts of the field")

    @property
    def wish(self) -> Wish:
        return Wish(words=self.topic.heaviest(WISHED))

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [judged_near(page, self.topic, self.least, self.name) for page in pages]

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [self.topic.likeness(text).cosine for text in texts]


def calibrated(learned: Field, terms: int, texts: Sequence[str], others: Sequence[str]) -> float:
    """The threshold that tells texts of the field, each compared with a topic that was made without it, best from other
    texts. Without other texts, or with one text of the field, nothing can be measured."""
    if not others or len(texts) < 2:
        return UNCALIBRATED
    wanted: list[float] = []
    folds = min(FOLDS, len(texts))
    for fold in range(folds):
        left_out = range(fold, len(texts), folds)
        topic = learned.topic(terms, left_out)
        wanted += [topic.likeness(texts[number]).cosine for number in left_out]
    whole = learned.topic(terms)
    return calibrate(wanted, [whole.likeness(text).cosine for text in others])

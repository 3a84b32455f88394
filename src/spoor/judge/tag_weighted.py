"""The topic of a page by named words, in the text and once more in everything that its markup stresses.

    W = W₀ + Σ λᵢ Wᵢ

W₀ compares the text with the words of the topic, Wᵢ what stands in elements of one tag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spoor.errors import UsageError
from spoor.judge.near_topic import checked_least
from spoor.records import Page, Verdict, Wish
from spoor.text.topic import Likeness, Topic, general_space
from spoor.text.words import Words

LAMBDA = {
    "title": 1.0, "h1": 0.9, "h2": 0.7, "h3": 0.6, "strong": 0.5, "b": 0.4, "em": 0.4, "u": 0.4, "i": 0.4,
}  # fmt: skip
"""What a tag counts for beside the text, which counts 1."""
HIGHEST = 1.0 + sum(LAMBDA.values())


def stressed(text: float, tags: Mapping[str, float]) -> float:
    """W, from how near the text and the texts of tags are to the topic."""
    return text + sum(LAMBDA[tag] * near for tag, near in tags.items())


@dataclass(frozen=True)
class TagWeighted:
    """Relevance is W divided by the most it can be; relevant above `least`. `normalise` False compares by the plain
    product of weights instead of the cosine; what goes beyond 1 is cut off."""

    words: tuple[str, ...]
    least: float = 0.05
    normalise: bool = True
    language: str = ""
    _topic: Topic = field(init=False, repr=False, compare=False)

    reads_content: ClassVar[bool] = True
    reads_main_text: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_least(self.least)
        words, space = Words(self.language), general_space("lg")
        vector = space.raw(words.of("\n".join(self.words)))
        if not vector:
            raise UsageError(f"{' '.join(self.words)!r} holds no words; name some, as in tag-weighted:horse+steppe")
        object.__setattr__(self, "_topic", Topic(words, space, vector))

    @property
    def wish(self) -> Wish:
        return Wish(words=self._topic.heaviest(len(self._topic.vector)))

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self._judge(page) for page in pages]

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [self._topic.likeness(text).cosine for text in texts]

    def _judge(self, page: Page) -> Verdict:
        text = self._topic.likeness(page.main_text or page.text)
        tags = {tag: self._near(self._topic.likeness(said)) for tag in LAMBDA if (said := _said(page, tag))}
        weight = stressed(self._near(text), tags)
        relevance = min(1.0, weight / HIGHEST)
        parts = {"text": self._near(text), **tags}
        return Verdict(relevance, relevance > self.least, _because(weight, parts, text.words))

    def _near(self, likeness: Likeness) -> float:
        return likeness.cosine if self.normalise else likeness.product


def _said(page: Page, tag: str) -> str:
    return page.title if tag == "title" else page.tag_texts.get(tag, "")


def _because(weight: float, parts: Mapping[str, float], words: Sequence[str]) -> str:
    told = ", ".join(f"{part} {near:.2f}" for part, near in parts.items() if near) or "no word of the topic"
    return f"weight {weight:.2f} of {HIGHEST:.1f}: {told}" + (f"; most by {', '.join(words)}" if words else "")

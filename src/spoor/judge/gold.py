"""The topic of a page by one document that is just what is wanted: does the page use the same uncommon words?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spoor.errors import BadInput, UsageError
from spoor.judge.near_topic import checked_least, judged_near
from spoor.records import Page, Verdict, Wish
from spoor.text.topic import Topic, cut_to, general_space
from spoor.text.words import Words


@dataclass(frozen=True)
class Gold:
    """`name` is what the document is called, `text` what it says. Its heaviest words are the topic, as many as `terms`.
    They weigh by how often the document holds them, and by how rare they are in texts about anything. A page is
    relevant from a cosine of `least` on. `language` is that of the document, "" when it does not matter."""

    name: str
    text: str = field(repr=False)
    terms: int = 10
    least: float = 0.12
    language: str = ""
    _topic: Topic = field(init=False, repr=False, compare=False)

    reads_content: ClassVar[bool] = True
    reads_main_text: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_least(self.least)
        if self.terms < 1:
            raise UsageError(f"terms={self.terms} is not a number of words, 1 or more")
        words, space = Words(self.language), general_space("linear")
        vector = cut_to(space.vector(words.of(self.text)), self.terms)
        if not vector:
            raise BadInput(f"{self.name} holds no words to compare pages with; give a document with text")
        object.__setattr__(self, "_topic", Topic(words, space, vector))

    @property
    def wish(self) -> Wish:
        return Wish(words=self._topic.heaviest(self.terms))

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [judged_near(page, self._topic, self.least, self.name) for page in pages]

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [self._topic.likeness(text).cosine for text in texts]

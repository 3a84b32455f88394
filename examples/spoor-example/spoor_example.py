"""A strategy and a judge by a word: links whose anchor has it, and pages that mention it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import spoor
from spoor.records import Evidence, Link, Page, Sighting, Verdict
from spoor.roles import Judge, Merge
from spoor.strategy import Strategy


@dataclass(frozen=True)
class AnchorMentions:
    word: str
    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"mentions": max}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"mentions": float(self.word in link.anchor.lower())} for link in links]

    def key(self, evidence: Evidence) -> float:
        return evidence["mentions"]


@spoor.strategy("anchor-mentions")
def anchor_mentions(judge: Judge, word: str = "news") -> Strategy:
    """Links first that have a word in their anchor."""
    return Strategy(judge, AnchorMentions(word))


@dataclass(frozen=True)
class Mentions:
    word: str
    times: int
    reads_content: ClassVar[bool] = True

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self._verdict(page.text.lower().count(self.word)) for page in pages]

    def _verdict(self, found: int) -> Verdict:
        return Verdict(min(1.0, found / self.times), found >= self.times, f"{found} times {self.word!r}")


@spoor.judge("mentions", subjects=("WORD", "telescope"))
def mentions(word: str, times: int = 1) -> Judge:
    """A word, mentioned at least so many times."""
    return Mentions(word, times)

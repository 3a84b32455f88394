"""A page beside a topic: the verdict that a cosine gives."""

from __future__ import annotations

from typing import Protocol

from spoor.errors import UsageError
from spoor.records import Page, Verdict
from spoor.text.topic import Likeness


class Comparable(Protocol):
    def likeness(self, text: str) -> Likeness: ...


def judged_near(page: Page, topic: Comparable, least: float, name: str) -> Verdict:
    """Title and text count alike."""
    likeness = topic.likeness(f"{page.title}\n{page.main_text or page.text}")
    words = ", ".join(likeness.words)
    because = f"{likeness.cosine:.2f} near {name}, most by {words}" if words else f"shares no words with {name}"
    return Verdict(likeness.cosine, likeness.cosine >= least, because)


def checked_least(least: float) -> None:
    if not 0.0 < least <= 1.0:
        raise UsageError(f"least={least:g} is not a similarity above 0 and up to 1")

"""The more letters of a page lie in the code interval of a font, the sooner its links: the paper's content analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.language.encodings import Interval, share_inside
from spoor.records import Evidence, Hints, Link, Page, Sighting
from spoor.roles import Merge


@dataclass(frozen=True)
class IntervalShare:
    """A link is worth the share of characters inside `intervals` on the best page that links to it."""

    intervals: tuple[Interval, ...]

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"interval_share": max}

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        return [(share_inside(page.text, self.intervals),)] * len(links)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"interval_share": link.hints[0]} for link in links]

    def key(self, evidence: Evidence) -> float:
        return evidence["interval_share"]

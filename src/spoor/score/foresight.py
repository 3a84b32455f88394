"""What is known only to an oracle: how far each page is from a wanted one. A ceiling for measuring, not a strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spoor.records import Evidence, Link, Sighting
from spoor.roles import Merge
from spoor.score.merging import first


@dataclass(frozen=True)
class Foresight:
    """`level_of` tells the level of a URL; the smaller, the sooner."""

    level_of: Callable[[str], int] = field(repr=False)

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"level": first}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"level": float(self.level_of(link.url))} for link in links]

    def key(self, evidence: Evidence) -> float:
        return -evidence["level"]

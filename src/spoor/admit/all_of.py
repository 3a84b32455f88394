"""Several rules at once: a link needs the consent of all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from spoor.records import ADMIT, Evidence, Link, Ruling, TrailState, Visit
from spoor.roles import Admission, ContentReader


@dataclass
class AllOf:
    """The first refusal wins, whether it parks or drops. Put the lasting rules first: what they drop is not remembered.

    The parts are copied without what they learned, so that a copy of the whole has learned nothing either.
    """

    parts: tuple[Admission, ...]

    def __post_init__(self) -> None:
        self.parts = tuple(_fresh(part) for part in self.parts)

    @property
    def reads_content(self) -> bool:
        return any(isinstance(part, ContentReader) and part.reads_content for part in self.parts)

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return _first_refusal(part.at_offer(link, evidence, trail) for part in self.parts)

    def at_pop(self, visit: Visit) -> Ruling:
        return _first_refusal(part.at_pop(visit) for part in self.parts)


def _first_refusal(rulings: Iterable[Ruling]) -> Ruling:
    return next((ruling for ruling in rulings if ruling.decision != "admit"), ADMIT)


def _fresh(part: Any) -> Any:
    """Every part is a dataclass; the role cannot say so."""
    return replace(part)

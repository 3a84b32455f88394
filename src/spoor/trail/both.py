"""Two memories of one path."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from spoor.records import Page, TrailState, Verdict
from spoor.roles import ContentReader, Trail


@dataclass
class Both:
    """States are pairs; the first memory decides which of two is kept.

    The parts are copied without what they learned, so that a copy of the whole has learned nothing either.
    """

    first: Trail
    second: Trail

    def __post_init__(self) -> None:
        self.first, self.second = _fresh(self.first), _fresh(self.second)

    @property
    def parts(self) -> tuple[Trail, Trail]:
        return self.first, self.second

    @property
    def reads_content(self) -> bool:
        return any(isinstance(part, ContentReader) and part.reads_content for part in self.parts)

    def root(self) -> TrailState:
        return self.first.root(), self.second.root()

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        first, second = state
        return self.first.advance(first, page, verdict), self.second.advance(second, page, verdict)

    def rank(self, state: TrailState) -> float:
        return self.first.rank(state[0])


def _fresh(part: Any) -> Any:
    """Every part is a dataclass; the role cannot say so."""
    return replace(part)

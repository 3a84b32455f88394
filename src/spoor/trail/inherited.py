"""What a path has inherited of the relevance of its pages, less with every link."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.errors import UsageError
from spoor.records import Page, TrailState, Verdict


@dataclass(frozen=True)
class Inherited:
    """States are numbers from 0 to 1. A page that is relevant at all hands `decay` times its relevance to its links,
    another `decay` times what it inherited itself."""

    decay: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 <= self.decay <= 1.0:
            raise UsageError(f"decay={self.decay:g}: what is handed on is a share, from 0 to 1")

    def root(self) -> TrailState:
        return 0.0

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        return self.decay * (verdict.relevance if verdict.relevance > 0.0 else state)

    def rank(self, state: TrailState) -> float:
        return float(state)

"""How many unwanted pages lie between here and the last wanted one on the path."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.records import Page, TrailState, Verdict


@dataclass(frozen=True)
class SinceRelevant:
    """States are whole numbers: 0 on the links of a relevant page. A link keeps the smaller of two."""

    def root(self) -> TrailState:
        return 0

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        return 0 if verdict.relevant else state + 1

    def rank(self, state: TrailState) -> float:
        return -float(state)

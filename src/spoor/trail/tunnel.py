"""How much of its patience a path has spent since the last wanted page: unwanted pages cost, the less the more of the
topic is on them."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.records import Page, TrailState, Verdict


@dataclass(frozen=True)
class Tunnel:
    """States are numbers: 0 on the links of a relevant page. An irrelevant one adds 1 - relevance, so a direction that
    almost leads somewhere is followed for longer than one that leads nowhere. A link keeps the smaller of two."""

    def root(self) -> TrailState:
        return 0.0

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        return 0.0 if verdict.relevant else state + 1.0 - verdict.relevance

    def rank(self, state: TrailState) -> float:
        return -float(state)

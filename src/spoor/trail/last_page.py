"""The page that a link was found on, and how many unwanted pages lie between it and the last wanted one."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.records import Page, TrailState, Verdict


@dataclass(frozen=True)
class LastPage:
    """States are pairs: unwanted pages in a row, the URL of the page. A link keeps the one with fewer."""

    def root(self) -> TrailState:
        return 0, ""

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        return (0 if verdict.relevant else state[0] + 1), page.url

    def rank(self, state: TrailState) -> float:
        return -float(state[0])

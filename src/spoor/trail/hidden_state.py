"""What a path model believes of a path: how far from a wanted page it has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spoor.context.path_view import PathView
from spoor.records import Page, TrailState, Verdict


@dataclass(frozen=True)
class HiddenState:
    """States are those of `PathView`. What the page itself says makes them; the verdict does not matter."""

    path: PathView

    reads_content: ClassVar[bool] = True

    def root(self) -> TrailState:
        return None

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        return self.path.go_on(state, page.title, page.text)

    def rank(self, state: TrailState) -> float:
        """How near to a wanted page the links lead."""
        return 0.0 if state is None else self.path.nearness(state)

"""Conditions fixed before a run: each holds or does not, and a failure is printed as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Condition:
    """A claim of a paper in our terms, the seeds in which it held, and in how many it must hold."""

    claim: str
    held: tuple[bool, ...]
    needed: int

    @property
    def holds(self) -> bool:
        return sum(self.held) >= self.needed

    def line(self) -> str:
        answer = "yes" if self.holds else "no"
        return f"{answer:<4} {sum(self.held):>2} of {len(self.held)} (needs {self.needed})  {self.claim}"


def rises(values: Sequence[float]) -> bool:
    """Strictly, at every step."""
    return all(a < b for a, b in pairwise(values))


def falls(values: Sequence[float]) -> bool:
    return rises([-value for value in values])

"""The perfect judge: it looks the answer up. For comparing strategies apart from the quality of a judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spoor.records import Page, Verdict


@dataclass(frozen=True)
class Truth:
    """Relevant means: carries the label `target`. `is_relevant` answers by URL."""

    target: str
    is_relevant: Callable[[str], bool] = field(repr=False)

    reads_content: ClassVar[bool] = False

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        yes, no = Verdict(1.0, True, f"labelled {self.target}"), Verdict(0.0, False, f"not labelled {self.target}")
        return [yes if self.is_relevant(page.url) else no for page in pages]

"""The perfect judge: it looks the answer up. For comparing strategies apart from the quality of a judge."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spoor.records import Page, Verdict, Wish


@dataclass(frozen=True)
class Truth:
    """Relevant means: carries the label `target`. `is_relevant` answers by URL."""

    target: str
    is_relevant: Callable[[str], bool] = field(repr=False)

    reads_content: ClassVar[bool] = False

    @property
    def wish(self) -> Wish:
        """A label such as lang=ja names a language; others are made of words: subject.Science.Biology."""
        kind, _, value = self.target.rpartition("=")
        return Wish(language=value) if kind == "lang" else Wish(words=tuple(re.findall(r"[^\W_]+", value.lower())))

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        yes, no = Verdict(1.0, True, f"labelled {self.target}"), Verdict(0.0, False, f"not labelled {self.target}")
        return [yes if self.is_relevant(page.url) else no for page in pages]

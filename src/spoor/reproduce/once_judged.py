"""Pages are judged once, however many crawls come by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from spoor.records import Page, Verdict
from spoor.roles import Judge


@dataclass(frozen=True)
class OnceJudged:
    """Remembers verdicts by URL, so that it suits a web that does not change."""

    judge_of_pages: Judge
    _verdicts: dict[str, Verdict] = field(init=False, repr=False, compare=False, default_factory=dict)

    @property
    def reads_content(self) -> bool:
        return self.judge_of_pages.reads_content

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        new = [page for page in pages if page.url not in self._verdicts]
        self._verdicts.update(zip((page.url for page in new), self.judge_of_pages.judge(new), strict=True))
        return [self._verdicts[page.url] for page in pages]

"""The report of a contest: its tables by name, as they stand in a page, and its plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from spoor.contest.heats import Cap, Judging, Plan, Result
from spoor.standings import plots, tables
from spoor.standings.board import Board, boards
from spoor.standings.tables import Table

ABSENT = "*Not part of the last run.*\n"
PLOTS = {"curves": "contest-curves.svg", "means": "contest-means.svg"}
"""By the name of their section, the files in images/ beside the page."""
_ALT = {
    "curves": "Share of the wanted pages found over the share of the budget spent",
    "means": "Mean normalised areas",
}


@dataclass(frozen=True)
class Report:
    plan: Plan
    results: tuple[Result, ...]

    @cached_property
    def views(self) -> Mapping[tuple[Judging, Cap], Board]:
        return boards(self.results, (*self.plan.strategies, "oracle"))

    def sections(self) -> dict[str, str]:
        """All of `SECTIONS`; what the contest did not look at says so."""
        return {name: (made(self) or ABSENT) for name, made in SECTIONS.items()}

    def plots(self) -> dict[str, str]:
        """SVG by the name of the section."""
        judged = {judging: self.views[judging, None] for judging in self.plan.judges}
        first = self.plan.judges[0]
        return {"curves": plots.curves(judged[first], first), "means": plots.means(judged)}

    def about(self) -> str:
        webs = list(dict.fromkeys(result.heat.row.web.name for result in self.results))
        runs = [score for result in self.results for score in result.comparison.scores]
        rows, seconds = len({result.heat.row for result in self.results}), sum(score.seconds for score in runs)
        told = f"{rows} rows of {', '.join(webs)}; {len(self.plan.strategies)} strategies; {len(runs):,} runs"
        return f"{told}, {seconds:,.0f} s of computing time.\n"

    def of_board(self, judging: Judging, table: Callable[[Board], Table]) -> str:
        board = self.views.get((judging, None))
        return table(board).markdown() if board else ""

    def caps(self) -> str:
        views = {cap: board for (judging, cap), board in self.views.items() if judging == self.plan.judges[0]}
        return tables.capped(views).markdown() if len(views) > 1 else ""

    def ablations(self) -> str:
        if not self.plan.ablations:
            return ""
        whole = self.plan.ablations[0].rpartition(":without=")[0]
        free = [result for result in self.results if result.heat.task.per_host is None]
        view = boards(free, (whole, *self.plan.ablations))[self.plan.judges[0], None]
        return tables.ablated(view, whole).markdown()


SECTIONS: dict[str, Callable[[Report], str]] = {
    "about": Report.about,
    "leaders": lambda report: report.of_board("truth", tables.leaders),
    "curves": lambda report: _image("curves"),
    "means": lambda report: _image("means"),
    "rows": lambda report: report.of_board("truth", tables.row_by_row),
    "beaten": lambda report: report.of_board("truth", tables.beaten),
    "leaders-real": lambda report: report.of_board("real", tables.leaders),
    "rows-real": lambda report: report.of_board("real", tables.row_by_row),
    "beaten-real": lambda report: report.of_board("real", tables.beaten),
    "judges": lambda report: report.of_board("real", tables.judges),
    "caps": Report.caps,
    "ablations": Report.ablations,
}


def _image(name: str) -> str:
    return f"![{_ALT[name]}](images/{PLOTS[name]})\n"

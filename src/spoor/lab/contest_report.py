"""The report of a contest: its tables in a page of Markdown, and its plots."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from spoor.errors import BadInput
from spoor.lab import leaderboard as tables
from spoor.lab import plots
from spoor.lab.contest import Judging, Plan, Result, View
from spoor.lab.leaderboard import Leaderboard, Table, leaderboards
from spoor.lab.worlds import NAMED

# A page of Markdown whose tables are replaced between markers; the text around them is kept.


_SECTION = re.compile(r"(<!-- contest: (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.S)


def check_page(page: Path, known: Iterable[str]) -> None:
    """Fails early on a page that could not be filled after the contest."""
    names = [found["name"] for found in _SECTION.finditer(_text(page))]
    listed = ", ".join(known)
    if not names:
        marks = "<!-- contest: NAME --> and <!-- end --> on lines of their own"
        raise BadInput(f"{page} has no place for a table; mark places by {marks}, where NAME is one of {listed}")
    if wrong := [name for name in names if name not in known]:
        raise BadInput(f"{page} has a place for {wrong[0]!r}, but there is no such table; there are {listed}")


def filled(page: Path, sections: Mapping[str, str]) -> str:
    """The text of the page with each section filled in."""
    return _SECTION.sub(lambda found: f"{found[1]}\n{sections[found['name']]}\n{found[3]}", _text(page))


def _text(page: Path) -> str:
    try:
        return page.read_text("utf8")
    except OSError as error:
        raise BadInput(f"cannot read {page}: {error.strerror}; --page fills places in an existing page") from None


# The report of a contest: its tables by section name, and its plots.


ABSENT = "*Not part of the last run.*\n"
_DRAWN = {
    "curves": "Share of the relevant pages found over the share of the budget spent",
    "times": "Share of the relevant pages found over virtual time",
    "means": "Mean normalised areas",
}
_TABLES: dict[str, tuple[Judging, Callable[[Leaderboard], Table]]] = {
    "leaders": ("truth", tables.leaders),
    "rows": ("truth", tables.row_by_row),
    "beaten": ("truth", tables.beaten),
    "leaders-real": ("real", tables.leaders),
    "rows-real": ("real", tables.row_by_row),
    "beaten-real": ("real", tables.beaten),
}


def section_names() -> list[str]:
    """All sections that a page can have. All conditions have the same tables and plots, except that the lab has no plot
    over time."""
    of_each = [*_TABLES, *_DRAWN, "caps", "ablations"]
    named = [f"{conditions}-{name}" for conditions in NAMED for name in of_each]
    return ["about", "judges", *(name for name in named if name != "lab-times")]


@dataclass(frozen=True)
class Report:
    plan: Plan
    results: tuple[Result, ...]

    @cached_property
    def views(self) -> Mapping[View, Leaderboard]:
        return leaderboards(self.results, (*self.plan.strategies, "oracle"))

    def sections(self) -> dict[str, str]:
        """The text for each of `section_names`; `ABSENT` for sections that were not part of the contest."""
        made = {"about": self._about(), "judges": self._judges()}
        for conditions in self.plan.conditions:
            made |= {f"{conditions}-{name}": text for name, text in self._sections_of(conditions)}
        made |= {name: f"![{_DRAWN[_kind(name)]}](images/{file(name)})\n" for name in self._drawings()}
        return {name: made.get(name) or ABSENT for name in section_names()}

    def plots(self) -> dict[str, str]:
        """SVG by section name."""
        return {name: draw() for name, draw in self._drawings().items()}

    def _drawings(self) -> dict[str, Callable[[], str]]:
        found: dict[str, Callable[[], str]] = {}
        for conditions in self.plan.conditions:
            views = [View(conditions, judging) for judging in self.plan.judges]
            judged = {view: self.views[view] for view in views}
            found |= {f"{conditions}-{name}": draw for name, draw in _drawings_of(judged).items()}
        return found

    def _sections_of(self, conditions: str) -> Iterator[tuple[str, str]]:
        for name, (judging, table) in _TABLES.items():
            yield name, self._table(View(conditions, judging), table)
        yield "caps", self._caps(conditions)
        yield "ablations", self._ablations(conditions)

    def _table(self, view: View, table: Callable[[Leaderboard], Table]) -> str:
        ranking = self.views.get(view)
        return table(ranking).markdown() if ranking else ""

    def _about(self) -> str:
        webs = list(dict.fromkeys(result.contest_run.row.web.name for result in self.results))
        scores = [score for result in self.results for score in result.comparison.scores]
        rows, runs = (
            len({result.contest_run.row for result in self.results}),
            sum(len(score.orders) for score in scores),
        )
        seconds = sum(score.seconds * len(score.orders) for score in scores)
        contents = f"{rows} rows of {', '.join(webs)}; {len(self.plan.strategies)} strategies"
        orders = max(result.contest_run.orders for result in self.results)
        return f"{contents}; {orders} orders of the seeds; {runs:,} runs, {seconds:,.0f} s of computing time.\n"

    def _judges(self) -> str:
        """Verdicts do not depend on the conditions, so the first view is enough."""
        return self._table(View(self.plan.conditions[0], "real"), tables.judges)

    def _caps(self, conditions: str) -> str:
        of_first = (conditions, self.plan.judges[0])
        views = {view.cap: ranking for view, ranking in self.views.items() if view[:2] == of_first}
        return tables.capped(views).markdown() if len(views) > 1 else ""

    def _ablations(self, conditions: str) -> str:
        if not self.plan.ablations:
            return ""
        whole = self.plan.ablations[0].rpartition(":without=")[0]
        view = View(conditions, self.plan.judges[0])
        of_view = [result for result in self.results if result.contest_run.view == view]
        return tables.ablated(leaderboards(of_view, (whole, *self.plan.ablations))[view], whole).markdown()


def _drawings_of(judged: Mapping[View, Leaderboard]) -> dict[str, Callable[[], str]]:
    """`judged` has the views of one of the conditions, the first judge first."""
    view, ranking = next(iter(judged.items()))
    by_time = {"times": lambda: plots.times(ranking, view)} if NAMED[view.conditions] else {}
    return {"curves": lambda: plots.curves(ranking, view), **by_time, "means": lambda: plots.means(judged)}


def is_plot(section: str) -> bool:
    return _kind(section) in _DRAWN


def _kind(section: str) -> str:
    """The section name without the prefix for the conditions."""
    return section.partition("-")[2]


def file(section: str) -> str:
    """The file name of a plot, in images/ beside the page."""
    return f"contest-{section}.svg"

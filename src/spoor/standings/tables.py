"""Boards as tables: who leads, row by row, under a cap, and without what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from spoor.assembly import ORACLES
from spoor.contest.heats import Cap
from spoor.contest.real_judges import TRAINED
from spoor.measure.bootstrap import Paired
from spoor.standings.board import Board, Standing, on_common_rows

SHOWN = 8
"""Strategies that have a column in the table of rows and a line in the plot."""
GAP = 0.05
"""How far another strategy must be above the reference for the row to be listed."""


@dataclass(frozen=True)
class Table:
    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """Columns of numbers are set as such. A table without lines says so."""
        if not self.lines:
            return "None.\n"
        rule = tuple("---" if _is_text(cells) else "---:" for cells in zip(*self.lines, strict=True))
        return "\n".join("| " + " | ".join(cells) + " |" for cells in (self.columns, rule, *self.lines)) + "\n"


def _is_text(cells: Sequence[str]) -> bool:
    return any(letter.isalpha() for cell in cells for letter in cell)


def leaders(board: Board) -> Table:
    """All strategies by their mean, each beside the reference; under a clock, what they made of their time."""
    standings, reference = board.standings(), board.reference
    clocked = all(one.clock for one in standings)
    columns, told = (FIELD_COLUMNS, _in_the_field) if clocked else (LAB_COLUMNS, _in_the_lab)
    lines = [(*told(one), *_paired(board, one.strategy, reference)) for one in standings]
    return Table((*columns, f"against {reference}", "difference"), tuple(lines))


LAB_COLUMNS = ("strategy", "rows", "mean", "spread", "worst", "worst row", "r_prec", "coverage", "n90", "hosts", "s")
FIELD_COLUMNS = (
    "strategy",
    "rows",
    "mean",
    "spread",
    "by time",
    "failed",
    "requests",
    "idle",
    "half found",
    "half, s",
    "worst",
    "worst row",
)


def _in_the_lab(one: Standing) -> tuple[str, ...]:
    return (
        one.strategy,
        str(one.rows),
        *map(_cell, (one.mean, one.spread, one.worst)),
        one.worst_row,
        *map(_cell, (one.r_precision, one.coverage)),
        str(one.n90),
        _cell(one.hosts),
        f"{one.seconds:,.0f}",
    )


def _in_the_field(one: Standing) -> tuple[str, ...]:
    assert one.clock is not None, "under a clock"
    return (
        one.strategy,
        str(one.rows),
        *map(_cell, (one.mean, one.spread, one.clock.mean, one.failed)),
        "" if one.requests is None else f"{one.requests:,.1f}",
        *map(_cell, (one.clock.idle, one.clock.half_found)),
        "" if one.clock.half_time is None else f"{one.clock.half_time:,.0f}",
        _cell(one.worst),
        one.worst_row,
    )


def _paired(board: Board, strategy: str, reference: str) -> tuple[str, str]:
    pair = board.against(strategy, reference)
    if pair is None or strategy == reference:
        return "", ""
    return f"{pair.wins}–{pair.losses}–{pair.ties}", _difference(pair)


def _difference(pair: Paired) -> str:
    return f"{pair.difference:+.3f} [{pair.low:+.3f}, {pair.high:+.3f}]"


def row_by_row(board: Board) -> Table:
    """Normalised areas of the best strategies and the greedy oracle, and how large each row is."""
    names = [*board.best(SHOWN), *(name for name in ORACLES if name != "oracle" and name in board.scores)]
    areas = [board.areas(name) for name in names]
    lines = []
    for result in board.results:
        row, against = result.heat.row.name, result.comparison.yardstick
        lines.append((row, f"{against.relevant:,}", f"{against.budget:,}", *(_cell(of.get(row)) for of in areas)))
    lines.append(("**mean**", "", "", *(_cell(mean(of.values())) for of in areas)))
    return Table(("row", "relevant", "budget", *names), tuple(lines))


def beaten(board: Board) -> Table:
    """Where the reference is clearly not the best."""
    reference = board.reference
    lines = [(row, best, _cell(area), _cell(own)) for row, best, area, own in board.beaten(reference, GAP)]
    return Table(("row", "best", "its area", reference), tuple(lines))


def capped(views: Mapping[Cap, Board]) -> Table:
    """Means under each cap, and how many of the hosts were found, on the rows that have a part in all of it."""
    boards = on_common_rows(list(views.values()))
    names = ["no cap" if cap is None else f"{cap:,} a host" for cap in views]
    lines = []
    for first, *others in _side_by_side(boards):
        each = (first, *others)
        figures = (*(one.mean for one in each), *(one.hosts for one in each))
        lines.append((first.strategy, str(first.rows), *map(_cell, figures)))
    return Table(("strategy", "rows", *names, *(f"hosts, {name}" for name in names)), tuple(lines))


def _side_by_side(boards: Sequence[Board]) -> list[list[Standing]]:
    """The standings of each strategy on all boards, in the order of the first."""
    by_name = [{one.strategy: one for one in board.standings()} for board in boards]
    return [[standings[name] for standings in by_name] for name in by_name[0]]


def ablated(board: Board, whole: str) -> Table:
    """A strategy beside itself without one thing after the other; what costs most first."""
    lines = [("everything", _cell(_mean(board.areas(whole))), "", "")]
    parts = [name for name in board.scores if name != whole]
    for name in sorted(parts, key=lambda name: mean(board.areas(name).values())):
        pair = board.against(name, whole)
        assert pair is not None, "both took the same rows"
        told = (f"{pair.wins}–{pair.losses}–{pair.ties}", _difference(pair))
        lines.append((f"… without {name.rpartition('=')[2]}", _cell(_mean(board.areas(name))), *told))
    return Table((whole, "mean", "wins–losses–ties", "difference"), tuple(lines))


def judges(board: Board) -> Table:
    """How often the real judges are right, on pages that can be reached and were not used in training."""
    lines = []
    for result in board.results:
        if result.accuracy is not None:
            judge = result.heat.task.judge
            judge = TRAINED if judge.startswith(TRAINED) else judge
            lines.append((result.heat.row.name, judge, _cell(result.accuracy.precision), _cell(result.accuracy.recall)))
    return Table(("row", "judge", "precision", "recall"), tuple(lines))


def _mean(areas: Mapping[str, float]) -> float | None:
    return mean(areas.values()) if areas else None


def _cell(number: float | None) -> str:
    return "" if number is None else f"{number:.3f}"

"""Tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from spoor.measure.harvest import Score


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """The first column is left-aligned, the rest are numbers. Off a terminal it is as wide as it needs to be."""
    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console()
    console.print(table, width=None if console.is_terminal else 200, markup=False)


SCORE_COLUMNS = (
    "strategy",
    "visits",
    "found",
    "area",
    "normalised",
    "r_precision",
    "n90",
    "coverage",
    "max_queue",
    "s",
)


def score_row(score: Score) -> list[str]:
    return [
        score.strategy,
        f"{score.visits:,}",
        f"{score.found:,}",
        f"{score.area:.3f}",
        "" if score.normalised is None else f"{score.normalised:.3f}",
        f"{score.r_precision:.3f}",
        "never" if score.n90 is None else f"{score.n90:,}",
        f"{score.coverage:.3f}",
        f"{score.max_queue:,}",
        f"{score.seconds:.1f}",
    ]

"""Tables on the terminal: plain text, so that they can be piped and pasted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spoor.measure.harvest import Score


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """The first column is left-aligned, the rest are numbers."""
    lines = [list(columns), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    if title:
        print(title)
    for first, *rest in lines:
        print("  ".join([first.ljust(widths[0]), *map(str.rjust, rest, widths[1:])]))


SCORE_COLUMNS = ("strategy", "visits", "found", "area", "normalised", "r_prec", "n90", "coverage", "max queue", "s")
SPREAD_COLUMNS = ("spread",)
CLOCK_COLUMNS = ("by time", "virtual s", "half at", "failed", "requests/relevant", "idle")


def score_table(scores: Sequence[Score]) -> tuple[tuple[str, ...], list[list[str]]]:
    """Columns and rows: those of spread where there are several orders of the seeds, those of time under a clock."""
    spread = any(score.spread is not None for score in scores)
    clock = any(score.elapsed is not None for score in scores)
    columns = SCORE_COLUMNS + SPREAD_COLUMNS * spread + CLOCK_COLUMNS * clock
    rows = [score_row(score) + _spread(score) * spread + _by_time(score) * clock for score in scores]
    return columns, rows


def score_row(score: Score) -> list[str]:
    return [
        score.strategy,
        f"{score.visits:,.0f}",
        f"{score.found:,.0f}",
        f"{score.area:.3f}",
        _share(score.normalised),
        f"{score.r_precision:.3f}",
        "never" if score.n90 is None else f"{score.n90:,.0f}",
        f"{score.coverage:.3f}",
        f"{score.max_queue:,.0f}",
        f"{score.seconds:.1f}",
    ]


def _spread(score: Score) -> list[str]:
    return [_share(score.spread)]


def _by_time(score: Score) -> list[str]:
    return [
        _share(score.normalised_time),
        "" if score.elapsed is None else f"{score.elapsed:,.1f}",
        "never" if score.half_time is None else f"{score.half_time:,.1f}",
        _share(score.failed),
        "" if score.requests_per_relevant is None else f"{score.requests_per_relevant:,.1f}",
        _share(score.idle),
    ]


def _share(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.3f}"

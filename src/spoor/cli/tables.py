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
CLOCK_COLUMNS = (
    "strategy",
    "visits",
    "found",
    "normalised",
    "by time",
    "n90",
    "coverage",
    "failed",
    "requests",
    "idle",
    "half at",
    "virtual s",
    "s",
)


def score_table(scores: Sequence[Score]) -> tuple[tuple[str, ...], list[list[str]]]:
    """Columns and rows. Under a clock some columns about visits make room for those about time; with several orders of
    the seeds there is the spread as well."""
    clocked = any(score.elapsed is not None for score in scores)
    spread = any(score.spread is not None for score in scores)
    columns = (CLOCK_COLUMNS if clocked else SCORE_COLUMNS) + ("spread",) * spread
    row = _clock_row if clocked else score_row
    return columns, [row(score) + [_share(score.spread)] * spread for score in scores]


def score_row(score: Score) -> list[str]:
    return [
        score.strategy,
        f"{score.visits:,.0f}",
        f"{score.found:,.0f}",
        f"{score.area:.3f}",
        _share(score.normalised),
        f"{score.r_precision:.3f}",
        _until(score.n90, 0),
        f"{score.coverage:.3f}",
        f"{score.max_queue:,.0f}",
        f"{score.seconds:.1f}",
    ]


def _clock_row(score: Score) -> list[str]:
    return [
        score.strategy,
        f"{score.visits:,.0f}",
        f"{score.found:,.0f}",
        _share(score.normalised),
        _share(score.normalised_time),
        _until(score.n90, 0),
        f"{score.coverage:.3f}",
        _share(score.failed),
        "" if score.requests_per_relevant is None else f"{score.requests_per_relevant:,.1f}",
        _share(score.idle),
        _until(score.half_time, 1),
        "" if score.elapsed is None else f"{score.elapsed:,.1f}",
        f"{score.seconds:.1f}",
    ]


def _share(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.3f}"


def _until(figure: float | None, digits: int) -> str:
    return "never" if figure is None else f"{figure:,.{digits}f}"

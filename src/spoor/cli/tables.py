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

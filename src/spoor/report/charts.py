"""Line charts over visits or time, as self-contained SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 480, 230
LEFT, RIGHT, TOP, BOTTOM = 46, 16, 10, 38
"""Margins for labels."""
LEGEND_WIDTH = 130
LONGEST_NAME = 16
"""Maximum number of characters in a legend."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Series:
    """One line. `points` are ordered by x and not negative."""

    name: str
    points: Sequence[Point]


def line_chart(points: Sequence[Point], name: str, across: str) -> str:
    """`name` describes the chart, `across` is the label of the x axis."""
    return chart([Series("", points)], name, across)


def chart(series: Sequence[Series], name: str, across: str) -> str:
    """Lines on a common scale. A single line has no legend, and the area below it is filled."""
    points = [point for one in series for point in one.points]
    widest = max((x for x, _ in points), default=1.0) or 1.0
    steps = ticks(max((y for _, y in points), default=1.0) or 1.0)
    parts = [
        *(_level(step, step / steps[-1]) for step in steps),
        *(_mark(step, step / widest) for step in ticks(widest) if 0 < step <= widest),
        *(_line(one, number, widest, steps[-1], len(series) == 1) for number, one in enumerate(series, 1)),
        *(_legend(one, number) for number, one in enumerate(series, 1) if len(series) > 1),
        f'<text class="tick" x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">{escape(across)}</text>',
    ]
    label = escape(name, quote=True)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
    return f"{head}{''.join(parts)}</svg>"


def ticks(highest: float) -> list[float]:
    """A few round numbers from 0 to `highest` or just above."""
    rough = highest / 4
    unit = 10 ** math.floor(math.log10(rough))
    step = max(1, next(unit * n for n in (1, 2, 5, 10) if unit * n >= rough * 0.999))
    return [step * n for n in range(math.ceil(highest / step - 1e-9) + 1)]


def _line(series: Series, number: int, widest: float, highest: float, alone: bool) -> str:
    drawn = [_place(x / widest, y / highest) for x, y in series.points or [(0.0, 0.0)]]
    path = "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
    if not alone:
        return f'<path class="line line-{number}" d="{path}"/>'
    floor, left = HEIGHT - BOTTOM, drawn[0][0]
    area = f'<path class="area" d="{path} L{drawn[-1][0]:.1f},{floor} L{left:.1f},{floor} Z"/>'
    return f'{area}<path class="line" d="{path}"/>'


def _legend(series: Series, number: int) -> str:
    x, y = LEFT + LEGEND_WIDTH * (number - 1), HEIGHT - 8
    stroke = f'<path class="line line-{number}" d="M{x},{y} h18"/>'
    name = series.name if len(series.name) <= LONGEST_NAME else f"{series.name[: LONGEST_NAME - 1]}…"
    return f'{stroke}<text class="legend" x="{x + 24}" y="{y + 4}">{escape(name)}</text>'


def _place(x: float, y: float) -> Point:
    return LEFT + x * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y * (HEIGHT - TOP - BOTTOM)


def _level(value: float, height: float) -> str:
    _, y = _place(0, height)
    line = f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return line + f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_short(value)}</text>'


def _mark(value: float, along: float) -> str:
    x, y = _place(along, 0)
    return f'<text class="tick" x="{x:.1f}" y="{y + 16}" text-anchor="middle">{_short(value)}</text>'


def _short(value: float) -> str:
    for unit, length in (("M", 10**6), ("k", 10**3)):
        if value >= 10 * length:
            return f"{value / length:g}{unit}"
    return f"{value:,g}"

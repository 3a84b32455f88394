"""Charts of one or several crawls, drawn by the code of the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from spoor.dashboard.overview import CurvePoint
from spoor.report.charts import Point, Series, chart

What = Literal["relevant", "share", "waiting", "failures", "visits", "bytes"]
Over = Literal["visits", "time"]
SMOOTHED = 12
"""Number of points over which a share is computed."""
MEGABYTE = 1e6


@dataclass(frozen=True, slots=True)
class ChartQuery:
    """The quantity to draw, over visits or time, and the numbers of the crawls, separated by commas."""

    what: What = "relevant"
    over: Over = "visits"
    crawls: str = ""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A quantity: its name, and how to read it from a curve."""

    name: str
    read: Callable[[Sequence[CurvePoint], int], float]


def _share(curve: Sequence[CurvePoint], place: int) -> float:
    """The share of relevant pages among recent ones, in percent."""
    now, before = curve[place], curve[place - SMOOTHED] if place >= SMOOTHED else CurvePoint(0, 0, 0, 0, 0, 0, 0, 0)
    pages = now.pages - before.pages
    return 100 * (now.relevant - before.relevant) / pages if pages else 0.0


DRAWN: dict[str, Drawn] = {
    "relevant": Drawn("relevant pages found", lambda curve, place: curve[place].relevant),
    "share": Drawn("relevant pages among the latest fetches, in percent", _share),
    "waiting": Drawn("links waiting", lambda curve, place: curve[place].waiting),
    "failures": Drawn("failures", lambda curve, place: curve[place].failures),
    "visits": Drawn("visits", lambda curve, place: curve[place].visits),
    "bytes": Drawn("megabytes fetched", lambda curve, place: curve[place].bytes / MEGABYTE),
}
UNITS = (("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0), ("seconds", 1.0))


def drawn(asked: ChartQuery, curves: dict[str, list[CurvePoint]]) -> str:
    """SVG. `curves` by the names of crawls, in the order of the legend."""
    kind = DRAWN[asked.what]
    unit, length = _unit(curves) if asked.over == "time" else ("visits", 1.0)
    series = [Series(name, _points(curve, kind, asked.over, length)) for name, curve in curves.items()]
    return chart(series, f"{kind.name}, over {unit}", unit)


def _points(curve: list[CurvePoint], kind: Drawn, over: Over, length: float) -> list[Point]:
    return [
        (point.seconds / length if over == "time" else float(point.visits), max(0.0, kind.read(curve, place)))
        for place, point in enumerate(curve)
    ]


def _unit(curves: dict[str, list[CurvePoint]]) -> tuple[str, float]:
    """The largest unit of which the longest crawl took at least two."""
    longest = max((curve[-1].seconds for curve in curves.values() if curve), default=0.0)
    return next(((name, length) for name, length in UNITS if longest >= 2 * length), UNITS[-1])

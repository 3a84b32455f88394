"""Curves as SVG: harvest, coverage and queue length of strategies, and the means of a contest."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spoor.errors import MissingExtra
from spoor.lab.contest import Judging, View
from spoor.lab.leaderboard import SHOWN, Leaderboard
from spoor.lab.measures import Score, Yardstick
from spoor.lab.papers.experiment import Chart
from spoor.registry import ORACLES

# Curves as SVG: harvest, coverage and queue length of several strategies, over visits and over time.


if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = ("harvest: found / visits", "coverage: found / relevant", "queue: links waiting")
BY_TIME = "coverage over virtual time"


def blank(width: float, height: float) -> Figure:
    """Size in inches."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingExtra("plots need matplotlib; install it with: pip install 'spoor[plot]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def svg_of(figure: Figure) -> str:
    """Deterministic: the same figure gives the same text."""
    from matplotlib import rc_context

    drawing = io.StringIO()
    with rc_context({"svg.hashsalt": "spoor"}):
        figure.savefig(drawing, format="svg", metadata={"Date": None})
    return "\n".join(line.rstrip() for line in drawing.getvalue().splitlines()) + "\n"


def plot_scores(scores: Sequence[Score], against: Yardstick, title: str) -> str:
    """Panels over the number of visits and, with a clock, one over virtual seconds. The oracle is a thin grey line."""
    clocked = any(score.curve_time for score in scores)
    figure = blank(17 if clocked else 13, 4.4)
    panels = figure.subplots(1, len(PANELS) + clocked)
    for score in scores:
        if score.curve:
            _draw(panels, score, against)
    for panel, name in zip(panels, (*PANELS, BY_TIME), strict=False):
        panel.set_title(name, fontsize=10, loc="left")
        panel.set_xlabel("virtual seconds" if name == BY_TIME else "visits")
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.25)
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(5, len(labels)), frameon=False, fontsize=9)
    return svg_of(figure)


def _draw(panels: Sequence[Axes], score: Score, against: Yardstick) -> None:
    visits, found, queue = zip(*score.curve, strict=True)
    style: dict[str, Any] = {"color": "0.55", "linewidth": 1.0} if score.strategy == "oracle" else {"linewidth": 1.6}
    (line,) = panels[0].plot(visits, [f / n for n, f in zip(visits, found, strict=True)], label=score.strategy, **style)
    style["color"] = line.get_color()
    panels[1].plot(visits, [f / against.relevant for f in found], **style)
    panels[2].plot(visits, queue, **style)
    if score.curve_time:
        seconds, found_by_then = zip(*score.curve_time, strict=True)
        panels[3].plot(seconds, [f / against.relevant for f in found_by_then], **style)


# The figures of a paper as SVG: our results as solid lines, published ones as dashed lines or crosses.


COLUMNS = 3


def redrawn(charts: Sequence[Chart]) -> str:
    """A panel for each chart; lines with the same name have the same colour."""
    rows = -(-len(charts) // COLUMNS)
    columns = min(COLUMNS, len(charts))
    figure = blank(5.2 * columns, 4.0 * rows)
    panels = np.atleast_1d(figure.subplots(rows, columns)).ravel()
    for panel, chart in zip(panels, charts, strict=False):
        _redraw(panel, chart)
    for panel in panels[len(charts) :]:
        panel.set_visible(False)
    return svg_of(figure)


def _redraw(panel: Axes, chart: Chart) -> None:
    colours: dict[str, Any] = {}
    for name, points in chart.ours.items():
        (line,) = panel.plot(
            *zip(*points, strict=True), label=name, linewidth=1.6, marker="." if len(points) < POINTED else ""
        )
        colours[name] = line.get_color()
    for name, points in chart.published.items():
        look: dict[str, Any] = {"marker": "x", "linestyle": "--" if len(points) > 1 else "", "linewidth": 1.0}
        panel.plot(*zip(*points, strict=True), label=f"{name}, published", color=colours.get(name), **look)
    panel.set_title(chart.title, fontsize=10, loc="left")
    panel.set_xlabel(chart.across, fontsize=9, wrap=True)
    panel.set_ylabel(chart.up, fontsize=9)
    panel.set_ylim(bottom=0)
    panel.grid(alpha=0.25)
    panel.legend(frameon=False, fontsize=7)


POINTED = 20
"""Lines with fewer points than this show markers."""


# Leaderboards as SVG: pages found over visits or time by the best strategies, and the mean of each strategy.


POINTS = 201
JUDGED: Mapping[Judging, str] = {"truth": "perfect judge", "real": "judge that reads the pages"}
RUN: Mapping[str, str] = {"field": "in the field", "lab": "in the lab"}


def said(view: View) -> str:
    """The view as text."""
    return f"{RUN[view.conditions]}, {JUDGED[view.judging]}"


def curves(ranking: Leaderboard, view: View) -> str:
    """The share of relevant pages found over the share of the budget spent: the mean over rows, from the first order of
    the seeds. The oracle, a thin grey line, is the upper bound."""
    return _drawn(ranking, view, _by_visits, "share of the budget spent")


def times(ranking: Leaderboard, view: View) -> str:
    """The same over virtual time, as a share of the horizon."""
    return _drawn(ranking, view, _by_time, "share of the virtual time that counts, four times what the oracle needs")


Found = Callable[[Score, Yardstick, NDArray[np.float64]], NDArray[np.float64]]
"""Maps shares of the budget, or of the time, to the shares of relevant pages found by then."""


def _drawn(ranking: Leaderboard, view: View, found: Found, over: str) -> str:
    figure = blank(9.0, 5.2)
    panel = figure.subplots()
    spent = np.linspace(0.0, 1.0, POINTS)
    for name in [*ranking.best(SHOWN), *reversed(ORACLES)]:
        if name in ranking.scores:
            shares = [found(score, against, spent) for score, against in ranking.scores[name].values()]
            (line,) = panel.plot(spent, np.array(shares).mean(axis=0), label=name)
            if name in ORACLES:
                line.set(color="0.55", linewidth=1.0, linestyle="-" if name == "oracle" else "--")
    panel.set_xlabel(over)
    panel.set_ylabel("share of the relevant pages found")
    panel.set_xlim(0, 1)
    panel.set_ylim(0, 1)
    panel.grid(alpha=0.25)
    panel.set_title(f"Mean over {len(ranking.results)} rows, {said(view)}", fontsize=10, loc="left")
    panel.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    return svg_of(figure)


def _by_visits(score: Score, against: Yardstick, spent: NDArray[np.float64]) -> NDArray[np.float64]:
    visits, found, _ = np.array([(0, 0, 0), *score.curve], float).T
    share: NDArray[np.float64] = np.interp(spent * against.budget, visits, found) / against.relevant
    return share


def _by_time(score: Score, against: Yardstick, spent: NDArray[np.float64]) -> NDArray[np.float64]:
    seconds, found = np.array([(0.0, 0), *(score.curve_time or ())], float).T
    share: NDArray[np.float64] = np.interp(spent * (score.horizon or 0.0), seconds, found) / against.relevant
    return share


def means(views: Mapping[View, Leaderboard]) -> str:
    """The mean normalised area of each strategy that ran all rows: bars for the first judge, diamonds for the
    second."""
    (first, *second) = views.values()
    names = [one.strategy for one in first.entries() if one.rows == len(first.results) and one.strategy != "oracle"]
    figure = blank(8.0, 1.2 + 0.27 * len(names))
    panel = figure.subplots()
    places = np.arange(len(names))[::-1]
    bars = panel.barh(places, [_mean(first, name) for name in names], height=0.7, color="tab:blue")
    for name, bar in zip(names, bars, strict=True):
        if name in ORACLES:
            bar.set_color("0.7")
    for ranking in second:
        panel.plot([_mean(ranking, name) for name in names], places, "D", color="tab:orange", markersize=4)
    panel.set_yticks(places, names, fontsize=9)
    panel.set_xlim(left=0)
    panel.set_xlabel("normalised area by visits, 1 = oracle")
    panel.set_title(f"Mean over {len(first.results)} rows, {_legend(list(views))}", fontsize=10, loc="left")
    panel.grid(alpha=0.25, axis="x")
    panel.spines[["top", "right"]].set_visible(False)
    return svg_of(figure)


def _legend(views: Sequence[View]) -> str:
    marked = zip((JUDGED[view.judging] for view in views), ("bars", "diamonds"), strict=False)
    return f"{RUN[views[0].conditions]}, " + " and ".join(f"{judge} ({mark})" for judge, mark in marked)


def _mean(ranking: Leaderboard, strategy: str) -> float:
    return float(np.mean(list(ranking.areas(strategy).values()) or [np.nan]))

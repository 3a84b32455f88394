"""Curves as SVG: harvest, coverage and queue length of several strategies, over visits and over time."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spoor.errors import MissingExtra
from spoor.measure.harvest import Score, Yardstick

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = ("harvest: found / visits", "coverage: found / relevant", "queue: links waiting")
BY_TIME = "coverage over virtual time"


def blank(width: float, height: float) -> Figure:
    """In inches."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingExtra("plots need matplotlib; install it with: pip install 'spoor[plot]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def svg_of(figure: Figure) -> str:
    """The same figure makes the same text."""
    from matplotlib import rc_context

    drawing = io.StringIO()
    with rc_context({"svg.hashsalt": "spoor"}):
        figure.savefig(drawing, format="svg", metadata={"Date": None})
    return "\n".join(line.rstrip() for line in drawing.getvalue().splitlines()) + "\n"


def plot_scores(scores: Sequence[Score], against: Yardstick, title: str) -> str:
    """Panels over the number of visits, and under a clock one over virtual seconds; the oracle is drawn as a thin grey
    line."""
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
    look: dict[str, Any] = {"color": "0.55", "linewidth": 1.0} if score.strategy == "oracle" else {"linewidth": 1.6}
    (line,) = panels[0].plot(visits, [f / n for n, f in zip(visits, found, strict=True)], label=score.strategy, **look)
    look["color"] = line.get_color()
    panels[1].plot(visits, [f / against.relevant for f in found], **look)
    panels[2].plot(visits, queue, **look)
    if score.curve_time:
        seconds, found_by_then = zip(*score.curve_time, strict=True)
        panels[3].plot(seconds, [f / against.relevant for f in found_by_then], **look)

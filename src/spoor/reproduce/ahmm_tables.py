"""The figures of the AHMM paper beside ours, and what each part of its crawler contributes."""

from __future__ import annotations

from collections.abc import Sequence

from spoor.reproduce.ahmm import ABLATION, CRAWLERS, WEBS, Experiment, Outcome

FIGURE_1 = {"composite BF": 0.166, "content BF": 0.132, "link BF": 0.050, "HMM": 0.031}
"""Precision, without the AHMM."""
TABLE_2 = {
    "composite BF": (0.155, 1271.0),
    "content BF": (0.128, 738.7),
    "AHMM": (0.152, 1387.4),
    "HMM": (0.033, 1404.2),
}
"""Precision, and minutes for 10,000 pages."""

_ANCHORS = [f"{anchors} anchors" for anchors in WEBS]
PRECISION = ("crawler", "paper: figure 1", "table 2", "minutes", *[f"ours: {web}" for web in _ANCHORS], "CPU seconds")
PARTS = ("what orders the queue", *_ANCHORS)


def precision_rows(experiment: Experiment) -> list[list[str]]:
    """The time is that with weak anchors."""
    return [
        [crawler, *_published(crawler), *_precisions(experiment, crawler), _seconds(experiment.of("weak", crawler))]
        for crawler in CRAWLERS
    ]


def ablation_rows(experiment: Experiment) -> list[list[str]]:
    return [[part, *_precisions(experiment, part)] for part in ABLATION]


def findings(experiment: Experiment) -> list[str]:
    """In how many webs a part that was added helped."""
    pairs = (
        ("second order", "first order"),
        ("second order and S", "S alone"),
        ("second order and composite", "composite BF"),
    )
    return [_above(experiment, anchors, *pair) for pair in pairs for anchors in WEBS]


def _above(experiment: Experiment, anchors: str, one: str, other: str) -> str:
    both = zip(experiment.of(anchors, one), experiment.of(anchors, other), strict=True)
    times = sum(a.precision > b.precision for a, b in both)
    return f"{one} above {other} in {times} of {len(experiment.seeds)} webs with {anchors} anchors"


def _published(crawler: str) -> list[str]:
    precision, minutes = TABLE_2.get(crawler, (None, None))
    return [_given(FIGURE_1.get(crawler), 3), _given(precision, 3), _given(minutes, 1)]


def _precisions(experiment: Experiment, crawler: str) -> list[str]:
    return [_spread([outcome.precision for outcome in experiment.of(web, crawler)], 3) for web in WEBS]


def _seconds(outcomes: Sequence[Outcome]) -> str:
    return _spread([outcome.seconds for outcome in outcomes], 2)


def _given(number: float | None, digits: int) -> str:
    return "" if number is None else f"{number:.{digits}f}"


def _spread(values: Sequence[float], digits: int) -> str:
    """Mean and range over the seeds."""
    return f"{sum(values) / len(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"

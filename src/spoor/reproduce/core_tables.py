"""What the three crawlers of the CORE paper found, and how soon."""

from __future__ import annotations

from spoor.reproduce.core import CRAWLERS, IN_ENGLISH, TICKS, Experiment

FOUND = ("crawler", "relevant pages found", "of those in reach", "harvest")
_CURVES = (*CRAWLERS, IN_ENGLISH)
CURVE = ("visits", *_CURVES)


def found_rows(experiment: Experiment) -> list[list[str]]:
    """Mean and range over the seeds."""
    return [_found_row(experiment, crawler) for crawler in _CURVES]


def _found_row(experiment: Experiment, crawler: str) -> list[str]:
    found = experiment.found(crawler)
    mean = sum(found) / len(found)
    relevant = sum(outcome.relevant for outcome in experiment.outcomes) / len(found)
    spread = f"{mean:.1f} ({min(found)}–{max(found)})"
    return [crawler, spread, f"{mean / relevant:.3f}", f"{mean / experiment.budget:.3f}"]


def curve_rows(experiment: Experiment) -> list[list[str]]:
    """The harvest curves: mean relevant pages found after so many visits."""
    curves = zip(*(experiment.curve(crawler) for crawler in _CURVES), strict=True)
    visits = (experiment.budget * tick // TICKS for tick in range(1, TICKS + 1))
    return [[str(after), *(f"{found:.1f}" for found in row)] for after, row in zip(visits, curves, strict=True)]

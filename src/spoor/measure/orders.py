"""Several orders of the seeds: which ones, and the runs from each of them as one score."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, median, stdev
from typing import Any

from spoor.measure.harvest import OrderScore, Score

MEANS = (
    "visits",
    "found",
    "area",
    "normalised",
    "r_precision",
    "coverage",
    "max_queue",
    "seconds",
    "relevant_hosts",
    "failed",
    "requests",
    "normalised_time",
    "horizon",
    "elapsed",
    "idle",
)
UNTIL = ("n90", "half_time", "n90_time")
"""Visits or seconds until something: over several orders the median, where never is longer than any."""


def seed_orders(seeds: Sequence[str], most: int) -> list[tuple[str, ...]]:
    """At most so many orders of the seeds, all different: the given one first, then such as follow from the seeds and
    nothing else. Fewer when there are no more; the first few are the same however many are asked for."""
    orders = {tuple(seeds): None}
    draw = 0
    while len(orders) < min(most, math.factorial(len(seeds))):
        draw += 1
        orders[tuple(sorted(seeds, key=lambda seed: _drawn(draw, seed)))] = None
    return list(orders)


def _drawn(draw: int, seed: str) -> bytes:
    return hashlib.blake2b(f"{draw} {seed}".encode(), digest_size=8).digest()


def over_orders(scores: Sequence[Score]) -> Score:
    """The scores of one strategy from each order, first to last, as one."""
    figures: dict[str, Any] = {name: _mean(_known(scores, name)) for name in MEANS}
    figures |= {name: _median_until(scores, name) for name in UNTIL}
    figures["requests_per_relevant"] = figures["requests"] / figures["found"] if figures["found"] else None
    figures |= {f"spread{of}": _spread(_known(scores, f"normalised{of}")) for of in ("", "_time")}
    return replace(scores[0], **figures, orders=tuple(map(_of_order, scores)), found_at=None)


def _known(scores: Sequence[Score], name: str) -> list[float]:
    return [figure for score in scores if (figure := getattr(score, name)) is not None]


def _mean(figures: Sequence[float]) -> float | None:
    return mean(figures) if figures else None


def _spread(figures: Sequence[float]) -> float | None:
    return stdev(figures) if len(figures) > 1 else None


def _median_until(scores: Sequence[Score], name: str) -> float | None:
    middle = median(math.inf if (figure := getattr(score, name)) is None else figure for score in scores)
    return None if math.isinf(middle) else middle


def _of_order(score: Score) -> OrderScore:
    return OrderScore(**{name: getattr(score, name) for name in OrderScore.__dataclass_fields__})

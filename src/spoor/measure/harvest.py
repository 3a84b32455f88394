"""How soon a crawl found what was wanted: harvest, coverage, area, queue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

CURVE_POINTS = 200


@dataclass(frozen=True)
class Run:
    """A crawl visit by visit: the number of the page, did it bring a wanted page, how many links waited before it
    (itself included), did the judge take it, and its bytes. A URL that the web has never heard of has the number -1, a
    visit that brought no page 0 bytes. `seconds` is the computer's time.
    """

    order: NDArray[np.int32]
    found: NDArray[np.bool_]
    queue: NDArray[np.int32]
    stored: NDArray[np.bool_]
    sizes: NDArray[np.int32]
    seconds: float

    def beginning(self, visits: int) -> Run:
        """As if it had ended after so many visits."""
        order, found, queue = self.order[:visits], self.found[:visits], self.queue[:visits]
        return Run(order, found, queue, self.stored[:visits], self.sizes[:visits], self.seconds)


@dataclass(frozen=True)
class Yardstick:
    """What a run is measured against: wanted pages that can be reached, how many visits count, and the hosts that hold
    wanted pages. `page_hosts` has the number of the host of each page. Both are None where hosts are not known."""

    relevant: int
    budget: int
    relevant_hosts: int | None = None
    page_hosts: NDArray[np.int32] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Score:
    """One strategy on one web; the names are those of the JSON. `normalised` is None until an oracle is known, or
    when that found nothing; `relevant_hosts`, those of which a wanted page was found, when hosts are not known."""

    strategy: str
    visits: int
    found: int
    area: float
    normalised: float | None
    r_precision: float
    n90: int | None
    coverage: float
    max_queue: int
    seconds: float
    curve: tuple[tuple[int, int, int], ...]
    relevant_hosts: int | None = None

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def measure(strategy: str, run: Run, against: Yardstick, ceiling: float | None = None) -> Score:
    """`ceiling` is the area of the oracle on the same task."""
    found = np.cumsum(run.found[: against.budget], dtype=np.int64)
    total = int(found[-1]) if len(found) else 0
    area = _area(found, against)
    return Score(
        strategy=strategy,
        visits=len(found),
        found=total,
        area=area,
        normalised=share_of(ceiling, area),
        r_precision=float(_after(found, against.relevant)) / against.relevant,
        n90=_visits_until(found, 0.9 * against.relevant),
        coverage=total / against.relevant,
        max_queue=int(run.queue.max(initial=0)),
        seconds=round(run.seconds, 3),
        curve=_curve(found, run.queue),
        relevant_hosts=_hosts(run.beginning(against.budget), against),
    )


def share_of(ceiling: float | None, area: float) -> float | None:
    """None where there is nothing to compare with: no oracle, or one that found nothing."""
    return area / ceiling if ceiling else None


def _area(found: NDArray[np.int64], against: Yardstick) -> float:
    """The mean of found(n) / relevant over n = 1 .. budget; a crawl that ended early keeps its last value."""
    rest = (against.budget - len(found)) * (int(found[-1]) if len(found) else 0)
    return float(found.sum() + rest) / against.relevant / against.budget


def _after(found: NDArray[np.int64], visits: int) -> int:
    return int(found[min(visits, len(found)) - 1]) if len(found) else 0


def _visits_until(found: NDArray[np.int64], wanted: float) -> int | None:
    place = int(np.searchsorted(found, wanted - 1e-9))
    return place + 1 if place < len(found) else None


def _hosts(run: Run, against: Yardstick) -> int | None:
    return None if against.page_hosts is None else len(np.unique(against.page_hosts[run.order[run.found]]))


def _curve(found: NDArray[np.int64], queue: NDArray[np.int32]) -> tuple[tuple[int, int, int], ...]:
    if not len(found):
        return ()
    visits = np.unique(np.linspace(1, len(found), min(CURVE_POINTS, len(found))).round().astype(int))
    return tuple((int(n), int(found[n - 1]), int(queue[n - 1])) for n in visits)

"""How much was collected, how much of it is right, and how fast: the measures of the Mongolian paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.measure.harvest import Run

BYTES_OF_A_MEGABYTE = 1_000_000
SECONDS_OF_AN_HOUR = 3600


@dataclass(frozen=True)
class Collected:
    """Pages that were collected and how many of them are wanted; `accurate` and `fault` are the megabytes of those that
    are wanted (AIS) and of those that are not (FIS)."""

    pages: int
    correct: int
    accurate: float
    fault: float

    @property
    def total(self) -> float:
        """The information sum IS."""
        return self.accurate + self.fault

    @property
    def accuracy(self) -> float | None:
        """The accuracy rate AR; None: nothing was collected."""
        return self.correct / self.pages if self.pages else None


@dataclass(frozen=True)
class Information:
    """What a crawl brought: all that was downloaded, and what the judge had stored of it. `hours` is None when the
    crawl had no clock."""

    downloaded: Collected
    stored: Collected
    hours: float | None = None

    @property
    def speed(self) -> float | None:
        """The collection speed CS: right megabytes an hour."""
        return speed(self.downloaded.accurate, self.hours) if self.hours else None

    def as_json(self) -> dict[str, Any]:
        return {
            "is": self.downloaded.total,
            "ais": self.downloaded.accurate,
            "fis": self.downloaded.fault,
            "ar": self.downloaded.accuracy,
            "stored": self.stored.pages,
            "is_stored": self.stored.total,
            "ar_stored": self.stored.accuracy,
            "cs": self.speed,
        }


def information(run: Run, seconds: float | None = None) -> Information:
    """A visit that brought no page counts as one that is not wanted and has no bytes."""
    everything = np.ones(len(run.found), np.bool_)
    hours = None if seconds is None else seconds / SECONDS_OF_AN_HOUR
    return Information(_collected(run, everything), _collected(run, run.stored), hours)


def speed(accurate: float, hours: float) -> float:
    return accurate / hours


def _collected(run: Run, these: NDArray[np.bool_]) -> Collected:
    megabytes = run.sizes / BYTES_OF_A_MEGABYTE
    right, wrong = these & run.found, these & ~run.found
    return Collected(int(these.sum()), int(right.sum()), float(megabytes[right].sum()), float(megabytes[wrong].sum()))

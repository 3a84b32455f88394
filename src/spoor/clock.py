"""What time is it, whatever somebody does to the clock of the machine?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

NOTICED = 5.0
"""Seconds by which the clock of the machine must have been set to be told."""


@dataclass
class SteadyClock:
    """Seconds since 1970 by the clock of the machine when this was made, and from then on as many as have gone by. So a
    delay is a delay, also when the clock is set back an hour or a year ahead."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    _offset: float = field(init=False)
    _ahead: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._offset = self.wall() - self.monotonic()

    def __call__(self) -> float:
        return self._offset + self.monotonic()

    def jump(self) -> float:
        """Seconds by which the clock of the machine was set since this was asked last; 0 when it was not."""
        jump = self.wall() - self() - self._ahead
        if abs(jump) < NOTICED:
            return 0.0
        self._ahead += jump
        return jump

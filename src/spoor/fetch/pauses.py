"""Notices when this process did not run for long, because it was stopped or the machine slept: requests that were
under way fail then for no fault of their servers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

LONG_SECONDS = 30.0
"""Shortest pause that is noticed."""
_BEAT_SECONDS = 1.0
_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def _seconds_since_boot() -> float:
    """Runs on while the machine sleeps, where the system has such a clock."""
    return time.clock_gettime(_BOOT_CLOCK)


class Pauses:
    """Those of the running event loop, from creation until `close`."""

    def __init__(self, clock: Callable[[], float] = _seconds_since_boot) -> None:
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._last_beat = clock()
        self._last_pause: float | None = None
        """When it ended, by the clock of the event loop."""
        self._beat()

    def any_since(self, begin: float) -> bool:
        """`begin` is by the clock of the event loop."""
        self._look()
        return self._last_pause is not None and self._last_pause >= begin

    def close(self) -> None:
        self._timer.cancel()

    def _beat(self) -> None:
        self._look()
        self._timer = self._loop.call_later(_BEAT_SECONDS, self._beat)

    def _look(self) -> None:
        now = self._clock()
        if now - self._last_beat > _BEAT_SECONDS + LONG_SECONDS:
            self._last_pause = self._loop.time()
        self._last_beat = now

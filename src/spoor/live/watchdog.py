"""A clock that is not affected by changes of the system time, and a watchdog for the event loop.

While the loop processes one page, it serves no other request and handles no signal. Whatever blocks it for too long is
reported with its place in the code, which only another thread can observe.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

# A clock that ignores changes of the system time.


NOTICED = 5.0
"""Smallest change of the system time that is reported, in seconds."""


@dataclass
class SteadyClock:
    """Seconds since 1970: the system time at creation, advanced by the monotonic clock. So delays stay correct if the
    system time is changed."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    _offset: float = field(init=False)
    _ahead: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._offset = self.wall() - self.monotonic()

    def __call__(self) -> float:
        return self._offset + self.monotonic()

    def jump(self) -> float:
        """Seconds by which the system time was changed since the last call; 0 if it was not."""
        jump = self.wall() - self() - self._ahead
        if abs(jump) < NOTICED:
            return 0.0
        self._ahead += jump
        return jump


# The watchdog: a thread checks the heartbeat of the event loop, and samples its stack if there is none.


LONGEST = 0.25
"""Seconds for which the loop may be blocked."""
_PULSE = 0.05
_LOOK = 0.05
"""Seconds between two heartbeats of the loop (`_PULSE`), and between two checks for them (`_LOOK`)."""
_SUSPICIOUS = 0.15
"""Seconds without a heartbeat after which the thread samples the stack: at `LONGEST` it might be too late."""
_FRAMES = 3
"""Most frames of this package that are reported, innermost first."""
_OURS = str(Path(__file__).parents[1])


@dataclass(frozen=True, slots=True)
class Hold:
    """The loop was blocked for `seconds`; the process used `cpu` seconds of processor time meanwhile. `url` is the URL
    that was processed, "" for none; `where` the call stack, "" if it was not sampled."""

    seconds: float
    cpu: float
    url: str
    where: str


@dataclass
class Watchdog:
    """Started and ended by `watching`. `working_on` returns the URL that is processed; `tell` is called in the loop."""

    working_on: Callable[[], str]
    tell: Callable[[Hold], None]
    _beat: float = field(default=0.0, init=False)
    _seen: tuple[str, str] = field(default=("", ""), init=False)
    _over: threading.Event = field(default_factory=threading.Event, init=False)

    async def beat(self) -> None:
        self._beat, cpu = time.monotonic(), time.process_time()
        while True:
            await asyncio.sleep(_PULSE)
            now, cpu_now = time.monotonic(), time.process_time()
            held = now - self._beat - _PULSE
            seen, self._seen = self._seen, ("", "")
            if held > LONGEST:
                self.tell(Hold(held, cpu_now - cpu, *seen))
            self._beat, cpu = now, cpu_now

    def watch(self, thread: int) -> None:
        """Runs in a thread of its own and watches `thread`, which runs the loop."""
        while not self._over.wait(_LOOK):
            if time.monotonic() - self._beat > _PULSE + _SUSPICIOUS and not self._seen[1]:
                frame = sys._current_frames().get(thread)
                self._seen = self.working_on(), "" if frame is None else where(frame)

    def end(self) -> None:
        self._over.set()


@contextlib.asynccontextmanager
async def watching(working_on: Callable[[], str], tell: Callable[[Hold], None]) -> AsyncIterator[None]:
    """Watches the loop that runs this, until the context is left."""
    dog = Watchdog(working_on, tell)
    beating = asyncio.create_task(dog.beat())
    await asyncio.sleep(0)
    watcher = threading.Thread(target=dog.watch, args=(threading.get_ident(),), name="watchdog", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        dog.end()
        beating.cancel()
        watcher.join()


def where(frame: FrameType | None) -> str:
    """The innermost frame, and the innermost ones of this package: `parse/html.py:99 read_page`."""
    calls: list[str] = []
    innermost = True
    while frame is not None and len(calls) <= _FRAMES:
        file = frame.f_code.co_filename
        ours = file.startswith(_OURS)
        if ours or innermost:
            name = str(Path(file).relative_to(_OURS)) if ours else Path(file).name
            calls.append(f"{name}:{frame.f_lineno} {frame.f_code.co_name}")
        innermost, frame = False, frame.f_back
    return " < ".join(calls)

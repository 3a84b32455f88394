"""Time that a clock set back does not disturb, and what held the event loop.

While one page is worked on, no other request is served and no signal is heard. So whatever takes longer than it should
is told, with the place in the program: the only one who can see that is another thread.
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

# What time is it, whatever somebody does to the clock of the machine?


NOTICED = 5.0
"""Seconds by which the clock of the machine must have been set to be reported."""


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


# What held the loop? A thread looks at its pulse, and where the program was when there was none.


LONGEST = 0.25
"""Seconds for which the loop may be held."""
_PULSE = 0.05
_LOOK = 0.05
"""Seconds between two beats of the loop, and between two looks at them."""
_SUSPICIOUS = 0.15
"""Seconds without a beat after which the thread notes where the program is: at `LONGEST` it might be too late."""
_FRAMES = 3
"""Calls of our own that are reported, the innermost first."""
_OURS = str(Path(__file__).parent)


@dataclass(frozen=True, slots=True)
class Hold:
    """For `seconds` the loop did nothing else; the process was at work for `cpu` seconds of them. `url` is what
    was worked on, "" when it was no URL; `where` the calls that it came from, "" when nobody saw them."""

    seconds: float
    cpu: float
    url: str
    where: str


@dataclass
class Watchdog:
    """Begun and ended by `watching`. `working_on` says what URL is worked on; `tell` is called in the loop."""

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
        """In a thread of its own, at `thread`, which runs the loop."""
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
    """The innermost call, and the innermost of our own: `parse/html.py:99 read_page`."""
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

"""The memory of a process and of all that it has started, and they in turn, but for a browser, which has limits of its
own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

SECONDS_BETWEEN_SAMPLES = 0.1


def own_share(process: int) -> int:
    """Bytes of memory of a process, what it shares with others divided among them; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def memory_of_all(process: int) -> int:
    """Bytes of memory of a process and its descendants together."""
    family = [process]
    for parent in family:
        family += [child for child in _children(parent) if not _is_browser(child)]
    return sum(map(own_share, family))


def _is_browser(process: int) -> bool:
    try:
        return "chrom" in Path(f"/proc/{process}/comm").read_text()
    except OSError:
        return False


def _children(process: int) -> list[int]:
    """A child belongs to the thread that has started it."""
    children: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # It has ended.
            children += map(int, file.read_text().split())
    return children


@dataclass
class Peak:
    """The largest sum of the samples so far, in bytes."""

    size: int = 0


@contextlib.asynccontextmanager
async def sampled(process: int) -> AsyncIterator[Peak]:
    """Measures a process and its descendants until the end of the block."""
    peak = Peak()

    async def watch() -> None:
        while True:
            peak.size = max(peak.size, await asyncio.to_thread(memory_of_all, process))
            await asyncio.sleep(SECONDS_BETWEEN_SAMPLES)

    watching = asyncio.create_task(watch())
    try:
        yield peak
    finally:
        watching.cancel()
        await asyncio.wait([watching])

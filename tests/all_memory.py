"""The memory of a process and of all that it has started, and they in turn."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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
    children = _children()
    family = [process]
    for parent in family:
        family += children[parent]
    return sum(map(own_share, family))


def _children() -> defaultdict[int, list[int]]:
    """By parent, all processes of this machine."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children[int(after_name[1])].append(int(file.parent.name))
    return children


@dataclass
class Peak:
    """The largest sum of the samples so far, in bytes."""

    size: int = 0


@asynccontextmanager
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

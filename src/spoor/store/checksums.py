"""Is a database still as the crawl left it? Checksums of its blocks, since SQLite keeps none.

`crawl.db.sums` is written when a crawl ends and removed when the next begins. The first line says what it is and how
large the database was; then comes the CRC-32 of each block of 64 KiB, one a line.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, zip_longest
from pathlib import Path

BLOCK = 1 << 16
BLOCKS_AT_ONCE = 64
THREADS = 4
"""They read and sum up beside one another: gigabytes take seconds."""
_KIND = "spoor checksums 1"


def sums_of(database: Path) -> Path:
    return database.with_name(f"{database.name}.sums")


def write_sums(database: Path) -> None:
    """Nothing, where there is no database or part of it is still in its log."""
    log = Path(f"{database}-wal")
    if not database.exists() or (log.exists() and log.stat().st_size):
        return
    lines = [f"{_KIND} {database.stat().st_size}", *(f"{crc:08x}" for crc in _blocks(database))]
    partial = database.with_name(".partial")
    partial.write_text("\n".join(lines) + "\n", "ascii")
    os.replace(partial, sums_of(database))


def changed_bytes(database: Path) -> list[tuple[int, int]] | None:
    """Where it differs from what was written down, as runs from the first byte to before the last; None: nothing was,
    or it cannot be read any more."""
    try:
        first, *said = sums_of(database).read_text("ascii").splitlines()
        size = int(first.removeprefix(_KIND))
        found = [f"{crc:08x}" for crc in _blocks(database)]
    except (OSError, ValueError):
        return None
    differing = [n for n, (one, other) in enumerate(zip_longest(said, found)) if one != other]
    end = max(size, database.stat().st_size)
    runs = [(n * BLOCK, min(end, (n + 1) * BLOCK)) for n in differing]
    return runs or ([] if database.stat().st_size == size else [(size, end)])


def _blocks(file: Path) -> Iterator[int]:
    step = BLOCK * BLOCKS_AT_ONCE
    with file.open("rb") as stream, ThreadPoolExecutor(THREADS) as threads:
        starts = range(0, os.fstat(stream.fileno()).st_size, step)
        yield from chain.from_iterable(threads.map(lambda start: _sums(stream.fileno(), start, step), starts))


def _sums(file: int, start: int, length: int) -> list[int]:
    piece = memoryview(os.pread(file, length, start))
    return [zlib.crc32(piece[place : place + BLOCK]) for place in range(0, len(piece), BLOCK)]

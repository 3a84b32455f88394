"""Progress of long work: a bar on a terminal, a plain line every few seconds elsewhere, nothing when quiet."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Advance = Callable[[int], None]
"""Told how many units have been done since the last call."""

SECONDS_BETWEEN_LINES = 10.0

T = TypeVar("T")


@contextlib.contextmanager
def progress(doing: str, total: int | None = None) -> Iterator[Advance]:
    """`total` is the number of units, None when it is not known. Everything goes to standard error."""
    if sys.stderr.isatty():
        with _bar(doing, total) as advance:
            yield advance
    else:
        yield _lines(doing, total)


@contextlib.contextmanager
def _bar(doing: str, total: int | None) -> Iterator[Advance]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda units: bar.advance(task, units)


def _lines(doing: str, total: int | None) -> Advance:
    done, told = 0, time.monotonic()

    def advance(units: int) -> None:
        nonlocal done, told
        done += units
        if time.monotonic() - told >= SECONDS_BETWEEN_LINES:
            told = time.monotonic()
            print(f"{doing}: {done:,}" + (f" of {total:,}" if total else ""), file=sys.stderr, flush=True)

    return advance


def counted(items: Iterable[T], advance: Advance) -> Iterator[T]:
    """The same items, each told to `advance` once it was dealt with."""
    for item in items:
        yield item
        advance(1)

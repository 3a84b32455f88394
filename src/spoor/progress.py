"""How far long work has come: whoever does it tells, whoever asked for it shows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TypeVar

T = TypeVar("T")

Advance = Callable[[int], None]
"""Told how many units have been done since the last call."""
Progress = Callable[[str, int | None], AbstractContextManager[Advance]]
"""Told what is done and of how many units, None when that is not known; from then on how many have been done."""


def unseen(units: int) -> None:
    """An `Advance` that shows nothing."""


@contextlib.contextmanager
def silently(doing: str, total: int | None) -> Iterator[Advance]:
    yield unseen


def counted(items: Iterable[T], advance: Advance) -> Iterator[T]:
    """The same items, each told to `advance` once it was dealt with."""
    for item in items:
        yield item
        advance(1)

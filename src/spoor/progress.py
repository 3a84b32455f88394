"""Progress of long-running work: callbacks between the code that works and the code that displays."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TypeVar

T = TypeVar("T")

Advance = Callable[[int], None]
"""Called with the number of units done since the last call."""
Progress = Callable[[str, int | None], AbstractContextManager[Advance]]
"""Called with a description and the total number of units, None if not known; the context yields an `Advance`."""


def unseen(units: int) -> None:
    """An `Advance` that shows nothing."""


@contextlib.contextmanager
def silently(doing: str, total: int | None) -> Iterator[Advance]:
    yield unseen


def counted(items: Iterable[T], advance: Advance) -> Iterator[T]:
    """Yields the same items, and reports each to `advance` once it has been processed."""
    for item in items:
        yield item
        advance(1)

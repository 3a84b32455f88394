"""The context of every query about a crawl, and pagination of long lists with cursors."""

from __future__ import annotations

import base64
import binascii
import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from spoor import registry
from spoor.errors import SpoorError, UsageError
from spoor.settings import Config
from spoor.stopping import ExpectedFinds
from spoor.store.crawl_folder import CrawlFolder

Row = TypeVar("Row")

MOST_AT_ONCE = 500
AT_ONCE = 50


class NotFound(SpoorError):
    """The requested object is not in this crawl."""


@dataclass
class Memory:
    """A cache: the last value computed under each name, with its source."""

    _known: dict[str, tuple[object, Any]] = field(default_factory=dict, init=False)

    def of(self, name: str, source: object, work_out: Callable[[], Row]) -> Row:
        """The cached value as long as `source` is equal."""
        if name not in self._known or self._known[name][0] != source:
            self._known[name] = source, work_out()
        value: Row = self._known[name][1]
        return value


@dataclass(frozen=True, slots=True)
class Reading:
    """A consistent view of a crawl. `db` is its database, with dashboard.db attached as `counted`; `expected` is the
    forecast of relevant pages, None if unknown; `memory` is shared by all readings of a crawl."""

    folder: CrawlFolder
    db: sqlite3.Connection
    number: int
    running: bool
    now: float
    expected: ExpectedFinds | None
    memory: Memory


def settings_of(reading: Reading) -> Config | None:
    """None if they cannot be read."""
    text = reading.folder.settings() or ""
    return reading.memory.of("settings", text, lambda: _loaded(text, reading.folder))


def _loaded(text: str, folder: CrawlFolder) -> Config | None:
    try:
        return registry.loads(text, folder.path)
    except SpoorError:
        return None


@dataclass(frozen=True, slots=True)
class Part(Generic[Row]):
    """Some rows of a list; `cursor` selects the rows after them, None if there are no more."""

    items: tuple[Row, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class ShortListQuery:
    """A list that is returned whole."""

    limit: int = AT_ONCE


@dataclass(frozen=True, slots=True)
class ListQuery(ShortListQuery):
    """A paginated list; `cursor` is that of the previous part, "" for the first."""

    cursor: str = ""


def part_of(rows: Sequence[Row], limit: int, place: Callable[[Row], Sequence[Any]]) -> Part[Row]:
    """`rows` may have one more than the limit, which shows that there are more; `place` returns the sort key of a
    row."""
    shown = tuple(rows[:limit])
    return Part(shown, cursor_of(place(shown[-1])) if len(rows) > limit else None)


def cursor_of(place: Sequence[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(list(place)).encode()).decode().rstrip("=")


def place_in(cursor: str, *kinds: type) -> tuple[Any, ...] | None:
    """The sort key after which a list continues; None for the beginning."""
    if not cursor:
        return None
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error, UnicodeDecodeError, RecursionError):
        place = None
    if not isinstance(place, list) or len(place) != len(kinds):
        raise UsageError("invalid cursor for this list; leave it out to start again")
    if not all(
        isinstance(part, kind | int if kind is float else kind) for part, kind in zip(place, kinds, strict=True)
    ):
        raise UsageError("invalid cursor for this list; leave it out to start again")
    return tuple(place)


def like(text: str) -> str:
    """A pattern that finds a text anywhere, with `ESCAPE '\\'`."""
    return "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"

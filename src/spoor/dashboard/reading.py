"""What every question about a crawl is given, and how long lists are given out: a part at a time, with a cursor."""

from __future__ import annotations

import base64
import binascii
import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from spoor import settings as config
from spoor.errors import SpoorError, UsageError
from spoor.settings import Config
from spoor.stopping import ExpectedFinds
from spoor.store.crawl_folder import CrawlFolder

Row = TypeVar("Row")

MOST_AT_ONCE = 500
AT_ONCE = 50


class NotFound(SpoorError):
    """What was asked for is not in this crawl."""


@dataclass
class Memory:
    """The last value that was worked out under each name, and what it was worked out from."""

    _known: dict[str, tuple[object, Any]] = field(default_factory=dict, init=False)

    def of(self, name: str, source: object, work_out: Callable[[], Row]) -> Row:
        """The same as before while `source` is equal."""
        if name not in self._known or self._known[name][0] != source:
            self._known[name] = source, work_out()
        value: Row = self._known[name][1]
        return value


@dataclass(frozen=True, slots=True)
class Reading:
    """A crawl as of one moment. `db` is its database, with what was counted beside it as `counted`; `expected` what it
    may still find, as far as that is known; `memory` is the same for all readings of a crawl."""

    folder: CrawlFolder
    db: sqlite3.Connection
    number: int
    running: bool
    now: float
    expected: ExpectedFinds | None
    memory: Memory


def settings_of(reading: Reading) -> Config | None:
    """None where they cannot be read."""
    text = reading.folder.settings() or ""
    return reading.memory.of("settings", text, lambda: _loaded(text, reading.folder))


def _loaded(text: str, folder: CrawlFolder) -> Config | None:
    try:
        return config.loads(text, folder.path)
    except SpoorError:
        return None


@dataclass(frozen=True, slots=True)
class Part(Generic[Row]):
    """Some rows of a list; `cursor` asks for those after them, None: there are no more."""

    items: tuple[Row, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class ShortListQuery:
    """All of them are given out at once."""

    limit: int = AT_ONCE


@dataclass(frozen=True, slots=True)
class ListQuery(ShortListQuery):
    """Given out in parts; `cursor` is that of the part before, "" for the first."""

    cursor: str = ""


def part_of(rows: Sequence[Row], limit: int, place: Callable[[Row], Sequence[Any]]) -> Part[Row]:
    """`rows` may hold one more than the limit, which tells that there are more; `place` is where a row stands."""
    shown = tuple(rows[:limit])
    return Part(shown, cursor_of(place(shown[-1])) if len(rows) > limit else None)


def cursor_of(place: Sequence[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(list(place)).encode()).decode().rstrip("=")


def place_in(cursor: str, *kinds: type) -> tuple[Any, ...] | None:
    """The place after which a list continues; None: at its beginning."""
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

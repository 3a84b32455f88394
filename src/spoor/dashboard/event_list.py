"""What happened besides pages, newest first; failures by their reason, with examples."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from spoor.dashboard.reading import AT_ONCE, Part, Reading, ShortListQuery, part_of, place_in

EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class EventQuery:
    """Of one kind, or with one of the reasons of `/failures`, by its id; or all."""

    kind: str = ""
    failure: int = 0
    limit: int = AT_ONCE
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event of the journal; `detail` holds what only its kind has."""

    id: int
    kind: str
    host: str
    url: str
    at: float
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EventKind:
    """A kind of event, and how often it happened."""

    kind: str
    times: int


@dataclass(frozen=True, slots=True)
class FailureQuery:
    """The commonest first."""

    limit: int = AT_ONCE
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class FailureKind:
    """Why requests failed. `purpose` is page, robots or sitemap; `given_up` of them are not tried again; `examples`
    are the URLs of the last ones."""

    id: int
    purpose: str
    reason: str
    times: int
    given_up: int
    examples: tuple[str, ...]


def events(reading: Reading, asked: EventQuery) -> Part[LoggedEvent]:
    """By the index of kinds where one is asked for; otherwise by number."""
    place = place_in(asked.cursor, int)
    before = place[0] if place else 2**62
    chosen, values = "SELECT id FROM events WHERE", tuple[Any, ...]()
    if asked.failure:
        chosen, values = "SELECT id FROM counted.failed WHERE failure = ? AND", (asked.failure,)
    elif asked.kind:
        chosen, values = "SELECT id FROM counted.happened WHERE kind = ? AND", (asked.kind,)
    numbers = f"{chosen} id < ? ORDER BY id DESC LIMIT ?"
    query = f"SELECT id, kind, host, url, at, detail FROM events WHERE id IN ({numbers}) ORDER BY id DESC"
    rows = reading.db.execute(query, (*values, before, asked.limit + 1)).fetchall()
    found = [LoggedEvent(*(*row[:-1], _detail(row[-1]))) for row in rows]
    return part_of(found, asked.limit, lambda event: [event.id])


def event_kinds(reading: Reading, asked: ShortListQuery) -> Part[EventKind]:
    rows = reading.db.execute("SELECT kind, times FROM counted.kinds ORDER BY times DESC LIMIT ?", (asked.limit,))
    return Part(tuple(EventKind(*row) for row in rows), None)


def failures(reading: Reading, asked: FailureQuery) -> Part[FailureKind]:
    place = place_in(asked.cursor, int, int)
    where, values = ("WHERE (times, id) < (?, ?)", place) if place else ("", ())
    query = f"SELECT id, purpose, reason, times, given_up FROM counted.failures {where} ORDER BY times DESC, id DESC"
    rows = reading.db.execute(f"{query} LIMIT ?", (*values, asked.limit + 1)).fetchall()
    part = part_of(rows, asked.limit, lambda row: [row[3], row[0]])
    return Part(tuple(FailureKind(*(*row, _examples(reading, row[0]))) for row in part.items), part.cursor)


def _examples(reading: Reading, failure: int) -> tuple[str, ...]:
    newest = "SELECT id FROM counted.failed WHERE failure = ? ORDER BY id DESC LIMIT ?"
    rows = reading.db.execute(f"SELECT url FROM events WHERE id IN ({newest}) ORDER BY id DESC", (failure, EXAMPLES))
    return tuple(url for (url,) in rows)


def _detail(text: str) -> dict[str, Any]:
    """Without what only a resumed crawl reads; infinity, which JSON does not know, as a text."""
    try:
        found = json.loads(text, parse_constant=str)
    except ValueError:
        return {"unreadable": text[:200]}
    return {name: value for name, value in found.items() if name not in ("known", "claims")}

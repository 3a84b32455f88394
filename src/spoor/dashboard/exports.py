"""Exports lists for other tools: CSV and JSON Lines, streamed part by part."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from aiohttp import web

from spoor.dashboard.guard import secure
from spoor.dashboard.reading import MOST_AT_ONCE, Part, Reading
from spoor.dashboard.routes import Route
from spoor.dashboard.watching import WatchedCrawl
from spoor.errors import UsageError
from spoor.report.showing import plain

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Characters that a cell must not begin with, because a spreadsheet would evaluate it as a formula."""


def dumped(content: object) -> bytes:
    """JSON, with non-finite numbers as null."""
    return json.dumps(_finite(content), default=repr).encode()


def _finite(content: Any) -> Any:
    match content:
        case float():
            return content if math.isfinite(content) else None
        case dict():
            return {name: _finite(value) for name, value in content.items()}
        case list() | tuple():
            return [_finite(value) for value in content]
    return content


async def exported(
    request: web.Request, crawl: WatchedCrawl, route: Route, asked: Any, form: str
) -> web.StreamResponse:
    """Streams the whole list from the cursor on."""
    if form not in ("csv", "jsonl"):
        raise UsageError(f"format must be 'json', 'csv' or 'jsonl', not {plain(form, 60)!r}")
    content = "text/csv; charset=utf-8" if form == "csv" else "application/jsonl"
    headers = {
        "Content-Type": content,
        "Content-Disposition": f'attachment; filename="{route.name}-{crawl.number}.{form}"',
    }
    answer = web.StreamResponse(headers=headers)
    secure(answer)
    begun = False
    async for part in _parts(crawl, route, asked):
        if not begun:
            await answer.prepare(request)
            await answer.write(_header(route) if form == "csv" else b"")
            begun = True
        await answer.write(_rows(part, form))
    return answer


async def _parts(crawl: WatchedCrawl, route: Route, asked: Any) -> AsyncIterator[Part[Any]]:
    names = {one.name for one in fields(asked)}
    asked = replace(asked, limit=MOST_AT_ONCE) if "cursor" in names else asked
    while True:
        part = await crawl.read(_question(route, asked))
        yield part
        if part.cursor is None:
            return
        asked = replace(asked, cursor=part.cursor)


def _question(route: Route, asked: Any) -> Callable[[Reading], Part[Any]]:
    return lambda reading: route.read(reading, asked)


def _header(route: Route) -> bytes:
    return _csv([[one.name for one in fields(route.answers)]])


def _rows(part: Part[Any], form: str) -> bytes:
    records = [asdict(row) for row in part.items]
    if form == "csv":
        return _csv([[_cell(value) for value in record.values()] for record in records])
    return b"".join(dumped(record) + b"\n" for record in records)


def _csv(rows: Sequence[Sequence[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode("utf8", "replace")


def _cell(value: object) -> object:
    if isinstance(value, dict | list | tuple):
        value = json.dumps(value, ensure_ascii=False)
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value

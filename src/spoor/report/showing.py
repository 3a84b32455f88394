"""A consistent view of the databases of a crawl; text and numbers formatted for people."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain

from spoor.store.crawl_folder import CrawlFolder
from spoor.store.crawl_parts import Part, open_parts
from spoor.store.totals import CrawlTotals

# Text from the web and numbers from the database, formatted for people.


_CONTROLS = (range(0x20), range(0x7F, 0xA0))
_TURNS = (range(0x2028, 0x202F), range(0x2066, 0x206A))
"""Line separators, and marks that change the direction of the text after them."""
_SURROGATES = (range(0xD800, 0xE000),)
"""Surrogates, which file names may contain: they cannot be encoded."""
_UNSEEN = chain(*_CONTROLS, *_TURNS, *_SURROGATES)
_SHOWN = dict.fromkeys(_UNSEEN, "\N{REPLACEMENT CHARACTER}") | {ord(gap): " " for gap in "\t\n\r"}


def plain(text: str, longest: int = 500) -> str:
    """One line that can neither control a terminal nor change the direction of neighbouring text. A long text loses its
    middle."""
    half = longest // 2
    short = text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"
    return short.translate(_SHOWN)


def moment(at: float) -> str:
    """Such as `2026-11-15 12:00:01 UTC`; `never` for infinity."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return "never"


def duration(seconds: float) -> str:
    """In the largest unit that gives at least two."""
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.1f} {unit}"
    return f"{seconds:,.1f} seconds"


def size(count: float) -> str:
    """Such as `12.3 MB`."""
    for unit, length in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= length:
            return f"{count / length:,.1f} {unit}"
    return f"{count:,.0f} bytes"


def share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"


def visits_in_words(totals: CrawlTotals) -> str:
    """The finished visits by their result."""
    counts = ((totals.pages, "page"), (totals.redirects, "redirect"), (totals.failures, "failure"))
    results = ", ".join(count_of(number, result) for number, result in counts)
    excused = f", and {totals.excused:,} excused" if totals.excused else ""
    return f"{count_of(totals.visits, 'visit')}: {results}, {totals.retries:,} to be tried again{excused}"


# A consistent view of the databases of a crawl, even while it is running.


SORTED_KIB = 32 * 1024
"""Total cache size for all databases; SQLite sorts larger results in temporary files."""


@contextlib.contextmanager
def consistent_read(folder: CrawlFolder) -> Iterator[list[Part]]:
    """A read transaction on each database: later commits are not visible, so numbers read one after another agree.
    Changes nothing."""
    with open_parts(folder) as parts:
        for part in parts:
            part.db.execute(f"PRAGMA cache_size = -{SORTED_KIB // len(parts)}")
            part.db.execute("BEGIN")
        yield parts


def count_of(number: int, noun: str) -> str:
    """Such as "1 answer" and "1,200 answers"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"

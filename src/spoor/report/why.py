"""Explains one URL of a crawl: where it was found, its score, its outcome, and why."""

from __future__ import annotations

import difflib
import heapq
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from spoor import robots
from spoor.actions import Block
from spoor.crawling.guidance import BLOCKED, Guidance
from spoor.events import Steered
from spoor.frontier.entry import Entry, Host
from spoor.frontier.rows import stored_entry, stored_robots, stored_robots_text
from spoor.records import Listed
from spoor.report.showing import consistent_read
from spoor.robots import NeededFile, RobotsFile, holding_for
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.crawl_parts import Part, duplicate_of, owner_of
from spoor.store.journal import (
    DroppedRow,
    EventRow,
    PageRow,
    demotion_of,
    dropped,
    events_of,
    last_moment,
    pages_of,
)
from spoor.store.renders import RenderRow, render_of
from spoor.store.steered import steered
from spoor.store.verdicts import Given, verdicts_on
from spoor.urls import canonical, host_of, near_misses, robots_url

STEPS_BACK = 10
SUGGESTIONS = 5
LOOKED_THROUGH = 500
"""Number of host names, or of page URLs next to the URL in alphabetical order, that are searched for similar ones."""
LINKS_LOOKED_THROUGH = 100
"""The same for links, which are scattered over the disk."""
Redirects = Callable[[sqlite3.Connection, str], Iterable[tuple[str, str]]]
"""Returns the first URLs that redirected to a URL, each with the reason why the redirect was not followed."""


@dataclass(frozen=True, slots=True)
class UrlHistory:
    """Everything that a crawl has stored about a URL.

    `outbid`: better links wait on hosts that were under a delay at the last recorded time. `entry` None: it was never
    in the frontier; then `sent_here` has the URLs that redirected to it and why these were not followed, and `similar`
    has known URLs. `path` leads back towards a seed. `ahead` counts links of the same host that come before it.
    `robots` is the robots.txt that applies, as last fetched, or the one to fetch first; None if unknown (a folder of
    version 2). `has_rules` and `allowed` come from that robots.txt. `listed` is its entry in the sitemap where it was
    found; None if there is none. `demoted` is the event that put the links of its host behind those of all others, None
    if they are not. `blocked` is the action by which a person blocked it, or None. `shard` owns its host;
    `handed_over_by` is the shard that fetched the page where it was found, if that was another; "" in a crawl without
    shards. `verdicts` are those given of the page, if there were several.
    """

    url: str
    entry: Entry | None
    path: tuple[Entry, ...]
    ahead: int
    outbid: bool
    pages: tuple[PageRow, ...]
    verdicts: tuple[Given, ...]
    renders: tuple[RenderRow, ...]
    events: tuple[EventRow, ...]
    dropped: DroppedRow | None
    sent_here: tuple[tuple[str, str], ...]
    host: Host | None
    robots: RobotsFile | NeededFile | None
    has_rules: bool
    allowed: bool
    similar: tuple[str, ...]
    listed: Listed | None
    demoted: EventRow | None
    blocked: Steered | None
    shard: str
    handed_over_by: str

    @property
    def discovered(self) -> bool:
        return bool(self.entry or self.pages or self.events or self.dropped or self.sent_here)


def account(folder: CrawlFolder, url: str, agent: str) -> UrlHistory:
    with consistent_read(folder) as parts:
        return url_history_in(parts, url, agent, redirects_to)


def url_history_in(parts: Sequence[Part], url: str, agent: str, redirects: Redirects) -> UrlHistory:
    """`url` is normalised. Looks it up as it is, then in its canonical form."""
    known = _account(parts, url, agent, redirects)
    if known.discovered or canonical(url) == url:
        return known
    return _account(parts, canonical(url), agent, redirects)


def _account(parts: Sequence[Part], url: str, agent: str, redirects: Redirects) -> UrlHistory:
    owner = owner_of(parts, url)
    db = owner.db
    entry, host, lost = stored_entry(db, url), _host(db, host_of(url)), _dropped(parts, url)
    holding, text = _robots(db, url)
    visits = [(part, page) for part in parts for page in pages_of(part.db, url)]
    events = tuple(heapq.merge(*(events_of(part.db, url) for part in parts), key=lambda event: event.at))
    found_on = entry.found_on if entry else lost.found_on if lost else ""
    return UrlHistory(
        url=url,
        entry=entry,
        path=tuple(_path(parts, found_on)),
        ahead=_ahead(db, entry) if entry else 0,
        outbid=entry is not None and _outbid(db, entry),
        pages=tuple(replace(page, duplicate_of=duplicate_of(parts, part, page)) for part, page in visits),
        verdicts=tuple(given for part in parts for given in verdicts_on(part.db, url)),
        renders=tuple(filter(None, (render_of(part.db, page.host, url, page.number) for part, page in visits))),
        events=events,
        dropped=lost,
        sent_here=() if entry else tuple(row for part in parts for row in redirects(part.db, url)),
        host=host,
        robots=holding,
        has_rules=bool(text),
        allowed=robots.allows(text, agent, url),
        similar=() if entry or lost or events else tuple(_similar(db, url)),
        listed=_listed(parts, found_on, url) if found_on else None,
        demoted=demotion_of(db, host_of(url)),
        blocked=_blocked(db, url),
        shard=owner.name,
        handed_over_by=_sender(parts, owner, found_on),
    )


def _sender(parts: Sequence[Part], owner: Part, found_on: str) -> str:
    """The shard that fetched the page where a link was found; "" if it is the same shard, or if the page was not
    fetched yet."""
    if not found_on or any(pages_of(owner.db, found_on)):
        return ""
    return next((part.name for part in parts if pages_of(part.db, found_on)), "")


def _dropped(parts: Sequence[Part], url: str) -> DroppedRow | None:
    """By its own shard, or by one that found it and did not hand it over."""
    found = (dropped(part.db, url) for part in parts)
    return min((row for row in found if row), key=lambda row: row.at, default=None)


def _blocked(db: sqlite3.Connection, url: str) -> Steered | None:
    actions = steered(db)
    because = Guidance.of(actions).blocks(url)
    blocks = [event for event in actions if event.action == Block(because.removeprefix(BLOCKED)) and not event.refused]
    return blocks[-1] if because else None


def _listed(parts: Sequence[Part], sitemap: str, url: str) -> Listed | None:
    events = (event for part in parts for event in events_of(part.db, sitemap))
    claims = (event.detail["claims"].get(url) for event in events if event.kind == "sitemap read")
    return next((Listed(url, *claim) for claim in claims if claim), None)


def _path(parts: Sequence[Part], found_on: str) -> Iterator[Entry]:
    for _ in range(STEPS_BACK):
        entry = stored_entry(owner_of(parts, found_on).db, found_on) if found_on else None
        if entry is None:
            return
        yield entry
        found_on = entry.found_on


def _ahead(db: sqlite3.Connection, entry: Entry) -> int:
    """The number of waiting links of the same host with a better position."""
    key = [*entry.key, 0.0, 0.0][:3]
    place = "(key1, ifnull(key2, 0), ifnull(key3, 0), -arrival) > (?, ?, ?, ?)"
    host = "host = (SELECT id FROM hosts WHERE name = ?)"
    query = f"SELECT count(*) FROM links WHERE {host} AND state = 0 AND {place}"
    return int(db.execute(query, (entry.host, *key, -entry.arrival)).fetchone()[0])


def _outbid(db: sqlite3.Connection, entry: Entry) -> bool:
    better = "EXISTS (SELECT 1 FROM links WHERE host = hosts.id AND state = 0 AND key1 > ?)"
    query = f"SELECT EXISTS (SELECT 1 FROM hosts WHERE free_at > ? AND {better})"
    return bool(db.execute(query, (last_moment(db) or 0.0, entry.key[0])).fetchone()[0])


def redirects_to(db: sqlite3.Connection, url: str) -> list[tuple[str, str]]:
    """Scans all events."""
    query = "SELECT url, json_extract(detail, '$.because') FROM events WHERE kind = 'redirected' AND number IS NOT NULL"
    return db.execute(query + " AND json_extract(detail, '$.to') = ? ORDER BY id LIMIT 3", (url,)).fetchall()


def _host(db: sqlite3.Connection, name: str) -> Host | None:
    row = db.execute("SELECT name, delay, free_at, address FROM hosts WHERE name = ?", (name,)).fetchone()
    return None if row is None else Host(*row)


def _robots(db: sqlite3.Connection, url: str) -> tuple[RobotsFile | NeededFile | None, str]:
    """The robots.txt that applies to a URL, however old, and its text."""
    file = holding_for(lambda known: stored_robots(db, known), robots_url(url), -inf)
    return file, stored_robots_text(db, file.url) if isinstance(file, RobotsFile) else ""


def _similar(db: sqlite3.Connection, url: str) -> list[str]:
    """Known URLs: other spellings of this one, then similar URLs of its host or, if there are none, of similarly named
    hosts."""
    spellings = [other for other in near_misses(url) if stored_entry(db, other)]
    beside = [*_some_links(db, host_of(url)), *_neighbours(db, url)]
    alike = difflib.get_close_matches(url, dict.fromkeys(beside), SUGGESTIONS, 0.7)
    if not beside:
        hosts = [name for (name,) in db.execute("SELECT name FROM hosts ORDER BY id LIMIT ?", (LOOKED_THROUGH,))]
        names = difflib.get_close_matches(host_of(url), hosts, SUGGESTIONS, 0.7)
        alike = [known for name in names for known in _some_links(db, name)[:1]]
    return list(dict.fromkeys([*spellings, *alike]))[:SUGGESTIONS]


def _some_links(db: sqlite3.Connection, host: str) -> list[str]:
    """URLs of a host, in the order in which they were found."""
    of_host = "links INDEXED BY links_by_url WHERE host = (SELECT id FROM hosts WHERE name = ?)"
    some = f"SELECT id, url FROM {of_host} LIMIT {LINKS_LOOKED_THROUGH}"
    return [known for (known,) in db.execute(f"SELECT url FROM ({some}) ORDER BY id", (host,))]


def _neighbours(db: sqlite3.Connection, url: str) -> Iterator[str]:
    """Pages of the same host, from an index that has their URLs in alphabetical order."""
    for side in ("url < ? ORDER BY url DESC", "url >= ? ORDER BY url"):
        query = f"SELECT url FROM pages WHERE host = ? AND {side} LIMIT {LOOKED_THROUGH // 2}"
        yield from (known for (known,) in db.execute(query, (host_of(url), url)))

"""What `report`, `why`, `export` and `compact` take on the folder of a crawl of ten million pages.

The folder is written by SQL alone, as `learned` would have left it without an archive: of 20 rows of the journal 17 are
pages, and one each is a robots.txt, a failure and a redirect; one page in six is relevant, one in 17 a duplicate; for
17 pages one link still waits. Each command is a process of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.frontier import Stopwatch
from bench.long_crawl import NOWHERE, Sampling, evict, peak, review, settings_of, timed
from spoor import settings as config
from spoor.cli import main as spoor
from spoor.cli.terminal import print_table
from spoor.frontier.entry import State
from spoor.frontier.rows import COLUMNS, url_hash
from spoor.frontier.sqlite import SqliteStore
from spoor.live.relearning import snapshot_of
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.store.journal import place_at
from spoor.store.tables import create_tables, write_heads

PAGES_PER_HOST = 20
SAMPLES = 2_000
"""Visits of a small crawl, from which the links and the snapshot of the large one are made."""
EARLY = 10_000
ROWS, PAGES = 20, 17
"""Of so many rows of the journal so many are pages."""

ROWS_OF_JOURNAL = """
CREATE TEMP VIEW journal AS
WITH RECURSIVE counted (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n + 1 < {rows}),
placed AS (SELECT n, n * 2654435761 % 1000003 / 1000003.0 AS u, {began} + 0.1 * n AS at FROM counted)
SELECT n, at, n % 20 AS kind, 'h' || cast(u * u * u * {hosts} AS INTEGER) || '.test' AS host,
    'http://h' || cast(u * u * u * {hosts} AS INTEGER) || '.test/' || (n % 7) || '/page-' || n || '.html' AS url
FROM placed
"""
"""Hosts are unlike: the first have most pages."""
PAGE_ROWS = """
INSERT INTO pages SELECT n + 1, url, host, n, at, at + 0.1 + n % 100 / 100.0, 200, 9000 + n % 5000,
    CASE WHEN n % 6 THEN 0.1 ELSE 0.8 END, CASE WHEN n % 6 THEN 'no word found' ELSE '2 of 3 words' END, NULL, 4, n,
    'Page ' || n || ' of a site', 'en', printf('sha1:%032X', CASE WHEN n % 20 = 3 THEN 0 ELSE n END), NULL,
    CASE WHEN n % 20 = 3 THEN 'http://h0.test/0/page-0.html' ELSE '' END, NULL, NULL, n % 6 = 0, 0
FROM journal WHERE kind < 17
"""
EVENT_ROWS = """
INSERT INTO events SELECT n + 1, CASE WHEN kind > 17 THEN n END, at, at + 0.4, kinds.name, CASE WHEN kind > 17 THEN url
    ELSE 'http://' || host || '/robots.txt' END, host, detail
FROM journal JOIN kinds USING (kind)
"""
KINDS = (
    (17, "host opened", {"purpose": "robots", "tries": 0, "rest": 1.0}),
    (18, "failed", {"purpose": "page", "tries": 0, "reason": "404", "again_at": None, "waiting": 7}),
    (19, "redirected", {"purpose": "page", "tries": 0, "to": "http://h0.test/", "because": "", "waiting": 7}),
)
DIGEST_ROWS = """
INSERT INTO digests SELECT digest, url, ended, '<urn:uuid:' || id || '>', 'a.warc.gz', 9 * id FROM pages
WHERE duplicate_of = '' ORDER BY id
"""
LINK_ROWS = """
INSERT INTO links (id, {columns}) SELECT n + 1, hosts.id, url_hash(url), url,
    CASE WHEN kind = 17 THEN 0 ELSE {settled} END, key1, key2, key3, n + 1, evidence, trail, depth, found_on, redirects,
    tries, again_at, because, hints
FROM journal JOIN sample CROSS JOIN hosts ON hosts.name = host
"""
"""Where the journal has a robots.txt, a link waits that nobody visited."""


class Finished:
    """The folder of a crawl of so many pages."""

    def __init__(self, folder: CrawlFolder, pages: int) -> None:
        self._folder, self._rows, self._hosts = folder, pages * ROWS // PAGES, pages // PAGES_PER_HOST
        self._began = time.time() - 0.1 * self._rows

    def write(self) -> None:
        self._folder.write_settings(config.dumps(settings_of("")))
        with contextlib.closing(SqliteStore(self._folder.database)) as store:
            create_tables(store.connection)
        with tempfile.TemporaryDirectory() as scratch, contextlib.closing(_connected(self._folder.database)) as db:
            small = SqliteStore(Path(scratch) / "small.db")
            writing = Sampling(small, settings_of(""))
            writing.until(SAMPLES)
            review(writing)
            small.close()
            db.execute("ATTACH ? AS small", (str(Path(scratch) / "small.db"),))
            self._fill(db)
            place = place_at(db, self._rows)
        assert place is not None
        self._folder.snapshots.write(snapshot_of(writing.strategy, place, ""))

    def _fill(self, db: sqlite3.Connection) -> None:
        """Indexes come last: to sort once is quicker than to put every row in its place."""
        made = db.execute("SELECT name, sql FROM main.sqlite_master WHERE type = 'index' AND sql NOT NULL").fetchall()
        for name, _ in made:
            db.execute(f"DROP INDEX {name}")
        db.execute("BEGIN")
        self._prepare(db)
        for statement in (PAGE_ROWS, EVENT_ROWS, DIGEST_ROWS):
            db.execute(statement)
        db.execute(LINK_ROWS.format(columns=COLUMNS, settled=int(State.SETTLED)))
        self._count(db)
        for _, statement in sorted(made, key=lambda index: index[0] == "hosts_in_order"):
            db.execute(statement)
        write_heads(db)
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")

    def _prepare(self, db: sqlite3.Connection) -> None:
        db.create_function("url_hash", 1, url_hash, deterministic=True)
        db.execute(ROWS_OF_JOURNAL.format(rows=self._rows, hosts=self._hosts, began=self._began))
        db.execute("CREATE TEMP TABLE kinds (kind INTEGER PRIMARY KEY, name TEXT, detail TEXT)")
        db.executemany("INSERT INTO kinds VALUES (?, ?, ?)", [(n, name, json.dumps(said)) for n, name, said in KINDS])
        db.execute("CREATE TEMP TABLE sample AS SELECT * FROM small.links WHERE hints NOT NULL LIMIT 1")
        db.execute("UPDATE sample SET trail = replace(trail, ?, 'http://h0.test/0/page-0.html')", (NOWHERE,))
        for column in ("url", "id", "host", "hash", "state", "arrival"):
            db.execute(f"ALTER TABLE sample DROP COLUMN {column}")
        db.execute("INSERT INTO main.evidence_names SELECT * FROM small.evidence_names")
        hosts = ((n + 1, f"h{n}.test", 1.0, self._began, "", None) for n in range(self._hosts))
        db.executemany("INSERT INTO hosts VALUES (?, ?, ?, ?, ?, ?)", hosts)

    def _count(self, db: sqlite3.Connection) -> None:
        states = dict(db.execute("SELECT state, count(*) FROM main.links GROUP BY state"))
        counters = {"arrivals": self._rows, "visits": self._rows, "excused": 0}
        counters |= {state.name.lower(): states.get(int(state), 0) for state in State}
        db.executemany("INSERT INTO counters VALUES (?, ?)", counters.items())


def _connected(database: Path) -> sqlite3.Connection:
    db = sqlite3.connect(database, isolation_level=None)
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -262144", "temp_store = FILE"):
        db.execute(f"PRAGMA {pragma}")
    return db


def urls(database: Path) -> tuple[str, str]:
    """A link that waits, and the page before which `EARLY` rows of the journal are learned from again."""
    with contextlib.closing(sqlite3.connect(database)) as db:
        (waits,) = db.execute("SELECT url FROM links WHERE state = 0 ORDER BY id DESC LIMIT 1").fetchone()
        (came,) = db.execute("SELECT url FROM pages WHERE id > ? ORDER BY id LIMIT 1", (EARLY,)).fetchone()
    return waits, came


def commands(folder: Path, out: Path) -> dict[str, list[str]]:
    waits, came = urls(folder / "crawl.db")
    return {
        "report": ["report", str(folder)],
        "why, of a link that waits": ["why", str(folder), waits],
        "why, of a URL that is not known": ["why", str(folder), "http://h0.test/unheard-of"],
        f"why, of page {EARLY:,}": ["why", str(folder), came],
        "export --all, without an archive": ["export", str(folder), "--all", "--format", "jsonl", "--out", str(out)],
        "compact": ["compact", str(folder)],
        "report, after compact": ["report", str(folder)],
        "why, after compact": ["why", str(folder), waits],
    }


def measure(folder: Path, command: Sequence[str]) -> dict[str, Any]:
    """Runs one command in this process."""
    evict(folder)
    with Stopwatch() as watch:
        code = spoor.main(command)
    return {"code": code, "processor": watch.processor, "wall": watch.wall, "memory": peak()}


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench reports", description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000_000, metavar="N", help="(10,000,000)")
    pages = parser.parse_args(options).pages
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "crawl"
        with open_for_crawling(folder) as opened:
            timed(f"{pages:,} pages, written", Finished(opened, pages).write)
        print(f"crawl.db: {(folder / 'crawl.db').stat().st_size / 1e9:.1f} GB", flush=True)
        rows = []
        for name, command in commands(folder, Path(scratch) / "pages.jsonl").items():
            rows.append([name, *_run(folder, command)])
            print(*rows[-1], sep="  ", flush=True)
    print_table(("command", "CPU, s", "by the clock, s", "memory, MB"), rows)


def _run(folder: Path, command: Sequence[str]) -> list[str]:
    child = [sys.executable, "-m", "bench.reports", str(folder), *command]
    said = subprocess.run(child, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()[-1]
    found = json.loads(said)
    assert found["code"] == 0, f"{' '.join(command)} ended with {found['code']}"
    return [f"{found['processor']:.1f}", f"{found['wall']:.1f}", f"{found['memory'] / 1e6:.0f}"]


if __name__ == "__main__":
    print("\n" + json.dumps(measure(Path(sys.argv[1]), sys.argv[2:])))

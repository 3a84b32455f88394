"""dashboard.db: counts and indexes of a crawl for the dashboard, in a file beside crawl.db.

Only the dashboard writes it, and it can be deleted: everything is counted again. crawl.db is only read. Pages and
events share one sequence of numbers, so counting resumes after the last number. Only the verdicts on pages ever change,
when a judge is taught: they are counted again after each lesson.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from spoor.errors import BadInput
from spoor.frontier.rows import UNREADABLE
from spoor.storage_errors import is_of_surroundings, not_written, storing
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.journal import open_to_read
from spoor.store.transactions import transaction
from spoor.store.verdicts import last_change

FILE = "dashboard.db"
PIECE = 50_000
"""Rows of the journal counted in one transaction: about half a second."""
FINE, COARSE = 4, 256
"""Rows of the journal for each point of a curve: in a short crawl, and in a long one."""
VERSION = 4

_CURVE_COLUMNS = """
    bucket INTEGER PRIMARY KEY, number INTEGER NOT NULL, at REAL NOT NULL, visits INTEGER NOT NULL,
    pages INTEGER NOT NULL, relevant INTEGER NOT NULL, failures INTEGER NOT NULL, redirects INTEGER NOT NULL,
    bytes INTEGER NOT NULL, waiting INTEGER NOT NULL
"""
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hosts (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, pages INTEGER NOT NULL DEFAULT 0,
    relevant INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0, redirects INTEGER NOT NULL DEFAULT 0,
    retries INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0, last REAL NOT NULL DEFAULT 0,
    share REAL GENERATED ALWAYS AS (CASE WHEN pages THEN 1.0 * relevant / pages ELSE 0.0 END) VIRTUAL,
    mean_seconds REAL GENERATED ALWAYS AS (
        CASE WHEN pages + failures + redirects + retries
        THEN seconds / (pages + failures + redirects + retries) ELSE 0.0 END
    ) VIRTUAL
);
CREATE INDEX IF NOT EXISTS hosts_by_relevant ON hosts (relevant, id);
CREATE INDEX IF NOT EXISTS hosts_by_pages ON hosts (pages, id);
CREATE INDEX IF NOT EXISTS hosts_by_failures ON hosts (failures, id);
CREATE INDEX IF NOT EXISTS hosts_by_share ON hosts (share, id);
CREATE INDEX IF NOT EXISTS hosts_by_seconds ON hosts (mean_seconds, id);
CREATE INDEX IF NOT EXISTS hosts_by_last ON hosts (last, id);
CREATE TABLE IF NOT EXISTS listed (
    id INTEGER PRIMARY KEY, host INTEGER NOT NULL, relevant INTEGER NOT NULL, relevance REAL NOT NULL,
    language TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS listed_by_relevance ON listed (relevance, id);
CREATE INDEX IF NOT EXISTS listed_by_verdict ON listed (relevant, relevance, id);
CREATE INDEX IF NOT EXISTS listed_by_host ON listed (host, id);
CREATE INDEX IF NOT EXISTS listed_by_language ON listed (language, id);
CREATE TABLE IF NOT EXISTS languages (
    name TEXT PRIMARY KEY, pages INTEGER NOT NULL, relevant INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fine_curve ({_CURVE_COLUMNS});
CREATE TABLE IF NOT EXISTS coarse_curve ({_CURVE_COLUMNS});
CREATE TABLE IF NOT EXISTS failures (
    id INTEGER PRIMARY KEY, purpose TEXT NOT NULL, reason TEXT NOT NULL, times INTEGER NOT NULL,
    given_up INTEGER NOT NULL, UNIQUE (purpose, reason)
);
CREATE TABLE IF NOT EXISTS failed (failure INTEGER, id INTEGER, PRIMARY KEY (failure, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS kinds (kind TEXT PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS happened (kind TEXT, id INTEGER, PRIMARY KEY (kind, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS redirected (target TEXT, id INTEGER, PRIMARY KEY (target, id)) WITHOUT ROWID;
CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5 (title, url, body, content = '', tokenize = 'ascii');
"""

_NEW = "id > :after AND id <= :until"
_FAILED = f"FROM crawl.events WHERE {_NEW} AND kind = 'failed'"
_PURPOSE = "ifnull(json_extract(detail, '$.purpose'), 'page')"
_BEFORE = "json_extract(detail, '$.before')"
_REASON = "ifnull(json_extract(detail, '$.reason'), '')"

_CURVE = """
INSERT INTO {table}
SELECT id / {bucket}, max(id), at, count(*), sum(page), sum(relevant), sum(failed), sum(redirected),
    sum(size), waiting
FROM (
    SELECT id, ended AS at, 1 AS page, relevant, 0 AS failed, 0 AS redirected, size, waiting
    FROM crawl.pages WHERE id > :after AND id <= :until
    UNION ALL
    SELECT id, at, 0, 0, result = 'failure', result = 'redirect', 0, ifnull(json_extract(detail, '$.waiting'), 0)
    FROM crawl.events WHERE id > :after AND id <= :until AND result NOT IN ('', 'excused')
) WHERE 1 GROUP BY 1
ON CONFLICT (bucket) DO UPDATE SET number = excluded.number, at = excluded.at,
    visits = visits + excluded.visits, pages = pages + excluded.pages,
    relevant = relevant + excluded.relevant, failures = failures + excluded.failures,
    redirects = redirects + excluded.redirects, bytes = bytes + excluded.bytes, waiting = excluded.waiting
"""

_STEPS = (
    f"""
    INSERT OR IGNORE INTO hosts (name) SELECT DISTINCT host FROM (
        SELECT host FROM crawl.pages WHERE {_NEW}
        UNION ALL SELECT host FROM crawl.events WHERE {_NEW} AND (number IS NOT NULL OR kind = 'failed')
    )
    """,
    f"""
    UPDATE hosts SET pages = pages + new.pages_, relevant = relevant + new.relevant_, bytes = bytes + new.bytes_,
        seconds = seconds + new.seconds_, last = max(last, new.last_)
    FROM (
        SELECT host, count(*) AS pages_, sum(relevant) AS relevant_, sum(size) AS bytes_,
            sum(ended - started) AS seconds_, max(ended) AS last_
        FROM crawl.pages WHERE {_NEW} GROUP BY host
    ) AS new WHERE hosts.name = new.host
    """,
    f"""
    UPDATE hosts SET failures = failures + new.failures_, redirects = redirects + new.redirects_,
        retries = retries + new.retries_, seconds = seconds + new.seconds_, last = max(last, new.last_)
    FROM (
        SELECT host, sum(result = 'failure') AS failures_, sum(result = 'redirect') AS redirects_,
            sum(result = 'to be tried again') AS retries_, max(at) AS last_,
            sum(CASE WHEN result IN ('', 'excused') THEN 0.0 ELSE at - started END) AS seconds_
        FROM crawl.events WHERE {_NEW} AND (number IS NOT NULL OR kind = 'failed') GROUP BY host
    ) AS new WHERE hosts.name = new.host
    """,
    f"""
    UPDATE hosts SET failures = failures - new.failures_, retries = retries - new.retries_
    FROM (
        SELECT host, sum({_BEFORE} = 'failure') AS failures_, sum({_BEFORE} = 'to be tried again') AS retries_
        FROM crawl.events WHERE {_NEW} AND kind = 'excused' GROUP BY host
    ) AS new WHERE hosts.name = new.host
    """,
    f"""
    INSERT OR REPLACE INTO listed
    SELECT pages.id, hosts.id, pages.relevant, relevance, language
    FROM crawl.pages CROSS JOIN hosts ON hosts.name = pages.host WHERE pages.{_NEW.replace("AND id", "AND pages.id")}
    """,
    f"""
    INSERT INTO languages
    SELECT language, count(*), sum(relevant) FROM crawl.pages WHERE {_NEW} AND language != '' GROUP BY language
    ON CONFLICT (name) DO UPDATE SET pages = pages + excluded.pages, relevant = relevant + excluded.relevant
    """,
    _CURVE.format(table="fine_curve", bucket=FINE),
    _CURVE.format(table="coarse_curve", bucket=COARSE),
    f"""
    INSERT INTO failures (purpose, reason, times, given_up)
    SELECT {_PURPOSE}, {_REASON}, count(*), sum(json_extract(detail, '$.again_at') IS NULL) {_FAILED} GROUP BY 1, 2
    ON CONFLICT (purpose, reason) DO UPDATE SET times = times + excluded.times, given_up = given_up + excluded.given_up
    """,
    f"""
    INSERT OR IGNORE INTO failed SELECT failures.id, new.id FROM (
        SELECT id, {_PURPOSE} AS purpose_, {_REASON} AS reason_ {_FAILED}
    ) AS new CROSS JOIN failures ON purpose = purpose_ AND reason = reason_
    """,
    f"""
    UPDATE failures SET given_up = given_up - new.times_ FROM (
        SELECT failed.failure AS failure_, count(*) AS times_ FROM crawl.events AS later JOIN failed ON failed.id = (
            SELECT max(id) FROM crawl.events AS first WHERE first.host = later.host AND first.url = later.url
                AND first.result = 'failure' AND first.id < later.id
        ) WHERE later.{_NEW.replace("AND id", "AND later.id")} AND later.kind = 'excused' AND {_BEFORE} = 'failure'
        GROUP BY 1
    ) AS new WHERE failures.id = new.failure_
    """,
    f"""
    INSERT INTO kinds SELECT kind, count(*) FROM crawl.events WHERE {_NEW} GROUP BY kind
    ON CONFLICT (kind) DO UPDATE SET times = times + excluded.times
    """,
    f"INSERT OR IGNORE INTO happened SELECT kind, id FROM crawl.events WHERE {_NEW}",
    f"""
    INSERT OR IGNORE INTO redirected SELECT ifnull(json_extract(detail, '$.to'), ''), id FROM crawl.events
    WHERE {_NEW} AND kind = 'redirected' AND number IS NOT NULL
    """,
    "INSERT OR REPLACE INTO state VALUES ('journal', :until)",
)
"""Each adds the rows of one batch of the journal. Damaged JSON stops the counting with SQLite's message."""

_REVISED = """
CREATE TEMP TABLE revised AS SELECT listed.id AS id, listed.host AS host, listed.language AS language,
    pages.relevance AS relevance, pages.relevant AS relevant, pages.relevant - listed.relevant AS more
FROM ({changed}) AS changed CROSS JOIN crawl.pages ON pages.id = changed.page CROSS JOIN listed ON listed.id = pages.id
WHERE (pages.relevance, pages.relevant) != (listed.relevance, listed.relevant)
"""
_BY_A_LESSON = """
SELECT pages.id AS page FROM crawl.judged JOIN crawl.pages ON pages.host = judged.host AND pages.url = judged.url
WHERE judged.version > ?
"""
_REPLACED = "SELECT DISTINCT page FROM crawl.verdicts WHERE id > ?"
_ADD_REVISED = """
UPDATE {table} SET relevant = {table}.relevant + new.more
FROM (SELECT {of} AS which, sum(more) AS more FROM revised WHERE more GROUP BY 1) AS new WHERE {key} = new.which
"""
_REVISIONS = (
    _ADD_REVISED.format(table="hosts", of="host", key="hosts.id"),
    _ADD_REVISED.format(table="languages", of="language", key="languages.name"),
    _ADD_REVISED.format(table="fine_curve", of=f"id / {FINE}", key="bucket"),
    _ADD_REVISED.format(table="coarse_curve", of=f"id / {COARSE}", key="bucket"),
    """
    UPDATE listed SET relevant = revised.relevant, relevance = revised.relevance FROM revised
    WHERE revised.id = listed.id
    """,
    "DROP TABLE revised",
)
"""Apply verdicts that changed to the counts made before."""

_LAST = (
    "SELECT max(ifnull((SELECT max(id) FROM crawl.pages), 0), ifnull((SELECT max(id) FROM crawl.events), 0)), "
    "ifnull((SELECT url || ' ' || started FROM crawl.pages ORDER BY id LIMIT 1), '')"
)


def places_for(folder: CrawlFolder) -> Iterator[Path]:
    """Beside crawl.db; then, if the folder is read-only or full, a temporary folder."""
    if os.access(folder.path, os.W_OK):
        yield folder.path / FILE
    with storing(folder.path / FILE):
        temporary = tempfile.mkdtemp(prefix="spoor-dashboard-")
    yield Path(temporary) / FILE


def open_to_count(folder: CrawlFolder, file: Path) -> sqlite3.Connection:
    """Creates the file if needed, and replaces it if it belongs to another crawl or version. Raises NotWritten if the
    disk is full or read-only."""
    try:
        if (db := _opened(folder, file)) is None:
            _remove(file)
            db = _opened(folder, file)
        assert db is not None, "a new file is current"
        return db
    except UNREADABLE as error:
        if isinstance(error, sqlite3.Error) and is_of_surroundings(error):
            raise not_written(file, error) from None
        raise BadInput(f"cannot use {file}: {error}; delete it; the dashboard will create it again") from None


def _opened(folder: CrawlFolder, file: Path) -> sqlite3.Connection | None:
    """None if the file belongs to another crawl or version."""
    uri = f"file:{quote(str(file))}"
    with contextlib.ExitStack() as opened:
        db = opened.enter_context(contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None)))
        _prepare(db)
        _attach(db, folder)
        if not _is_current(db):
            return None
        opened.pop_all()
        return db


def open_to_look_up(folder: CrawlFolder, file: Path) -> sqlite3.Connection:
    """The database of the crawl, with dashboard.db attached as `counted`; both read-only."""
    with contextlib.ExitStack() as opened:
        db = opened.enter_context(contextlib.closing(open_to_read(folder.database)))
        db.execute("ATTACH ? AS counted", (f"file:{quote(str(file))}?mode=ro",))
        db.execute("PRAGMA query_only = ON")
        opened.pop_all()
        return db


def count_on(db: sqlite3.Connection, piece: int = PIECE) -> tuple[int, int]:
    """Counts one more batch. Returns the number reached and the last one in the journal. Another dashboard may count
    into the same file."""
    last, _ = db.execute(_LAST).fetchone()
    if state_of(db, "journal") >= last and state_of(db, "verdict") >= last_change(db, "crawl"):
        return last, last
    with transaction(db):
        after = state_of(db, "journal")
        until = min(last, after + piece)
        for step in _STEPS if until > after else ():
            db.execute(step, {"after": after, "until": until})
        _count_revisions(db)
    return until, last


def _count_revisions(db: sqlite3.Connection) -> None:
    """Of lessons, and of persons and `spoor rejudge`, since the last count. A lesson is itself an event, so new rows
    follow each lesson."""
    for name, last, changed in (
        ("lesson", last_lesson(db, "crawl"), _BY_A_LESSON),
        ("verdict", last_change(db, "crawl"), _REPLACED),
    ):
        if last > (known := state_of(db, name)):
            db.execute(_REVISED.format(changed=changed), (known,))
            for step in _REVISIONS:
                db.execute(step)
            db.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, last))


def last_lesson(db: sqlite3.Connection, schema: str = "main") -> int:
    """The version of the judge; 0 if it was not taught."""
    known = f"SELECT 1 FROM {schema}.sqlite_master WHERE type = 'table' AND name = 'students'"
    if db.execute(known).fetchone() is None:
        return 0
    return int(db.execute(f"SELECT ifnull(max(version), 0) FROM {schema}.students").fetchone()[0])


def redirects_counted(db: sqlite3.Connection, url: str) -> list[tuple[str, str]]:
    """For `why`: redirects to a URL, from the index, as far as counted."""
    numbers = "SELECT id FROM counted.redirected WHERE target = ? ORDER BY id LIMIT 3"
    query = f"SELECT url, json_extract(detail, '$.because') FROM events WHERE id IN ({numbers}) ORDER BY id"
    return db.execute(query, (url,)).fetchall()


def state_of(db: sqlite3.Connection, name: str) -> int:
    """The last number processed: `journal` of the counted rows, `texts` of the indexed texts, `lesson` of the last
    lesson whose verdicts were counted, `verdict` of the last verdict that replaced another."""
    row = db.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0


def _prepare(db: sqlite3.Connection) -> None:
    for pragma in ("journal_mode = WAL", "synchronous = OFF", "trusted_schema = OFF", "cache_size = -65536"):
        db.execute(f"PRAGMA {pragma}")
    db.executescript(SCHEMA)


def _attach(db: sqlite3.Connection, folder: CrawlFolder) -> None:
    """As `open_to_read` opens it. In a read-only folder, SQLite needs `immutable`."""
    uri = f"file:{quote(str(folder.database.resolve()))}?mode=ro"
    try:
        db.execute("ATTACH ? AS crawl", (uri,))
        db.execute("SELECT count(*) FROM crawl.pages WHERE id = 0").fetchone()
    except sqlite3.Error:
        with contextlib.suppress(sqlite3.Error):
            db.execute("DETACH crawl")
        db.execute("ATTACH ? AS crawl", (uri + "&immutable=1",))
    db.execute("PRAGMA crawl.cell_size_check = ON")


def _is_current(db: sqlite3.Connection) -> bool:
    """Whether the counts belong to this crawl; marks a new file as belonging to it."""
    last, first = db.execute(_LAST).fetchone()
    known = dict(db.execute("SELECT name, value FROM state WHERE name IN ('version', 'first')"))
    if not known or (known.get("first") == "" and first):
        db.executemany("INSERT OR REPLACE INTO state VALUES (?, ?)", [("version", VERSION), ("first", first)])
        return True
    return known == {"version": VERSION, "first": first} and state_of(db, "journal") <= last


def _remove(file: Path) -> None:
    for name in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
        name.unlink(missing_ok=True)

"""A crawl folder as earlier versions wrote it."""

from __future__ import annotations

import contextlib
import json
import sqlite3

from spoor.frontier.evidence import EvidenceNames
from spoor.records import Evidence
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.migration import create_tables
from tests.version_5 import as_version_5

VERSION_3 = """
CREATE TABLE hosts (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, rest REAL NOT NULL, free_at REAL NOT NULL, address TEXT NOT NULL
);
CREATE TABLE robots (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, until REAL NOT NULL, delay REAL NOT NULL, leads_to TEXT NOT NULL,
    failed TEXT NOT NULL, may_heal INTEGER NOT NULL, tries INTEGER NOT NULL, text TEXT NOT NULL
);
CREATE TABLE links (
    id INTEGER PRIMARY KEY, host INTEGER NOT NULL, hash INTEGER NOT NULL, url TEXT NOT NULL, state INTEGER NOT NULL,
    key1 REAL NOT NULL, key2 REAL, key3 REAL, arrival INTEGER NOT NULL, evidence TEXT NOT NULL, trail TEXT,
    depth INTEGER NOT NULL, found_on TEXT NOT NULL, redirects INTEGER NOT NULL, tries INTEGER NOT NULL,
    again_at REAL NOT NULL, because TEXT NOT NULL, hints BLOB
);
CREATE INDEX links_by_url ON links (host, hash);
CREATE INDEX waiting_links ON links (host, key1 DESC, key2 DESC, key3 DESC, arrival) WHERE state = 0;
CREATE INDEX links_found_on ON links (found_on, arrival) WHERE state = 0;
CREATE INDEX links_in_turn ON links (id) WHERE state = 0;
CREATE INDEX moving_links ON links (state, arrival) WHERE state IN (1, 3);
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""
RULES = "User-agent: *\nDisallow: /private/ä\n"


def as_version_3(folder: CrawlFolder) -> dict[str, Evidence]:
    """The same links, hosts and counters in the tables of version 3, with a robots.txt for every host. Returns the
    evidence of every link."""
    as_version_5(folder)
    with contextlib.closing(sqlite3.connect(folder.database, isolation_level=None)) as db:
        names = EvidenceNames.of(db)
        known = {url: names.unpack(packed) for url, packed in db.execute("SELECT url, evidence FROM links")}
        db.execute("DROP TABLE evidence_names")
        for table in ("hosts", "robots", "links", "counters"):
            db.execute(f"ALTER TABLE {table} RENAME TO new_{table}")
        for (index,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql NOT NULL").fetchall():
            db.execute(f"DROP INDEX {index}")
        db.executescript(VERSION_3)
        db.execute("INSERT INTO hosts SELECT id, name, delay, free_at, address FROM new_hosts")
        robots = "SELECT NULL, 'http://' || name || '/robots.txt', 9e9, 0, '', '', 0, 0, ? FROM new_hosts"
        db.execute(f"INSERT INTO robots {robots}", (RULES,))
        db.execute("INSERT INTO links SELECT * FROM new_links")
        db.executemany(
            "UPDATE links SET evidence = ? WHERE url = ?", [(json.dumps(dict(e)), url) for url, e in known.items()]
        )
        db.execute("INSERT INTO counters SELECT * FROM new_counters")
        for table in ("hosts", "robots", "links", "counters"):
            db.execute(f"DROP TABLE new_{table}")
        create_tables(db)
        db.execute("ALTER TABLE pages DROP COLUMN needs_scripts")
    (folder.path / "version").write_text("spoor crawl 3\n")
    return known

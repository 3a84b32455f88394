"""Crawls as version 4 wrote them: other names of columns, evidence and snapshots, no ETag of robots.txt files, nothing
about pages that need scripts."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

from spoor.files import State
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.snapshots import Snapshot, Snapshots, write_snapshot
from tests.version_5 import as_version_5

EVIDENCE = {"prior": "signs", "site_yield": "place", "hub_yield": "hub", "list_yield": "list"}
SNAPSHOTS = {
    "Learned": {"logistic": "odds", "labels": "wanted"},
    "LinkClassifier": {"classifier": "odds", "relearned": "recalled"},
    "HostYield": {"relevant": "wanted", "queued hosts": "told hosts", "queued": "told"},
}


def as_version_4(folder: CrawlFolder) -> CrawlFolder:
    as_version_5(folder)
    with contextlib.closing(sqlite3.connect(folder.database, isolation_level=None)) as db:
        db.execute("ALTER TABLE hosts RENAME COLUMN delay TO rest")
        db.execute("ALTER TABLE robots DROP COLUMN etag")
        db.execute("ALTER TABLE robots DROP COLUMN modified")
        db.execute("ALTER TABLE pages DROP COLUMN needs_scripts")
        db.execute("""UPDATE events SET detail = replace(detail, '"delay":', '"rest":') WHERE kind = 'host opened'""")
    rename_evidence(folder.database)
    rename_snapshots(folder.snapshots)
    (folder.path / "version").write_text("spoor crawl 4\n")
    return folder


def rename_evidence(database: Path) -> None:
    """In the list of names, and in failures that were tried again."""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as db:
        for number, names in db.execute("SELECT id, names FROM evidence_names").fetchall():
            renamed = [EVIDENCE.get(name, name) for name in json.loads(names)]
            db.execute("UPDATE evidence_names SET names = ? WHERE id = ?", (json.dumps(renamed), number))
        for number, text in db.execute("SELECT id, detail FROM events WHERE kind = 'failed'").fetchall():
            detail = json.loads(text)
            if "known" in detail:
                detail["known"][1] = _renamed(detail["known"][1], EVIDENCE)
                db.execute("UPDATE events SET detail = ? WHERE id = ?", (json.dumps(detail), number))


def rename_snapshots(snapshots: Snapshots) -> None:
    for file in snapshots.files():
        packed = snapshots.read(file)
        states = {part: _renamed(packed.state(part), _names_of(part)) for part in packed._parts}
        write_snapshot(file, Snapshot(packed.place, packed.warm, states))


def _names_of(part: str) -> dict[str, str]:
    return SNAPSHOTS.get(part.partition("(")[0], {})


def _renamed(values: State, names: dict[str, str]) -> dict[str, Any]:
    return {
        names.get(name, name): _renamed(value, names) if isinstance(value, dict) else value
        for name, value in values.items()
    }

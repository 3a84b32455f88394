"""What does it cost to copy a shard while it works? How long the loop is held, how long a copy takes, and how long
commits take meanwhile; rows are random bytes, and both folders are on the disk of this machine."""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from spoor.cli.terminal import print_table
from spoor.store.copies import CopyName, CopyPlace, moment_of
from spoor.store.local_folder import LocalFolder, local_path, opened_locally

ROW = 1200
"""Bytes, as of a link with what is known of it."""
ROWS_PER_COMMIT = 40
PAUSE = 0.05
"""Seconds between two commits."""


def main(options: Sequence[str]) -> None:
    given = argparse.ArgumentParser(prog="python -m bench local-disks", description=__doc__)
    given.add_argument("--megabytes", type=int, default=500, metavar="N", help="size of the database (500)")
    asked = given.parse_args(options)
    with tempfile.TemporaryDirectory() as temporary:
        place = CopyPlace(Path(temporary) / "crawl" / "shards" / "000")
        path = local_path(f"{temporary}/disk", place.path)
        with opened_locally(place, path, 0.0) as local, closing(_filled(local, asked.megabytes)) as db:
            print_table(("what", "s"), _measured(place, local, db), f"a database of {asked.megabytes} MB")


def _filled(local: LocalFolder, megabytes: int) -> sqlite3.Connection:
    db = sqlite3.connect(local.folder.database, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, body BLOB)")
    for _ in range(megabytes):
        db.execute("BEGIN")
        db.executemany("INSERT INTO rows (body) VALUES (?)", ((os.urandom(ROW),) for _ in range(1_000_000 // ROW)))
        db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return db


def _measured(place: CopyPlace, local: LocalFolder, db: sqlite3.Connection) -> list[tuple[str, str]]:
    began = time.perf_counter()
    with moment_of(local.folder) as moment:
        held = time.perf_counter() - began
        copying = threading.Thread(target=place.write, args=(CopyName(local.generation, 1), moment, local.partial))
        cpu, began = time.process_time(), time.perf_counter()
        copying.start()
        meanwhile = _commits(db, copying.is_alive)
        copying.join()
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
    alone = _commits(db, lambda: time.perf_counter() < began + 2 * took)
    rows = {"the loop is held": held, "copy": took, "copy, processor time with that of the commits": cpu}
    for name, commits in (("while copying", meanwhile), ("otherwise", alone)):
        rows[f"commit {name}, median"] = sorted(commits)[len(commits) // 2]
        rows[f"commit {name}, longest of {len(commits)}"] = max(commits)
    return [(name, f"{seconds:.4f}") for name, seconds in rows.items()]


def _commits(db: sqlite3.Connection, going_on: Callable[[], bool]) -> list[float]:
    """How long each took: rows in no order are changed, as those of links are."""
    rng, took = random.Random(0), list[float]()
    (last,) = db.execute("SELECT max(id) FROM rows").fetchone()
    while going_on() or not took:
        began = time.perf_counter()
        db.execute("BEGIN")
        changed = [(os.urandom(ROW), rng.randrange(1, last)) for _ in range(ROWS_PER_COMMIT)]
        db.executemany("UPDATE rows SET body = ? WHERE id = ?", changed)
        db.execute("COMMIT")
        took.append(time.perf_counter() - began)
        time.sleep(PAUSE)
    return took

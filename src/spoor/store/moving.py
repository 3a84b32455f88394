"""Moves buckets of hosts between shards while no crawl runs: waiting and known links, and the state of each host.

The plan is written first. A host is copied to its new shard in one transaction, and removed from the old one in
another; both are idempotent. So a move that was killed is started again, and completed work is kept. The history stays
where it was fetched: pages, events, archive, and settled links, from which the old shard learned. Undelivered messages
are readdressed.
"""

from __future__ import annotations

import contextlib
import heapq
import sqlite3
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from math import inf

from spoor.crawling.share import BUCKETS, Share, bucket_of
from spoor.errors import BadInput
from spoor.frontier.entry import State, place_of_row
from spoor.frontier.evidence import NAMES_SCHEMA, EvidenceNames
from spoor.frontier.rows import COLUMNS, FIRST_PLACE, INSERT, entry_of, row_of, url_hash
from spoor.frontier.rows import SCHEMA as FRONTIER
from spoor.progress import Progress, silently
from spoor.records import Handed, Lesson, Mailed
from spoor.storage_errors import is_of_surroundings
from spoor.store.crawl_folder import open_for_crawling
from spoor.store.crawl_parts import lessons_in_order
from spoor.store.duplicates import SCHEMA as DUPLICATES
from spoor.store.journal import SCHEMA as JOURNAL
from spoor.store.mail import SCHEMA as MAIL
from spoor.store.mail import Letter, enclose, packed, unpacked
from spoor.store.renders import SCHEMA as RENDERS
from spoor.store.sharded_folder import ShardedFolder
from spoor.store.steered import SCHEMA as STEERED
from spoor.store.transactions import transaction

SCHEMA = FRONTIER + NAMES_SCHEMA + JOURNAL + DUPLICATES + MAIL + RENDERS + STEERED
Table = Sequence[int]
"""The shard of each bucket."""
Databases = Mapping[int, sqlite3.Connection]
"""The databases of all shards, by number."""

HOSTS_AT_ONCE = 200
"""Hosts per transaction."""
LESSONS_AT_ONCE = 100
SLACK = 1.02
"""Factor by which a shard may exceed its fair share before buckets are moved away."""


def move_buckets(folder: ShardedFolder, shards: int, rebalance: bool = False, progress: Progress = silently) -> None:
    """Changes the number of shards; with `rebalance`, evens out the waiting links. First completes an unfinished move.
    The caller must hold the lock of the folder."""
    while True:
        if (table := folder.moving_to()) is not None:
            _move_all(folder, table, progress)
        elif folder.shards != shards or rebalance:
            folder.plan(_planned(folder, shards))
            rebalance = False
        else:
            return


def _planned(folder: ShardedFolder, shards: int) -> tuple[int, ...]:
    with _opened(folder) as databases:
        return rebalanced(folder.buckets(), shards, waiting_by_bucket(databases, folder.buckets()))


def _move_all(folder: ShardedFolder, table: Table, progress: Progress) -> None:
    old = folder.buckets()
    with _opened(folder, *table) as databases:
        hosts = sum(old[bucket_of(name)] != table[bucket_of(name)] for db in databases.values() for name in _names(db))
        with progress("hosts moved to other shards", hosts) as advance:
            for moved in moving(databases, old, table):
                advance(moved)
    folder.moved()


@contextlib.contextmanager
def _opened(folder: ShardedFolder, *new: int) -> Iterator[Databases]:
    """Opens the databases of all past, present and new shards; no other process may crawl into them. Deletes the
    snapshots of a shard that returns: it relearns together with the rest."""
    with contextlib.ExitStack() as opened:
        databases, before = {}, {*folder.buckets()}
        for number in sorted({*before, *new, *(int(path.name) for path in folder.folders())}):
            part = opened.enter_context(open_for_crawling(folder.shard(number)))
            databases[number] = opened.enter_context(contextlib.closing(open_to_move(part.database)))
            for snapshot in part.snapshots.files() if number in {*new} - before else ():
                snapshot.unlink(missing_ok=True)
        try:
            yield databases
        except sqlite3.Error as error:
            if is_of_surroundings(error):
                raise
            raise BadInput(
                f"cannot move hosts between the shards in {folder.path}: {error}; run the same command again"
            ) from None


def open_to_move(database: object) -> sqlite3.Connection:
    """Commits are synced to disk: what is removed from one database must survive a power failure in the other."""
    with contextlib.ExitStack() as opened:
        db = opened.enter_context(contextlib.closing(sqlite3.connect(str(database), isolation_level=None)))
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.executescript(f"BEGIN; {SCHEMA} COMMIT;")
        db.create_function("place", 4, place_of_row, deterministic=True)
        opened.pop_all()
        return db


# The new assignment of buckets.


def rebalanced(table: Table, shards: int, weights: Sequence[int]) -> tuple[int, ...]:
    """Assigns the buckets to so many shards of about equal weight, moving as few as possible."""
    most, loads = SLACK * sum(weights) / shards, [0] * shards
    new, homeless = list(table), list[int]()
    for bucket in sorted(range(BUCKETS), key=lambda bucket: -weights[bucket]):
        shard = table[bucket]
        if shard < shards and (not loads[shard] or loads[shard] + weights[bucket] <= most):
            loads[shard] += weights[bucket]
        else:
            homeless.append(bucket)
    lightest = [(load, shard) for shard, load in enumerate(loads)]
    heapq.heapify(lightest)
    for bucket in homeless:
        load, shard = lightest[0]
        new[bucket] = shard
        heapq.heapreplace(lightest, (load + weights[bucket], shard))
    return tuple(new)


def waiting_by_bucket(databases: Databases, table: Table) -> list[int]:
    """Waiting links per bucket. Empty buckets get a small weight, so that they are distributed, too."""
    weights = [1] * BUCKETS
    query = "SELECT name, count(*) FROM links JOIN hosts ON hosts.id = links.host WHERE state = 0 GROUP BY links.host"
    for number, db in databases.items():
        for name, count in db.execute(query):
            if table[bucket_of(name)] == number:
                weights[bucket_of(name)] += BUCKETS * count
    return weights


# The move.


def moving(databases: Databases, old: Table, new: Table) -> Iterator[int]:
    """Yields at each point where the process may be killed, with the number of hosts moved since the last one. A
    restarted move has the same result. `databases` are opened by `open_to_move`."""
    for sender in sorted({*old}):
        for receiver, hosts in _leaving(databases[sender], sender, old, new):
            yield from _move_hosts(databases[sender], databases[receiver], hosts)
    for number in sorted({*new} - {*old}):
        yield from _prepare(databases, number, min(old))
    yield from _deliver_all(databases)
    for number, db in databases.items():
        yield from _readdress(db, number, new)
    yield from _deliver_all(databases)
    for db in databases.values():
        with transaction(db):
            _recount(db)
            yield 0
        yield 0


def _names(db: sqlite3.Connection) -> list[str]:
    return [name for (name,) in db.execute("SELECT name FROM hosts ORDER BY name")]


def _leaving(db: sqlite3.Connection, sender: int, old: Table, new: Table) -> Iterator[tuple[int, list[str]]]:
    """Receivers with batches of hosts. Hosts that already belonged to other shards have only history here."""
    buckets = ((bucket_of(name), name) for name in _names(db))
    leaving = [(new[bucket], name) for bucket, name in buckets if old[bucket] == sender and new[bucket] != sender]
    for receiver, hosts in groupby(sorted(leaving), key=lambda pair: pair[0]):
        while some := [name for _, name in islice(hosts, HOSTS_AT_ONCE)]:
            yield receiver, some


def _move_hosts(sender: sqlite3.Connection, receiver: sqlite3.Connection, hosts: Sequence[str]) -> Iterator[int]:
    with transaction(receiver):
        arrival = _last_arrival(receiver)
        for host in hosts:
            arrival = _copy_host(sender, receiver, host, arrival)
        yield 0
    yield 0
    with transaction(sender):
        for host in hosts:
            _leave_history(sender, host)
        yield 0
    yield len(hosts)


def _last_arrival(db: sqlite3.Connection) -> int:
    counted = "SELECT value FROM counters WHERE name = 'arrivals'"
    return int(
        db.execute(f"SELECT max(ifnull((SELECT max(arrival) FROM links), 0), ifnull(({counted}), 0))").fetchone()[0]
    )


def _copy_host(sender: sqlite3.Connection, receiver: sqlite3.Connection, host: str, arrival: int) -> int:
    """Returns the arrival number of its last link."""
    delay = sender.execute("SELECT delay, free_at, address FROM hosts WHERE name = ?", (host,)).fetchone()
    known = "delay = excluded.delay, free_at = excluded.free_at, address = excluded.address"
    write = "INSERT INTO hosts (name, delay, free_at, address) VALUES (?, ?, ?, ?) "
    write += f"ON CONFLICT (name) DO UPDATE SET {known}"
    receiver.execute(write, (host, *delay))
    ((number,),) = receiver.execute("SELECT id FROM hosts WHERE name = ?", (host,)).fetchall()
    arrival = _copy_links(sender, receiver, host, number, arrival)
    receiver.execute(f"UPDATE hosts SET head = ({FIRST_PLACE}) WHERE id = ?", (number,))
    files = (f"http://{host}/robots.txt", f"https://{host}/robots.txt")
    _copy_rows(sender, receiver, "robots", "url IN (?, ?)", files, without="id")
    _copy_rows(sender, receiver, "dropped", "host = ?", (host,))
    _copy_rows(sender, receiver, "render_hosts", "host = ?", (host,))
    slower = "json_extract(action, '$.action') = 'slow down' AND json_extract(action, '$.host') = ?"
    _copy_rows(sender, receiver, "steered", slower, (host,), without="number")
    return arrival


def _copy_links(sender: sqlite3.Connection, receiver: sqlite3.Connection, host: str, number: int, arrival: int) -> int:
    """Copies all links in order of arrival, numbered after the last arrival of the receiver."""
    theirs, ours = EvidenceNames.of(sender), EvidenceNames.of(receiver)
    place = "host = (SELECT id FROM hosts WHERE name = ?)"
    for row in sender.execute(f"SELECT id, {COLUMNS} FROM links WHERE {place} ORDER BY arrival, id", (host,)):
        try:
            entry = entry_of(row, host, theirs)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise BadInput(
                f"row {row[0]} of links of {host} is damaged; `spoor check --repair` keeps the rest"
            ) from None
        arrival += 1
        entry.put_at(entry.key, arrival)
        entry.row = None
        there = (number, url_hash(entry.url), entry.url)
        receiver.execute("DELETE FROM links WHERE host = ? AND hash = ? AND url = ?", there)
        receiver.execute(INSERT, row_of(entry, number, ours))
    ours.write(receiver)
    return arrival


def _copy_rows(
    sender: sqlite3.Connection,
    receiver: sqlite3.Connection,
    table: str,
    where: str,
    asked: Sequence[str],
    without: str = "",
) -> None:
    """Replaces existing rows. `without` is a column that is only a row number."""
    columns = [row[1] for row in sender.execute(f"PRAGMA table_info({table})") if row[1] != without]
    listed, places = ", ".join(columns), ", ".join("?" * len(columns))
    rows = sender.execute(f"SELECT {listed} FROM {table} WHERE {where} ORDER BY 1", asked)
    receiver.executemany(f"INSERT OR REPLACE INTO {table} ({listed}) VALUES ({places})", rows)


def _leave_history(db: sqlite3.Connection, host: str) -> None:
    """Removes everything but settled links, which are needed to relearn from the visits."""
    ((number,),) = db.execute("SELECT id FROM hosts WHERE name = ?", (host,)).fetchall()
    db.execute("DELETE FROM links WHERE host = ? AND state != ?", (number, int(State.SETTLED)))
    db.execute("UPDATE hosts SET head = NULL WHERE id = ?", (number,))
    db.execute("DELETE FROM dropped WHERE host = ?", (host,))


def _recount(db: sqlite3.Connection) -> None:
    counts = Counter(dict[int, int](db.execute("SELECT state, count(*) FROM links GROUP BY state").fetchall()))
    values = {state.name.lower(): counts[int(state)] for state in State} | {"arrivals": _last_arrival(db)}
    db.executemany("INSERT OR REPLACE INTO counters VALUES (?, ?)", values.items())


# A new or returning shard receives what all shards have learned, and the actions of persons.


def _prepare(databases: Databases, number: int, first: int) -> Iterator[int]:
    db, others = databases[number], [db for other, db in sorted(databases.items()) if other != number]
    asked = "refused = '' AND json_extract(action, '$.action') IN ('pause', 'unpause', 'block', 'unblock')"
    with transaction(db):
        db.execute("DELETE FROM lessons")
        db.executemany("INSERT INTO lessons (after, body) VALUES (?, ?)", _placed(db, lessons_in_order(others)))
        _copy_rows(databases[first], db, "steered", asked, (), without="number")
        yield 0
    yield 0


def _placed(db: sqlite3.Connection, lessons: Iterable[Lesson]) -> Iterator[tuple[int, bytes]]:
    """Places each lesson after the last older row of the shard's own journal."""
    query = "SELECT ended, id FROM pages UNION ALL SELECT at, id FROM events ORDER BY id"
    times, rows = zip((-inf, 0), *db.execute(query).fetchall(), strict=True)
    places = ((bisect_right(times, lesson.visit.at) - 1, lesson) for lesson in lessons)
    for place, some in groupby(places, key=lambda pair: pair[0]):
        while batch := [lesson for _, lesson in islice(some, LESSONS_AT_ONCE)]:
            yield rows[place], packed(batch)


# Undelivered messages.


def _deliver_all(databases: Databases) -> Iterator[int]:
    """Turns each message into one of the receiver to itself, which it processes when it crawls: it can be stored here,
    but only a crawl can score the links in it."""
    for sender, db in databases.items():
        for receiver in {one for (one,) in db.execute("SELECT DISTINCT receiver FROM outbox")} - {sender}:
            yield from _deliver(db, sender, databases[receiver], receiver)


def _deliver(sent_by: sqlite3.Connection, sender: int, taken_by: sqlite3.Connection, receiver: int) -> Iterator[int]:
    heard = _heard(taken_by, sender)
    with transaction(taken_by):
        for letter in _letters(sent_by, receiver, heard):
            enclose(taken_by, receiver, letter.body)
            heard = letter.number
        taken_by.execute("INSERT OR REPLACE INTO inbox VALUES (?, ?)", (sender, heard))
        yield 0
    yield 0
    sent_by.execute("DELETE FROM outbox WHERE receiver = ? AND number <= ?", (receiver, heard))
    yield 0


def _readdress(db: sqlite3.Connection, number: int, new: Table) -> Iterator[int]:
    """Readdresses links in messages of a shard to itself that now belong to others. A removed shard drops lessons."""
    share, stays = Share(number, new), number in new
    with transaction(db):
        letters = list(_letters(db, number, _heard(db, number)))
        db.execute("DELETE FROM outbox WHERE receiver = ?", (number,))
        db.execute("UPDATE sent SET number = ? WHERE receiver = ?", (_heard(db, number), number))
        for letter in letters:
            by_receiver: dict[int, list[Mailed]] = {}
            for mailed in unpacked(letter.body):
                if isinstance(mailed, Handed):
                    by_receiver.setdefault(share.owner(mailed.link.url), []).append(mailed)
                elif stays:
                    by_receiver.setdefault(number, []).append(mailed)
            for receiver, batch in by_receiver.items():
                enclose(db, receiver, packed(batch))
        yield 0
    yield 0


def _heard(db: sqlite3.Connection, sender: int) -> int:
    found = db.execute("SELECT number FROM inbox WHERE sender = ?", (sender,)).fetchone()
    return 0 if found is None else int(found[0])


def _letters(db: sqlite3.Connection, receiver: int, after: int) -> Iterator[Letter]:
    query = "SELECT number, body FROM outbox WHERE receiver = ? AND number > ? ORDER BY number"
    yield from (Letter(*row) for row in db.execute(query, (receiver, after)).fetchall())

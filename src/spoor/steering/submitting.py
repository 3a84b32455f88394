"""Submits an action: validates it, puts it into the inbox of the crawl, and applies it at once if no crawl is
running."""

from __future__ import annotations

import contextlib
import getpass
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from spoor import settings as config
from spoor.actions import Action, AddSeeds, Budget, Mark, SlowDown, Stop, Submission
from spoor.crawling.guidance import Guidance, Readmission, carry_out
from spoor.errors import BadInput
from spoor.events import Steered
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.rows import counters_of, stored_robots
from spoor.frontier.sqlite import SqliteStore
from spoor.robots import delay_for
from spoor.steering.checking import normalised, with_action
from spoor.steering.inbox import Inbox
from spoor.store.crawl_folder import CrawlFolder, is_open_for_crawling, locked
from spoor.store.crawl_parts import open_parts, owner_of
from spoor.store.journal import Journal, open_to_read, pages_of
from spoor.store.sharded_folder import ShardedFolder
from spoor.store.sqlite_files import sums_of, write_sums
from spoor.store.steered import SteeringLog, steered, steered_by
from spoor.urls import canonical

PATIENCE = 0.1
"""Seconds between two checks of the outcome of an action."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The state of a submission. `done` is None if a running crawl will apply it in about a second, or the next start
    of the crawl will."""

    id: str
    done: Steered | None


def submit(folder: CrawlFolder, action: Action, who: str = "") -> Receipt:
    """Submits an action to the crawl running in the folder, in this process or another; applies it at once if none is.
    Raises BadInput, in one line, if it cannot be applied. `who` defaults to the user of this process."""
    asked = _of_a_page(folder, normalised(action))
    if refused := _refusal(folder, asked):
        raise BadInput(f"{folder.path}: {refused}")
    submission = Inbox(folder.inbox).leave(asked, who or user())
    apply_pending(folder)
    return Receipt(submission.id, outcome(folder, submission.id))


def recipients(folder: CrawlFolder, action: Action) -> list[tuple[CrawlFolder, Action]]:
    """The folders that must apply it, each with its action: the crawl itself, or of several shards those that own the
    hosts, or all of them. To stop, one running shard is enough: the crawl ends when one of its shards is stopped."""
    if not ShardedFolder(folder.path).exists:
        return [(folder, action)]
    with open_parts(folder) as parts:
        match action:
            case Budget():
                how = "stop it, and start it again with another --max-pages or --max-minutes"
                raise BadInput(f"{folder.path}: the shards of a crawl share one budget; {how}")
            case Stop():
                return [(next(filter(is_open_for_crawling, folder.parts), folder.parts[0]), action)]
            case AddSeeds(urls):
                seeds = {owner_of(parts, url).folder: list[str]() for url in urls}
                for url in urls:
                    seeds[owner_of(parts, url).folder].append(url)
                return [(part, AddSeeds(tuple(own))) for part, own in seeds.items()]
            case SlowDown(host):
                return [(owner_of(parts, f"http://{host}/").folder, action)]
            case Mark(url):
                fetched = (part for part in parts for one in (url, canonical(url)) if pages_of(part.db, one))
                return [(next(fetched, owner_of(parts, url)).folder, action)]
            case _:
                return [(part, action) for part in folder.parts]


def _of_a_page(folder: CrawlFolder, action: Action) -> Action:
    """A mark must be for a fetched page, by the URL that the crawl has for it."""
    if not isinstance(action, Mark):
        return action
    with closing(open_to_read(folder.database)) as db:
        for spelling in (action.url, canonical(action.url)):
            if pages_of(db, spelling):
                return Mark(spelling, action.relevant)
    raise BadInput(f"{folder.path}: no page was fetched from {action.url[:200]}; `spoor why` explains it")


def outcome(folder: CrawlFolder, submission: str) -> Steered | None:
    """The outcome of a submission, by its id; None if there is none yet."""
    with closing(open_to_read(folder.database)) as db:
        return steered_by(db, submission)


def wait_for(folder: CrawlFolder, receipt: Receipt, seconds: float) -> Receipt:
    """Waits until the action is applied or refused, at most this number of seconds. If the crawl ends meanwhile, the
    action is applied here."""
    until = time.monotonic() + seconds
    while receipt.done is None and time.monotonic() < until:
        time.sleep(PATIENCE)
        apply_pending(folder)
        receipt = replace(receipt, done=outcome(folder, receipt.id))
    return receipt


def user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "somebody"


# Whether an action can be applied, by the data on disk.


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """The state of a crawl at its last commit, for `Guidance.refusal`."""

    db: sqlite3.Connection
    rules: HostRules

    @property
    def spent(self) -> int:
        counters = counters_of(self.db.execute("SELECT name, value FROM counters"))
        return counters.visits - counters.excused

    def polite_delay(self, host: str) -> float:
        return max(delay_for(partial(stored_robots, self.db), host), self.rules.delay)


def _refusal(folder: CrawlFolder, action: Action) -> str:
    if isinstance(action, Stop) and not _runs(folder):
        return "no crawl is running there"
    with closing(open_to_read(folder.database)) as db:
        return Guidance.of(steered(db)).refusal(action, StoredFacts(db, rules_of(folder)))


def _runs(folder: CrawlFolder) -> bool:
    """For a shard that works elsewhere, checks the lock of the whole crawl."""
    return is_open_for_crawling(CrawlFolder(folder.path.resolve().parent.parent) if folder.is_copy else folder)


def rules_of(folder: CrawlFolder) -> HostRules:
    """The host rules in the settings of the folder."""
    return HostRules(config.loads(folder.settings() or "", folder.path).politeness.host_delay)


# Applying actions while no crawl is running: all but those that require a start.


def apply_pending(folder: CrawlFolder) -> None:
    """Applies the actions in the inbox, unless a crawl is running, which does so itself. A copy
    waits for its next start: the crawl itself is elsewhere."""
    if is_open_for_crawling(folder) or folder.is_copy:
        return
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(folder))
        except BadInput:  # Another process was faster and applies them.
            return
        had_sums = sums_of(folder.database).exists()
        sums_of(folder.database).unlink(missing_ok=True)
        with _opened(folder) as quiet:
            for submission in Inbox(folder.inbox).waiting():
                quiet.do(submission)
        if had_sums:
            write_sums(folder.database)


@dataclass(frozen=True, slots=True)
class StoppedCrawl:
    """A crawl that is not running, opened for actions."""

    folder: CrawlFolder
    store: SqliteStore
    frontier: Frontier
    log: SteeringLog
    guidance: Guidance

    def do(self, submission: Submission) -> None:
        """Exactly once, even if the process is killed: actions in the log were applied; the settings, which are stored
        elsewhere, are written in either case."""
        done = steered_by(self.store.connection, submission.id)
        if done is None:
            done = self._done(submission)
        if not done.refused:
            self._write_settings(submission.action)
        Inbox(self.folder.inbox).remove(submission)

    def _done(self, submission: Submission) -> Steered:
        action, who, now = submission.action, submission.who, time.time()
        refused = "it was not running" if isinstance(action, Stop) else self.guidance.refusal(action, self.frontier)
        readmission = Readmission(self.frontier)
        if not refused:
            self.guidance.note(action, who)
            carry_out(action, self.frontier, self.guidance, readmission, now)
        event = Steered(now, submission.id, who, action, refused)
        self.log.note([event])
        self.frontier.commit()
        while not readmission.is_over:  # If the process is killed here, the next start does the rest.
            readmission.go_on()
            self.frontier.commit()
        return event

    def _write_settings(self, action: Action) -> None:
        text = self.folder.settings() or ""
        if (changed := with_action(settings := config.loads(text, self.folder.path), action)) != settings:
            self.folder.write_settings(config.dumps(changed))


@contextlib.contextmanager
def _opened(folder: CrawlFolder) -> Iterator[StoppedCrawl]:
    with closing(SqliteStore(folder.database)) as store:
        journal = Journal.create(store.connection)
        store.write_along(journal.write)
        log, guidance = SteeringLog.create(store, journal), Guidance.of(steered(store.connection))
        frontier = Frontier(store, rules_of(folder))
        frontier.ask_delays(guidance.delays)
        yield StoppedCrawl(folder, store, frontier, log, guidance)

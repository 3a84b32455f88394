"""Restores what a strategy has learned, from a snapshot and from the visits of its own or another crawl; writes
snapshots while it runs."""

from __future__ import annotations

import asyncio
import heapq
import logging
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from operator import itemgetter
from pathlib import Path

from spoor import registry
from spoor import settings as config
from spoor.crawling.revision import relearn
from spoor.errors import OF_STORAGE, BadInput, UsageError
from spoor.files import SUFFIX
from spoor.frontier.evidence import EvidenceNames
from spoor.live.inputs import by_content
from spoor.progress import Advance, unseen
from spoor.records import Miss, Sighting
from spoor.roles import Learner, Relearner, Reviewer, Troubles
from spoor.settings import Config, Target
from spoor.store.crawl_folder import CrawlFolder, open_for_reading
from spoor.store.crawl_parts import lessons_in_order, open_parts
from spoor.store.journal import Journal, Place, place_at
from spoor.store.mail import lessons_of_others
from spoor.store.snapshots import PackedSnapshot, Snapshot, Snapshots, named_parts
from spoor.store.verdicts import last_change
from spoor.strategy import AdmitAll, Strategy
from spoor.teaching.kept_pages import versions
from spoor.teaching.lessons import revised_lessons

# What a strategy knows before its first visit: from a snapshot, and from visits of this crawl and an earlier one.


_log = logging.getLogger(__name__)


def earlier_crawl(settings: Config, strategy: Strategy, folder: CrawlFolder) -> CrawlFolder | None:
    """The crawl of `[crawl] warm`, if the strategy can learn from it; None if none is set. `folder` is this crawl's
    own."""
    if not settings.crawl.warm:
        return None
    path, name = Path(settings.crawl.warm), settings.crawl.strategy
    if not any(learner is not strategy.hit_rates for learner in _relearners(_without_admission(strategy))):
        raise UsageError(f"{name} learns nothing from an earlier crawl; leave out warm, or use the strategy learned")
    if path == folder.path.resolve():
        raise UsageError(
            f"{path} is this crawl itself, which relearns from its own visits anyway; give --warm another one"
        )
    if not path.exists():
        raise BadInput(f"there is no folder {path} to learn from; say with --warm where the earlier crawl is now")
    earlier = open_for_reading(path)
    theirs = config.load(path / "crawl.toml").crawl.strategy
    if isinstance(strategy.scorer, Reviewer) and _named(theirs) != _named(name):
        problem = f"{path} was crawled by {theirs}, which stored nothing of its links that {name} can learn from"
        raise BadInput(f"{problem}; give --warm a crawl by {_named(name)}")
    return earlier


def misleading(settings: Config, earlier: CrawlFolder | None) -> str:
    """Why an earlier crawl may mislead this one; "" if there is no reason."""
    if earlier is None:
        return ""
    earlier_settings = registry.loads(earlier.settings() or "", earlier.path)
    theirs, ours = by_content(earlier_settings).target, by_content(settings).target
    unlike = [one.name for one in fields(Target) if getattr(theirs, one.name) != getattr(ours, one.name)]
    problem = f"{earlier.path} had another target ({', '.join(unlike)})"
    return f"{problem}; what was learned there may mislead" if unlike else ""


def check_target(settings: Config, folder: CrawlFolder) -> None:
    """Raises UsageError if the crawl in the folder has another target: its pages were judged by that one."""
    text = folder.settings()
    if text is None:
        return
    theirs = config.loads(text, folder.path)
    before, now = by_content(theirs).target, by_content(settings).target
    unlike = [
        f"{one.name} = {_written(getattr(theirs.target, one.name))}, not {_written(getattr(settings.target, one.name))}"
        for one in fields(Target)
        if getattr(before, one.name) != getattr(now, one.name) and not _is_trained_from(now.examples, one.name)
    ]
    if unlike:
        problem = f"the crawl in {folder.path} has the target {'; '.join(unlike)}"
        raise UsageError(f"{problem}; leave it out to resume that crawl, or give --out a new folder")


def _is_trained_from(examples: str, name: str) -> bool:
    """Whether the folder of a crawl has a model in place of this setting: a folder of examples is trained from."""
    return name == "examples" and bool(examples) and Path(examples).is_dir()


def _written(value: object) -> str:
    return ", ".join(map(str, value)) or "nothing" if isinstance(value, tuple) else str(value or "nothing")


@dataclass(frozen=True)
class Restored:
    """The parts that were restored, up to row `number` of the journal. Without a snapshot: no parts, and 0."""

    number: int = 0
    parts: Sequence[object] = ()

    def knows(self, part: object) -> bool:
        return any(part is one for one in self.parts)


NOBODY = Restored()


def relearn_all(
    strategy: Strategy,
    own: sqlite3.Connection,
    earlier: CrawlFolder | None = None,
    advance: Advance = unseen,
    snapshots: Snapshots | None = None,
    troubles: Troubles | None = None,
) -> int:
    """Restores the learning parts from the newest snapshot that fits, and relearns what came after it. Without one,
    they learn from the earlier crawl first, then from all visits of this one. `advance` is called for each visit. An
    admission counts the visits of this crawl, so it does not learn from the earlier one or from other shards. Returns
    the journal row of the snapshot, 0 if it does not cover all learners. With `troubles`, a visit from which a part
    cannot learn is skipped, as it was in the crawl."""
    restored = NOBODY
    if snapshots is not None:
        restored = restore(strategy.learners(), snapshots, own, warm_name(earlier, own))
    everybody = _relearners(strategy)
    if earlier is not None and (new := _left(_relearners(_without_admission(strategy)), restored)):
        with open_parts(earlier) as parts:
            for lesson in lessons_in_order([part.db for part in parts]):
                _teach(new, lesson, advance, troubles)
    left = _left(everybody, restored)
    after = 0 if left else restored.number
    pupils = _relearners(_without_admission(strategy))
    by_own = ((number, lesson, everybody, left) for number, lesson in revised_lessons(own, strategy, after))
    by_others = ((place, lesson, pupils, _left(pupils, restored)) for place, lesson in lessons_of_others(own, after))
    for place, lesson, all_of_them, new in heapq.merge(by_own, by_others, key=itemgetter(0)) if everybody else ():
        _teach(all_of_them if place > restored.number else new, lesson, advance, troubles)
    return 0 if left else restored.number


def restore(
    learners: Sequence[Learner], snapshots: Snapshots, own: sqlite3.Connection, warm: str, before: float = math.inf
) -> Restored:
    """Restores from the newest complete snapshot of this crawl with the same `warm` and a row before the time `before`.
    One that cannot be used is skipped and logged."""
    parts = named_parts(learners)
    blank = {name: part.state() for name, part in parts.items()}
    for file in snapshots.files():
        try:
            snapshot = snapshots.read(file)
            if snapshot.place.at >= before:
                continue
            _check_origin(snapshot, own, warm)
            fitting = {name: part for name, part in parts.items() if name in snapshot}
            for name, part in fitting.items():
                part.restore(snapshot.state(name))
            return Restored(snapshot.place.number, list(fitting.values()))
        except BadInput as error:
            _log.warning("%s is not used: %s", file, error)
            for name, part in parts.items():
                part.restore(blank[name])
    return NOBODY


def warm_name(earlier: CrawlFolder | None, own: sqlite3.Connection) -> str:
    """Names, in a snapshot, what a crawl learned from: the earlier crawl, the version of the student, and the last
    verdict that replaced another."""
    known = versions(own)
    return warm_name_of(earlier, known[-1].version if known else 0, last_change(own))


def warm_name_of(earlier: CrawlFolder | None, version: int, change: int) -> str:
    warmed = "" if earlier is None else str(earlier.path.resolve())
    versioned = f"{warmed} version {version}" if version else warmed
    return (f"{versioned} verdict {change}" if change else versioned).strip()


def _check_origin(snapshot: PackedSnapshot, own: sqlite3.Connection, warm: str) -> None:
    number = snapshot.place.number
    if place_at(own, number) != snapshot.place:
        raise BadInput(f"row {number} of the journal is not the one that it belongs to")
    if snapshot.warm != warm:
        raise BadInput(
            f"verdicts changed since, or the warm start: it learned from {snapshot.warm or 'this crawl alone'}, "
            f"now from {warm or 'this crawl alone'}"
        )


def check_links(strategy: Strategy, own: sqlite3.Connection) -> None:
    """Raises BadInput if the waiting links have evidence of another strategy, which this one cannot read."""
    row = own.execute("SELECT evidence, trail FROM links WHERE key1 < 9e999 LIMIT 1").fetchone()
    if row is None:
        return
    evidence, remembers = set(EvidenceNames.of(own).unpack(row[0])), row[1] is not None
    if evidence != set(strategy.scorer.merge) or (not remembers and strategy.trail.root() is not None):
        known = ", ".join(sorted(evidence)) or "nothing"
        problem = f"this crawl was begun by another strategy, whose evidence for links is {known}"
        raise BadInput(f"{problem}; resume with that strategy, or give --out a new folder")


def _teach(learners: Sequence[Relearner], lesson: Sighting | Miss, advance: Advance, troubles: Troubles | None) -> None:
    for learner in learners:
        try:
            relearn(learner, lesson)
        except Exception as error:
            if troubles is None or isinstance(error, OF_STORAGE):
                raise
            troubles.keep(lesson.visit.url, "learned from again", error)
    advance(1)


def _left(learners: Sequence[Relearner], restored: Restored) -> list[Relearner]:
    return [learner for learner in learners if not restored.knows(learner)]


def _relearners(strategy: Strategy) -> list[Relearner]:
    return [learner for learner in strategy.learners() if isinstance(learner, Relearner)]


def _without_admission(strategy: Strategy) -> Strategy:
    return replace(strategy, admission=AdmitAll())


def _named(strategy: str) -> str:
    return registry.strategy_named(strategy)[0]


# Writes snapshots of a running crawl at intervals, without blocking it.


ROWS = 20_000
"""Rows of the journal after which a snapshot is due; relearning them takes some seconds."""
SECONDS = 300.0
"""Seconds after which a snapshot is due if there are new rows: detected traps cannot be relearned from the journal."""


def snapshot_of(strategy: Strategy, place: Place, warm: str) -> Snapshot:
    """The learned state of all parts of a strategy, when the row at `place` is the last one."""
    return Snapshot(place, warm, {name: part.state() for name, part in named_parts(strategy.learners()).items()})


@dataclass
class SnapshotWriter:
    """Writes snapshots. `committed` is called after each commit. States are copied at once; a thread packs and writes
    them, one snapshot at a time. `number` is the row of the last snapshot, `at` its time; `warm` as in `Snapshot`."""

    strategy: Strategy
    db: sqlite3.Connection
    journal: Journal
    snapshots: Snapshots
    warm: str
    number: int
    at: float
    _writing: asyncio.Future[None] | None = field(default=None, init=False)

    def committed(self, now: float) -> None:
        rows = self.journal.last - self.number
        due = rows >= ROWS or (rows > 0 and now - self.at >= SECONDS)
        if due and (self._writing is None or self._writing.done()):
            self._begin(now)

    def renew(self, warm: str) -> None:
        """Invalidates earlier snapshots: the next one is due at the next commit."""
        self.warm, self.at = warm, -math.inf

    async def finish(self, now: float) -> None:
        """Writes the last snapshot, if there are new rows."""
        if self._writing is not None:
            await self._writing
        if self.journal.last > self.number:
            await self._begin(now)

    def _begin(self, now: float) -> asyncio.Future[None]:
        place = place_at(self.db, self.journal.last)
        assert place is not None, "the journal was committed"
        self.number, self.at = place.number, now
        taken = snapshot_of(self.strategy, place, self.warm)
        self._writing = asyncio.get_running_loop().run_in_executor(None, self._write, taken)
        return self._writing

    def _write(self, taken: Snapshot) -> None:
        """Errors are only logged: without a snapshot, the crawl relearns from its journal."""
        try:
            self.snapshots.write(taken)
        except (OSError, BadInput) as error:
            _log.warning("what was learned could not be written to %s: %s", self.snapshots.folder, error)

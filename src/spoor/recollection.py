"""What a strategy knows before its first visit: the visits that this crawl and an earlier one have kept."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from pathlib import Path

from spoor import assembly, config
from spoor.config import Config, Target
from spoor.errors import OF_STORAGE, BadInput, UsageError
from spoor.records import Miss, Sighting
from spoor.roles import MissLearner, Recalling, Reviewer, Troubles
from spoor.store.crawl_folder import CrawlFolder, open_for_reading
from spoor.store.journal import lessons, open_to_read
from spoor.strategy import AdmitAll, Strategy

Advance = Callable[[int], None]


def earlier_crawl(settings: Config, strategy: Strategy, folder: CrawlFolder) -> CrawlFolder | None:
    """The crawl that `[crawl] warm` names, if the strategy can learn from it; None: it names none. `folder` is that of
    the crawl itself."""
    if not settings.crawl.warm:
        return None
    path, name = Path(settings.crawl.warm), settings.crawl.strategy
    if not any(learner is not strategy.hit_rates for learner in _recalling(_without_admission(strategy))):
        raise UsageError(f"{name} learns nothing from an earlier crawl; leave out warm, or take the strategy learned")
    if path == folder.path.resolve():
        raise UsageError(f"{path} is this very crawl, which recalls its own visits anyway; give --warm another one")
    if not path.exists():
        raise BadInput(f"there is no folder {path} to learn from; say with --warm where the earlier crawl is now")
    earlier = open_for_reading(path)
    theirs = config.load(path / "crawl.toml").crawl.strategy
    if isinstance(strategy.scorer, Reviewer) and _named(theirs) != _named(name):
        told = f"{path} was crawled by {theirs}, which kept of its links nothing that {name} can learn from"
        raise BadInput(f"{told}; give --warm a crawl by {_named(name)}")
    return earlier


def unlike_targets(settings: Config, earlier: CrawlFolder) -> list[str]:
    """The keys of [target] in which the earlier crawl wanted something else."""
    theirs = config.load(earlier.path / "crawl.toml").target
    return [one.name for one in fields(Target) if getattr(theirs, one.name) != getattr(settings.target, one.name)]


def recollect(
    strategy: Strategy,
    own: sqlite3.Connection,
    earlier: CrawlFolder | None = None,
    advance: Advance = lambda visits: None,
    troubles: Troubles | None = None,
) -> None:
    """What learns on the way learns again, from the earlier crawl first; `advance` is told of every visit. An admission
    counts what this crawl has visited, so it does not hear of the earlier one. With `troubles` a visit from which a
    part cannot learn is passed over, as it was in the crawl."""
    if earlier is not None:
        with contextlib.closing(open_to_read(earlier.database)) as db:
            _recall(_without_admission(strategy), lessons(db), advance, troubles)
    _recall(strategy, lessons(own), advance, troubles)


def check_links(strategy: Strategy, own: sqlite3.Connection) -> None:
    """What is known of the links that wait was found out by one strategy; another may not be able to read it."""
    row = own.execute("SELECT evidence, trail FROM links WHERE key1 < 9e999 LIMIT 1").fetchone()
    if row is None:
        return
    evidence, remembers = set(json.loads(row[0])), row[1] is not None
    if evidence != set(strategy.scorer.merge) or (not remembers and strategy.trail.root() is not None):
        known = ", ".join(sorted(evidence)) or "nothing"
        told = f"this crawl was begun by another strategy, which found out {known} of its links"
        raise BadInput(f"{told}; go on with that strategy, or give --out a new folder")


def _recall(strategy: Strategy, taught: Iterable[Sighting | Miss], advance: Advance, troubles: Troubles | None) -> None:
    learners = _recalling(strategy)
    for lesson in taught if learners else ():
        for learner in learners:
            try:
                recall(learner, lesson)
            except Exception as error:
                if troubles is None or isinstance(error, OF_STORAGE):
                    raise
                troubles.keep(lesson.visit.url, "learned from again", error)
        advance(1)


def recall(learner: Recalling, lesson: Sighting | Miss) -> None:
    """Teaches again what was learned once. Not every learner learns from misses."""
    if isinstance(lesson, Sighting):
        learner.recall(lesson)
    elif isinstance(learner, MissLearner):
        learner.learn_miss(lesson)


def _recalling(strategy: Strategy) -> list[Recalling]:
    return [learner for learner in strategy.learners() if isinstance(learner, Recalling)]


def _without_admission(strategy: Strategy) -> Strategy:
    return replace(strategy, admission=AdmitAll())


def _named(strategy: str) -> str:
    return assembly.strategy_named(strategy)[0]

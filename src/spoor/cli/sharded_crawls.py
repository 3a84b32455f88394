"""`spoor crawl --shards N`: one crawl in several shards, on this machine or on a cluster."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import time
from dataclasses import asdict, replace

from spoor import settings as config
from spoor.cli.terminal import announced, print_json, progress, remark, say
from spoor.compiled import prepare
from spoor.crawling.share import BUCKETS
from spoor.errors import BadInput, UsageError
from spoor.live.from_settings import Objects, kernels_for, within_limit
from spoor.live.inputs import with_kept_inputs
from spoor.live.ray_cluster import check_ray, connected, crawl_in_actors
from spoor.live.shards import Coordinator, Totals, of_each_shard
from spoor.report.showing import count_of, duration, share, visits_in_words
from spoor.settings import Config, Target
from spoor.store.crawl_folder import CrawlFolder, locked
from spoor.store.crawl_parts import open_parts, totals_of_crawl
from spoor.store.moving import move_buckets
from spoor.store.sharded_folder import ShardedFolder
from spoor.store.sqlite_version import require_sqlite
from spoor.store.totals import NOTHING, CrawlTotals

SECONDS_BETWEEN_LINES = 10.0
_log = logging.getLogger(__name__)


def run_sharded(arguments: argparse.Namespace, settings: Config, objects: Objects, shards: int) -> int:
    """Resumes a folder that contains shards; if their number changes, moves buckets of hosts first."""
    _check_target(settings.target, shards)
    if settings.crawl.workers:
        problem = f"--shards {shards}: workers = {settings.crawl.workers}, but a shard fetches and reads pages itself"
        raise UsageError(f"{problem}; set workers = 0, and give --shards more shards if there are more cores")
    check_ray()
    require_sqlite()
    if not arguments.cluster:  # The shards inherit the limit of this process.
        _, too_many = within_limit(of_each_shard(settings, shards))
        if too_many:
            _log.warning("each of %s shards: %s", shards, too_many)
    if shards > BUCKETS:
        raise UsageError(f"--shards {shards}: a crawl has 1 to {BUCKETS} shards")
    folder = CrawlFolder(arguments.out)
    if folder.database.exists():
        raise UsageError(f"{folder.path} is a crawl without shards; leave out --shards, or give --out a new folder")
    folder.path.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        sharded = ShardedFolder(folder.path)
        if sharded.exists:
            _check_local_disks(sharded, settings, shards, arguments.rebalance)
            move_buckets(sharded, shards, arguments.rebalance, progress)
        sharded.table(shards)
        settings = with_kept_inputs(settings, folder)
        folder.write_settings(config.dumps(settings))
        prepare(kernels_for(settings, objects), announced)
        with connected(shards, arguments.cluster or ""):
            return asyncio.run(_crawl(sharded, settings, shards, arguments.json))


def _check_target(target: Target, shards: int) -> None:
    """Raises for a judge that learns: each shard would train its own judge, ask as many questions as all together may,
    and at every lesson forget what its strategy learned from the other shards."""
    if target.like or target.about:
        name = "like" if target.like else "about"
        problem = (
            f"--shards {shards}: [target] {name} makes a judge that learns from answers, which shards cannot share"
        )
        raise UsageError(f"{problem}; leave out --shards, or set [target] topic to a model of `spoor train topic`")


def _check_local_disks(folder: ShardedFolder, settings: Config, shards: int, rebalance: bool) -> None:
    """Raises if the options do not fit shards on local disks, which only their own machines can read."""
    if not any(CrawlFolder(path).is_copy for path in folder.folders()):
        return
    if not settings.shards.local:
        raise UsageError(
            f"the shards of {folder.path} work on local disks; resume it with --local DIR, as it was begun"
        )
    if rebalance or shards != folder.shards:
        problem = f"the shards of {folder.path} work on local disks, so hosts cannot be moved between them"
        raise UsageError(f"{problem}; resume it with --shards {folder.shards}")


async def _crawl(folder: ShardedFolder, settings: Config, shards: int, as_json: bool) -> int:
    line = _Line()
    before = _totals(folder)
    ended = await crawl_in_actors(folder, settings, shards, line.tell, _stop_on_signals)
    totals = _totals(folder)
    line.end(totals)
    summary = line.as_json() | {"folder": str(folder.path), "shards": shards, "ended_because": ended}
    if as_json:
        print_json(summary)
    else:
        say(f"{line.text()}\nended because {ended}; the crawl is in {folder.path}")
    if totals.pages == before.pages and totals.requests > before.requests:
        raise BadInput(f"no page was fetched; `spoor report {folder.path}` says why")
    return 0


def _totals(folder: ShardedFolder) -> CrawlTotals:
    if not CrawlFolder(folder.path).parts:
        return NOTHING
    with open_parts(CrawlFolder(folder.path)) as parts:
        return totals_of_crawl(parts)


def _stop_on_signals(coordinator: Coordinator) -> None:
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(name, coordinator.stop, "it was interrupted")


class _Line:
    """The totals of all shards, printed every few seconds."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._totals = Totals()

    def tell(self, totals: Totals) -> None:
        for warning in set(totals.warnings) - set(self._totals.warnings):
            remark(warning)
        self._totals = totals
        if time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            remark(self.text())

    def end(self, totals: CrawlTotals) -> None:
        """Of the shards after their end, from their folders."""
        self._totals = replace(self._totals, **asdict(totals))

    def text(self) -> str:
        totals = self._totals
        found = f"{totals.relevant:,} relevant ({share(totals.relevant, totals.pages)})"
        done = f"{count_of(totals.pages, 'page')} in {duration(totals.seconds)}, {found}"
        busiest = f"the busiest shard made {totals.busiest:.0%} of the visits"
        return f"{done}; {visits_in_words(totals)}; {totals.waiting:,} links still waiting; {busiest}"

    def as_json(self) -> dict[str, object]:
        totals = self._totals
        return {**(NOTHING + totals).as_json(), "waiting": totals.waiting, "busiest_shard": totals.busiest}

"""Shards as actors of Ray, on this machine or on a running cluster. The only module that knows Ray.

An actor that dies is started again, on another node if need be, and reopens the folder of its shard. The lock of the
folder keeps out an actor that was taken for dead and still writes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from spoor.crawling.share import Lease, Share
from spoor.errors import BadInput, MissingExtra
from spoor.frontier.addresses import AddressGrant
from spoor.live.process import give_back_large_blocks, search_seldom_for_circles
from spoor.live.shards import Coordinator, Shard, ShardReport, Totals, Unavailable, done_without_hosts
from spoor.settings import Config
from spoor.store.copies import CopyPlace
from spoor.store.mail import Answer, Batch
from spoor.store.sharded_folder import GrantedVisits, ShardedFolder

try:
    import ray
    from ray.exceptions import RayActorError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError:  # Said when shards are asked for.
    ray = None

_log = logging.getLogger(__name__)
CALL_SECONDS = 10.0
"""For which an answer is waited for. A node that is frozen answers nothing, and others must go on."""
UNASKED_SECONDS = 120.0
"""After which a process ends that nobody asks for a report."""
STOP_SECONDS = 60.0
"""For which a shard may take to stop, before its actor is left to end with Ray, or to deliver its letters."""
COPY_SECONDS = 3600.0
"""For which it may take to stop where it is copied before it ends."""
AS_URGENT = {"worker_niceness": 0}
"""Ray would run actors at a lower priority than everything else: beside other programs, shards would be much slower
than one process."""


class RayShard:
    """A `ShardHandle`: the actor with a name, wherever it is right now. While it has not answered the call `_late`, it
    is not asked again."""

    def __init__(self, name: str, namespace: str, copied: bool = False) -> None:
        """`copied`: there is a last copy when it stops."""
        self._name = name
        self._namespace = namespace
        self._copied = copied
        self._actor: Any = None
        self._late: asyncio.Future[Any] | None = None

    async def report(self, most: int) -> ShardReport:
        report: ShardReport = await self._ask("report", most)
        return report

    async def grant(self, lease: Lease, addresses: AddressGrant) -> None:
        await self._ask("grant", lease, addresses)

    async def deliver(self) -> None:
        await self._ask("deliver", seconds=STOP_SECONDS)

    async def take(self, sender: int, batch: Batch) -> Answer:
        answer: Answer = await self._ask("take", sender, batch)
        return answer

    async def stop(self, why: str) -> None:
        """One that cannot be asked has nothing under way that its folder does not know."""
        if self._late is not None:
            await asyncio.wait({self._late}, timeout=CALL_SECONDS)
        try:
            await self._ask("stop", why, seconds=COPY_SECONDS if self._copied else STOP_SECONDS)
        except Unavailable as error:
            if self._copied:
                _log.warning("there is no last copy of a shard, resume the crawl where its disk is: %s", error)

    async def _ask(self, method: str, *given: Any, seconds: float = CALL_SECONDS) -> Any:
        """What was asked may have been done although no answer came, or be done later. So it is asked again only where
        it may be done twice: a report, and letters, which are numbered."""
        if self._late is not None and not self._late.done():
            raise Unavailable(f"{self._name} has not answered yet")
        try:
            if self._actor is None:
                self._actor = ray.get_actor(self._name, self._namespace)
            call = asyncio.ensure_future(getattr(self._actor, method).remote(*given))
            self._late = call
            call.add_done_callback(_heard)
            await asyncio.wait({call}, timeout=seconds)
            if not call.done():
                raise Unavailable(f"{self._name} did not answer within {seconds:g} seconds")
            return call.result()
        except (RayActorError, ValueError) as error:
            raise Unavailable(f"{self._name} cannot be asked: {error}") from None


def _heard(call: asyncio.Future[Any]) -> None:
    """Nobody may be waiting any more for what came."""
    if not call.cancelled():
        call.exception()


class ShardActor(Shard):
    """A shard in a process of its own. Knows the others by their names, so that it finds them after a restart. Where
    nobody asks it any more, it ends: another actor may have been started in its place, and wait for its folder."""

    def __init__(self, folder: Path, share: Share, settings: Config, namespace: str) -> None:
        give_back_large_blocks()
        search_seldom_for_circles()
        super().__init__(folder, share, settings)
        self.peers = [RayShard(_name(number), namespace) for number in range(len(share.others) + 1)]
        self._unasked = 0.0
        self._ending: asyncio.Task[None] | None = None

    async def report(self, most: int) -> ShardReport:
        self._unasked = 0.0
        self._ending = self._ending or asyncio.create_task(self._end_unasked())
        return await super().report(most)

    async def _end_unasked(self) -> None:
        """Seconds in which something held the event loop do not count: nobody could ask."""
        while self._unasked < UNASKED_SECONDS:
            await asyncio.sleep(CALL_SECONDS)
            self._unasked += CALL_SECONDS
        os._exit(1)


def _name(number: int) -> str:
    return f"shard {number}"


def check_ray() -> None:
    """Before a folder is made."""
    if ray is None:
        raise MissingExtra("shards need Ray; install it with: pip install 'spoor[ray]'")


@contextlib.contextmanager
def connected(shards: int, cluster: str = "") -> Iterator[None]:
    """To the cluster at an address, or to one that is started on this machine and ended afterwards."""
    check_ray()
    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if cluster:
            ray.init(cluster, log_to_driver=False, logging_level=logging.ERROR)
        else:
            # Not one that somebody else runs on this machine.
            ray.init("local", num_cpus=shards, _node_ip_address="127.0.0.1", _system_config=AS_URGENT, **quiet)
    except Exception as error:  # Of many kinds: a cluster that cannot be reached, a node that takes too long to start.
        raise BadInput(f"cannot reach Ray{f' at {cluster}' if cluster else ''}: {error}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _near_disks(folders: Sequence[Path]) -> list[dict[str, Any]]:
    """For each shard how it is asked to run where its disk is: on the machine where it ran last, if that is there, and
    after a death on the same again. Otherwise, and where there is no room, it runs elsewhere from a copy."""
    hosts = {node["NodeID"]: node["NodeManagerHostname"] for node in ray.nodes() if node["Alive"]}
    room = {node["NodeID"]: node["Resources"].get("CPU", 0.0) for node in ray.nodes() if node["Alive"]}
    last = [CopyPlace(folder).host() for folder in folders]
    where: dict[int, dict[str, Any]] = {}
    for number in sorted(range(len(folders)), key=lambda number: last[number] not in hosts.values()):
        node = max(room, key=lambda node: (room[node] >= 1, hosts[node] == last[number], room[node]))
        room[node] -= 1
        strategy = NodeAffinitySchedulingStrategy(node, soft=True, _spill_on_unavailable=True)
        where[number] = {"scheduling_strategy": strategy}
    return [where[number] for number in range(len(folders))]


async def crawl_in_actors(
    folder: ShardedFolder,
    settings: Config,
    shards: int,
    tell: Callable[[Totals], None],
    started: Callable[[Coordinator], None],
) -> str:
    """Runs one actor for each shard until the crawl ends; returns why it did. `started` is given the coordinator, so
    that it can be stopped."""
    namespace, table = f"spoor {uuid4().hex}", folder.table(shards)
    asked = replace(settings, crawl=replace(settings.crawl, connections=max(1, settings.crawl.connections // shards)))
    actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=0)(ShardActor)
    paths = [folder.shard(number).resolve() for number in range(shards)]
    where = _near_disks(paths) if settings.shards.local else [{}] * shards
    # Held until the end: an actor goes with the last of its handles.
    actors = [
        actor.options(name=_name(number), namespace=namespace, **where[number]).remote(
            path, Share(number, table), asked, namespace
        )
        for number, path in enumerate(paths)
    ]
    handles = [RayShard(_name(number), namespace, bool(settings.shards.local)) for number in range(len(actors))]
    with contextlib.closing(GrantedVisits(folder.coordinator)) as granted:
        coordinator = Coordinator(handles, granted, settings.crawl.max_pages, done_without_hosts(folder))
        started(coordinator)
        if settings.crawl.max_minutes is not None:
            minutes = settings.crawl.max_minutes
            asyncio.get_running_loop().call_later(60 * minutes, coordinator.stop, f"{minutes:g} minutes are over")
        return await coordinator.run(tell)

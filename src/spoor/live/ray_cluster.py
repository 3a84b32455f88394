"""Shards as Ray actors, on this machine or on a running cluster. The only module that uses Ray.

An actor that dies is restarted, if necessary on another node, and reopens the folder of its shard. The lock of the
folder protects it from an actor that was presumed dead but still writes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from spoor.crawling.share import Lease, Share
from spoor.errors import BadInput, MissingExtra
from spoor.frontier.addresses import AddressGrant
from spoor.live.process import give_back_large_blocks, search_seldom_for_circles
from spoor.live.shards import Coordinator, Shard, ShardReport, Totals, Unavailable, done_without_hosts, of_each_shard
from spoor.settings import Config
from spoor.store.copies import CopyPlace
from spoor.store.mail import Answer, Batch
from spoor.store.sharded_folder import GrantedVisits, ShardedFolder

try:
    import ray
    from ray.exceptions import RayActorError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError:  # Reported by `check_ray`.
    ray = None

_log = logging.getLogger(__name__)
CALL_SECONDS = 10.0
"""Timeout of a call. A frozen node never responds, and the other shards must continue."""
UNASKED_SECONDS = 120.0
"""Seconds without a request for a report after which a process exits."""
STOP_SECONDS = 60.0
"""Timeout of a shard to deliver its messages, or to stop; after that its actor ends with Ray."""
COPY_SECONDS = 3600.0
"""Timeout to stop for a shard that makes a last copy first."""
AS_URGENT = {"worker_niceness": 0}
"""By default Ray runs actors at a lower process priority: beside other programs, shards would be much slower than one
process."""


class RayShard:
    """A `ShardHandle` of the actor with this name, on any node. Makes no further call until the actor has answered the
    pending one, `_late`."""

    def __init__(self, name: str, namespace: str, copied: bool = False) -> None:
        """`copied`: the shard makes a last copy when it stops."""
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
        """An unavailable shard is ignored: its folder has a record of everything under way."""
        if self._late is not None:
            await asyncio.wait({self._late}, timeout=CALL_SECONDS)
        try:
            await self._ask("stop", why, seconds=COPY_SECONDS if self._copied else STOP_SECONDS)
        except Unavailable as error:
            if self._copied:
                _log.warning("there is no last copy of a shard, resume the crawl where its disk is: %s", error)

    async def _ask(self, method: str, *given: Any, seconds: float = CALL_SECONDS) -> Any:
        """Calls a method of the actor. A call that timed out may have run or may run later, so callers repeat
        only calls that may run twice: reports, and deliveries, whose messages are numbered."""
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
    """Retrieves the exception of a call whose caller may have timed out, so that asyncio does not log it."""
    if not call.cancelled():
        call.exception()


class ShardActor(Shard):
    """A shard in its own process. Addresses the other shards by name, so that it finds them after a restart. Exits when
    it receives no more requests: another actor may have been started in its place and wait for the folder."""

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
        """Exits after a time without requests. Time in which the event loop was blocked does not count: no request
        could arrive."""
        while self._unasked < UNASKED_SECONDS:
            await asyncio.sleep(CALL_SECONDS)
            self._unasked += CALL_SECONDS
        os._exit(1)


def _name(number: int) -> str:
    return f"shard {number}"


def check_ray() -> None:
    """Raises MissingExtra if Ray is not installed. Called before a folder is created."""
    if ray is None:
        raise MissingExtra("shards need Ray; install it with: pip install 'spoor[ray]'")


@contextlib.contextmanager
def connected(shards: int, cluster: str = "") -> Iterator[None]:
    """Connects to the cluster at an address, or starts one on this machine and stops it at the end."""
    check_ray()
    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if cluster:
            ray.init(cluster, log_to_driver=False, logging_level=logging.ERROR)
        else:
            # "local": not a cluster of another user on this machine.
            ray.init("local", num_cpus=shards, _node_ip_address="127.0.0.1", _system_config=AS_URGENT, **quiet)
    except Exception as error:  # Many types: an unreachable cluster, a node that is too slow to start.
        raise BadInput(f"cannot reach Ray{f' at {cluster}' if cluster else ''}: {error}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _near_disks(folders: Sequence[Path]) -> list[dict[str, Any]]:
    """Scheduling options that place each shard near its disk: on the machine where it ran last, if that is alive, and
    after a crash on the same machine again. Otherwise, or if that one is full, it runs elsewhere from a copy."""
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
    """Runs one actor for each shard until the crawl ends. Returns why it ended. `started` receives the coordinator, so
    that the caller can stop it."""
    namespace, table = f"spoor {uuid4().hex}", folder.table(shards)
    asked = of_each_shard(settings, shards)
    actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=0)(ShardActor)
    paths = [folder.shard(number).resolve() for number in range(shards)]
    where = _near_disks(paths) if settings.shards.local else [{}] * shards
    # Kept until the end: Ray ends an actor when its last handle is deleted.
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

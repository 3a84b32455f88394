"""Shards as actors of Ray, on this machine or on a running cluster. The only module that knows Ray.

An actor that dies is started again, on another node if need be, and reopens the folder of its shard. The lock of the
folder keeps out an actor that was taken for dead and still writes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from spoor.errors import BadInput, MissingExtra
from spoor.live.process import give_back_large_blocks, search_seldom_for_circles
from spoor.live.shards import Coordinator, Shard, ShardReport, Totals, Unavailable, done_without_hosts
from spoor.settings import Config
from spoor.share import Lease, Share
from spoor.store.mail import Letter
from spoor.store.sharded_folder import GrantedVisits, ShardedFolder

try:
    import ray
    from ray.exceptions import RayActorError
except ImportError:  # Said when shards are asked for.
    ray = None

STOP_SECONDS = 60.0
"""For which a shard may take to stop, before its actor is left to end with Ray."""


class RayShard:
    """A `ShardHandle`: the actor with a name, wherever it is right now."""

    def __init__(self, name: str, namespace: str) -> None:
        self._name = name
        self._namespace = namespace
        self._actor: Any = None

    async def report(self, most: int) -> ShardReport:
        report: ShardReport = await self._ask("report", most)
        return report

    async def grant(self, lease: Lease) -> None:
        await self._ask("grant", lease)

    async def deliver(self) -> None:
        await self._ask("deliver")

    async def take(self, sender: int, letters: Sequence[Letter]) -> int:
        number: int = await self._ask("take", sender, letters)
        return number

    async def stop(self, why: str) -> None:
        """One that cannot be asked has nothing under way that its folder does not know."""
        try:
            await asyncio.wait_for(self._ask("stop", why), STOP_SECONDS)
        except (Unavailable, TimeoutError):
            return

    async def _ask(self, method: str, *given: Any) -> Any:
        """What was asked may have been done although no answer came. So it is asked again only where it may be done
        twice: a report, and letters, which are numbered."""
        try:
            if self._actor is None:
                self._actor = ray.get_actor(self._name, self._namespace)
            return await getattr(self._actor, method).remote(*given)
        except (RayActorError, ValueError) as error:
            raise Unavailable(f"{self._name} cannot be asked: {error}") from None


class ShardActor(Shard):
    """A shard in a process of its own. Knows the others by their names, so that it finds them after a restart."""

    def __init__(self, folder: Path, share: Share, settings: Config, namespace: str) -> None:
        give_back_large_blocks()
        search_seldom_for_circles()
        super().__init__(folder, share, settings)
        self.peers = [RayShard(_name(number), namespace) for number in range(len(share.others) + 1)]


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
            ray.init("local", num_cpus=shards, _node_ip_address="127.0.0.1", **quiet)
    except Exception as error:  # Of many kinds: a cluster that cannot be reached, a node that takes too long to start.
        raise BadInput(f"cannot reach Ray{f' at {cluster}' if cluster else ''}: {error}") from None
    try:
        yield
    finally:
        ray.shutdown()


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
    # Held until the end: an actor goes with the last of its handles.
    actors = [
        actor.options(name=_name(number), namespace=namespace).remote(
            folder.shard(number).resolve(), Share(number, table), asked, namespace
        )
        for number in range(shards)
    ]
    handles = [RayShard(_name(number), namespace) for number in range(len(actors))]
    with contextlib.closing(GrantedVisits(folder.coordinator)) as granted:
        coordinator = Coordinator(handles, granted, settings.crawl.max_pages, done_without_hosts(folder))
        started(coordinator)
        if settings.crawl.max_minutes is not None:
            minutes = settings.crawl.max_minutes
            asyncio.get_running_loop().call_later(60 * minutes, coordinator.stop, f"{minutes:g} minutes are over")
        return await coordinator.run(tell)

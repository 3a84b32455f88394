"""Shards as actors of Ray, on this machine or on a running cluster. The only module that knows Ray.

An actor that dies is started again, on another node if need be, and reopens the folder of its shard. The lock of the
folder keeps out an actor that was taken for dead and still writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from typing import Any
from uuid import uuid4

from spoor.errors import BadInput, MissingExtra
from spoor.live.session import give_back_large_blocks, search_seldom_for_circles
from spoor.live.shards import Coordinator, Shard, ShardReport, Totals, Unavailable
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

    def __init__(self, folder: str, share: Share, settings: Config, namespace: str) -> None:
        give_back_large_blocks()
        search_seldom_for_circles()
        super().__init__(ShardedFolder(_path(folder)).shard(share.me), share, settings)
        self.peers = [RayShard(_name(number), namespace) for number in range(len(share.others) + 1)]


def _path(folder: str) -> Any:
    from pathlib import Path

    return Path(folder)


def _name(number: int) -> str:
    return f"shard {number}"

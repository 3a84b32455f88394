"""Who may ask an IP address at which hosts of several shards are: one shard at a time.

An address is held by the shard that first asked for it, until another wants it. Then it is asked back, and given back
when no visit is under way there and its delay is over, and the shard that has waited longest has it next. All of this
goes with the reports and grants of a round, so that no fetch costs a call, and no two machines need the same time.

A shard that cannot be asked keeps what it holds. It answers again from a process that has the lock of its folder, so
that the one before is gone. For the same reason nobody holds anything before all shards were heard: processes that
another coordinator left behind may still be at work.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from spoor.frontier.addresses import AddressGrant

ROUNDS = 20
"""For which a shard has an address before it is asked back. Handing over costs at least the delay of the address."""


class AddressReport(NamedTuple):
    """What a shard says: addresses for which its hosts wait, and those of the ones asked back that it does not hold."""

    awaited: Collection[str] = ()
    given_back: Collection[str] = ()


class AddressTurns:
    """`_holders` has the shard of an address, and the round since when; `_queues` those who wait for one, first come
    first. Whatever is lost on the way is said again in the next round: that an address is waited for, is granted, asked
    back, or given back."""

    def __init__(self, shards: int) -> None:
        self._unheard = set(range(shards))
        self._round = 0
        self._holders: dict[str, tuple[int, int]] = {}
        self._queues: dict[str, list[int]] = {}

    def round(self, reports: Mapping[int, AddressReport]) -> dict[int, AddressGrant]:
        """What each shard is told that has reported."""
        self._round += 1
        self._unheard -= reports.keys()
        for shard, report in reports.items():
            self._hear(shard, report)
        granted: dict[int, list[str]] = {shard: [] for shard in reports}
        asked_back: dict[int, list[str]] = {shard: [] for shard in reports}
        for address in () if self._unheard else list(self._queues):
            self._decide(address, granted, asked_back)
        return {shard: AddressGrant(granted[shard], asked_back[shard]) for shard in reports}

    def _hear(self, shard: int, report: AddressReport) -> None:
        for address in report.given_back:
            if self._holder(address) == shard:
                del self._holders[address]
        for address in report.awaited:
            queue = self._queues.setdefault(address, [])
            if shard not in queue:
                queue.append(shard)

    def _decide(self, address: str, granted: dict[int, list[str]], asked_back: dict[int, list[str]]) -> None:
        queue, holder = self._queues[address], self._holder(address)
        if holder is None:
            holder = queue[0]
            self._holders[address] = holder, self._round
        if holder in queue and holder in granted:
            queue.remove(holder)
            granted[holder].append(address)
        if not queue:
            del self._queues[address]
        elif holder in asked_back and self._round - self._holders[address][1] >= ROUNDS:
            asked_back[holder].append(address)

    def _holder(self, address: str) -> int | None:
        return self._holders.get(address, (None, 0))[0]

"""Grants IP addresses that serve hosts of several shards: one shard at a time may send requests to an address.

The first shard that requests an address keeps it until another shard needs it. The address is then revoked; the shard
returns it when no visit is under way there and its delay is over, and the shard that has waited longest receives it.
All of this travels with the reports and grants of a round, so fetches cost no extra calls and machines need no common
clock.

A shard that does not respond keeps its addresses. When it responds again, its process holds the lock of the folder, so
the previous process has ended. For the same reason no address is granted before all shards have reported: processes
started by an earlier coordinator may still be running.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from spoor.frontier.addresses import AddressGrant

ROUNDS = 20
"""Rounds before an address is revoked from its shard. A handover costs at least the delay of the address."""


class AddressReport(NamedTuple):
    """The report of a shard: addresses for which its hosts wait, and revoked addresses that it no longer holds."""

    awaited: Collection[str] = ()
    given_back: Collection[str] = ()


class AddressTurns:
    """Assigns addresses to shards. `_holders` maps an address to its shard and the round of the grant, `_queues` to the
    waiting shards, first come first served. Requests, grants, revocations and returns are repeated in each round, so a
    lost message does no harm."""

    def __init__(self, shards: int) -> None:
        self._unheard = set(range(shards))
        self._round = 0
        self._holders: dict[str, tuple[int, int]] = {}
        self._queues: dict[str, list[int]] = {}

    def round(self, reports: Mapping[int, AddressReport]) -> dict[int, AddressGrant]:
        """Processes the reports of one round. Returns the grant for each shard that reported."""
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

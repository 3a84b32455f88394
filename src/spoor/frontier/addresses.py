"""When requests to an IP address may be sent: its delay is over and, if several shards have hosts there, this shard
holds it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from spoor.frontier.entry import Host, HostRules

MOST_ADDRESSES = 1024
"""Number of IP addresses stored before those whose delay is over are removed."""
AGAIN = 0.25
"""Seconds before a caller that cannot wait for an address asks again."""


class AddressGrant(NamedTuple):
    """A grant to a shard: addresses that it holds from now on, and all addresses that it must give back."""

    granted: Collection[str] = ()
    asked_back: Collection[str] = ()


class Addresses:
    """The delays of IP addresses and, in a crawl of several shards, the addresses held by this shard: `_held`, None if
    there is only one shard. No request is sent to an address that is not held or was asked back; the hosts that wait
    for one are in `_waiting`. An address is given back when no visit is in flight there and its delay is over."""

    def __init__(self, rules: HostRules, hosts: Iterable[Host], show: Callable[[str], None]) -> None:
        """`hosts` are those in memory; `show` is called with the name of each host that no longer waits."""
        self._delay = rules.address_delay
        self._hosts = hosts
        self._show = show
        self._free_at: dict[str, float] = {}
        self._most = MOST_ADDRESSES
        self._held: set[str] | None = set() if rules.shared_addresses and rules.address_delay else None
        self._asked_back: set[str] = set()
        self._waiting: dict[str, set[str]] = {}

    def free_at(self, address: str) -> float:
        """When its delay is over."""
        return self._free_at.get(address, 0.0)

    def delay(self, address: str, since: float) -> None:
        if address and self._delay:
            self._free_at[address] = max(since + self._delay, self.free_at(address))
            if len(self._free_at) > self._most:
                self._free_at = {at: until for at, until in self._free_at.items() if until > since}
                self._most = max(MOST_ADDRESSES, 2 * len(self._free_at))

    def forget_delays(self) -> None:
        self._free_at.clear()

    # Sharing addresses among shards.

    def is_turn_of(self, host: Host) -> bool:
        """Whether this shard holds the address of a host, or the address is not known yet. If not, the host waits for
        it."""
        address = host.address
        if self._held is None or not address or (address in self._held and address not in self._asked_back):
            return True
        self._waiting.setdefault(address, set()).add(host.name)
        return False

    def awaited(self, most: int) -> list[str]:
        """Addresses that are not held and for which hosts wait, longest wait first."""
        awaited = [address for address in self._waiting if address not in (self._held or ())]
        return awaited[:most]

    def given_back(self, now: float) -> list[str]:
        """The addresses that were asked back and are no longer held."""
        if self._held is None or not self._asked_back:
            return []
        busy = {host.address for host in self._hosts if host.visiting}
        self._held -= {at for at in self._asked_back if at not in busy and self.free_at(at) <= now}
        return sorted(self._asked_back - self._held)

    def heed(self, grant: AddressGrant) -> None:
        """Takes in a grant. `asked_back` replaces the previous one."""
        if self._held is None:
            return
        self._held.update(grant.granted)
        self._asked_back = set(grant.asked_back)
        for address in self._held.intersection(self._waiting) - self._asked_back:
            for name in self._waiting.pop(address):
                self._show(name)

"""What the frontier keeps: a link with its state and its place in the order, and a host with its delay."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from enum import IntEnum

from spoor.errors import BrokenContract
from spoor.records import SOONEST, Evidence, Key, TrailState, Visit

# One URL in the frontier: its state, its place, and what is known in its favour.


class State(IntEnum):
    """A URL without an entry is unknown. Only settled is final."""

    WAITING = 0
    RETURNING = 1
    PARKED = 2
    IN_TRANSIT = 3
    SETTLED = 4


OPEN = (State.WAITING, State.RETURNING, State.PARKED)
"""The states in which a further sighting still matters. So few are told sooner by identity than by hash."""

TROUBLE = "trouble: "
"""What went wrong with a link begins so, by a mistake of ours: it is fetched apart from others."""
INDEX_DEPTH = "index_depth"
"""Evidence that only sitemaps have: how many indexes lie before it."""
DIED = f"{TROUBLE}the process died while it was worked on"
"""Said of a link that may be to blame for a death. It is fetched when nothing else is; another death, and it is
parked."""

Order = tuple[Key, int]
"""Sorts as the queue does: smaller is sooner."""


Place = tuple[State, int]
"""A state and an arrival: a link of which both are as they were waits where it did."""


@dataclass(slots=True)
class Entry:
    """Owned by the frontier; nobody else changes one. Its place, `key` and `arrival`, is changed by `put_at` alone.

    `arrival` breaks ties and is new whenever the key changes. `again_at` matters while returning: the time from
    which the URL may be tried again; a parked one that never may has infinity. `because` says why it is parked, or what
    went wrong when it was worked on: until that is over it is fetched apart from others. `hints` are there when the
    scorer reviews links that wait. `row` and `filed` are the store's own: a handle, and its place on disk.
    """

    url: str
    host: str
    key: Key
    evidence: Evidence = field(default_factory=dict)
    trail: TrailState = None
    depth: int = 0
    found_on: str = ""
    redirects: int = 0
    arrival: int = 0
    state: State = State.WAITING
    tries: int = 0
    again_at: float = 0.0
    because: str = ""
    hints: bytes = b""
    row: int | None = None
    filed: Place | None = None
    _order: Order | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def is_seed(self) -> bool:
        return self.key == SOONEST

    @property
    def is_sitemap(self) -> bool:
        """Not a page, but a list of pages or of other sitemaps. It has the key of a seed."""
        return INDEX_DEPTH in self.evidence

    @property
    def is_apart(self) -> bool:
        """Something of ours went wrong when it was worked on: it has one more try, apart from others."""
        return self.because.startswith(TROUBLE)

    @property
    def is_put_off(self) -> bool:
        """Of one that returns: nobody waits for it."""
        return bool(self.because) and not self.is_apart

    @property
    def is_given_up(self) -> bool:
        """Parked for good."""
        return self.again_at == math.inf

    @property
    def order(self) -> Order:
        """Asked for several times whenever a link is given a place, so it is kept."""
        if self._order is None:
            self._order = tuple([-part for part in self.key]), self.arrival
        return self._order

    def put_at(self, key: Key, arrival: int) -> None:
        """Another place in the order."""
        self.key, self.arrival, self._order = key, arrival, None


def visit_to(entry: Entry, number: int, at: float) -> Visit:
    """With all that is known of the link."""
    return Visit(
        url=entry.url,
        host=entry.host,
        number=number,
        at=at,
        purpose="sitemap" if entry.is_sitemap else "page",
        key=entry.key,
        evidence=entry.evidence,
        trail=entry.trail,
        depth=entry.depth,
        tries=entry.tries,
        found_on=entry.found_on,
        redirects=entry.redirects,
        hints=entry.hints,
        apart=entry.is_apart,
    )


# A place in the queue as bytes that sort as the place does, so that a database can keep places in order.


KEY_PARTS = 3
_PACKED = struct.Struct(f">{KEY_PARTS + 1}Q")
_FLOATS = [struct.Struct(f">{parts}d") for parts in range(KEY_PARTS + 1)]
_BITS = [struct.Struct(f">{parts}Q") for parts in range(KEY_PARTS + 1)]
_SIGN, _ALL = 1 << 63, (1 << 64) - 1
_MISSING = 0
"""Before every number: a key that has fewer parts comes first, as tuples do. No number is packed so."""


def packed(order: Order) -> bytes:
    key, arrival = order
    parts = len(key)
    if parts > KEY_PARTS:
        raise BrokenContract(f"a key has at most {KEY_PARTS} parts, not {parts}: {key}")
    bits = _BITS[parts].unpack(_FLOATS[parts].pack(*[part + 0.0 for part in key]))
    return _PACKED.pack(*map(_sortable, bits), *[_MISSING] * (KEY_PARTS - parts), arrival)


def unpacked(place: bytes) -> Order:
    """ValueError where it is no place."""
    if len(place) != _PACKED.size:
        raise ValueError(f"not a place: {place!r}")
    *parts, arrival = _PACKED.unpack(place)
    return tuple([_number(part) for part in parts if part != _MISSING]), arrival


def place_of_row(key1: float, key2: float | None, key3: float | None, arrival: int) -> bytes | None:
    """Of a link as it stands in a database; None where it cannot be one."""
    try:
        return packed((tuple([-part for part in (key1, key2, key3) if part is not None]), arrival))
    except (TypeError, struct.error):
        return None


def _sortable(bits: int) -> int:
    """Of a number. Negative ones, which sort backwards by their bits, are turned around; there is one zero."""
    return bits ^ _ALL if bits & _SIGN else bits | _SIGN


def _number(bits: int) -> float:
    (number,) = _FLOATS[1].unpack(_BITS[1].pack(bits ^ _SIGN if bits & _SIGN else bits ^ _ALL))
    return float(number)


# One host: how many visits are under way, its delay, which rules it waits for.


@dataclass(frozen=True, slots=True)
class HostRules:
    """How hosts are treated until their own rules say otherwise.

    `delay` is in seconds, from the end of one visit to the start of the next; `address_delay` the same for all hosts at
    one IP address together; with `shared_addresses` other shards ask there too, in turn. `ask_first`: nothing is
    visited before the robots.txt that holds for it is known; it is asked for again when it is older than `rules_last`
    seconds.
    """

    delay: float = 0.0
    address_delay: float = 0.0
    connections: int = 1
    ask_first: bool = False
    rules_last: float = 86_400.0
    shared_addresses: bool = False


@dataclass(slots=True)
class Host:
    """Free, busy (no connection left), delayed (before `free_at`) or closed (a robots.txt is on its way to it).

    `delay` is ours, or what its robots.txt asks for if that is more; http and https share it. `address` is the IP
    address it was found at; `waits_for` the URL of the robots.txt without which nothing of it may be visited, "" when
    there is none. `order` is the place of the best waiting link, None when nothing waits. `head` is that link, None
    until somebody asks for it. `among_heads` and `among_ready` say if the host stands in those queues of the frontier.
    """

    name: str
    delay: float
    free_at: float = 0.0
    address: str = ""
    waits_for: str = ""
    visiting: int = 0
    order: Order | None = None
    head: Entry | None = None
    among_heads: bool = field(default=False, init=False)
    among_ready: bool = field(default=False, init=False)

    def lead(self, order: Order | None, head: Entry | None) -> bool:
        """The place of the best waiting link is known. Says whether it is another than before."""
        moved = order != self.order
        self.head, self.order = head, order
        if moved:
            self.among_heads, self.among_ready = False, False
        return moved

    def begin(self, now: float) -> None:
        self.visiting += 1
        self._delay_from(now)

    def end(self, now: float) -> None:
        self.visiting -= 1
        self._delay_from(now)

    def change_delay(self, delay: float) -> None:
        """A longer one counts from the last visit on, too."""
        if self.free_at:
            self.free_at += max(0.0, delay - self.delay)
        self.delay = delay

    def _delay_from(self, now: float) -> None:
        if self.delay:
            self.free_at = max(self.free_at, now + self.delay)


def check_key(url: str, key: Key) -> None:
    """A key that is not a number has no place in a queue."""
    if any(map(math.isnan, key)):
        raise BrokenContract(f"the key of {url} is not a number: {key}")

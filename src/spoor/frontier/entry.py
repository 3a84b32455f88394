"""The records of the frontier: a link with its state and priority, and a host with its delay."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from enum import IntEnum

from spoor.errors import BrokenContract
from spoor.records import SOONEST, Evidence, Key, TrailState, Visit

# One URL in the frontier: its state, its position in the queue and its evidence.


class State(IntEnum):
    """A URL without an entry is unknown. Only SETTLED is final."""

    WAITING = 0
    RETURNING = 1
    PARKED = 2
    IN_TRANSIT = 3
    SETTLED = 4


OPEN = (State.WAITING, State.RETURNING, State.PARKED)
"""The states in which a link can still gain evidence. A tuple: with so few, comparing by identity is faster than
hashing."""

TROUBLE = "trouble: "
"""Prefix of the reason when an error of spoor affected a link: it is fetched in isolation."""
INDEX_DEPTH = "index_depth"
"""Evidence that only sitemaps have: the number of sitemap indexes above it."""
DIED = f"{TROUBLE}the process died while it was worked on"
"""The reason for a link that may have killed the process. It is fetched when no other request is in flight; if the
process dies again, it is parked."""

KEY_PARTS = 3
Order = tuple[float, ...]
"""The sort key of the queue: smaller is sooner. The negated parts of a key, `NO_PART` for each missing one, and the
arrival. A flat tuple, because a queue compares many."""
NO_PART = -math.inf
"""Less than every other part: of two keys that begin alike, the one with fewer parts is sooner."""


Place = tuple[State, int]
"""A state and an arrival: while both are unchanged, so is the position in the queue."""


@dataclass(slots=True)
class Entry:
    """One URL. Owned by the frontier, which alone changes it. Its position, `key` and `arrival`, is changed only by
    `put_at`.

    `arrival` breaks ties and is renewed whenever the key changes. `again_at` is the time from which a returning URL may
    be tried again; infinity for a URL parked for ever. `because` is the reason why it is parked, or the error that
    occurred while it was processed: until that is resolved it is fetched in isolation. `hints` are set if the scorer
    re-scores waiting links. `row` and `filed` belong to the store: a row id, and the position as stored on disk.
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
    def may_be_a_seed(self) -> bool:
        """Whether it changes anything to give it as a seed: it was refused, not answered, or waits as a link."""
        if self.state is State.SETTLED:
            return bool(self.because)
        return not self.is_seed and self.state in (State.WAITING, State.PARKED)

    @property
    def is_sitemap(self) -> bool:
        """Whether it is a sitemap or an index of sitemaps instead of a page. It has the key of a seed."""
        return INDEX_DEPTH in self.evidence

    @property
    def is_apart(self) -> bool:
        """Whether an error of spoor occurred while it was processed: it gets one more try, in isolation."""
        return self.because.startswith(TROUBLE)

    @property
    def is_postponed(self) -> bool:
        """Whether a returning link was postponed for lack of a robots.txt: the crawl does not wait for it."""
        return bool(self.because) and not self.is_apart

    @property
    def is_given_up(self) -> bool:
        """Whether it is parked for ever."""
        return self.again_at == math.inf

    @property
    def order(self) -> Order:
        """Cached, because it is used several times whenever a link is queued; for an entry from a file, computed on
        first use."""
        if self._order is None:
            self._order = order_at(self.key, self.arrival)
        return self._order

    def put_at(self, key: Key, arrival: int) -> None:
        """Moves the entry in the queue."""
        self.key, self.arrival, self._order = key, arrival, order_at(key, arrival)


def order_at(key: Key, arrival: int) -> Order:
    if len(key) == KEY_PARTS:
        first, second, third = key
        return -first, -second, -third, arrival
    return (*[-part for part in key], *[NO_PART] * (KEY_PARTS - len(key)), arrival)


def key_at(order: Order) -> Key:
    first, *others = order[:-1]
    return (-first, *[-part for part in others if part != NO_PART])


def visit_to(entry: Entry, number: int, at: float) -> Visit:
    """A visit with the data of the link."""
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


# Positions in the queue as bytes that sort in the same order, so that a database can index them.


_PACKED = struct.Struct(f">{KEY_PARTS + 1}Q")
_FLOATS, _BITS = struct.Struct(f">{KEY_PARTS}d"), struct.Struct(f">{KEY_PARTS}Q")
_SIGN, _ALL = 1 << 63, (1 << 64) - 1
_MISSING = 0
"""Less than every packed number: a key with fewer parts sorts first, as with tuples."""


def packed(order: Order) -> bytes:
    *parts, arrival = order
    if len(parts) > KEY_PARTS:
        raise BrokenContract(f"a key has at most {KEY_PARTS} parts, not {len(parts)}: {key_at(order)}")
    first, *others = map(_sortable, _BITS.unpack(_FLOATS.pack(*[part + 0.0 for part in parts])))
    return _PACKED.pack(first, *[_MISSING if bits == _NO_PART else bits for bits in others], arrival)


def unpacked(place: bytes) -> Order:
    """Raises ValueError if the bytes are not a packed position."""
    if len(place) != _PACKED.size:
        raise ValueError(f"not a place: {place!r}")
    *parts, arrival = _PACKED.unpack(place)
    numbers = _FLOATS.unpack(_BITS.pack(*[_bits(_NO_PART if part == _MISSING else part) for part in parts]))
    return (*numbers, arrival)


def place_of_row(key1: float, key2: float | None, key3: float | None, arrival: int) -> bytes | None:
    """The packed position of a row of `links`; None if its values are invalid."""
    try:
        return packed(order_at(tuple([part for part in (key1, key2, key3) if part is not None]), arrival))
    except (TypeError, struct.error):
        return None


def _sortable(bits: int) -> int:
    """Maps the bits of a float to an integer that sorts like the float: inverts negative numbers, which sort backwards
    by their bits. Expects no negative zero."""
    return bits ^ _ALL if bits & _SIGN else bits | _SIGN


def _bits(sortable: int) -> int:
    return sortable ^ _SIGN if sortable & _SIGN else sortable ^ _ALL


_NO_PART = _sortable(struct.unpack(">Q", struct.pack(">d", NO_PART))[0])


# One host: its visits in flight, its delay, and the robots.txt it waits for.


@dataclass(frozen=True, slots=True)
class HostRules:
    """The defaults for hosts, where robots.txt does not ask for more.

    `delay` is in seconds, from the end of one visit to the start of the next; `address_delay` the same for all hosts at
    one IP address together; with `shared_addresses`, other shards send requests there, too, in turn. `ask_first`:
    nothing is fetched before the applicable robots.txt is known; it is fetched again when it is older than `rules_last`
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
    """A host: free, busy (no connection left), delayed (before `free_at`) or closed (its robots.txt is being fetched).

    `delay` is the configured host delay, or that of its robots.txt if longer; http and https share it. `address` is the
    IP address it was found at; `waits_for` the URL of the robots.txt that must be fetched before any page, "" if there
    is none. `order` is the position of the best waiting link, None if nothing waits. `head` is that link, None until it
    is loaded. `among_heads` and `among_ready`: whether the host is in these queues of the frontier.
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
        """Sets the position of the best waiting link. Returns whether it changed."""
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
        """A longer delay applies to the last visit already."""
        if self.free_at:
            self.free_at += max(0.0, delay - self.delay)
        self.delay = delay

    def _delay_from(self, now: float) -> None:
        if self.delay:
            self.free_at = max(self.free_at, now + self.delay)


def check_key(url: str, key: Key) -> None:
    """Raises BrokenContract for NaN, which cannot be ordered."""
    # The sum is NaN if a part is, or if infinities cancel out.
    if math.isnan(sum(key)) and any(map(math.isnan, key)):
        raise BrokenContract(f"the key of {url} is not a number: {key}")

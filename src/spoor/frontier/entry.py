"""One URL in the frontier: its state, its place, and what is known in its favour."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum

from spoor.records import SOONEST, Evidence, Key, TrailState


class State(IntEnum):
    """A URL without an entry is unknown. Only settled is final."""

    WAITING = 0
    RETURNING = 1
    PARKED = 2
    IN_TRANSIT = 3
    SETTLED = 4


OPEN = frozenset({State.WAITING, State.RETURNING, State.PARKED})
"""The states in which a further sighting still matters."""

TROUBLE = "trouble: "
"""What went wrong with a link begins so, by a mistake of ours: it is fetched apart from others."""
DIED = f"{TROUBLE}the process died while it was worked on"
"""Said of a link that may be to blame for a death. It is fetched when nothing else is; another death, and it is
parked."""

Order = tuple[Key, int]
"""Sorts as the queue does: smaller is sooner."""


Place = tuple[State, int]
"""A state and an arrival: a link of which both are as they were waits where it did."""


@dataclass(slots=True)
class Entry:
    """Owned by the frontier; nobody else changes one.

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

    @property
    def is_seed(self) -> bool:
        return self.key == SOONEST

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
        return tuple([-part for part in self.key]), self.arrival

"""A queue for each layer, the nearest first: links wait in the queue of their layer, the most certain ahead.

The evidence has a number for each queue, 0 where no page has put the link. When other pages put it elsewhere, nothing
is lost, and the nearest queue counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from spoor.records import Evidence, Key
from spoor.roles import Merge


@cache
def merge_of(queues: int) -> Mapping[str, Merge]:
    """The most certain of several sightings, in each queue."""
    return dict.fromkeys(map(_name, range(queues)), max)


def queued(queue: int, chance: float, queues: int) -> Evidence:
    return {_name(number): chance if number == queue else 0.0 for number in range(queues)}


def queue_key(evidence: Evidence) -> Key:
    """The last queue has those that nobody is certain of at all."""
    chances = list(evidence.values())
    queue = next((number for number, chance in enumerate(chances) if chance > 0.0), len(chances) - 1)
    return -float(queue), chances[queue]


def _name(queue: int) -> str:
    return f"layer {queue}"

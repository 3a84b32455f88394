"""Context graph: links wait in the queue of the layer that the page they stand on belongs to, by what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.context.path_model import PathModel
from spoor.errors import UsageError
from spoor.records import Evidence, Hints, Key, Link, Page, Sighting
from spoor.roles import Merge
from spoor.score.layer_queues import merge_of, queue_key, queued


@dataclass(frozen=True)
class Layer:
    """A page whose most probable layer has a chance below `least` is like none; its links wait in a last queue."""

    model: PathModel
    least: float = 0.5

    reads_content: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0.0 <= self.least <= 1.0:
            raise UsageError(f"least={self.least:g} is not a chance; give a number from 0 to 1")

    @property
    def merge(self) -> Mapping[str, Merge]:
        return merge_of(self._queues)

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        """The queue and the chance, alike for all links: the page is read once."""
        found = self.model.layer(page.title, page.text, self.least)
        queue = self._queues - 1 if found.layer is None else found.layer
        return [(float(queue), found.chance)] * len(links)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [queued(int(queue), chance, self._queues) for queue, chance in (link.hints for link in links)]

    def key(self, evidence: Evidence) -> Key:
        return queue_key(evidence)

    @property
    def _queues(self) -> int:
        """One for each layer, the wanted pages included, and one for pages like none of them."""
        return self.model.layers + 2

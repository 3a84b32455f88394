"""Links that most probably lead nearest to a wanted page first: by the likeliest layer, then by how likely it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.context.path_view import PathView
from spoor.records import Evidence, Key, Link, Sighting
from spoor.roles import Merge
from spoor.score.layer_queues import merge_of, queue_key, queued


@dataclass(frozen=True)
class LikeliestLayer:
    """Goes with the trail `HiddenState` of the same path."""

    path: PathView

    reads_content: ClassVar[bool] = False

    @property
    def merge(self) -> Mapping[str, Merge]:
        return merge_of(self.path.model.path.states)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        chances = self.path.ahead(sighting.trail)
        layer = int(chances.argmax())
        return [queued(layer, float(chances[layer]), len(chances))] * len(links)

    def key(self, evidence: Evidence) -> Key:
        return queue_key(evidence)

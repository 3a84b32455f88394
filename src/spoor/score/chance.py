"""Any waiting link, each with the same chance: the yardstick below breadth-first."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.records import Evidence, Link, Sighting
from spoor.roles import Merge
from spoor.score.merging import first


@dataclass(frozen=True)
class Chance:
    """Each link sets an alarm when it is found, an exponentially distributed while after the alarm of the page that
    found it; the earliest alarm goes first. Such alarms have no memory, so at every moment each waiting link is equally
    likely to be next, and still the order is fixed by `seed` and the URLs alone."""

    seed: int = 0

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"alarm": first}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        now = sighting.visit.evidence.get("alarm", 0.0)
        return [{"alarm": now + self._while(link.url)} for link in links]

    def key(self, evidence: Evidence) -> float:
        return -evidence["alarm"]

    def _while(self, url: str) -> float:
        digest = hashlib.blake2b(f"{self.seed} {url}".encode(), digest_size=7).digest()
        return -math.log((int.from_bytes(digest, "big") + 1) / 2**56)

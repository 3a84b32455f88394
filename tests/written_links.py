"""Pages with texts and links written down by hand, to learn paths from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spoor.ordering.path_model import PathModel
from spoor.ordering.train_paths import Lesson, train_paths


@dataclass(frozen=True)
class WrittenLinks:
    """`links` as in `c>b b>a`; a page is called by one word and says `said` under it, by default its name."""

    links: str
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return sorted({name for link in self.links.split() for name in link.split(">")})

    def numbers(self, names: str) -> NDArray[np.int64]:
        return np.array([self.names.index(name) for name in names.split()], np.int64)

    def pages(self) -> NDArray[np.int64]:
        return np.arange(len(self.names))

    def links_to(self, pages: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        ends = np.array([self.numbers(link.replace(">", " ")) for link in self.links.split()])
        held = ends[np.isin(ends[:, 1], pages)]
        return held[:, 0], held[:, 1]

    def said(self, page: int) -> tuple[str, str]:
        """A page without a text has no title either."""
        name = self.names[page]
        text = self.texts.get(name, name)
        return (name, text) if text else ("", "")


SAID = {"horse": "horse saddle mane", "stable": "stable hay barn", "road": "road mile sign", "city": "city tram shop"}
"""What pages say at 0, 1, 2 and 3 or more links from a relevant one."""


def corridors(count: int = 8) -> WrittenLinks:
    """Relevant pages behind stables behind roads behind cities, which link to each other."""
    kinds = ("city", "road", "stable", "horse")
    down = [f"{far}{n}>{near}{n}" for n in range(count) for far, near in pairwise(kinds)]
    around = [f"city{n}>city{(n + k) % count}" for n in range(count) for k in (1, 3)]
    back = [f"horse{n}>city{n}" for n in range(count)]
    texts = {f"{kind}{n}": f"{SAID[kind]} {SAID[kind]} number{n % 3}" for kind in kinds for n in range(count)}
    return WrittenLinks(" ".join(down + around + back), texts)


def learned(source: WrittenLinks | None = None, clusters: int | None = 4, layers: int = 3) -> PathModel:
    """A model of the paths to horses."""
    source = source or corridors()
    relevant = source.numbers(" ".join(name for name in source.names if name.startswith("horse")))
    return train_paths(source, relevant, Lesson("horse", "corridors", layers, clusters), lambda pages: None).model

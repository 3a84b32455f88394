"""Do wanted pages link to wanted pages? Counted over all links of a web, a slice at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spoor.webs.web import Web

_LINKS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Locality:
    """Counts of links between recorded pages, by whether the page they stand on is relevant."""

    from_relevant: int
    from_relevant_to_relevant: int
    from_others: int
    from_others_to_relevant: int

    @property
    def after_relevant(self) -> float | None:
        """P(child relevant | parent relevant); None when relevant pages have no links."""
        return self.from_relevant_to_relevant / self.from_relevant if self.from_relevant else None

    @property
    def after_others(self) -> float | None:
        """P(child relevant | parent irrelevant); None when irrelevant pages have no links."""
        return self.from_others_to_relevant / self.from_others if self.from_others else None


def locality(web: Web, relevant: NDArray[np.bool_]) -> Locality:
    counts = np.zeros((2, 2), np.int64)
    for first, last in _slices(web.link_offsets):
        targets = web.link_targets[web.link_offsets[first] : web.link_offsets[last]]
        parents = np.repeat(relevant[first:last], np.diff(web.link_offsets[first : last + 1]))
        held = targets < web.pages
        children = relevant[targets[held]]
        counts += np.bincount(2 * parents[held] + children, minlength=4).reshape(2, 2)
    return Locality(
        from_relevant=int(counts[1].sum()),
        from_relevant_to_relevant=int(counts[1, 1]),
        from_others=int(counts[0].sum()),
        from_others_to_relevant=int(counts[0, 1]),
    )


def _slices(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Pages from first to before last that have some millions of links together."""
    first, pages = 0, len(offsets) - 1
    while first < pages:
        last = int(np.searchsorted(offsets, offsets[first] + _LINKS_AT_ONCE, side="right"))
        last = min(max(last, first + 1), pages)
        yield first, last
        first = last

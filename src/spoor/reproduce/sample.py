"""Which pages are looked at beforehand, where a crawl begins, and which pages are within its reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.webs.web import Web

SHARE = 0.1
"""Of the pages of the web, to learn from; and as many again to set a threshold by."""
STARTS = 20


@dataclass(frozen=True, eq=False)
class Draw:
    """Two samples of pages that somebody sorted by hand, `to_learn` and `to_calibrate`; `seeds` are pages of the field
    that are in neither."""

    to_learn: NDArray[np.bool_]
    to_calibrate: NDArray[np.bool_]
    seeds: tuple[int, ...]

    @property
    def sample(self) -> NDArray[np.bool_]:
        return self.to_learn | self.to_calibrate


def draw(wanted: NDArray[np.bool_], answers: NDArray[np.bool_], seed: int) -> Draw:
    """Samples of pages about anything, so that the field has its natural share in them."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(answers))
    size = int(SHARE * len(order))
    to_learn, to_calibrate = (_mask(len(answers), part) for part in (order[:size], order[size : 2 * size]))
    left = order[2 * size :]
    seeds = left[wanted[left]][:STARTS]
    if len(seeds) < STARTS or not (wanted & to_learn).any() or not (wanted & to_calibrate).any():
        raise BadInput(f"{int(wanted.sum())} pages of the field are too few to learn from some and begin at {STARTS}")
    return Draw(to_learn, to_calibrate, tuple(seeds.tolist()))


def _mask(pages: int, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    mask = np.zeros(pages, np.bool_)
    mask[numbers] = True
    return mask


def within(web: Web, seeds: Sequence[int], depth: int) -> NDArray[np.bool_]:
    """Which pages are at most so many links away from a seed."""
    offsets, targets = web.steps()
    near = np.zeros(web.pages, np.bool_)
    edge = np.array(seeds)
    near[edge] = True
    for _ in range(depth):
        linked = [targets[offsets[page] : offsets[page + 1]] for page in edge]
        found = np.unique(np.concatenate([*linked, np.empty(0, np.int32)]))
        found = found[found < web.pages]
        edge = found[~near[found]]
        near[edge] = True
    return near

"""A hidden Markov model by counting: what the layers of pages and the clusters they show are known to be.

    π from pages, b_i from pages, a_ij and b_ij from links u → v, a_ijk from two links in a row u → v → w

Every count begins at `smoothing`, so that nothing is impossible because it was never seen. Paths of two links are
counted at the page in the middle: links to it by layer, times links from it by layer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spoor.context.hidden_markov import Floats, HiddenMarkov

SMOOTHING = 0.5
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Labelled:
    """Pages of which the layer is known, from 0 to `states` - 1, and the links between them by their places in `layer`.
    `cluster` is -1 where nobody looked."""

    states: int
    clusters: int
    layer: Numbers
    cluster: Numbers
    sources: Numbers
    targets: Numbers


def counted(known: Labelled, smoothing: float = SMOOTHING) -> HiddenMarkov:
    n, m = known.states, known.clusters
    seen = known.cluster >= 0
    into_seen = seen[known.targets]
    before, after = known.layer[known.sources], known.layer[known.targets]
    shown = known.cluster[known.targets]
    return HiddenMarkov(
        start=_shares(_tally((n,), known.layer), smoothing),
        start_shows=_shares(_tally((n, m), known.layer[seen], known.cluster[seen]), smoothing),
        first_step=_shares(_tally((n, n), before, after), smoothing),
        step=_shares(triples(known), smoothing),
        shows=_shares(_tally((n, n, m), before[into_seen], after[into_seen], shown[into_seen]), smoothing),
    )


def triples(known: Labelled) -> Floats:
    """How many paths of two links go through layers i, j, k."""
    n, pages = known.states, len(known.layer)
    coming = _tally((pages, n), known.targets, known.layer[known.sources])
    going = _tally((pages, n), known.sources, known.layer[known.targets])
    middles = [coming[known.layer == j].T @ going[known.layer == j] for j in range(n)]
    return np.stack(middles, axis=1)


def _tally(shape: tuple[int, ...], *indices: Numbers) -> Floats:
    """How often each combination of indices occurs."""
    flat = np.ravel_multi_index(indices, shape)
    return np.bincount(flat, minlength=int(np.prod(shape))).astype(np.float64).reshape(shape)


def _shares(counts: Floats, smoothing: float) -> Floats:
    smooth = counts + smoothing
    return np.asarray(smooth / smooth.sum(axis=-1, keepdims=True))

"""A hidden Markov model of the second order: forward, backward, and Baum-Welch. Viterbi is in `path_model.py`.

    π_i = P(q_0 = i)                                 b_i(o)  = P(o_0 = o | q_0 = i)
    a_ij = P(q_1 = j | q_0 = i)
    a_ijk = P(q_t = k | q_{t-2} = i, q_{t-1} = j)    b_ij(o) = P(o_t = o | q_{t-1} = i, q_t = j)

A model of the first order is the special case a_ijk = a_jk, b_ij = b_j. Here states are layers, distances to a relevant
page; the observation of a page is its nearest cluster.

    α_0(i) = π_i b_i(O_0)        α_1(i,j) = α_0(i) a_ij b_ij(O_1)        α_t(j,k) = [Σ_i α_{t-1}(i,j) a_ijk] b_jk(O_t)
    β_{T-1} = 1                  β_t(i,j) = Σ_k a_ijk b_jk(O_{t+1}) β_{t+1}(j,k)
    P(O) = Σ α_{T-1} = Σ α_t β_t for every t

Every α_t is divided by its sum c_t and β_t by c_{t+1}, so that long sequences do not underflow: ln P(O) = Σ ln c_t.

    γ_t = α_t β_t / P        ξ_t(i,j,k) = α_t(i,j) a_ijk b_jk(O_{t+1}) β_{t+1}(j,k) / P

Each iteration computes the expected counts of states and transitions, and normalises them to probabilities; the
likelihood never decreases. States may lose their meaning as layers, so re-estimation is only advisable with much data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

# A hidden Markov model of the second order: transitions and emissions depend on the last two states.


Floats = NDArray[np.float64]
_SLACK = 1e-6
"""Tolerance for sums of probabilities that were saved and loaded."""


@dataclass(frozen=True, eq=False)
class HiddenMarkov:
    """`start` is π_i, `start_shows` b_i(o), `first_step` a_ij, `step` a_ijk, `shows` b_ij(o). Each is a distribution
    over its last index; ValueError otherwise."""

    start: Floats = field(repr=False)
    start_shows: Floats = field(repr=False)
    first_step: Floats = field(repr=False)
    step: Floats = field(repr=False)
    shows: Floats = field(repr=False)

    def __post_init__(self) -> None:
        n, m = self.states, self.symbols
        expected = {"start": (n,), "start_shows": (n, m), "first_step": (n, n), "step": (n, n, n), "shows": (n, n, m)}
        for part in fields(self):
            values: Floats = getattr(self, part.name)
            if values.shape != expected[part.name]:
                raise ValueError(f"{part.name} has the shape {values.shape} instead of {expected[part.name]}")
            if not (values >= 0.0).all() or not np.allclose(values.sum(axis=-1), 1.0, rtol=0.0, atol=_SLACK):
                raise ValueError(f"{part.name} has values that are not probabilities")

    @property
    def states(self) -> int:
        return len(self.start)

    @property
    def symbols(self) -> int:
        return int(self.start_shows.shape[-1])

    def first_order(self) -> HiddenMarkov:
        """The model in which only the last state counts."""
        n, m = self.states, self.symbols
        step = np.broadcast_to(self.first_step, (n, n, n))
        shows = np.broadcast_to(self.start_shows, (n, n, m))
        return HiddenMarkov(self.start, self.start_shows, self.first_step, step, shows)


def scaled(values: Floats) -> tuple[Floats, float]:
    """Scaled to the sum 1, and the sum. If the sum is 0, the values stay 0."""
    total = float(values.sum())
    return (values / total if total else values), total


# The probability of a sequence, and the states behind it: forward and backward for the second order.


@dataclass(frozen=True, eq=False)
class Forward:
    """`alphas` for each time, scaled: the first by state, the others by the last two states. `scales` are c_t."""

    alphas: list[Floats]
    scales: list[float]

    @property
    def log_probability(self) -> float:
        """Minus infinity for an impossible sequence."""
        return sum(math.log(scale) if scale else -math.inf for scale in self.scales)


def forward(model: HiddenMarkov, seen: Sequence[int]) -> Forward:
    """`seen` has at least one symbol."""
    alpha, scale = scaled(model.start * model.start_shows[:, seen[0]])
    alphas, scales = [alpha], [scale]
    for symbol in seen[1:]:
        ahead = _first(model, alpha) if alpha.ndim == 1 else np.einsum("ij,ijk->jk", alpha, model.step)
        alpha, scale = scaled(ahead * model.shows[:, :, symbol])
        alphas.append(alpha)
        scales.append(scale)
    return Forward(alphas, scales)


def _first(model: HiddenMarkov, alpha: Floats) -> Floats:
    return alpha[:, None] * model.first_step


def backward(model: HiddenMarkov, seen: Sequence[int], scales: Sequence[float]) -> list[Floats]:
    """One array per time, shaped like the alphas of `forward`, whose scales are passed in."""
    betas = [np.ones((model.states,) * min(len(seen), 2))]
    for t in range(len(seen) - 2, -1, -1):
        behind = model.shows[:, :, seen[t + 1]] * betas[-1] / (scales[t + 1] or 1.0)
        indices = "ijk,jk->ij" if t else "ij,ij->i"
        betas.append(np.einsum(indices, model.step if t else model.first_step, behind))
    return betas[::-1]


# Re-estimation of a model from sequences: Baum-Welch for the second order.


def refined(model: HiddenMarkov, sequences: Sequence[Sequence[int]]) -> Iterator[tuple[HiddenMarkov, float]]:
    """Yields a better model per iteration, without end, and the log-likelihood before that iteration."""
    while True:
        model, before = _round(model, sequences)
        yield model, before


def _round(model: HiddenMarkov, sequences: Sequence[Sequence[int]]) -> tuple[HiddenMarkov, float]:
    start, start_shows = np.zeros_like(model.start), np.zeros_like(model.start_shows)
    first_step, step, shows = np.zeros_like(model.first_step), np.zeros(model.step.shape), np.zeros(model.shows.shape)
    total = 0.0
    for seen in sequences:
        found = forward(model, seen)
        total += found.log_probability
        alphas, betas = found.alphas, backward(model, seen, found.scales)
        start += alphas[0] * betas[0]
        start_shows[:, seen[0]] += alphas[0] * betas[0]
        for t in range(1, len(seen)):
            expected = alphas[t] * betas[t]
            first_step += expected if t == 1 else 0.0
            shows[:, :, seen[t]] += expected
        for t in range(1, len(seen) - 1):
            behind = model.shows[:, :, seen[t + 1]] * betas[t + 1] / (found.scales[t + 1] or 1.0)
            step += alphas[t][:, :, None] * model.step * behind
    counts = (start, start_shows, first_step, step, shows)
    earlier = (model.start, model.start_shows, model.first_step, model.step, model.shows)
    return HiddenMarkov(*map(_shares, counts, earlier)), total


def _shares(counts: Floats, earlier: Floats) -> Floats:
    """Distributions with no expected counts stay as they were."""
    totals = counts.sum(axis=-1, keepdims=True)
    return np.where(totals > 0.0, counts / np.where(totals > 0.0, totals, 1.0), earlier)

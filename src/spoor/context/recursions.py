"""How probable is a sequence, and which states are behind it? Forward, backward and Viterbi for the second order.

    α_0(i) = π_i b_i(O_0)        α_1(i,j) = α_0(i) a_ij b_ij(O_1)        α_t(j,k) = [Σ_i α_{t-1}(i,j) a_ijk] b_jk(O_t)
    β_{T-1} = 1                  β_t(i,j) = Σ_k a_ijk b_jk(O_{t+1}) β_{t+1}(j,k)
    P(O) = Σ α_{T-1} = Σ α_t β_t for every t

Every α_t is divided by its sum c_t and β_t by c_{t+1}, so that long sequences do not vanish: ln P(O) = Σ ln c_t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spoor.context.hidden_markov import Floats, HiddenMarkov, scaled


@dataclass(frozen=True, eq=False)
class Forward:
    """`alphas` for each time, scaled: the first by state, the others by the last two states. `scales` are c_t."""

    alphas: list[Floats]
    scales: list[float]

    @property
    def log_probability(self) -> float:
        """Minus infinity for a sequence that cannot be."""
        return sum(math.log(scale) if scale else -math.inf for scale in self.scales)


def forward(model: HiddenMarkov, seen: Sequence[int]) -> Forward:
    """`seen` has one symbol at least."""
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
    """For each time as the alphas of `forward`, whose scales are given."""
    betas = [np.ones((model.states,) * min(len(seen), 2))]
    for t in range(len(seen) - 2, -1, -1):
        behind = model.shows[:, :, seen[t + 1]] * betas[-1] / (scales[t + 1] or 1.0)
        indices = "ijk,jk->ij" if t else "ij,ij->i"
        betas.append(np.einsum(indices, model.step if t else model.first_step, behind))
    return betas[::-1]


def viterbi(model: HiddenMarkov, seen: Sequence[int]) -> tuple[list[int], float]:
    """The most probable states, and the logarithm of how probable they are together with what was seen."""
    with np.errstate(divide="ignore"):  # what is impossible has the logarithm minus infinity
        start, start_shows, first_step, step, shows = map(
            np.log, (model.start, model.start_shows, model.first_step, model.step, model.shows)
        )
    best = start + start_shows[:, seen[0]]
    cameby: list[Floats] = []
    for symbol in seen[1:]:
        if best.ndim == 1:
            best = best[:, None] + first_step + shows[:, :, symbol]
        else:
            ways = best[:, :, None] + step
            cameby.append(ways.argmax(axis=0))
            best = ways.max(axis=0) + shows[:, :, symbol]
    path = [int(place) for place in reversed(np.unravel_index(int(best.argmax()), best.shape))]
    for before in reversed(cameby):
        path.append(int(before[path[-1], path[-2]]))
    return path[::-1], float(best.max())

"""A model that explains sequences better than the one before: Baum-Welch for the second order.

    γ_t = α_t β_t / P        ξ_t(i,j,k) = α_t(i,j) a_ijk b_jk(O_{t+1}) β_{t+1}(j,k) / P

Each round counts how often every state and step is expected, and takes the shares for probabilities; the likelihood
never falls. States may drift away from what they stood for, so what was counted is better left alone unless there is
much to learn from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from spoor.context.hidden_markov import Floats, HiddenMarkov
from spoor.context.recursions import backward, forward


def refined(model: HiddenMarkov, sequences: Sequence[Sequence[int]]) -> Iterator[tuple[HiddenMarkov, float]]:
    """A better model with each round, as long as they are asked for, and the log-likelihood before that round."""
    while True:
        model, before = _round(model, sequences)
        yield model, before


def log_likelihood(model: HiddenMarkov, sequences: Sequence[Sequence[int]]) -> float:
    return sum(forward(model, seen).log_probability for seen in sequences)


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
    """Of what was never expected nothing is learned: it stays as it was."""
    totals = counts.sum(axis=-1, keepdims=True)
    return np.where(totals > 0.0, counts / np.where(totals > 0.0, totals, 1.0), earlier)

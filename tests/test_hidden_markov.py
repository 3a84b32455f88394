"""The hidden Markov model of the second order, against enumeration of every path (checks A-h1 to A-h6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spoor.errors import UsageError
from spoor.ordering.hidden_markov import HiddenMarkov, backward, forward, refined
from spoor.ordering.path_model import PathFilter

MODEL = HiddenMarkov(
    start=np.array([0.6, 0.4]),
    start_shows=np.array([[0.7, 0.3], [0.2, 0.8]]),
    first_step=np.array([[0.7, 0.3], [0.4, 0.6]]),
    step=np.array([[[0.8, 0.2], [0.3, 0.7]], [[0.5, 0.5], [0.1, 0.9]]]),
    shows=np.array([[[0.9, 0.1], [0.4, 0.6]], [[0.6, 0.4], [0.25, 0.75]]]),
)
SEEN = [0, 1, 1, 0]


def joint(model: HiddenMarkov, states: Sequence[int], seen: Sequence[int]) -> float:
    """P(states, seen), by the definition."""
    chance = float(model.start[states[0]] * model.start_shows[states[0], seen[0]])
    if len(seen) > 1:
        chance *= model.first_step[states[0], states[1]] * model.shows[states[0], states[1], seen[1]]
    for t in range(2, len(seen)):
        i, j, k = states[t - 2 : t + 1]
        chance *= model.step[i, j, k] * model.shows[j, k, seen[t]]
    return chance


def enumerated(model: HiddenMarkov, seen: Sequence[int]) -> dict[tuple[int, ...], float]:
    """Every sequence of states, with how probable it is together with what was seen."""
    return {path: joint(model, path, seen) for path in product(range(model.states), repeat=len(seen))}


def drawn(seed: int, states: int, symbols: int) -> HiddenMarkov:
    shapes = [(states,), (states, symbols), (states, states), (states,) * 3, (states, states, symbols)]
    parts = [np.random.default_rng(seed).random(shape) + 0.01 for shape in shapes]
    return HiddenMarkov(*(part / part.sum(axis=-1, keepdims=True) for part in parts))


models = st.builds(drawn, st.integers(0, 10_000), st.integers(2, 4), st.integers(2, 3))
sequences = st.lists(st.integers(0, 1), min_size=1, max_size=5)


# Forward and backward


@pytest.mark.parametrize(
    ("seen", "chance"),
    [([0], 0.5), ([0, 1], 0.1538), ([0, 1, 1], 0.084862), (SEEN, 0.03007919), ([1, 0, 0, 1, 1], 0.0296692137)],
)
def test_a_h1_a_sequence_is_as_probable_as_all_its_paths_together(seen: list[int], chance: float) -> None:
    assert math.exp(forward(MODEL, seen).log_probability) == pytest.approx(chance, abs=1e-10)
    assert sum(enumerated(MODEL, seen).values()) == pytest.approx(chance, abs=1e-10)


def test_a_h1_all_sequences_of_a_length_are_certain_together() -> None:
    chances = [math.exp(forward(MODEL, seen).log_probability) for seen in product((0, 1), repeat=4)]
    assert sum(chances) == pytest.approx(1.0)


def test_a_h2_forward_and_backward_have_the_published_values_when_scaling_is_undone() -> None:
    found = forward(MODEL, SEEN)
    before = np.cumprod(found.scales)
    alphas = [alpha * scale for alpha, scale in zip(found.alphas, before, strict=True)]
    betas = [beta * before[-1] / scale for beta, scale in zip(backward(MODEL, SEEN, found.scales), before, strict=True)]
    assert alphas[1] == pytest.approx(np.array([[0.0294, 0.0756], [0.0128, 0.036]]))
    assert alphas[2] == pytest.approx(np.array([[0.002992, 0.007368], [0.010512, 0.06399]]))
    assert alphas[3] == pytest.approx(np.array([[0.00688464, 0.00234176], [0.00516564, 0.01568715]]))
    assert betas[2] == pytest.approx(np.array([[0.8, 0.355], [0.65, 0.285]]))
    assert betas[1] == pytest.approx(np.array([[0.1066, 0.227625], [0.1465, 0.218375]]))
    for alpha, beta in zip(alphas, betas, strict=True):
        assert (alpha * beta).sum() == pytest.approx(0.03007919)


@settings(max_examples=30)
@given(models, sequences)
def test_any_model_gives_a_sequence_the_chance_of_all_its_paths(model: HiddenMarkov, seen: list[int]) -> None:
    found = forward(model, seen)
    assert math.exp(found.log_probability) == pytest.approx(sum(enumerated(model, seen).values()))
    for alpha, beta in zip(found.alphas, backward(model, seen, found.scales), strict=True):
        assert (alpha * beta).sum() == pytest.approx(1.0)


def test_long_sequences_do_not_vanish() -> None:
    assert forward(MODEL, SEEN * 2_000).log_probability < -1_000.0


def test_what_cannot_be_has_no_chance_and_breaks_nothing() -> None:
    sure = np.eye(2)
    model = HiddenMarkov(sure[0], sure, sure, np.stack([sure, sure]), np.stack([sure, sure]))
    assert forward(model, [1, 0, 1]).log_probability == -math.inf
    (better, before), *_ = islice(refined(model, [[1, 0, 1]]), 1)
    assert before == -math.inf and (better.step == model.step).all()


# What lies ahead


def ahead(model: HiddenMarkov, seen: Sequence[int], decoder: str = "forward") -> list[float]:
    """The state of the next page, step by step as a crawl learns of it."""
    path = PathFilter(model, decoder)
    state = path.begin(seen[0])
    if len(seen) == 1:
        return list(path.ahead_of_first(state))
    state = path.second(state, seen[1])
    for symbol in seen[2:]:
        state = path.go_on(state, symbol)
    return list(path.ahead(state))


def test_a_h4_what_lies_ahead_follows_from_all_that_was_seen() -> None:
    assert ahead(MODEL, SEEN) == pytest.approx([0.34448318, 0.65551682])
    assert np.array(ahead(MODEL, SEEN)) @ [1.0, 0.5] == pytest.approx(0.67224159)


def test_a_h4_viterbi_looks_ahead_from_the_most_probable_last_pair_alone() -> None:
    assert ahead(MODEL, SEEN, "viterbi") == pytest.approx([0.1, 0.9])


@settings(max_examples=30)
@given(models, sequences)
def test_the_state_ahead_is_that_of_enumeration(model: HiddenMarkov, seen: list[int]) -> None:
    chances = np.zeros(model.states)
    for path, chance in enumerated(model, seen).items():
        chances += chance * (model.step[path[-2], path[-1]] if len(path) > 1 else model.first_step[path[-1]])
    assert ahead(model, seen) == pytest.approx(chances / chances.sum())


@pytest.mark.parametrize(
    ("seen", "states"),
    [([0, 1], (0, 1)), ([0, 1, 1], (0, 1, 1)), (SEEN, (0, 1, 1, 1)), ([1, 0, 0, 1, 1], (1, 0, 1, 1, 1))],
)
def test_a_h3_viterbi_ends_where_the_published_path_does(seen: list[int], states: tuple[int, ...]) -> None:
    every = enumerated(MODEL, seen)
    assert max(every, key=every.__getitem__) == states
    assert ahead(MODEL, seen, "viterbi") == pytest.approx(MODEL.step[states[-2:]])


@settings(max_examples=30)
@given(models, sequences)
def test_viterbi_ends_where_the_most_probable_path_does(model: HiddenMarkov, seen: list[int]) -> None:
    every = enumerated(model, seen)
    path = max(every, key=every.__getitem__)
    expected = model.step[path[-2], path[-1]] if len(path) > 1 else model.first_step[path[-1]]
    assert ahead(model, seen, "viterbi") == pytest.approx(expected)


@pytest.mark.parametrize("decoder", ["forward", "viterbi"])
def test_many_paths_at_once_are_stepped_as_one_by_one(decoder: str) -> None:
    path, rng = PathFilter(drawn(1, 4, 3), decoder), np.random.default_rng(2)
    seen = rng.integers(0, 3, (3, 7))
    states = path.go_on(path.second(path.begin(seen[0]), seen[1]), seen[2])
    for number, (a, b, c) in enumerate(seen.T.tolist()):
        alone = path.go_on(path.second(path.begin(a), b), c)
        assert states[number] == pytest.approx(alone)
        assert path.ahead(states)[number] == pytest.approx(path.ahead(alone))


def test_a_decoder_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="decoder='both' is neither forward nor viterbi"):
        PathFilter(MODEL, "both")


# The first order


def first_order_chance(seen: Sequence[int]) -> float:
    """By the usual recursion over single states."""
    alpha = MODEL.start * MODEL.start_shows[:, seen[0]]
    for symbol in seen[1:]:
        alpha = (alpha @ MODEL.first_step) * MODEL.start_shows[:, symbol]
    return float(alpha.sum())


def test_a_h5_first_order_parameters_give_first_order_results() -> None:
    found = math.exp(forward(MODEL.first_order(), SEEN).log_probability)
    assert found == pytest.approx(0.0565983) and found == pytest.approx(first_order_chance(SEEN))


def test_the_first_order_looks_ahead_from_the_last_state_alone() -> None:
    alpha = MODEL.start * MODEL.start_shows[:, 0]
    for symbol in SEEN[1:]:
        alpha = (alpha @ MODEL.first_step) * MODEL.start_shows[:, symbol]
    assert ahead(MODEL.first_order(), SEEN) == pytest.approx(alpha @ MODEL.first_step / alpha.sum())


# Baum-Welch


def test_a_h6_every_round_explains_the_sequences_better() -> None:
    told = [[0, 1, 1, 0], [1, 0, 0, 1, 1], [0, 0, 1], [1, 1, 0, 1, 0, 0]]
    likelihoods = [before for _, before in islice(refined(MODEL, told), 21)]
    assert likelihoods[:3] == pytest.approx([-14.163549, -12.745244, -12.536492], abs=1e-6)
    assert likelihoods[-1] == pytest.approx(-7.542829, abs=1e-6)
    assert all(later >= earlier - 1e-12 for earlier, later in pairwise(likelihoods))


def test_what_are_no_probabilities_make_no_model() -> None:
    with pytest.raises(ValueError, match="first_step has values that are not probabilities"):
        HiddenMarkov(MODEL.start, MODEL.start_shows, MODEL.first_step * 2, MODEL.step, MODEL.shows)
    with pytest.raises(ValueError, match="step has the shape"):
        HiddenMarkov(MODEL.start, MODEL.start_shows, MODEL.first_step, MODEL.first_step, MODEL.shows)

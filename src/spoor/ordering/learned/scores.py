"""Evidence and keys of many links in one compiled call: `learned` scores some twenty links for every page."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import BOOL, INT, array, compiled, kernel, kernels_in
from spoor.frontier.evidence import PackedEvidence
from spoor.ordering.learned.expectations import COLUMNS, Counts, Floats, Numbers, checked, expectation_of
from spoor.records import Evidence

EVIDENCE = ("relevance", "relevant_parents", "parents", "since", "depth", "prior", *COLUMNS)
"""The evidence of every link, in this order."""
RELEVANCE, RELEVANT_PARENTS, PARENTS, SINCE, DEPTH, PRIOR, WORDS, SITE, HUB, LISTED, DEAD = range(len(EVIDENCE))
NEW = bytes(8 * len(EVIDENCE))
"""In place of the evidence of a link that is not known yet."""

STEP = 1.0
"""Log odds are rounded to multiples of this; among equals, links nearer to a seed are first, then those found first. So
links with similar scores are tried everywhere."""
UNSAID = 0.5
SLOPE = 0.3
"""Factor of the log odds below the floor, where evidence is less reliable."""

_ROW = struct.Struct(f"<{len(EVIDENCE)}d")
_MOVING = struct.Struct(f"<{len(COLUMNS)}d")
_UNMOVED = 8 * WORDS
"""The evidence before this byte does not change with learning."""

OwnKey = tuple[float, float, float]
Hub = tuple[int, bool]
"""The hash of a referring page, and whether it is relevant."""


WEIGHTED = 10
"""Number of weights of evidence, the first numbers of a model."""
_FLOOR, _EXPLORES, _FIRST_RELEVANT, _LEFT_OUT = range(WEIGHTED, WEIGHTED + 4)


class Experience(NamedTuple):
    """What scores depend on besides the evidence: the weights of words, the counters of `Yields`, and `model_of`. These
    are the arrays themselves, which change while a scorer learns. They are passed to compiled functions one by one,
    since numba takes microseconds to look into a tuple."""

    words: Floats
    counts: Counts
    untried: Floats
    model: Floats


_EXPERIENCE = array(np.float64), array(np.float32, 2), array(np.float64, 3), array(np.float64)
_LINKS = array(np.int32, read_only=True), array(np.int64)


def model_of(weights: Floats, floor: float, explores: bool, first_relevant: float, left_out: Sequence[bool]) -> Floats:
    """The weights of the evidence; the log odds below which a link has little positive evidence, and whether there is
    such a floor; the initial share of relevant pages; and which of `COLUMNS` are left out."""
    return np.array([*weights, floor, explores, first_relevant, *left_out], np.float64)


def set_model(model: Floats, weights: Floats, floor: float) -> None:
    """To be called when the weights or the floor have changed."""
    model[:WEIGHTED] = weights
    model[_FLOOR] = floor


def row_of(evidence: Evidence) -> bytes:
    """The numbers of evidence in the order of `EVIDENCE`."""
    if type(evidence) is PackedEvidence and (evidence.names is EVIDENCE or evidence.names == EVIDENCE):
        return evidence.numbers
    return _ROW.pack(*[evidence[name] for name in EVIDENCE])


def offered(
    packed: Sequence[bytes],
    hub: Hub,
    known: Sequence[Evidence | None],
    of_page: Floats,
    learned: Experience,
) -> list[tuple[Evidence, OwnKey]]:
    """Evidence and key of each link of a page, merged with what is known of it: the known evidence itself if that stays
    the same. `of_page` is the evidence that all its links inherit, up to the prior."""
    numbers, sizes = _joined(packed)
    rows = _rows([NEW if evidence is None else row_of(evidence) for evidence in known])
    is_known = np.array([evidence is not None for evidence in known], np.bool_)
    page, relevant = hub
    keys, unchanged = _offered(numbers, sizes, page, relevant, rows, is_known, of_page, *learned)
    found = _evidences(rows)
    for link in unchanged.nonzero()[0].tolist() if unchanged.any() else ():
        found[link] = known[link] or found[link]
    return list(zip(found, map(tuple, keys.tolist()), strict=True))


def rescored(
    packed: Sequence[bytes], hubs: Sequence[Hub], known: Sequence[Evidence], learned: Experience
) -> list[Evidence]:
    """The current evidence of each link."""
    numbers, sizes = _joined(packed)
    rows = _rows(list(map(row_of, known)))
    pages = np.array([page for page, _ in hubs], np.int64)
    are_relevant = np.array([relevant for _, relevant in hubs], np.bool_)
    _rescored(numbers, sizes, pages, are_relevant, rows, *learned)
    return _evidences(rows)


def reviewed(packed: bytes, hub: Hub, known: Evidence, learned: Experience) -> tuple[Evidence, OwnKey]:
    """The same for a single link before it is fetched, and its key."""
    row, (page, relevant) = row_of(known), hub
    link, numbers = np.frombuffer(checked(packed), np.int32), np.frombuffer(row, np.float64)
    moves, key = _reviewed(link, page, relevant, numbers, *learned)
    return PackedEvidence(EVIDENCE, row[:_UNMOVED] + _MOVING.pack(*moves)), key


def keys_of(evidence: Sequence[Evidence], model: Floats) -> list[OwnKey]:
    return list(map(tuple, _keys(_rows(list(map(row_of, evidence))), model).tolist()))


def parents_in(evidence: Sequence[Evidence], relevant: bool) -> list[float]:
    """The number of referring pages of each link that are relevant, or of those that are not."""
    rows = _rows(list(map(row_of, evidence)))
    found = rows[:, RELEVANT_PARENTS]
    parents: list[float] = (found if relevant else rows[:, PARENTS] - found).tolist()
    return parents


def _joined(packed: Sequence[bytes]) -> tuple[Numbers, NDArray[np.int64]]:
    """The numbers of all links, and how many each has."""
    sizes = np.array([len(one) // 4 for one in packed], np.int64)
    return np.frombuffer(b"".join(map(checked, packed)), np.int32), sizes


def _rows(packed: Sequence[bytes]) -> Floats:
    return np.frombuffer(bytearray().join(packed), np.float64).reshape(len(packed), len(EVIDENCE))


def _evidences(rows: Floats) -> list[Evidence]:
    packed, size = rows.tobytes(), len(NEW)
    return [PackedEvidence(EVIDENCE, packed[start : start + size]) for start in range(0, len(packed), size)]


@compiled
def _moves(
    link: Numbers, hub: int, relevant: bool, words: Floats, counts: Counts, untried: Floats, model: Floats
) -> tuple[float, float, float, float, float]:
    """The evidence that changes with learning: `COLUMNS` of a link."""
    first_relevant, left_out = model[_FIRST_RELEVANT], model[_LEFT_OUT:]
    said, site, of_hub, listed, dead = expectation_of(link, hub, relevant, words, counts, untried, first_relevant)
    return (
        0.0 if left_out[0] else said,
        0.0 if left_out[1] else site,
        0.0 if left_out[2] else of_hub,
        0.0 if left_out[3] else listed,
        0.0 if left_out[4] else dead,
    )


@kernel(*_LINKS, array(np.int64), array(np.bool_), array(np.float64, 2), *_EXPERIENCE)
def _rescored(
    numbers: Numbers,
    sizes: NDArray[np.int64],
    hubs: NDArray[np.int64],
    are_relevant: NDArray[np.bool_],
    rows: Floats,
    words: Floats,
    counts: Counts,
    untried: Floats,
    model: Floats,
) -> None:
    start = 0
    for link in range(len(sizes)):
        read = numbers[start : start + sizes[link]]
        start += sizes[link]
        for column, value in enumerate(_moves(read, hubs[link], are_relevant[link], words, counts, untried, model)):
            rows[link, WORDS + column] = value


@kernel(array(np.int32, read_only=True), INT, BOOL, array(np.float64, read_only=True), *_EXPERIENCE)
def _reviewed(
    link: Numbers,
    hub: int,
    relevant: bool,
    row: Floats,
    words: Floats,
    counts: Counts,
    untried: Floats,
    model: Floats,
) -> tuple[tuple[float, float, float, float, float], OwnKey]:
    """The evidence that changes with learning, and the key."""
    moves = _moves(link, hub, relevant, words, counts, untried, model)
    now = np.empty(len(EVIDENCE), np.float64)
    for column in range(WORDS):
        now[column] = row[column]
    for column, value in enumerate(moves):
        now[WORDS + column] = value
    return moves, _key(now, model)


@kernel(array(np.float64, 2), array(np.float64))
def _keys(rows: Floats, model: Floats) -> Floats:
    keys = np.empty((len(rows), 3), np.float64)
    for link in range(len(rows)):
        keys[link, 0], keys[link, 1], keys[link, 2] = _key(rows[link], model)
    return keys


@kernel(*_LINKS, INT, BOOL, array(np.float64, 2), array(np.bool_), array(np.float64), *_EXPERIENCE)
def _offered(
    numbers: Numbers,
    sizes: NDArray[np.int64],
    hub: int,
    relevant: bool,
    rows: Floats,
    is_known: NDArray[np.bool_],
    of_page: Floats,
    words: Floats,
    counts: Counts,
    untried: Floats,
    model: Floats,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Replaces the rows of known evidence by that of now. Returns the keys, and which known rows stay the same."""
    keys, unchanged = np.empty((len(sizes), 3), np.float64), np.zeros(len(sizes), np.bool_)
    found = np.empty(len(EVIDENCE), np.float64)
    for column in range(PRIOR):
        found[column] = of_page[column]
    start = 0
    for link in range(len(sizes)):
        read = numbers[start : start + sizes[link]]
        start += sizes[link]
        found[PRIOR] = read[0] / 1000
        for column, value in enumerate(_moves(read, hub, relevant, words, counts, untried, model)):
            found[WORDS + column] = value
        unchanged[link] = is_known[link]
        for column in range(len(EVIDENCE)):
            merged = _merged(column, rows[link, column], found[column]) if is_known[link] else found[column]
            unchanged[link] &= merged == rows[link, column]
            rows[link, column] = merged
        keys[link, 0], keys[link, 1], keys[link, 2] = _key(rows[link], model)
    return keys, unchanged


@compiled
def _merged(column: int, old: float, new: float) -> float:
    """As `Learned.merge` says; a contract test compares them."""
    if column in (RELEVANT_PARENTS, PARENTS):
        return old + new
    if column in (SINCE, DEPTH):
        return new if new < old else old
    if column == PRIOR:
        return new if abs(new) > abs(old) else old
    if column == SITE:
        return new
    return new if new > old else old


@compiled
def _key(row: Floats, model: Floats) -> OwnKey:
    """Summed in a fixed order, so that the result is the same on every machine."""
    weights, floor = model, model[_FLOOR]
    linking, relevant = row[PARENTS], row[RELEVANT_PARENTS]
    log_odds = row[WORDS] + (
        weights[0]
        + weights[1] * row[RELEVANCE]
        + weights[2] * (relevant / max(1.0, linking))
        + weights[3] * math.log1p(relevant)
        + weights[4] * math.log1p(linking)
        + weights[5] * row[SINCE]
        + weights[6] * row[SITE]
        + weights[7] * row[HUB]
        + weights[8] * row[LISTED]
        + weights[9] * row[PRIOR]
    )
    if not model[_EXPLORES]:
        return log_odds, 0.0, 0.0
    if log_odds >= floor:
        return STEP * float(np.floor(log_odds / STEP + 0.5)), 0.0, -row[DEPTH]
    elsewhere = row[SITE] + row[PRIOR] + row[DEAD] + UNSAID * row[WORDS]
    elsewhere = float(np.floor(elsewhere + 0.5))
    return floor - STEP + SLOPE * min(0.0, elsewhere), elsewhere, -row[DEPTH]


KERNELS = kernels_in(__name__)

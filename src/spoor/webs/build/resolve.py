"""Which page does each link lead to: the one recorded under its URL, a near miss, or none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spoor.urls import difference, near_misses
from spoor.webs.build.gather import Gathered, Report


@dataclass(frozen=True)
class Resolved:
    """`urls` are the pages of the web in order, then the URLs that are only linked to.

    `final` gives for each number of the gathering the number in the web, -1 when nothing in the web needs it.
    """

    urls: list[str]
    pages: int
    rows: NDArray[np.int64]
    final: NDArray[np.int32]
    near: NDArray[np.bool_]


def resolve(gathered: Gathered, exact: bool, report: Report) -> Resolved:
    """With `exact` only the very URL leads to a page."""
    names = list(gathered.numbers)
    rows = np.fromiter(gathered.record_of.values(), np.int64, len(gathered.record_of))
    pages = np.fromiter(gathered.record_of, np.int64, len(rows))
    final = np.full(len(names), -1, np.int32)
    final[pages] = np.arange(len(pages), dtype=np.int32)
    uses = _uses(gathered, rows, len(names))
    absent = np.flatnonzero((uses > 0) & (final < 0))
    near = np.zeros(len(names), np.bool_)
    if not exact:
        for number in absent.tolist():
            if (page := _near_page(names[number], gathered)) is not None:
                near[number], final[number] = True, final[page]
                report[f"near-miss links: other {difference(names[number], names[page])}"] += int(uses[number])
    unrecorded = absent[~near[absent]]
    final[unrecorded] = np.arange(len(pages), len(pages) + len(unrecorded), dtype=np.int32)
    urls = [names[number] for number in (*pages.tolist(), *unrecorded.tolist())]
    return Resolved(urls, len(pages), rows, final, near)


def _uses(gathered: Gathered, rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """How many links and redirects lead to each number, from the rows that speak for their URL."""
    kept = np.zeros(len(gathered.status), np.bool_)
    kept[rows] = True
    linked = np.frombuffer(gathered.links, np.int32)[np.repeat(kept, np.diff(gathered.link_offsets))]
    redirects = np.frombuffer(gathered.redirect, np.int32)[rows]
    return np.bincount(linked, minlength=count) + np.bincount(redirects[redirects >= 0], minlength=count)


def _near_page(url: str, gathered: Gathered) -> int | None:
    for other in near_misses(url):
        number = gathered.numbers.get(other)
        if number is not None and number in gathered.record_of:
            return number
    return None

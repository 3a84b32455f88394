"""Walks through a web, as a crawl may go them: what is seen page by page, to refine a path model with."""

from __future__ import annotations

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from spoor.context.clusters import evenly
from spoor.context.observer import Observer, words_in
from spoor.roles import BacklinkSource

WALKS, STEPS = 300, 6
"""So many walks, of so many pages at most."""


def seen_on_walks(source: BacklinkSource, observer: Observer) -> list[list[int]]:
    """The clusters of the pages of each walk. Walks begin all over the web; which link is taken follows from the page
    and the step alone. A walk of one page says nothing of steps and is left out."""
    pages = source.pages()
    sources, targets = source.links_to(pages)
    order = np.argsort(sources, kind="stable")
    sources, targets = sources[order], targets[order]
    clusters: dict[int, int] = {}
    found = []
    for start in pages[evenly(len(pages), WALKS)].tolist():
        walk = _walk(start, sources, targets)
        for page in walk:
            if page not in clusters:
                clusters[page] = observer.cluster(words_in(*source.said(page)))
        if len(walk) > 1:
            found.append([clusters[page] for page in walk])
    return found


def _walk(page: int, sources: NDArray[np.int64], targets: NDArray[np.int64]) -> list[int]:
    walk = [page]
    for step in range(STEPS - 1):
        begin, end = np.searchsorted(sources, [page, page + 1])
        if begin == end:
            break
        page = int(targets[begin + crc32(f"{page} {step}".encode()) % (end - begin)])
        walk.append(page)
    return walk

"""How far is each page from a wanted one? Layers around the wanted pages, against the direction of links."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spoor.roles import BacklinkSource

Layers = NDArray[np.int64]
"""For each page, in the order of `BacklinkSource.pages`: the layer it belongs to."""


def layers(source: BacklinkSource, wanted: NDArray[np.int64], most: int) -> Layers:
    """Layer 0 are the wanted pages; a page of layer k has a link to one of layer k - 1 and to none of a nearer one.
    Pages farther than `most`, or from which no wanted page can be reached, are in layer `most` + 1."""
    pages = source.pages()
    found = np.full(len(pages), most + 1, np.int64)
    newest = np.flatnonzero(np.isin(pages, wanted))
    for layer in range(most + 1):
        found[newest] = layer
        linking, _ = source.links_to(pages[newest])
        places = np.unique(np.searchsorted(pages, linking))
        newest = places[found[places] > most]
    return found

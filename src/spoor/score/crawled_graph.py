"""The web as far as it was crawled: which pages were visited, and where their links lead."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from spoor.records import Page
from spoor.saved_state import ANY, State, array_in, texts_in

Numbers = NDArray[np.int32]
Floats = NDArray[np.float64]


class CrawledGraph:
    """URLs are numbered as they are met; only visited ones have links. Four bytes for each end of a link: of what is
    kept here the URLs take the most."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self._numbers: dict[str, int] = {}
        self._degrees = array("i")
        self._sources = array("i")
        self._targets = array("i")

    def __len__(self) -> int:
        return len(self.urls)

    def visit(self, page: Page) -> int:
        """Takes a page in; returns its number."""
        number = self.number(page.url)
        targets = [self.number(link.url) for link in page.links]
        self._degrees[number] = page.out_degree
        self._sources.extend([number] * len(targets))
        self._targets.extend(targets)
        return number

    def number(self, url: str) -> int:
        """Of a URL that may be new."""
        number = self._numbers.get(url)
        if number is None:
            number = self._numbers[url] = len(self.urls)
            self.urls.append(url)
            self._degrees.append(-1)
        return number

    def state(self) -> State:
        sources, targets = self.links()
        return {"urls": list(self.urls), "degrees": self.degrees(), "sources": sources, "targets": targets}

    def restore(self, state: State) -> None:
        urls = texts_in(state, "urls")
        degrees = array_in(state, "degrees", np.int32, (len(urls),), -1)
        sources = array_in(state, "sources", np.int32, (ANY,), 0, len(urls) - 1)
        targets = array_in(state, "targets", np.int32, sources.shape, 0, len(urls) - 1)
        self.urls, self._numbers = list(urls), {url: number for number, url in enumerate(urls)}
        self._degrees, self._sources, self._targets = (
            array("i", numbers.tobytes()) for numbers in (degrees, sources, targets)
        )

    def links(self) -> tuple[Numbers, Numbers]:
        """Where they stand, and where they lead."""
        return np.array(self._sources, np.int32), np.array(self._targets, np.int32)

    def degrees(self) -> Numbers:
        """The links of each page, those out of a recorded web included; -1 for one that was not visited."""
        return np.array(self._degrees, np.int32)

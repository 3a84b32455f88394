"""Who links to the pages of a web, and what they say: what a path model is trained on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.webs.web import Web

_REDIRECTS = 5
"""In a row that a crawl follows."""


@dataclass(frozen=True)
class WebBacklinks:
    """Only pages that came as pages count. A link to a redirect is one to where it leads: that costs a crawl no step of
    its path."""

    web: Web

    def pages(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.web.answers())

    def links_to(self, pages: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        sources, targets = self._links
        begins, ends = np.searchsorted(targets, pages, "left"), np.searchsorted(targets, pages, "right")
        counts = ends - begins
        # For each page the places from `begins` to `ends`, one run after the other.
        places = np.arange(counts.sum()) + np.repeat(begins - np.concatenate([[0], counts.cumsum()[:-1]]), counts)
        return sources[places], targets[places]

    def said(self, page: int) -> tuple[str, str]:
        if not self.web.has_content:
            raise BadInput(
                f"the web {self.web.name} has no texts; build it from WARC files, or generate it with --text"
            )
        title, text, *_ = self.web.texts[page] or ("", "")
        return title, text

    @cached_property
    def _links(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Who links, and to whom; by whom is linked to."""
        web, answers = self.web, self.web.answers()
        sources = np.repeat(np.arange(web.pages), np.diff(web.link_offsets))
        targets = self._final[web.link_targets]
        held = (targets < web.pages) & answers[sources]
        sources, targets = sources[held], targets[held]
        good = answers[targets]
        order = np.argsort(targets[good], kind="stable")
        return sources[good][order], targets[good][order]

    @cached_property
    def _final(self) -> NDArray[np.int64]:
        """Where a link to each URL ends up."""
        final = np.arange(len(self.web.urls))
        if self.web.redirects is not None:
            leads = np.append(self.web.redirects, np.full(len(final) - self.web.pages, -1))
            for _ in range(_REDIRECTS):
                final = np.where(leads[final] >= 0, leads[final], final)
        return final

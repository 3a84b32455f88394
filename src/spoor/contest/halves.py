"""A web in two halves: one to learn from, one to crawl. By sites where that can be done, otherwise page by page."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spoor.domains import registrable_domain
from spoor.urls import host_of
from spoor.webs.graph import reachable
from spoor.webs.part import write_part
from spoor.webs.web import Web

LEAST_SHARE = 0.2
"""Of the wanted pages that either half must have, or sites are no way to part the web."""
MOST_LINKED = 200
"""Pages with most links, among which hubs to begin from are drawn."""
SEEDS = 3
ENOUGH = 50
"""Wanted pages that can be reached from seeds; the first draw from which so many can is taken."""

How = Literal["sites", "pages"]


@dataclass(frozen=True)
class Halves:
    """`how`: the web is parted by its sites, all hosts of a registrable domain together; or by its pages, where the
    wanted ones are on too few sites. Then a site has pages in both halves, which makes it easier to know the others."""

    web: Path
    how: How

    @property
    def taught(self) -> str:
        """The name of the half that is learned from."""
        return f"{self.web.name}-by-{self.how}-to-learn"

    @property
    def crawled(self) -> str:
        return f"{self.web.name}-by-{self.how}-to-crawl"


def halved(folder: Path, target: str) -> Halves:
    web = Web.open(folder)
    wanted = web.labelled(target) & web.answers()
    share = float(teaching(web, "sites")[wanted].mean()) if wanted.any() else 0.0
    return Halves(folder, "sites" if LEAST_SHARE <= share <= 1.0 - LEAST_SHARE else "pages")


def teaching(web: Web, how: How) -> NDArray[np.bool_]:
    """Which pages are to be learned from: about every second site or page, always the same."""
    said: Callable[[str], str] = _site if how == "sites" else str
    return np.array([draw(said(web.urls[number])) % 2 == 0 for number in range(web.pages)], np.bool_)


def _site(url: str) -> str:
    host = host_of(url)
    return registrable_domain(host) or host


def write_halves(halves: Halves, webs: Path) -> None:
    """Into the folder `webs`, unless they are there."""
    web = Web.open(halves.web)
    teaches = teaching(web, halves.how)
    for name, kept in ((halves.taught, teaches), (halves.crawled, ~teaches)):
        if not (webs / name).exists():
            write_part(web, kept, name, webs / name)


def seeds(web: Web, target: str, start: str) -> tuple[str, ...]:
    """Three wanted pages to start from; or, for the start `hub`, three of those with most links that are not wanted.
    Drawn again until enough wanted pages can be reached from them; the best draw, if that is never so. None when there
    are no three, or none from which a wanted page can be reached."""
    numbers = _hubs(web, target) if start == "hub" else np.flatnonzero(web.answers() & web.labelled(target))
    urls = [web.urls[int(number)] for number in numbers]
    order = sorted(range(len(urls)), key=lambda place: draw(f"{target} {start} {urls[place]}"))
    best: tuple[int, ...] = ()
    most = 0
    for first in range(0, len(order) - SEEDS + 1, SEEDS):
        three = tuple(order[first : first + SEEDS])
        found = _within_reach(web, target, numbers[list(three)])
        if found > most:
            best, most = three, found
        if found >= ENOUGH:
            break
    return tuple(urls[place] for place in best)


def _hubs(web: Web, target: str) -> NDArray[np.int64]:
    links = np.where(web.answers() & ~web.labelled(target), np.diff(web.link_offsets), -1)
    return np.argsort(-links, kind="stable")[:MOST_LINKED]


def _within_reach(web: Web, target: str, begin: NDArray[np.int64]) -> int:
    """How many wanted pages can be reached."""
    found = reachable(*web.steps(), begin.tolist(), web.pages)
    return int((found & web.answers() & web.labelled(target)).sum())


def draw(text: str) -> int:
    """A number that follows from the text and from nothing else."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")

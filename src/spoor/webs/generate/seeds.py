"""Where crawls of a generated web begin: pages drawn at random among those that qualify."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spoor.webs.generate.randomness import begin, below, new_stream, seed_of
from spoor.webs.web import Web

SEED_PAGES = 100
"""The purpose of this stream of chance; those of pages and hosts are small numbers."""

TRIES = 10_000


def draw_seeds(seed: int, pages: int, qualifies: Callable[[int], bool], count: int) -> list[int]:
    """Distinct page numbers in the order drawn; fewer than `count` when the web hardly has them."""
    stream, found = new_stream(), list[int]()
    begin(stream, seed_of(seed), SEED_PAGES, 0)
    for _ in range(TRIES):
        page = below(stream, pages)
        if page not in found and qualifies(page):
            found.append(page)
        if len(found) == count:
            break
    return found


def write_seeds(folder: Path, seeds: list[int]) -> None:
    """seeds.txt, a URL a line; the rest of the web must be there already."""
    urls = Web.open(folder).urls
    (folder / "seeds.txt").write_text("".join(f"{urls[page]}\n" for page in seeds), "utf8")

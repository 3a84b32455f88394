"""Shared code of all generators: the request, named random streams, seeds, and writing of contents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import compiled
from spoor.lab.web import Web
from spoor.progress import Advance
from spoor.settings import USUAL_PARSING, ParseSettings

# Random numbers: splitmix64 streams named by (seed, purpose, number), so that every host and every page can be drawn
# independently, in any order, with the same result on any machine.


Stream = NDArray[np.uint64]
"""One number: the state. Functions that draw modify it."""

GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR: Final = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR: Final = np.uint64(0x94D049BB133111EB)
TO_UNIT: Final = 2.0**-53


def seed_of(seed: int) -> np.uint64:
    """Converts any integer to the seed of streams."""
    return np.uint64(seed % 2**64)


@compiled
def new_stream() -> Stream:
    return np.zeros(1, np.uint64)


@compiled
def _mixed(bits: np.uint64) -> np.uint64:
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST_FACTOR
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND_FACTOR
    return bits ^ (bits >> np.uint64(31))


@compiled
def begin(stream: Stream, seed: np.uint64, purpose: int, number: int) -> None:
    """Resets the stream to the start of the one named (seed, purpose, number)."""
    named = _mixed(seed + GOLDEN * np.uint64(purpose + 1))
    stream[0] = _mixed(named + GOLDEN * np.uint64(number + 1))


@compiled
def chance(stream: Stream) -> float:
    """Uniform in [0, 1)."""
    stream[0] += GOLDEN
    return float(_mixed(stream[0]) >> np.uint64(11)) * TO_UNIT


@compiled
def below(stream: Stream, limit: int) -> int:
    """A uniform integer from 0 to limit - 1."""
    return int(chance(stream) * limit)


@compiled
def bell(stream: Stream) -> float:
    """Standard normal (Box-Muller)."""
    radius = np.sqrt(-2.0 * np.log(1.0 - chance(stream)))
    return float(radius * np.cos(2.0 * np.pi * chance(stream)))


@compiled
def place(stream: Stream, cumulative: NDArray[np.float64]) -> int:
    """An index drawn with the weights whose cumulative sums are given; the last sum is 1."""
    return min(int(np.searchsorted(cumulative, chance(stream), side="right")), len(cumulative) - 1)


def running_sums(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normalised cumulative sums for `place`, along the last axis."""
    sums: NDArray[np.float64] = np.cumsum(weights, axis=-1)
    return sums / sums[..., -1:]


# The request to a generator.


@dataclass(frozen=True)
class Request:
    """`text`: also write the HTML of pages, in generators where this is optional; `parsing`: how it is read. `words`: a
    word list or dictionary to use. `mislabelled`: the share of relevant pages that declare no charset or a wrong one.
    `errors` and `non_html`: shares of all URLs, in addition to the pages."""

    name: str
    pages: int
    seed: int
    text: bool = False
    words: Path | None = None
    mislabelled: float = 0.0
    errors: float = 0.0
    non_html: float = 0.0
    parsing: ParseSettings = USUAL_PARSING

    @property
    def made_from(self) -> dict[str, Any]:
        """The parameters stored in web.json. The same request with the same words always makes the same web."""
        about: dict[str, Any] = {"generator": self.name, "pages": self.pages, "seed": self.seed}
        if self.text:
            about["text"] = True
        if self.words:
            about["words"] = self.words.name
        if self.parsing != USUAL_PARSING:
            about |= {"main_text": self.parsing.main_text, "context": self.parsing.context}
        shares = {"mislabelled": self.mislabelled, "errors": self.errors, "non_html": self.non_html}
        return about | {name: share for name, share in shares.items() if share}


Draw = Callable[[Request, Path, Advance], None]
"""Writes the requested web into a folder."""


# Seeds of a generated web: pages drawn at random among those that qualify.


SEED_PAGES = 100
"""The purpose of this random stream; those of pages and hosts are small numbers."""

TRIES = 10_000


def draw_seeds(seed: int, pages: int, qualifies: Callable[[int], bool], count: int) -> list[int]:
    """Distinct page numbers in the order drawn; fewer than `count` if hardly any page qualifies."""
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
    """Writes seeds.txt, one URL per line. The rest of the web must be complete."""
    urls = Web.open(folder).urls
    (folder / "seeds.txt").write_text("".join(f"{urls[page]}\n" for page in seeds), "utf8")

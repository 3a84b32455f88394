"""Search sources as users write them, queried concurrently; their results ranked by agreement, as a file of seeds.

High: two engines or more. Medium: one engine, more than once. Low: one engine, once.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal

from spoor.errors import UsageError
from spoor.progress import Advance
from spoor.records import Failure
from spoor.seeding.asking import Ask, Listing, ResultSource
from spoor.seeding.sources import CdxIndex, OpenSearch, ResultFile, SearXng
from spoor.urls import normalise

# Confidence in a result, by the number of engines that list it.


Confidence = Literal["high", "medium", "low"]
CONFIDENCES: tuple[Confidence, ...] = ("high", "medium", "low")


@dataclass(frozen=True, slots=True)
class Seed:
    """`engines` are those that list it, `rank` is its best position in any of them, from 1."""

    url: str
    confidence: Confidence
    engines: tuple[str, ...]
    rank: int


def agreed(listings: Iterable[Listing]) -> list[Seed]:
    """Best first. Listings of the same engine are merged, whatever source they came from."""
    ranks: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for listing in listings:
        for rank, url in enumerate(listing.urls, 1):
            ranks[url][listing.engine].append(rank)
    seeds = [
        Seed(url, _confidence(list(by_engine.values())), tuple(by_engine), min(map(min, by_engine.values())))
        for url, by_engine in ranks.items()
    ]
    return sorted(seeds, key=lambda seed: (CONFIDENCES.index(seed.confidence), seed.rank, seed.url))


def _confidence(ranks_by_engine: list[list[int]]) -> Confidence:
    if len(ranks_by_engine) > 1:
        return "high"
    return "medium" if len(ranks_by_engine[0]) > 1 else "low"


# Querying all sources concurrently; a failed source does not affect the others.


@dataclass(frozen=True)
class Gathered:
    """The listings, in the order of the sources; and the reason for each source that failed."""

    listings: tuple[Listing, ...]
    failed: Mapping[str, Failure]


async def gather(sources: Mapping[str, ResultSource], query: str, most: int, ask: Ask, advance: Advance) -> Gathered:
    """`most` results of each engine; `advance` is called for every source that has answered or failed."""

    async def answer_of(source: ResultSource) -> tuple[Listing, ...] | Failure:
        found = await source.listings(query, most, ask)
        advance(1)
        return found if isinstance(found, Failure) else tuple(found)

    answers = await asyncio.gather(*map(answer_of, sources.values()))
    listings = [listing for answer in answers if not isinstance(answer, Failure) for listing in answer]
    failed = {name: answer for name, answer in zip(sources, answers, strict=True) if isinstance(answer, Failure)}
    return Gathered(tuple(listings), failed)


# Search sources as users write them: `KIND:WHERE`.


def source(spec: str) -> ResultSource:
    kind, _, where = spec.partition(":")
    if kind not in KINDS or not where:
        known = ", ".join(f"{name}:{what}" for name, (what, _) in KINDS.items())
        raise UsageError(f"unknown source {spec!r}; known are {known}")
    return KINDS[kind][1](where)


def _url(where: str) -> str:
    url = normalise(where)
    if url is None:
        raise UsageError(f"source {where!r}: not an http(s) URL")
    return url


KINDS: dict[str, tuple[str, Callable[[str], ResultSource]]] = {
    "file": ("PATH", lambda where: ResultFile(Path(where))),
    "searxng": ("URL", lambda where: SearXng(_url(where))),
    "opensearch": ("TEMPLATE", OpenSearch),
    "cdx": ("URL", lambda where: CdxIndex(_url(where))),
}
"""For each kind, the form of its argument and its factory."""


# Seeds as a file that a crawl can start from: one URL per line, best first, with comments that give the reason.


MEANINGS = {
    "high": "named by two engines or more",
    "medium": "named more than once by one engine",
    "low": "named once",
}


def seed_file(query: str, seeds: Sequence[Seed]) -> str:
    return "\n".join([f"# {len(seeds)} seeds for: {' '.join(query.split())}", *_lines(seeds), ""])


def _lines(seeds: Sequence[Seed]) -> Iterator[str]:
    for confidence, alike in groupby(seeds, key=lambda seed: seed.confidence):
        yield f"# {confidence}: {MEANINGS[confidence]}"
        yield from (seed.url for seed in alike)

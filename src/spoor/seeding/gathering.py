"""Asking all sources at once; one that fails does not keep the others from answering."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from spoor.records import Failure
from spoor.seeding.source import Ask, Listing, ResultSource


@dataclass(frozen=True)
class Gathered:
    """What came, in the order of the sources; and of those that failed, why."""

    listings: tuple[Listing, ...]
    failed: Mapping[str, Failure]


async def gather(
    sources: Mapping[str, ResultSource], query: str, most: int, ask: Ask, advance: Callable[[int], None]
) -> Gathered:
    """`most` results of each engine; `advance` is told of every source that has answered or failed."""

    async def listings(source: ResultSource) -> tuple[Listing, ...] | Failure:
        found = await source.listings(query, most, ask)
        advance(1)
        return found if isinstance(found, Failure) else tuple(found)

    answers = await asyncio.gather(*map(listings, sources.values()))
    told = [listing for answer in answers if not isinstance(answer, Failure) for listing in answer]
    failed = {name: answer for name, answer in zip(sources, answers, strict=True) if isinstance(answer, Failure)}
    return Gathered(tuple(told), failed)

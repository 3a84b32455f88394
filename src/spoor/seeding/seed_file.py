"""Seeds as a file that a crawl can start from: a URL a line, the best first, and comments that say why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from spoor.seeding.agreement import Seed

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

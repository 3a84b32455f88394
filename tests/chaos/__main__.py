"""`python -m tests.chaos --minutes 30`: a crawl of hosts that do everything wrong, stopped and resumed at random."""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import tempfile
import time
from pathlib import Path

from tests.chaos.crawled import Crawled, chaos_hosts, crawl_until, settings_for

MAX_BYTES, LONGEST_HELD, LATEST = 600_000_000, 0.25, 2.0
"""Memory of all processes, processor seconds in one turn of the loop, and seconds until the crawl has stopped."""
LONGEST_ROUND = 180.0
"""Seconds. A round is at least a second long."""


async def rounds(minutes: float, seed: int, workers: int) -> int:
    """How many of them violated a rule."""
    chance, until, broken = random.Random(seed), time.monotonic() + 60 * minutes, 0
    with tempfile.TemporaryDirectory() as folder:
        async with chaos_hosts() as servers:
            crawled = Crawled(servers, Path(folder) / "crawl")
            settings = settings_for([server.url("/") for server in servers], pages_per_host=None, workers=workers)
            while (left := until - time.monotonic()) > 0:
                stop_at = time.monotonic() + min(left, 1.0 + chance.expovariate(3.0 / LONGEST_ROUND))

                async def enough(crawled: Crawled, stop_at: float = stop_at) -> bool:
                    return time.monotonic() >= stop_at

                crawled = await crawl_until(crawled, settings, enough)
                broken += _tell(crawled)
    return broken


def _tell(crawled: Crawled) -> bool:
    """Prints a line, and says whether a promise was broken."""
    ((pages, failed),) = crawled.rows(
        "SELECT (SELECT count(*) FROM pages), (SELECT count(*) FROM events WHERE kind = 'failed')"
    )
    told = {"held": math.inf, **crawled.told}
    miscounted = crawled.miscounted()
    wrong = [
        *(["it ended badly"] if crawled.code or crawled.errors else []),
        *(["memory"] if crawled.memory > MAX_BYTES else []),
        *(["the loop was held"] if told["held"] > LONGEST_HELD else []),
        *(["it stopped late"] if crawled.seconds > LATEST else []),
        *([f"miscounted {miscounted}"] if miscounted else []),
    ]
    figures = f"{crawled.memory / 1e6:4.0f} MB, held {1e3 * told['held']:4.0f} ms, stopped in {crawled.seconds:.1f} s"
    print(
        f"{pages:7,} pages {failed:7,} failed {figures}  {', '.join(wrong) or 'good'} {crawled.errors[-2000:]}",
        flush=True,
    )
    return bool(wrong)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0, help="of the times at which it is stopped")
    parser.add_argument("--workers", type=int, default=0, help="of the crawl")
    arguments = parser.parse_args()
    raise SystemExit(1 if asyncio.run(rounds(arguments.minutes, arguments.seed, arguments.workers)) else 0)

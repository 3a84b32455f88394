"""`spoor seeds`: finds seeds in the results of several search sources."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from spoor.cli.terminal import check_result, print_json, progress, say_of, write_text
from spoor.errors import BadInput, UsageError
from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http import HttpFetcher
from spoor.fetch.proxies import Proxies
from spoor.live.from_settings import user_agent
from spoor.live.surroundings import remarks
from spoor.seeding.asking import ResultSource, asking
from spoor.seeding.search import CONFIDENCES, Gathered, Seed, agreed, gather, seed_file, source
from spoor.settings import Config, Crawling

_log = logging.getLogger(__name__)

SHOWN = 20
"""Seeds shown on the terminal; all are in the file."""


def run_seeds(arguments: argparse.Namespace) -> int:
    query = " ".join(arguments.query.split())
    if not query or not query.isprintable():
        raise UsageError(f"--query {arguments.query!r} has no words to search for")
    sources = {spec: source(spec) for spec in arguments.source}
    check_result(arguments.out, arguments.json)
    for line in remarks(arguments.proxy, os.environ):
        _log.warning("%s", line)
    gathered = asyncio.run(_ask_all(sources, query, arguments))
    failures = [f"{name}: {failure.reason}" for name, failure in gathered.failed.items()]
    if len(failures) == len(sources):
        raise BadInput("no source returned results: " + "; ".join(failures))
    for failure in failures:
        _log.warning("%s; continuing without it", failure)
    seeds = agreed(gathered.listings)[: arguments.limit]
    if not seeds:
        raise BadInput(f"no source found a page for {query!r}; try other words")
    write_text(arguments.out, seed_file(query, seeds))
    if arguments.json:
        print_json({"file": str(arguments.out), "seeds": [asdict(seed) for seed in seeds]})
    else:
        say_of(arguments.out, *_lines(seeds, arguments.out))
    return 0


async def _ask_all(sources: dict[str, ResultSource], query: str, arguments: argparse.Namespace) -> Gathered:
    limits = FetchLimits(connect=arguments.timeout, idle=arguments.timeout, whole=arguments.timeout)
    agent = user_agent(Config(crawl=Crawling(contact=arguments.contact)))
    proxies = Proxies.of(arguments.proxy, os.environ)
    async with HttpFetcher(agent, limits, time.time, proxies=proxies, allow_private=arguments.allow_private) as fetcher:
        with progress("sources", len(sources)) as advance:
            return await gather(sources, query, arguments.each, asking(fetcher), advance)


def _lines(seeds: Sequence[Seed], out: Path) -> Iterator[str]:
    shown = seeds[:SHOWN]
    width = max(len(seed.url) for seed in shown)
    for seed in shown:
        yield f"{seed.confidence:<8}{seed.url:<{width}}  {', '.join(seed.engines)}"
    if len(seeds) > len(shown):
        yield f"{'…':<8}{len(seeds) - len(shown):,} more"
    counts = Counter(seed.confidence for seed in seeds)
    by_confidence = ", ".join(f"{counts[confidence]:,} {confidence}" for confidence in CONFIDENCES)
    yield f"{out}: {len(seeds):,} seeds ({by_confidence})"

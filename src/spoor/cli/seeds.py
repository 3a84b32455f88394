"""`spoor seeds`: where to start, from the results of several search sources."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from spoor.cli.command import SUMMARIES, Commands, add_command
from spoor.cli.terminal import check_writable, progress, write_text
from spoor.errors import BadInput, UsageError
from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http import HttpFetcher
from spoor.live.session import user_agent
from spoor.seeding.asking import ResultSource, asking
from spoor.seeding.search import CONFIDENCES, Gathered, Seed, agreed, gather, seed_file, source
from spoor.settings import Config, Crawling, contact

SEEDS_EXAMPLES = """
spoor seeds --query "computer science courses" --source searxng:https://search.example.org --out seeds.txt
spoor seeds --query "computer science courses" --out seeds.txt --source file:first.txt --source file:second.csv \\
    --source "opensearch:https://example.org/search?format=rss&q={searchTerms}"
spoor seeds --query "courses" --source "cdx:https://index.example.org/2026-10?url=*.example.org" --out seeds.txt
spoor crawl --keywords computer,science --seeds seeds.txt --out my-crawl
"""
SHOWN = 20
"""Seeds on the terminal; the rest is in the file."""


def register_seeds(commands: Commands) -> None:
    parser = add_command(commands, "seeds", SUMMARIES["seeds"], SEEDS_EXAMPLES, run_seeds)
    parser.add_argument("--query", required=True, metavar="WORDS", help="what to search for")
    parser.add_argument(
        "--source",
        action="append",
        required=True,
        metavar="SPEC",
        help="file:PATH, searxng:URL, opensearch:TEMPLATE or cdx:URL; may be given several times",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="file to write, for --seeds")
    parser.add_argument("--each", type=_at_least_one, default=50, metavar="N", help="results of each engine (50)")
    parser.add_argument("--limit", type=_at_least_one, metavar="N", help="seeds at most (no limit)")
    parser.add_argument("--timeout", type=_seconds, default=20.0, metavar="S", help="seconds for each request (20)")
    parser.add_argument(
        "--contact", type=_contact, default="", metavar="URL", help="told to every server that is asked"
    )
    parser.add_argument("--allow-private", action="store_true", help="ask at private addresses too")


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number, 1 or more")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return seconds


def _contact(text: str) -> str:
    try:
        return str(contact(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None


def run_seeds(arguments: argparse.Namespace) -> int:
    query = " ".join(arguments.query.split())
    if not query or not query.isprintable():
        raise UsageError(f"--query {arguments.query!r} says nothing; give words to search for")
    sources = {spec: source(spec) for spec in arguments.source}
    check_writable(arguments.out)
    gathered = asyncio.run(_ask_all(sources, query, arguments))
    failures = [f"{name}: {failure.reason}" for name, failure in gathered.failed.items()]
    if len(failures) == len(sources):
        raise BadInput("no source gives results: " + "; ".join(failures))
    for failure in failures:
        print(f"spoor: warning: {failure}; going on without it", file=sys.stderr)
    seeds = agreed(gathered.listings)[: arguments.limit]
    if not seeds:
        raise BadInput(f"no source knows a page for {query!r}; try other words")
    write_text(arguments.out, seed_file(query, seeds))
    _show(seeds, arguments.out)
    return 0


async def _ask_all(sources: dict[str, ResultSource], query: str, arguments: argparse.Namespace) -> Gathered:
    limits = FetchLimits(connect=arguments.timeout, idle=arguments.timeout, whole=arguments.timeout)
    agent = user_agent(Config(crawl=Crawling(contact=arguments.contact)))
    async with HttpFetcher(agent, limits, time.time, allow_private=arguments.allow_private) as fetcher:
        with progress("sources", len(sources)) as advance:
            return await gather(sources, query, arguments.each, asking(fetcher), advance)


def _show(seeds: Sequence[Seed], out: Path) -> None:
    shown = seeds[:SHOWN]
    width = max(len(seed.url) for seed in shown)
    for seed in shown:
        print(f"{seed.confidence:<8}{seed.url:<{width}}  {', '.join(seed.engines)}")
    if len(seeds) > len(shown):
        print(f"{'…':<8}{len(seeds) - len(shown):,} more")
    counts = Counter(seed.confidence for seed in seeds)
    told = ", ".join(f"{counts[confidence]:,} {confidence}" for confidence in CONFIDENCES)
    print(f"{out}: {len(seeds):,} seeds ({told})")

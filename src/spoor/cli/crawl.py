"""`spoor crawl`: collect the pages you want from the web, into a folder; on the same folder again it goes on."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from spoor import config
from spoor.allocation import give_back_large_blocks
from spoor.cli.command import Commands, add_command
from spoor.cli.live_line import LiveLine
from spoor.cli.progress import progress
from spoor.config import Config
from spoor.errors import BadInput, UsageError
from spoor.model_file import SUFFIX
from spoor.recollection import earlier_crawl, unlike_targets
from spoor.session import open_session, run_for, strategy_of
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.text.topic_model import write_topic
from spoor.training.topic import topic_from

EXAMPLES = """
spoor crawl --language th --seed https://example.org/ --contact https://example.org/our-crawl --out thai-pages
spoor crawl crawl.toml --out thai-pages
spoor crawl --out thai-pages          (goes on where it stopped)
spoor crawl --language th --seeds more.txt --warm thai-pages --out more-thai-pages
"""

SECONDS_BETWEEN_TICKS = 1.0
FLAGS = {
    "language": ("target", "language"),
    "charset": ("target", "charset"),
    "script": ("target", "script"),
    "keywords": ("target", "keywords"),
    "topic": ("target", "topic"),
    "ontology": ("target", "ontology"),
    "strategy": ("crawl", "strategy"),
    "warm": ("crawl", "warm"),
    "max_pages": ("crawl", "max_pages"),
    "max_minutes": ("crawl", "max_minutes"),
    "effort": ("crawl", "effort"),
    "workers": ("crawl", "workers"),
    "connections": ("crawl", "connections"),
    "contact": ("crawl", "contact"),
    "proxy": ("crawl", "proxy"),
    "allow_private": ("crawl", "allow_private"),
    "seeds": ("crawl", "seeds_file"),
    "seed": ("crawl", "seeds"),
    "rest": ("politeness", "rest"),
}
"""Each flag and the setting of crawl.toml that it stands for."""


def register(commands: Commands) -> None:
    parser = add_command(commands, "crawl", "collect the pages you want from the web, into a folder", EXAMPLES, run)
    parser.add_argument("settings", nargs="?", type=Path, metavar="CRAWL.toml", help="what to do; flags come before it")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the crawl; made, or gone on with")
    parser.add_argument("--language", metavar="L", help="wanted: pages in this language, a BCP-47 tag or a model file")
    parser.add_argument("--charset", metavar="L", help="wanted: pages whose character encoding means this language")
    parser.add_argument("--script", metavar="S", help="wanted: pages in this script, such as thai")
    parser.add_argument(
        "--keywords",
        type=_listed,
        metavar="W,W",
        help="wanted: pages about these words or phrases",
    )
    parser.add_argument("--topic", metavar="MODEL", help="wanted: pages about what a model was trained on")
    parser.add_argument("--ontology", metavar="FILE", help="wanted: pages that hold the terms of an ontology")
    parser.add_argument("--seed", action="append", metavar="URL", help="where to start; may be given several times")
    parser.add_argument("--seeds", metavar="FILE", help="where to start: one URL a line")
    parser.add_argument("--strategy", metavar="S", help="a name from `spoor strategies` (learned)")
    parser.add_argument(
        "--warm", metavar="FOLDER", help="an earlier crawl, from whose visits the strategy learns first"
    )
    parser.add_argument("--max-pages", type=int, metavar="N", help="stop after so many visits")
    parser.add_argument("--max-minutes", type=float, metavar="M", help="stop after so many minutes")
    parser.add_argument(
        "--effort",
        type=float,
        metavar="E",
        help="from 0, fewest requests, to 1, fastest (.2 with --max-pages, 1 with --max-minutes, else .5)",
    )
    parser.add_argument("--workers", type=int, metavar="N", help="processes that parse and judge (0: none)")
    parser.add_argument("--connections", type=int, metavar="N", help="requests under way at once (64)")
    parser.add_argument("--rest", type=float, metavar="S", help="seconds a host rests between two requests (1)")
    parser.add_argument("--contact", metavar="URL", help="told to every server, so that people can reach you")
    parser.add_argument("--proxy", metavar="URL", help="HTTP proxy through which every request goes")
    parser.add_argument("--allow-private", action="store_true", default=None, help="visit private addresses too")


def _listed(words: str) -> list[str]:
    return [word.strip() for word in words.split(",")]


def run(arguments: argparse.Namespace) -> int:
    settings = settings_for(CrawlFolder(arguments.out), arguments)
    check(settings, CrawlFolder(arguments.out))
    give_back_large_blocks()
    with open_for_crawling(arguments.out, progress) as folder:
        return asyncio.run(_crawl(folder, with_kept_model(settings, folder)))


def check(settings: Config, folder: CrawlFolder) -> None:
    """Whatever is wrong with the settings is said before a folder is made."""
    earlier = earlier_crawl(settings, strategy_of(settings), folder)
    if earlier is not None and (keys := unlike_targets(settings, earlier)):
        told = f"{earlier.path} had another target ({', '.join(keys)}); what was learned there may mislead"
        print(f"spoor: warning: {told}", file=sys.stderr)


def settings_for(folder: CrawlFolder, arguments: argparse.Namespace) -> Config:
    """Those of the folder, or of the file given; flags go before either."""
    earlier = folder.settings()
    if arguments.settings is not None and earlier is not None:
        raise UsageError(f"{folder.path} has a crawl.toml of its own; leave out {arguments.settings} to go on with it")
    if arguments.settings is not None:
        table, beside = config.read(arguments.settings), arguments.settings.parent
    else:
        table, beside = config.parsed(earlier or "", str(folder.path / "crawl.toml")), Path()
    return config.checked(with_flags(table, arguments), beside)


def with_kept_model(settings: Config, folder: CrawlFolder) -> Config:
    """What was trained from a folder of examples stays with the crawl, so that it goes on with the same judge."""
    examples = settings.target.examples
    if not examples or examples.endswith(SUFFIX):
        return settings
    kept = folder.path.resolve() / f"examples{SUFFIX}"
    write_topic(kept, topic_from(Path(examples)))
    return replace(settings, target=replace(settings.target, examples=str(kept)))


def with_flags(table: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    merged = {section: dict(values) for section, values in table.items() if isinstance(values, dict)}
    merged = {**table, **merged}
    for flag, (section, key) in FLAGS.items():
        value = getattr(arguments, flag)
        if value is not None:
            names_file = flag in ("seeds", "topic", "ontology", "warm") or (
                flag == "language" and value.endswith(SUFFIX)
            )
            merged.setdefault(section, {})[key] = str(Path(value).resolve()) if names_file else value
    return merged


async def _tick(line: LiveLine) -> None:
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_TICKS)
        line.tick()


async def _crawl(folder: CrawlFolder, settings: Config) -> int:
    async with contextlib.AsyncExitStack() as opened:
        with progress("learning from earlier visits") as advance:
            session = await opened.enter_async_context(open_session(folder, settings, advance))
        folder.write_settings(config.dumps(settings))
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(name, session.stop, "it was interrupted")
        with LiveLine(session.crawl, settings.crawl.max_pages, settings.crawl.max_minutes) as line:
            ticking = asyncio.create_task(_tick(line))
            async for events in run_for(session, settings.crawl.max_minutes):
                line.tell(events)
            ticking.cancel()
        print(line.summary(session.ended(), folder.path))
    if line.nothing_but:
        raise BadInput(f"no page came; the last failure was {line.nothing_but}")
    return 0

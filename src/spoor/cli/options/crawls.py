"""Options of `spoor demo`, `spoor seeds` and `spoor crawl`."""

from __future__ import annotations

import argparse
from pathlib import Path

from spoor.cli.command import (
    PROXY_HELP,
    Commands,
    add_command,
    add_json,
    add_proxy,
    add_several,
    at_least_one,
    checked,
    new_folder,
)
from spoor.cli.options.crawl_folders import DASHBOARD_PORT, port

DEMO_EXAMPLES = """
spoor demo
spoor demo --max-pages 200 --out somewhere/else
"""

SEEDS_EXAMPLES = """
spoor seeds --query "computer science courses" --source searxng:https://search.example.org --out seeds.txt
spoor seeds --query "computer science courses" --out seeds.txt --source file:first.txt --source file:second.csv \\
    --source "opensearch:https://example.org/search?format=rss&q={searchTerms}"
spoor seeds --query "courses" --source "cdx:https://index.example.org/2026-10?url=*.example.org" --out seeds.txt
spoor crawl --keywords computer,science --seeds seeds.txt --out my-crawl
"""

CRAWL_EXAMPLES = """
spoor crawl --language th --seed https://example.org/ --contact https://example.org/our-crawl --out thai-pages
spoor crawl crawl.toml --out thai-pages
spoor crawl --out thai-pages          (resumes where it stopped)
spoor crawl crawl.toml --render never --out thai-pages
spoor crawl --out thai-pages --dashboard
spoor crawl --out thai-pages --quiet --log-file thai-pages.log
spoor crawl --language th --seeds more.txt --warm thai-pages --out more-thai-pages
spoor crawl --language th --seeds more.txt --shards 8 --out many-thai-pages
"""


def register_demo(commands: Commands) -> None:
    summary = "two live crawls side by side, on a web generated and served on this machine"
    parser = add_command(commands, "demo", summary, DEMO_EXAMPLES, "demo_crawls.run_demo")
    parser.add_argument(
        "--out",
        type=new_folder,
        default=Path("out/demo"),
        metavar="FOLDER",
        help="folder for the two crawls (out/demo)",
    )
    parser.add_argument("--max-pages", type=int, default=700, metavar="N", help="stop each crawl after N fetches (700)")
    add_json(parser)


def register_seeds(commands: Commands) -> None:
    summary = "find URLs to start from, in the results of search sources"
    parser = add_command(commands, "seeds", summary, SEEDS_EXAMPLES, "seeds.run_seeds")
    parser.add_argument("--query", required=True, metavar="WORDS", help="what to search for")
    kinds = "file:PATH, searxng:URL, opensearch:TEMPLATE or cdx:URL"
    add_several(parser, "--source", "SPEC", kinds, required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="file to write, for `crawl --seeds`")
    parser.add_argument("--each", type=_count, default=50, metavar="N", help="results to use from each source (50)")
    parser.add_argument("--limit", type=_count, metavar="N", help="largest number of seeds to write (no limit)")
    parser.add_argument("--timeout", type=_seconds, default=20.0, metavar="S", help="seconds for each request (20)")
    parser.add_argument(
        "--contact", type=_contact, default="", metavar="URL", help="sent to every server, in the user agent"
    )
    add_proxy(parser)
    parser.add_argument("--allow-private", action="store_true", help="allow requests to private IP addresses")
    add_json(parser)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds


def _contact(text: str) -> str:
    from spoor.checks import contact

    return checked(contact, text)


def register_crawl(commands: Commands) -> None:
    summary = "collect relevant pages from the web into a folder, or resume"
    parser = add_command(commands, "crawl", summary, CRAWL_EXAMPLES, "crawling.run_crawl")
    parser.add_argument(
        "settings", nargs="?", type=Path, metavar="CRAWL.toml", help="settings of the crawl; options override them"
    )
    parser.add_argument("--out", type=new_folder, required=True, metavar="FOLDER", help="the crawl, created or resumed")
    _add_target(parser)
    add_several(parser, "--seed", "URL", "where to start")
    parser.add_argument("--seeds", metavar="FILE", help="where to start: one URL per line")
    parser.add_argument("--strategy", metavar="S", help="a name from `spoor strategies` (learned)")
    parser.add_argument("--warm", metavar="FOLDER", help="warm start: the strategy first learns from an earlier crawl")
    _add_limits(parser)
    parser.add_argument(
        "--keep",
        choices=("all", "relevant"),
        help="responses stored in the archive: all, or only those of relevant pages",
    )
    parser.add_argument(
        "--render",
        choices=("auto", "never", "always"),
        help="pages rendered in a browser: those that need scripts, if there is a browser (auto), none, or all",
    )
    parser.add_argument("--contact", metavar="URL", help="sent to every server, so that people can reach you")
    parser.add_argument("--proxy", metavar="URL", help=PROXY_HELP)
    parser.add_argument(
        "--allow-private", action="store_true", default=None, help="allow requests to private IP addresses"
    )
    parser.add_argument(
        "--dashboard",
        nargs="?",
        type=port,
        const=DASHBOARD_PORT,
        metavar="PORT",
        help=f"watch and steer the crawl in the browser, at this port of this machine ({DASHBOARD_PORT})",
    )
    parser.add_argument(
        "--metrics", type=port, metavar="PORT", help="serve figures for Prometheus at 127.0.0.1 (0: any free port)"
    )
    parser.add_argument(
        "--shards",
        type=at_least_one,
        metavar="N",
        help="run as N shards, processes of Ray on this machine; hosts are moved first if the folder has more or fewer "
        "(default: as many as the folder has, else 1, without Ray)",
    )
    parser.add_argument(
        "--rebalance",
        action="store_true",
        help="first move hosts between shards, so that each has as many waiting links",
    )
    parser.add_argument("--cluster", metavar="ADDRESS", help="run the shards on this Ray cluster, as in 10.0.0.1:6379")
    parser.add_argument(
        "--local", metavar="DIR", help="shards work below DIR on the disk of their machine, and are copied to FOLDER"
    )
    parser.add_argument("--copy-minutes", type=float, metavar="N", help="minutes between two such copies (5)")
    add_json(parser)


def _add_target(parser: argparse.ArgumentParser) -> None:
    target = parser.add_argument_group("target", "which pages are relevant; or [target] in CRAWL.toml")
    target.add_argument("--language", metavar="L", help="pages in this language: a BCP-47 tag or a model file")
    target.add_argument("--charset", metavar="L", help="pages whose character encoding is one of this language")
    target.add_argument("--script", metavar="S", help="pages in this script, such as thai")
    target.add_argument("--keywords", type=_listed, metavar="W,W", help="pages about these words or phrases")
    target.add_argument("--topic", metavar="MODEL", help="pages about the topic of a trained model")
    target.add_argument("--ontology", metavar="FILE", help="pages that contain the terms of an ontology")
    target.add_argument(
        "--judge",
        action="append",
        metavar="J",
        help="pages that a judge from `spoor judges` finds relevant; may be given several times",
    )
    target.add_argument(
        "--require", metavar="R", help="how these are combined, as in 'script and not (vsm or keywords)' (default: all)"
    )


def _listed(words: str) -> list[str]:
    return [word.strip() for word in words.split(",")]


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--max-pages", type=int, metavar="N", help="stop after N fetches, over all runs")
    parser.add_argument("--max-minutes", type=float, metavar="M", help="stop after M minutes of this run")
    parser.add_argument(
        "--until",
        metavar="RULE",
        help="stop when the last requests found too few relevant pages, as in 'fewer than 5 in 1000'",
    )
    parser.add_argument(
        "--effort",
        type=float,
        metavar="E",
        help="from 0, fewest requests, to 1, fastest (.2 with --max-pages, 1 with --max-minutes, else .5)",
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes that fetch, store and read pages (0: the main process does)"
    )
    parser.add_argument("--connections", type=int, metavar="N", help="concurrent requests (64)")
    parser.add_argument(
        "--host-delay", "--rest", type=float, metavar="S", help="seconds between two requests to a host (1)"
    )

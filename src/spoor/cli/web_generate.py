"""`spoor web generate`: make a web by a generator, the same one for the same seed."""

from __future__ import annotations

import argparse
from pathlib import Path

from spoor.cli.command import Commands, add_command
from spoor.cli.progress import progress
from spoor.webs.generate import CATALOGUE, Request, generate
from spoor.webs.web import Web

EXAMPLES = """
spoor web generate --like thai --pages 30000 --seed 1 --out thai-web
spoor web generate --like thai --pages 2000 --seed 1 --text --out thai-texts
spoor web generate --like mongolian --pages 5000 --seed 1 --text --words words.txt --out mongolian-web
spoor web generate --like topical --pages 20000 --seed 7 --out topical-web
"""


def register(kinds: Commands) -> None:
    parser = add_command(kinds, "generate", "make a web by a generator", EXAMPLES, run)
    names = "; ".join(f"{name}: {generator.sentence}" for name, generator in CATALOGUE.items())
    parser.add_argument("--like", required=True, metavar="NAME", choices=CATALOGUE, help=names)
    parser.add_argument("--pages", required=True, metavar="N", type=int, help="how many pages")
    parser.add_argument("--seed", required=True, metavar="K", type=int, help="any whole number; same seed, same web")
    parser.add_argument("--out", required=True, metavar="WEB", type=Path, help="the folder to make")
    parser.add_argument("--text", action="store_true", help="give the pages of a language web texts, in real charsets")
    words = (
        "the words of traditional Mongolian pages, one a line, in Menksoft glyphs or Unicode; for courses a "
        "dictionary: English, a tab, Hindi (default: our own)"
    )
    parser.add_argument("--words", metavar="FILE", type=Path, help=words)


def run(arguments: argparse.Namespace) -> int:
    request = Request(arguments.like, arguments.pages, arguments.seed, arguments.text, arguments.words)
    with progress(f"generating {request.name}", request.pages) as advance:
        generate(request, arguments.out, advance)
    print(_summary(Web.open(arguments.out), request))
    return 0


def _summary(web: Web, request: Request) -> str:
    about, relevant = web.about, int(web.labelled("relevant").sum())
    counts = f"{web.pages:,} pages on {about['hosts']:,} hosts, {about['links']:,} links, {relevant:,} relevant pages"
    short = f" ({request.pages:,} were asked for; the trace ended there)" if web.pages < request.pages else ""
    return f"{web.folder}: {counts}{short}"

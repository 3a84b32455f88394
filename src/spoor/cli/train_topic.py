"""`spoor train topic`: a model of a topic from pages that are wanted and pages that are not."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from spoor.cli.command import Commands, add_command
from spoor.cli.progress import Advance, counted, progress
from spoor.config import Config, Crawling
from spoor.errors import BadInput, UsageError
from spoor.model_file import SUFFIX, checked_name
from spoor.samples import pages_at
from spoor.text.topic_model import write_topic
from spoor.training.held_out import told
from spoor.training.pages import Example, Kept, read_examples, sides, urls_in, usable
from spoor.training.topic import Trained, trained

EXAMPLES = """
spoor train topic --name horses --positive good-pages --negative other-pages
spoor train topic --name horses pages.tar.xz        (with folders positive and negative inside)
spoor train topic --name horses --positive good-urls.txt --negative other-urls.txt --contact https://example.org/us
spoor judge horses.spoor page.html
"""
SHOWN = 12


def register(kinds: Commands) -> None:
    parser = add_command(kinds, "topic", "make a model of a topic from pages", EXAMPLES, run)
    parser.add_argument(
        "pages", nargs="*", type=Path, metavar="FOLDER", help="folder or archive with folders positive and negative"
    )
    parser.add_argument("--name", required=True, metavar="NAME", help="what the topic is called")
    parser.add_argument(
        "--positive",
        nargs="+",
        type=Path,
        default=[],
        metavar="PAGES",
        help="wanted: a folder, file, tar archive or URLS.txt",
    )
    parser.add_argument("--negative", nargs="+", type=Path, default=[], metavar="PAGES", help="not wanted: the same")
    parser.add_argument("--contact", default="", metavar="URL", help="told to the servers that are asked for pages")
    parser.add_argument("--allow-private", action="store_true", help="ask servers on this machine and network too")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the model (NAME.spoor)")


def run(arguments: argparse.Namespace) -> int:
    out = checked_name(arguments.out or Path(f"{arguments.name}{SUFFIX}"))
    _check_given(arguments)
    with progress("reading pages") as advance:
        positive, negative = _read(arguments, advance)
    sources = (*arguments.pages, *arguments.positive, *arguments.negative)
    made = trained(arguments.name, positive, negative, ", ".join(source.name for source in sources))
    write_topic(out, made.model)
    _tell(made, positive, negative, out)
    return 0


def _check_given(arguments: argparse.Namespace) -> None:
    if not (arguments.pages or arguments.positive):
        raise UsageError("no wanted pages are given; name them with --positive, or a folder that holds them")
    if not (arguments.pages or arguments.negative):
        raise UsageError("no other pages are given; name some with --negative, or use the judge vsm, which needs none")


def _read(arguments: argparse.Namespace, advance: Advance) -> tuple[Kept, Kept]:
    positive = _examples(arguments.positive, arguments, advance)
    negative = _examples(arguments.negative, arguments, advance)
    for source in arguments.pages:
        wanted, others = sides(source, counted(read_examples(source), advance))
        positive += wanted
        negative += others
    return usable(positive), usable(negative)


def _examples(sources: Sequence[Path], arguments: argparse.Namespace, advance: Advance) -> list[Example]:
    found: list[Example] = []
    for source in sources:
        if urls := urls_in(source):
            found += _asked_for(urls, source, arguments, advance)
        else:
            found += counted(read_examples(source), advance)
    return found


def _asked_for(urls: Sequence[str], source: Path, arguments: argparse.Namespace, advance: Advance) -> list[Example]:
    crawling = Crawling(contact=arguments.contact, allow_private=arguments.allow_private)
    samples = asyncio.run(pages_at(urls, Config(crawl=crawling), advance))
    for url, why in samples.failed.items():
        print(f"left out    {url}: {why}")
    if not samples.pages:
        raise BadInput(f"none of the {len(urls)} URLs in {source} gave a page; the reasons are above")
    return [Example(url, page) for url, page in samples.pages.items()]


def _tell(made: Trained, positive: Kept, negative: Kept, out: Path) -> None:
    model = made.model
    print(f"trained     {model.name} on {model.trained_on}")
    print(f"pages       {positive} positive, {negative} negative")
    print(f"held out    a fifth after the other: {told(made.trial.accuracy)}")
    print(f"certainty   probabilities are {made.trial.astray:.3f} off the shares that come true")
    print(f"wanted      from a probability of {model.threshold:.2f} on")
    print(f"for it      {', '.join(model.words[:SHOWN])}")
    print(f"against it  {', '.join(made.against[:SHOWN])}")
    print(f"written     {out}; ask for it by this name, as in: spoor judge {out} PAGE")

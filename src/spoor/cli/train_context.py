"""`spoor train context`: a model of the paths that lead to wanted pages, from a web or from an earlier crawl."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.cli.command import Commands, add_command, add_workers
from spoor.cli.progress import counted, progress
from spoor.cli.results import check_writable
from spoor.context.path_model_file import write_paths
from spoor.errors import BadInput, UsageError
from spoor.model_file import checked_name
from spoor.store.crawl_folder import open_for_reading
from spoor.store.journal import open_to_read, pages
from spoor.training.context import MOST_PAGES, Lesson, Trained, trained
from spoor.webs.backlinks import WebBacklinks
from spoor.webs.build.builder import Making, build_web
from spoor.webs.build.gather import Report
from spoor.webs.build.warc_source import read_warcs, warc_files
from spoor.webs.web import Web

EXAMPLES = """
spoor train context my-web --target class=course --out courses.spoor
spoor train context my-crawl --out more.spoor        (a crawl folder; what it judged relevant is wanted)
spoor compare other-web --target class=course --seeds seeds.txt --strategies ahmm:model=courses.spoor,soft-focused
"""
JUDGED_RELEVANT = "judged relevant"
SHOWN = 12


def register(kinds: Commands) -> None:
    parser = add_command(kinds, "context", "make a model of the paths that lead to wanted pages", EXAMPLES, run)
    parser.add_argument("web", type=Path, metavar="WEB", help="a web with texts, or the folder of a crawl")
    parser.add_argument("--target", default="", metavar="LABEL", help="label of the wanted pages; not for a crawl")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the model, FILE.spoor")
    parser.add_argument("--layers", type=int, default=3, metavar="N", help="links away from a wanted page (3)")
    parser.add_argument("--clusters", type=_clusters, metavar="K", help="of pages; auto: as the pages suggest (auto)")
    parser.add_argument("--refine", type=int, default=0, metavar="N", help="rounds of Baum-Welch after counting (0)")
    add_workers(parser)


def run(arguments: argparse.Namespace) -> int:
    out = checked_name(arguments.out)
    check_writable(out)
    with _opened(arguments) as (web, wanted):
        target = arguments.target or JUDGED_RELEVANT
        name, refine = arguments.web.resolve().name, arguments.refine
        lesson = Lesson(target, name, arguments.layers, arguments.clusters, refine)
        with progress("texts read", MOST_PAGES * (lesson.layers + 2)) as advance:
            made = trained(WebBacklinks(web), wanted, lesson, advance)
    write_paths(out, made.model)
    _tell(made, found=arguments.clusters is None, out=out)
    return 0


def _clusters(text: str) -> int | None:
    if text == "auto":
        return None
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto nor a number")
    return int(text)


@contextlib.contextmanager
def _opened(arguments: argparse.Namespace) -> Iterator[tuple[Web, NDArray[np.int64]]]:
    """The web, and the numbers of its wanted pages. A crawl is made a web of for as long as it is needed: its database
    keeps one way to every page, its WARC files hold every link."""
    if not (arguments.web / "crawl.db").exists():
        yield _web(arguments.web, arguments.target)
        return
    if arguments.target:
        remedy = "leave --target out: what the crawl judged relevant is wanted"
        raise UsageError(f"--target {arguments.target}: a crawl has no labels; {remedy}")
    with tempfile.TemporaryDirectory() as scratch:
        yield _crawled(arguments.web, Path(scratch) / "web", arguments.workers)


def _web(folder: Path, target: str) -> tuple[Web, NDArray[np.int64]]:
    if not (folder / "web.json").exists():
        remedy = "make a web with `spoor web build`, or a crawl with `spoor crawl`"
        raise BadInput(f"{folder} is neither a web nor the folder of a crawl; {remedy}")
    if not target:
        raise UsageError("--target is missing: name the label of the wanted pages; `spoor web info WEB` lists labels")
    web = Web.open(folder)
    return web, np.flatnonzero(web.labelled(target) & web.answers())


def _crawled(folder: Path, scratch: Path, workers: int) -> tuple[Web, NDArray[np.int64]]:
    crawl, report = open_for_reading(folder), Report()
    with progress("pages of the crawl") as advance:
        records = counted(read_warcs(warc_files(folder), report, workers), advance)
        web = build_web(scratch, records, Making(folder.resolve().name, folder.name), report)
    with contextlib.closing(open_to_read(crawl.database)) as db:
        found = (web.urls.find(row.url) for row in pages(db, relevant_only=True))
        numbers = [number for number in found if number is not None and number < web.pages]
    return web, np.unique(np.array(numbers, np.int64))


def _tell(made: Trained, found: bool, out: Path) -> None:
    model = made.model
    *near, farther = zip(made.sizes, made.read, strict=True)
    print(f"trained     {model.target} on {model.trained_on}")
    for layer, (size, read) in enumerate(near):
        print(f"layer {layer}     {size:,} pages, {read:,} of them read")
    print(f"farther     {farther[0]:,} pages, {farther[1]:,} of them read")
    for layer in range(1, model.layers + 1):
        nearer = model.path.first_step[layer, layer - 1]
        print(f"nearer      {nearer:.0%} of links of layer {layer} lead to layer {layer - 1}")
    says = f"which take away {made.tells:.0%} of the doubt about the layer"
    print(f"clusters    {model.path.symbols} {'found' if found else 'asked for'}, {says}")
    print(f"words       {', '.join(model.words[:SHOWN])}")
    print(f"written     {out}; use it as in: spoor compare WEB --strategies ahmm:model={out} …")

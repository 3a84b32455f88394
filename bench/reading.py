"""What does it cost to read a page, from the bytes of a response to its verdict, links and hints? Processor time, stage
by stage, on recorded pages; with --beside the sources of another commit are measured in the same run, in turn."""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from fastwarc.warc import ArchiveIterator, WarcRecordType
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser

from bench.served_web import Shape, Writer
from bench.signs import DATA
from spoor import registry
from spoor.cli.terminal import print_table
from spoor.fetch.responses import understand
from spoor.lab.build.warc_source import open_unpacked, parse_http_response
from spoor.live.page_reader import Reader, with_canonical_links
from spoor.parse.charset import decode
from spoor.parse.html import ParseOptions, is_html
from spoor.parse.main_text import QUICK
from spoor.parse.reading import bounded, read
from spoor.parse.simhash import text_fingerprint
from spoor.records import Judged, Page, Response, Visit
from spoor.urls import host_of, normalise

WEBS = ("webkb", "weblogs", "wikispeedia", "openoffice", "debian-docs")
GENERATED = "generated"
"""The pages that `bench live` crawls."""
STRATEGIES = ("soft-focused", "learned")
JUDGE = "language:de"
EVERY = 7
"""One response in so many is taken, so that not all are of one folder."""
WARMING = 30
"""Pages that are read before the clock starts."""
BARE = ParseOptions(contexts=False)
TOTAL = "together"

T = TypeVar("T")
Asked = tuple[Visit, Response]
Costs = dict[str, dict[str, float]]
"""Milliseconds a page, by column and stage."""


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench reading", description=__doc__)
    parser.add_argument("--pages", type=int, default=200, metavar="N", help="of each web (default 200)")
    parser.add_argument("--rounds", type=int, default=5, metavar="K", help="the least of K is printed (default 5)")
    parser.add_argument("--web", action="append", choices=(*WEBS, GENERATED), help="only this one; may be repeated")
    parser.add_argument("--beside", type=Path, metavar="SRC", help="the src folder of another checkout")
    arguments = parser.parse_args(options)
    if not (DATA / "webs").is_dir():
        print(f"reading: no recorded webs in {DATA}; set SPOOR_DATA to the folder that has webs/")
        return
    sources = {"": Path(__file__).parents[1] / "src"} | ({"before: ": arguments.beside} if arguments.beside else {})
    for web in arguments.web or (*WEBS, GENERATED):
        asked = list(generated(arguments.pages) if web == GENERATED else recorded(web, arguments.pages))
        costs = measured(asked, sources, arguments.rounds)
        size = sum(len(response.body) for _, response in asked) / len(asked) / 1000
        columns = list(costs)
        stages = list(costs[STRATEGIES[1]])
        lines = [[stage, *(_shown(costs[column].get(stage)) for column in columns)] for stage in stages]
        print_table((f"{web}, ms a page", *columns), lines, f"\n{web}: {len(asked)} pages of {size:.0f} KB, {JUDGE}")
        for strategy in STRATEGIES if arguments.beside else ():
            ratio = costs[strategy][TOTAL] / costs[f"before: {strategy}"][TOTAL]
            print(f"{strategy}, now / before: {ratio:.2f}")
        print(f"learned / soft-focused: {costs['learned'][TOTAL] / costs['soft-focused'][TOTAL]:.2f}")


def _shown(cost: float | None) -> str:
    return "" if cost is None else f"{cost:.0f}" if cost >= 100 else f"{cost:.3f}"


def recorded(web: str, pages: int) -> Iterator[Asked]:
    """HTML pages of a web, spread over the first part of its recording; those that only forward are left out."""

    def html() -> Iterator[Asked]:
        with closing(open_unpacked(DATA / "webs" / web / "web.warc.xz")) as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=False):
                url = normalise((record.headers.get("WARC-Target-URI") or "").strip("<>"))
                http = parse_http_response(record.reader.read())
                if url and http and http.status == 200 and is_html(http.body, http.headers.get("content-type", "")):
                    yield _asked(url, http.body, http.headers.get("content-type", ""))

    with_content = (one for one in html() if isinstance(understand(*one, BARE), Page))
    yield from islice(with_content, 0, pages * EVERY, EVERY)


def generated(pages: int) -> Iterator[Asked]:
    writer = Writer(Shape(9_000), 8080)
    for number in range(pages):
        page = number * 41 % 9_000
        yield _asked(writer.url(page), writer.html(page), "text/html; charset=utf-8")


def _asked(url: str, body: bytes, content_type: str) -> Asked:
    response = Response(url, 200, {"content-type": content_type}, body, b"", b"", b"", "", 0.0, 0.0)
    return Visit(url, host_of(url), 0, 0.0), response


def measured(asked: list[Asked], sources: dict[str, Path], rounds: int) -> Costs:
    """Each round is a process of its own, so that no page was seen before. Of each page the least of all rounds counts:
    other work on the machine can only add."""
    least: dict[str, dict[str, NDArray[np.float64]]] = {}
    with tempfile.NamedTemporaryFile() as file:
        pickle.dump([(visit.url, r.body, r.headers["content-type"]) for visit, r in asked], file)
        file.flush()
        for _ in range(rounds):
            for name, source in sources.items():
                path = os.pathsep.join((str(source), str(Path(__file__).parents[1])))
                command = [sys.executable, "-m", "bench.reading", file.name]
                done = subprocess.run(
                    command, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE, check=True
                )
                for strategy, stages in json.loads(done.stdout).items():
                    column = least.setdefault(name + strategy, {})
                    for stage, costs in stages.items():
                        column[stage] = np.minimum(column.get(stage, np.inf), costs)
    return {
        name: stage_costs({stage: float(np.mean(of)) for stage, of in column.items()}) for name, column in least.items()
    }


def of_strategy(name: str, asked: list[Asked]) -> dict[str, list[float]]:
    """What each call takes for each page. The first pages are read to compile and load what is needed once."""
    reader = Reader.of(registry.strategy(name, registry.judge(JUDGE)))
    links = reader.links
    for visit, response in asked[:WARMING]:
        reader.read(visit, response)
        understood((visit, response), BARE)
        QUICK.extract(decode(response.body, "").text, visit.url)
    asked = asked[WARMING:]
    # All in all comes first: it fills the caches of what links say, as in a crawl.
    together, _ = clocked(lambda a: reader.read(*a), asked)
    away, outcomes = clocked(lambda a: reader.read_in_worker(*a), asked)
    packing, packed = clocked(lambda outcome: pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL), outcomes)
    unpacking, received = clocked(pickle.loads, packed)
    decoding, texts = clocked(lambda a: decode(a[1].body, a[1].headers["content-type"]).text, asked)
    parsing, _ = clocked(lambda html: LexborHTMLParser(bounded(html)).root is None, texts)
    walking, _ = clocked(lambda html: read(html) is None, texts)
    bare, pages = clocked(lambda a: understood(a, BARE), asked)
    with_contexts = bare
    if reader.parse_options.contexts:
        with_contexts, pages = clocked(lambda a: understood(a, reader.parse_options), asked)
    named = list(zip(texts, (visit.url for visit, _ in asked), strict=True))
    main_text, _ = clocked(lambda one: QUICK.extract(*one), named)
    canonical, _ = clocked(with_canonical_links, pages)
    sketching, _ = clocked(lambda page: text_fingerprint(page.text), pages)
    judging, _ = clocked(lambda page: reader.judge.judge([page]), pages)
    hinting, _ = clocked(lambda page: links.hints(page, page.links) if links and page.links else (), pages)
    return {
        "together": together,
        "away": away,
        "packing": packing,
        "unpacking": unpacking,
        "decoding": decoding,
        "parsing": parsing,
        "walking": walking,
        "bare": bare,
        "with contexts": with_contexts,
        "main text": main_text,
        "canonical": canonical,
        "sketch": sketching,
        "judging": judging,
        "hints": hinting,
        "bytes": list(map(float, map(len, packed))),
        "links": [float(len(one.page.links)) for one in received if isinstance(one, Judged)],
    }


def stage_costs(took: dict[str, float]) -> dict[str, float]:
    """Of some stages, the difference of two calls of which one does more."""
    stages = {
        "charset": took["decoding"],
        "parsing": took["parsing"],
        "walk": took["walking"] - took["parsing"],
        "text, links": took["bare"] - took["decoding"] - took["walking"],
        "contexts of links": took["with contexts"] - took["bare"],
        "canonical URLs": took["canonical"],
        "sketch": took["sketch"],
        "judging": took["judging"],
        "hints, seen before": took["hints"],
    }
    return {
        **stages,
        "first time, and the rest": took["together"] - sum(stages.values()),
        TOTAL: took["together"],
        "main text, where read": took["main text"],
        "a worker: sending back": took["packing"],
        "main process: receiving": took["unpacking"],
        "bytes sent back": took["bytes"],
        "links": took["links"],
    }


def understood(asked: Asked, parse_options: ParseOptions) -> Page:
    page = understand(*asked, parse_options)
    assert isinstance(page, Page)
    return page


A = TypeVar("A")


def clocked(stage: Callable[[A], T], given: Sequence[A]) -> tuple[list[float], list[T]]:
    """Milliseconds for each of them, and what came of each."""
    made, took = list[T](), list[float]()
    for one in given:
        begun = time.process_time_ns()
        made.append(stage(one))
        took.append((time.process_time_ns() - begun) / 1e6)
    return took, made


if __name__ == "__main__":
    with Path(sys.argv[1]).open("rb") as kept:
        pages = [_asked(*one) for one in pickle.load(kept)]
    print(json.dumps({name: of_strategy(name, pages) for name in STRATEGIES}))

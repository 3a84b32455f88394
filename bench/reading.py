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

from fastwarc.warc import ArchiveIterator, WarcRecordType
from selectolax.lexbor import LexborHTMLParser

from bench.served_web import Shape, Writer
from bench.signs import DATA
from spoor import assembly
from spoor.cli.tables import print_table
from spoor.fetch.understanding import understand
from spoor.live import Reader, canonical_links
from spoor.parse.bounds import bounded
from spoor.parse.charset import decode
from spoor.parse.html import Interest, is_html
from spoor.parse.main_text import QUICK
from spoor.parse.reading import read
from spoor.records import Judged, Page, Response, Visit
from spoor.sketch import sketch
from spoor.urls import host_of, normalise
from spoor.webs.build.http_response import take_apart
from spoor.webs.build.until_it_breaks import open_unpacked

WEBS = ("webkb", "weblogs", "wikispeedia", "openoffice", "debian-docs")
GENERATED = "generated"
"""The pages that `bench live` crawls."""
STRATEGIES = ("soft-focused", "learned")
JUDGE = "language:de"
EVERY = 7
"""One response in so many is taken, so that not all are of one folder."""
TRIES = 3
BARE = Interest(contexts=False)
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
    """HTML pages of a web, spread over the first part of its recording."""

    def html() -> Iterator[Asked]:
        with closing(open_unpacked(DATA / "webs" / web / "web.warc.xz")) as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=False):
                url = normalise((record.headers.get("WARC-Target-URI") or "").strip("<>"))
                http = take_apart(record.reader.read())
                if url and http and http.status == 200 and is_html(http.body, http.headers.get("content-type", "")):
                    yield _asked(url, http.body, http.headers.get("content-type", ""))

    yield from islice(html(), 0, pages * EVERY, EVERY)


def generated(pages: int) -> Iterator[Asked]:
    writer = Writer(Shape(9_000), 8080)
    for number in range(pages):
        page = number * 41 % 9_000
        yield _asked(writer.url(page), writer.html(page), "text/html; charset=utf-8")


def _asked(url: str, body: bytes, content_type: str) -> Asked:
    response = Response(url, 200, {"content-type": content_type}, body, b"", b"", b"", "", 0.0, 0.0)
    return Visit(url, host_of(url), 0, 0.0), response


def measured(asked: list[Asked], sources: dict[str, Path], rounds: int) -> Costs:
    """The least of all rounds: other work on the machine can only add. Each round is a process of its own."""
    least: Costs = {}
    with tempfile.NamedTemporaryFile() as file:
        pickle.dump([(visit.url, r.body, r.headers["content-type"]) for visit, r in asked], file)
        file.flush()
        for _ in range(rounds):
            for name, source in sources.items():
                path = os.pathsep.join((str(source), str(Path(__file__).parents[1])))
                command = [sys.executable, "-m", "bench.reading", file.name]
                done = subprocess.run(
                    command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True, check=True
                )
                for strategy, costs in json.loads(done.stdout).items():
                    column = least.setdefault(name + strategy, costs)
                    column |= {stage: min(cost, column[stage]) for stage, cost in costs.items()}
    return least


def of_strategies(asked: list[Asked]) -> Costs:
    return {name: of_strategy(name, asked) for name in STRATEGIES}


def of_strategy(name: str, asked: list[Asked]) -> dict[str, float]:
    """What each stage takes, most of them as the difference of two calls of which one does more."""
    reader = Reader.of(assembly.strategy(name, assembly.judge(JUDGE)))
    for visit, response in asked:  # whatever is needed once is compiled and read here
        reader.read(visit, response)
        _understood((visit, response), BARE)
        QUICK.extract(decode(response.body, "").text, visit.url)
    decoding, texts = clocked(lambda a: decode(a[1].body, a[1].headers["content-type"]).text, asked)
    parsing, _ = clocked(lambda html: LexborHTMLParser(bounded(html)).root is None, texts)
    walking, _ = clocked(lambda html: read(html) is None, texts)
    bare, pages = clocked(lambda a: _understood(a, BARE), asked)
    with_contexts, pages = clocked(lambda a: _understood(a, reader.interest), asked)
    main_text, _ = clocked(
        lambda page_and_html: QUICK.extract(*page_and_html), [*zip(texts, _urls(asked), strict=True)]
    )
    canonical, _ = clocked(canonical_links, pages)
    sketching, _ = clocked(lambda page: sketch(page.text), pages)
    judging, _ = clocked(lambda page: reader.judge.judge([page]), pages)
    links = reader.links
    hinting = 0.0 if links is None else clocked(lambda p: links.hints(p, p.links) if p.links else (), pages)[0]
    together, outcomes = clocked(lambda a: reader.read(*a), asked)
    away, outcomes = clocked(lambda a: reader.read_away(*a), asked)
    packing, packed = clocked(lambda outcome: pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL), outcomes)
    unpacking, _ = clocked(pickle.loads, packed)
    stages = {
        "charset": decoding,
        "parsing": parsing,
        "walk": walking - parsing,
        "text, links": bare - decoding - walking,
        "contexts of links": with_contexts - bare,
        "canonical URLs": canonical,
        "sketch": sketching,
        "judging": judging,
        "hints": hinting,
    }
    return {
        **stages,
        TOTAL: together,
        "main text, where read": main_text,
        "a worker: sending back": away - together + packing,
        "main process: receiving": unpacking,
        "bytes sent back": sum(map(len, packed)) / len(packed),
        "links": sum(len(o.page.links) for o in map(pickle.loads, packed) if isinstance(o, Judged)) / len(packed),
    }


def _urls(asked: list[Asked]) -> list[str]:
    return [visit.url for visit, _ in asked]


def _understood(asked: Asked, interest: Interest) -> Page:
    page = understand(*asked, interest)
    assert isinstance(page, Page)
    return page


A = TypeVar("A")


def clocked(stage: Callable[[A], T], given: Sequence[A]) -> tuple[float, list[T]]:
    """Milliseconds for one of them, the least of a few tries each, and what came of each."""
    made, spent = list[T](), 0
    for one in given:
        took = []
        for _ in range(TRIES):
            begun = time.process_time_ns()
            result = stage(one)
            took.append(time.process_time_ns() - begun)
        made.append(result)
        spent += min(took)
    return spent / 1e6 / len(given), made


if __name__ == "__main__":
    with Path(sys.argv[1]).open("rb") as kept:
        print(json.dumps(of_strategies([_asked(*one) for one in pickle.load(kept)])))

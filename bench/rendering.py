"""A crawl of a web in which few pages are made by scripts: what `auto` finds of what `always` finds, how many static
pages it renders, and what it costs where nothing needs rendering. Processor time is that of all processes."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aiohttp.web import BaseRequest, Response
from tests.thread_server import served_in_thread

from spoor import settings as config
from spoor.cli.terminal import print_table
from spoor.errors import MissingExtra
from spoor.lab.generate.prose import LANGUAGES
from spoor.live.session import open_session
from spoor.render.browser import find_browser
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.store.journal import open_to_read

HOSTS = 20
SCRIPTED_HOSTS = 3
"""Every page of these is made by scripts."""
COUNTED = 0.04
"""The share of static pages with next to no text and a script that only counts readers."""
RELEVANT = 0.4
LINKS = 6
APP = """
fetch("/data" + location.pathname).then((answer) => answer.json()).then(({html}) => { root.innerHTML = html });
"""


@dataclass(frozen=True)
class MixedWeb:
    """Pages by number, one after another on `HOSTS` hosts; the first hosts are made by scripts."""

    pages: int
    scripted: int
    counted: float
    seed: int

    def host(self, number: int) -> str:
        return f"h{number % HOSTS}.test"

    def is_scripted(self, number: int) -> bool:
        return number % HOSTS < self.scripted

    def content(self, number: int) -> str:
        chance = random.Random(f"{self.seed} {number}")
        language = "english" if chance.random() < RELEVANT else "german"
        words = " ".join(chance.choices(LANGUAGES[language], k=120))
        to = [chance.randrange(self.pages) for _ in range(LINKS - 1)] + [(number + 1) % self.pages]
        links = " ".join(f"<a href=http://{self.host(other)}/{other}>page {other}</a>" for other in to)
        return f"<h1>Page {number}</h1><p>{words}</p><p>{links}</p>"

    def html(self, number: int) -> str:
        head = f"<!doctype html><title>Page {number}</title>"
        if self.is_scripted(number):
            return f"{head}<div id=root></div><script src=/app.js></script>"
        if random.Random(f"counted {self.seed} {number}").random() < self.counted:
            following = (number + 1) % self.pages
            link = f"<a href=http://{self.host(following)}/{following}>next</a>"
            return f"{head}<p>Closed. {link}</p><script src=/count.js></script>"
        return head + self.content(number)

    async def answer(self, request: BaseRequest) -> Response:
        path = request.path
        if path == "/app.js":
            return Response(text=APP, content_type="text/javascript")
        number = path.rpartition("/")[2]
        if not number.isdecimal() or int(number) >= self.pages:
            return Response(status=404)
        if path.startswith("/data/"):
            return Response(text=json.dumps({"html": self.content(int(number))}), content_type="application/json")
        return Response(text=self.html(int(number)), content_type="text/html", charset="utf-8")


@dataclass(frozen=True)
class Crawled:
    """Numbers of the relevant pages and of those that were rendered; seconds of the processor."""

    relevant: frozenset[int]
    rendered: frozenset[int]
    pages: int
    processor: float


def crawled(web: MixedWeb, mode: str, tabs: int) -> Crawled:
    """In a process of its own."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as made, served_in_thread(web.answer) as proxy:
        before = _processor()
        command = [sys.executable, "-m", "bench.rendering", "--crawl", made, proxy, mode, str(tabs)]
        subprocess.run(command, check=True)
        processor = _processor() - before
        with contextlib.closing(open_to_read(CrawlFolder(Path(made) / "crawl").database)) as db:
            relevant = {_number(url) for (url,) in db.execute("SELECT url FROM pages WHERE relevant")}
            rendered = {_number(url) for (url,) in db.execute("SELECT url FROM renders WHERE rendered")}
            (pages,) = db.execute("SELECT count(*) FROM pages").fetchone()
    return Crawled(frozenset(relevant), frozenset(rendered), pages, processor)


def _number(url: str) -> int:
    return int(url.rpartition("/")[2])


def _processor() -> float:
    below = resource.getrusage(resource.RUSAGE_CHILDREN)
    return below.ru_utime + below.ru_stime


async def crawl(folder: Path, proxy: str, mode: str, tabs: int) -> None:
    settings = config.checked(
        {
            "target": {"language": "en"},
            "crawl": {"seeds": [f"http://h{SCRIPTED_HOSTS}.test/{SCRIPTED_HOSTS}"], "proxy": proxy},
            "politeness": {"host_delay": 0.0},
            "render": {"mode": mode, "tabs": tabs},
        }
    )
    with open_for_crawling(folder) as opened:
        async with open_session(opened, settings) as session:
            async for _ in session.run():
                pass


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench rendering", description=__doc__)
    parser.add_argument("--pages", type=int, default=600, metavar="N", help="pages of the web (600)")
    parser.add_argument("--rounds", type=int, default=3, metavar="K", help="seeds, and crawls of static webs (3)")
    parser.add_argument("--tabs", type=int, default=2, metavar="N", help="(2)")
    parser.add_argument("--crawl", nargs=4, metavar="X", help=argparse.SUPPRESS)
    asked = parser.parse_args(options)
    if asked.crawl:
        folder, proxy, mode, tabs = asked.crawl
        asyncio.run(crawl(Path(folder) / "crawl", proxy, mode, int(tabs)))
        return
    try:
        find_browser()
    except MissingExtra as missing:
        print(f"rendering: {missing}")
        return
    _compare(asked.pages, asked.rounds, asked.tabs)
    _static(asked.pages, asked.rounds, asked.tabs)


def _compare(pages: int, rounds: int, tabs: int) -> None:
    """Tables of the same columns, each as soon as it is known."""
    columns = ("mode", "pages", "relevant, of always", "rendered", "static pages rendered", "CPU s")
    for seed in range(1, rounds + 1):
        web = MixedWeb(pages, SCRIPTED_HOSTS, COUNTED, seed)
        runs = {mode: crawled(web, mode, tabs) for mode in ("always", "auto", "never")}
        rows = [_row(web, mode, run, runs["always"].relevant) for mode, run in runs.items()]
        print_table(columns, rows, f"{pages} pages of seed {seed}, {SCRIPTED_HOSTS / HOSTS:.0%} made by scripts")


def _row(web: MixedWeb, mode: str, run: Crawled, known: frozenset[int]) -> list[str]:
    static = sum(not web.is_scripted(number) for number in range(web.pages))
    drawn = sum(not web.is_scripted(number) for number in run.rendered)
    found = len(run.relevant & known) / len(known)
    shares = (f"{found:.1%}", str(len(run.rendered)), f"{drawn / static:.1%}")
    return [mode, str(run.pages), *shares, f"{run.processor:.1f}"]


def _static(pages: int, rounds: int, tabs: int) -> None:
    """Nothing needs rendering."""
    ratios = []
    for seed in range(1, rounds + 1):
        web = MixedWeb(2 * pages, 0, 0.0, seed)
        auto, never = (crawled(web, mode, tabs).processor for mode in ("auto", "never"))
        ratios.append(auto / never)
        print(f"seed {seed}: {auto:.1f} and {never:.1f} s", flush=True)
    listed = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"static web of {2 * pages} pages: CPU of auto is {statistics.median(ratios):.2f} x that of never ({listed})")


if __name__ == "__main__":
    main(sys.argv[1:])

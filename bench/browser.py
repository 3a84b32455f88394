"""What does a page made by scripts cost? Processor time and memory of a browser, by page, and whether it grows."""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

from tests.all_memory import own_share

from spoor.cli.terminal import print_table
from spoor.errors import MissingExtra
from spoor.records import Failure, Response, SubRequest
from spoor.render.browser import Browser, BrowserLimits, find_browser
from spoor.render.rendering import Renderer

SHELL = """<!doctype html><title>shell</title><link rel=stylesheet href=/style.css>
<div id=root></div><script src=/app.js></script>"""
SCRIPT = """
fetch("/data.json").then((answer) => answer.json()).then((items) => {
  for (const {to, words} of items) {
    const item = document.createElement("article");
    item.innerHTML = `<h2><a href="${to}">${to}</a></h2><p>${words}</p><img src="${to}.png">`;
    root.append(item);
  }
});
"""
ITEMS = [{"to": f"/item/{number}", "words": "some words about it " * 20} for number in range(50)]
FILES = {
    "/": ("text/html", SHELL),
    "/app.js": ("text/javascript", SCRIPT),
    "/data.json": ("application/json", json.dumps(ITEMS)),
}
READINGS = 10


def response(url: str) -> Response:
    kind, text = FILES[url.removeprefix("http://bench.test")]
    return Response(url, 200, {"content-type": kind}, text.encode(), b"", b"", b"", "", 0.0, 0.0)


@dataclass
class Measuring:
    """Answers from memory, and reads the memory of the browser while a page waits for its data."""

    browser: Browser
    every: int
    asked: int = 0
    memory: list[int] = field(default_factory=list)

    async def answer(self, request: SubRequest) -> Response | Failure:
        if request.url.endswith(".json"):
            self.asked += 1
            if self.asked % self.every == 0:
                self.memory.append(sum(own_share(number) for _, number in await self.browser.processes()))
        return response(request.url)


async def rendered(program: str, pages: int, tabs: int, every: int) -> tuple[list[int], float, int]:
    """Memory while it ran, the seconds it took, and the pages that came whole."""
    async with Browser(program, BrowserLimits(tabs=tabs)) as browser:
        async with browser.tab():
            pass
        answers, renderer = Measuring(browser, every), Renderer(browser)
        begun, left, whole = time.perf_counter(), iter(range(pages)), 0

        async def work() -> int:
            done = [await renderer.render(response("http://bench.test/"), answers) for _ in left]
            return sum(len(page.links) == len(ITEMS) for page in done)

        whole = sum(await asyncio.gather(*(work() for _ in range(tabs))))
        return answers.memory, time.perf_counter() - begun, whole


def processor() -> tuple[float, float]:
    """Seconds, of the processes that have ended below us and of ourselves."""
    below = resource.getrusage(resource.RUSAGE_CHILDREN)
    return below.ru_utime + below.ru_stime, time.process_time()


def measured(program: str, pages: int, tabs: int) -> tuple[float, float, list[int], float, int]:
    """Seconds of the browser and of ourselves, memory, seconds in all, whole pages."""
    before = processor()
    memory, seconds, whole = asyncio.run(rendered(program, pages, tabs, max(1, pages // READINGS)))
    after = processor()
    return after[0] - before[0], after[1] - before[1], memory, seconds, whole


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench browser", description=__doc__)
    parser.add_argument("--pages", type=int, default=2000, metavar="N", help="pages with each number of tabs (2000)")
    parser.add_argument("--tabs", default="1,4", metavar="N,N", help="tabs at once (1,4)")
    asked = parser.parse_args(options)
    try:
        program = find_browser()
    except MissingExtra as missing:
        print(f"browser: {missing}")
        return
    start, _, _, _, _ = measured(program, 0, 1)
    rows = []
    for tabs in map(int, asked.tabs.split(",")):
        cpu, own, memory, seconds, whole = measured(program, asked.pages, tabs)
        third = max(1, len(memory) // 3)
        each = 1000 / asked.pages
        rows.append(
            [
                str(tabs),
                f"{whole} of {asked.pages}",
                f"{(cpu - start) * each:.0f} + {own * each:.0f}",
                f"{seconds * each:.0f}",
                f"{mean(memory[:third]) / 1e6:.0f}",
                f"{mean(memory[-third:]) / 1e6:.0f}",
                f"{max(memory) / 1e6:.0f}",
            ]
        )
    columns = ("tabs", "whole", "CPU ms a page, browser + us", "ms a page", "MB, first third", "last third", "most")
    print_table(columns, rows, f"{Path(program).name}, started in {start:.1f} s of CPU")


if __name__ == "__main__":
    main([])

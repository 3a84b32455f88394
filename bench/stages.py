"""Where does the time of a page go, live? Processor time of each stage of a crawl of a served web, without what its own
stages take: by functions wrapped in clocks, so that all stages together are a little more than an unwatched crawl."""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.live import WARMING, WEB_PER_CRAWL, crawl, settings
from bench.served_web import Shape, served
from spoor.cli.terminal import print_table
from spoor.events import Event, Visited

STRATEGIES = ("soft-focused", "learned")
STAGES = {
    "fetching": "fetch.http:HttpFetcher.fetch",
    "reading: charset": "parse.html:decode",
    "reading: parser, walk": "parse.html:read",
    "reading: text": "parse.html:tidied",
    "reading: URLs of links": "parse.html:_places",
    "reading: links": "parse.html:bare_links",
    "reading: anchors, contexts": "parse.link_contexts:ParsedContexts.of",
    "reading: tags": "parse.html:_tag_texts",
    "reading: the rest": "live.page_reader:Reader.read",
    "reading: SimHash fingerprint": "live.page_reader:text_fingerprint",
    "reading: canonical URLs": "live.page_reader:with_canonical_links",
    "reading: prior of the target": "ordering.learned.prior:LinkPrior.of",
    "reading: features": "ordering.learned.learned:Learned.hints",
    "judging": "judging.combined:CombinedJudge.judge",
    "archive": "live.page_reader:Archive.keep",
    "archive: facts, duplicates": "live.page_reader:Archive.describe",
    "archive: verdicts": "live.page_reader:Archive.note",
    "offering: look-ups": "frontier.frontier:Frontier.find",
    "offering: evidence": "crawling.scoring:Scoring._scores",
    "offering: the rest": "crawling.scoring:Scoring.offer",
    "learning": "ordering.learned.learned:Learned.learn",
    "absorbing: the rest": "crawl:Crawl.absorb",
    "traps": "ordering.traps:Traps.learn",
    "re-scoring": "crawling.scoring:Scoring.keep_up",
    "deciding": "crawl:Crawl.next_visit",
    "deciding: re-scoring": "crawling.turns:Turns.goes_back",
    "committing: links": "frontier.sqlite:SqliteStore._write_links",
    "committing: the rest": "frontier.sqlite:SqliteStore.commit",
    "journal": "store.journal:Journal.note",
}
"""Each with the function that does it. What is not in any of them is asyncio and HTTP."""
OTHER = "HTTP, asyncio, all else"


def place_of(function: str) -> tuple[Any, str]:
    """The module or class that has a function of `STAGES`, and its name there."""
    module, _, name = function.partition(":")
    owner: Any = import_module(f"spoor.{module}")
    *classes, last = name.split(".")
    for part in classes:
        owner = getattr(owner, part)
    return owner, last


class Clock:
    """The stage that is under way, and nanoseconds by stage."""

    def __init__(self) -> None:
        self.took: dict[str, int] = {}
        self._stages = [OTHER]
        self._since = time.process_time_ns()

    def enter(self, stage: str) -> None:
        self._note()
        self._stages.append(stage)

    def leave(self) -> None:
        self._note()
        self._stages.pop()

    def clear(self) -> None:
        self._note()
        self.took.clear()

    def _note(self) -> None:
        now = time.process_time_ns()
        self.took[self._stages[-1]] = self.took.get(self._stages[-1], 0) + now - self._since
        self._since = now

    def watch(self, stage: str, where: str) -> None:
        """A coroutine is watched from one wait to the next."""
        owner, function = place_of(where)
        setattr(owner, function, self._watched(stage, getattr(owner, function)))

    def _watched(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def clocked(*given: Any, **named: Any) -> Any:
            self.enter(stage)
            try:
                made = function(*given, **named)
            finally:
                self.leave()
            return _Steps(self, stage, made) if asyncio.iscoroutine(made) else made

        return clocked


class _Steps:
    """A coroutine that is clocked while it runs."""

    def __init__(self, clock: Clock, stage: str, made: Any) -> None:
        self._clock, self._stage, self._made = clock, stage, made

    def __await__(self) -> Any:
        answer, error = None, None
        while True:
            self._clock.enter(self._stage)
            try:
                waits = self._made.send(answer) if error is None else self._made.throw(error)
            except StopIteration as done:
                return done.value
            finally:
                self._clock.leave()
            try:
                answer, error = (yield waits), None
            except BaseException as raised:
                answer, error = None, raised


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench stages", description=__doc__)
    parser.add_argument("--pages", type=int, default=1500, metavar="N", help="visited by each crawl (default 1500)")
    parser.add_argument("--rounds", type=int, default=3, metavar="K", help="the median of K is printed (default 3)")
    arguments = parser.parse_args(options)
    first, *others = sorted(os.sched_getaffinity(0))
    took: dict[str, dict[str, list[float]]] = {name: {} for name in STRATEGIES}
    with served(Shape(arguments.pages * WEB_PER_CRAWL), others[-1:] or [first]) as seeds:
        for _ in range(arguments.rounds):
            for name in STRATEGIES:
                command = [sys.executable, "-m", "bench.stages", name, str(arguments.pages), json.dumps(seeds)]
                pinned = ["taskset", "--cpu-list", str(first), *command]
                done = subprocess.run(pinned, stdout=subprocess.PIPE, text=True, check=True)
                for stage, cost in json.loads(done.stdout).items():
                    took[name].setdefault(stage, []).append(cost)
    median = {name: {stage: statistics.median(each) for stage, each in of.items()} for name, of in took.items()}
    lines = [[stage, *(_shown(median[name].get(stage)) for name in STRATEGIES)] for stage in (*STAGES, OTHER)]
    lines.append(["together", *(f"{sum(median[name].values()):.2f}" for name in STRATEGIES)])
    print_table(("ms a page", *STRATEGIES), lines, f"\n{arguments.pages:,} pages, median of {arguments.rounds}")


def _shown(cost: float | None) -> str:
    return "" if cost is None else f"{cost:.2f}"


def measured(strategy: str, pages: int, seeds: Sequence[str]) -> dict[str, float]:
    """Milliseconds a page, after the warming up."""
    clock, visited, counted = Clock(), 0, 0

    def watch(events: list[Event]) -> None:
        nonlocal visited, counted
        visited += sum(isinstance(event, Visited) for event in events)
        if not counted and visited >= pages * WARMING:
            counted = visited
            clock.clear()

    for stage, where in STAGES.items():
        clock.watch(stage, where)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(crawl(Path(folder), settings(pages, seeds, 0, strategy), watch))
    return {stage: nanoseconds / 1e6 / (visited - counted) for stage, nanoseconds in clock.took.items()}


if __name__ == "__main__":
    asked, number, where = sys.argv[1:]
    print(json.dumps(measured(asked, int(number), json.loads(where))))

"""How good is what a crawl expects to find, and what does a crawl miss that stops by itself? Crawls of the rows of the
contest by `learned`, with the perfect judge or one that is taught, seen every 100 requests."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

from bench.signs import DATA
from spoor import registry
from spoor.cli.terminal import print_table
from spoor.crawl import Crawl
from spoor.events import Event, Failed, Redirected, Visited
from spoor.frontier.entry import State
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.lab.contest import Row, chosen, read_rows
from spoor.lab.simulated import simulate
from spoor.lab.task import PreparedTask, Task, read_seeds
from spoor.lab.teaching import Lessons, Teaching
from spoor.lab.worlds import RecordedWorld
from spoor.pricing import Limits
from spoor.records import Verdict
from spoor.stopping import ExpectedFinds, LastRequests, certainty, expected_finds, too_few

EVERY = 100
"""Requests between two looks."""
BEYOND, AT_LEAST = 4, 3_000
"""A crawl ends after so many times as many requests as there are relevant pages, and not before so many."""
FACTOR = 2.0
SLACK, SLACK_NEXT = 3.0, 5.0
RULE = "fewer than 5"


@dataclass(frozen=True)
class Look:
    """After `requests`: what was expected, and what was there."""

    requests: int
    expected: ExpectedFinds
    waiting: int


@dataclass(frozen=True)
class Crawled:
    """`finds` has a value for each request. `stop`: the request after which the rule stops, all of them if never."""

    row: str
    finds: list[bool]
    looks: list[Look]
    stop: int

    def among_waiting(self) -> list[bool]:
        return [_is_near(look.expected.among_waiting, look.waiting, SLACK) for look in self.looks]

    def in_next(self, requests: int) -> list[bool]:
        looks = [look for look in self.looks if look.requests + requests <= len(self.finds)]
        return [
            _is_near(getattr(look.expected, f"next_{requests}"), self._found(look.requests, requests), SLACK_NEXT)
            for look in looks
        ]

    def _found(self, after: int, requests: int) -> int:
        return sum(self.finds[after : after + requests])

    def kept(self) -> float:
        """The share of all finds that a crawl has which stops by the rule."""
        return sum(self.finds[: self.stop]) / max(1, sum(self.finds))


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench expected-finds", description=__doc__)
    parser.add_argument("--webs", type=Path, default=Path("out/contest/webs"), metavar="DIR", help="(out/contest/webs)")
    parser.add_argument("--rows", default="", metavar="R,R", help="rows of the contest (default: all)")
    parser.add_argument("--taught", type=int, metavar="N", help="by a sentence and N answers (default: perfect judge)")
    arguments = parser.parse_args(options)
    rows = read_rows(DATA)
    rows = chosen(rows, arguments.rows.split(",")) if arguments.rows else rows
    crawls = []
    for row in rows:
        crawls.append(crawled(row, arguments.webs, arguments.taught))
        print(*line(crawls[-1]), file=sys.stderr, flush=True)  # A long run may be broken off.
    columns = ("row", "requests", "found", "looks", "waiting", "next 200", "next 500", "stops at", "keeps")
    print_table(columns, [*map(line, crawls), total(crawls)])


def crawled(row: Row, webs: Path, answers: int | None) -> Crawled:
    task = PreparedTask(Task(webs / row.web.name, row.target, read_seeds(row.seeds)))
    task = PreparedTask(replace(task.task, budget=budget(task)))
    store, world = MemoryStore(), task.world(with_content=True)
    if answers is None:
        crawl = Crawl(registry.strategy("learned", task.judge()), Frontier(store), Limits(visits=task.yardstick.budget))
        crawl.begin(task.web.urls[number] for number in task.seeds)
        return seen(row.name, simulate(crawl, world), store, world, world.truth)
    lessons = Lessons(task, Teaching(answers, about=True))
    return seen(row.name, lessons.events(), lessons.store, world, lambda url: found_share(lessons.visited[url]))


def found_share(verdict: Verdict) -> float:
    """How far a page counts as a find by a taught judge."""
    return certainty(verdict.relevance) if verdict.relevant else 0.0


def seen(
    name: str, events: Iterable[Event], store: MemoryStore, world: RecordedWorld, judged: Callable[[str], float]
) -> Crawled:
    """`judged`: how far a fetched page counts as a find by now."""
    last, stop = LastRequests(too_few(RULE)), 0
    tries: list[tuple[float, str]] = []
    finds: list[bool] = []
    looks: list[Look] = []
    for event in events:
        if not isinstance(event, Visited | Failed | Redirected):
            continue
        tries.append((event.visit.key[0], event.visit.url if isinstance(event, Visited) else ""))
        finds.append(isinstance(event, Visited) and world.truth(event.visit.url))
        last.note([event])
        stop = stop or (len(tries) if last.are_too_few else 0)
        if len(tries) % EVERY == 0:
            waiting = list(store.in_state(State.WAITING))
            known = [(key, judged(url) if url else 0.0) for key, url in tries]
            expected = expected_finds(Counter(entry.key[0] for entry in waiting), known)
            assert expected is not None
            looks.append(Look(len(tries), expected, sum(world.truth(entry.url) for entry in waiting)))
    return Crawled(name, finds, looks, stop or len(finds))


def budget(task: PreparedTask) -> int:
    return max(AT_LEAST, BEYOND * task.yardstick.relevant)


def _is_near(expected: float, true: int, slack: float) -> bool:
    return true / FACTOR - slack <= expected <= true * FACTOR + slack


def line(crawl: Crawled) -> list[str]:
    shares = (crawl.among_waiting(), crawl.in_next(200), crawl.in_next(500))
    return [
        crawl.row,
        f"{len(crawl.finds):,}",
        f"{sum(crawl.finds):,}",
        f"{len(crawl.looks)}",
        *(f"{mean(share):.2f}" if share else "" for share in shares),
        f"{crawl.stop:,}",
        f"{crawl.kept():.3f}",
    ]


def total(crawls: Sequence[Crawled]) -> list[str]:
    """Over all looks; of what is kept, the mean and the least."""
    shares = (
        [near for crawl in crawls for near in crawl.among_waiting()],
        [near for crawl in crawls for near in crawl.in_next(200)],
        [near for crawl in crawls for near in crawl.in_next(500)],
    )
    kept = [crawl.kept() for crawl in crawls]
    means = [f"{mean(share):.3f}" for share in shares]
    return ["all", "", "", f"{len(shares[0])}", *means, "", f"{mean(kept):.3f}, least {min(kept):.3f}"]

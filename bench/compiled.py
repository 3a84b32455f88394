"""How much longer does a compiled crawl take than a bare breadth-first search over the same arrays?"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.cli.terminal import print_table
from spoor.compiled import compiled
from spoor.lab.compiled_crawl import LinkGraph, Plan, run
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.link_graph import read_only
from spoor.lab.task import PreparedTask, Task, read_seeds
from spoor.lab.web import Web

CACHE = Path("out/bench")
PLANS = {
    "breadth-first": Plan("breadth-first"),
    "hard-focused": Plan("hard-focused"),
    "soft-focused": Plan("soft-focused"),
    "limited-distance N=2, prioritised": Plan("limited-distance", 2, prioritised=True),
}


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench compiled", description=__doc__)
    parser.add_argument("--pages", type=int, default=14_000_000, metavar="N", help="size of the thai web")
    parser.add_argument("--rounds", type=int, default=3, metavar="K", help="the best of K is printed")
    arguments = parser.parse_args(options)
    web = thai_web(arguments.pages)
    prepared_task = PreparedTask(Task(web.folder, "relevant", read_seeds(web.folder / "seeds.txt")))
    measure(web, list(prepared_task.seeds), arguments.rounds)


def thai_web(pages: int) -> Web:
    folder = CACHE / f"thai-{pages}"
    if not folder.exists():
        started = time.perf_counter()
        generate(Request("thai", pages, seed=1), folder, lambda _: None)
        print(f"generated {folder} in {time.perf_counter() - started:.1f} s, peak memory {peak_gigabytes():.1f} GB")
    return Web.open(folder)


def measure(web: Web, seeds: list[int], rounds: int) -> None:
    graph = LinkGraph.of(web, web.labelled("relevant"))
    links = read_only(graph.offsets, np.int64), read_only(graph.targets, np.int32)
    bare, visits = best_time(partial(bare_search, *links, np.array(seeds, np.int32)), rounds)
    rows = [["bare breadth-first", f"{visits:,}", f"{bare:.2f}", "1.00", f"{peak_gigabytes():.1f}"]]
    for name, plan in PLANS.items():
        seconds, visits = best_time(partial(crawl, graph, plan, seeds), rounds)
        rows.append([name, f"{visits:,}", f"{seconds:.2f}", f"{seconds / bare:.2f}", f"{peak_gigabytes():.1f}"])
    title = f"compiled driver, thai, {web.pages:,} pages, {web.about['links']:,} links"
    print_table(("search", "visits", "seconds", "of the bare search", "peak memory so far, GB"), rows, title)


def crawl(graph: LinkGraph, plan: Plan, seeds: list[int]) -> int:
    return len(run(graph, plan, seeds, len(graph.relevant)).order)


def best_time(search: Callable[[], int], rounds: int) -> tuple[float, int]:
    """Seconds of the fastest of some rounds, after one that compiles and brings the arrays into memory."""
    visits, seconds = search(), []
    for _ in range(rounds):
        started = time.perf_counter()
        search()
        seconds.append(time.perf_counter() - started)
    return min(seconds), visits


@compiled
def bare_search(offsets: NDArray[np.int64], targets: NDArray[np.int32], seeds: NDArray[np.int32]) -> int:
    """The least a search can do: a visited byte and a queue, no judgement, nothing remembered."""
    visited = np.zeros(len(offsets) - 1, np.uint8)
    queue = np.empty(len(offsets) - 1, np.int32)
    visited[seeds] = 1
    queue[: len(seeds)] = seeds
    taken, known = 0, len(seeds)
    while taken < known:
        page = queue[taken]
        taken += 1
        for slot in range(offsets[page], offsets[page + 1]):
            target = targets[slot]
            if visited[target] == 0:
                visited[target] = 1
                queue[known] = target
                known += 1
    return taken


def peak_gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6

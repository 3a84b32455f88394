"""How fast are path models? Steps of the filter, many paths at once and one by one, and what a visited page costs."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.cli.terminal import print_table
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.link_graph import WebBacklinks
from spoor.lab.web import Web
from spoor.ordering.hidden_markov import HiddenMarkov
from spoor.ordering.path_model import PathFilter, PathState, PathView
from spoor.ordering.train_paths import Labelled, Lesson, TrainedPaths, counted, train_paths

STATES, CLUSTERS = 4, 10


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench path-models", description=__doc__)
    parser.add_argument("--paths", type=int, default=10_000, metavar="N", help="paths at once (default 10000)")
    parser.add_argument("--steps", type=int, default=100, metavar="N", help="steps of each path (default 100)")
    parser.add_argument("--pages", type=int, default=2_000, metavar="N", help="of a generated web (default 2000)")
    arguments = parser.parse_args(options)
    lines = [*filter_lines(arguments.paths, arguments.steps), *page_lines(arguments.pages)]
    print_table(("what", "figure"), lines, f"\npath models, {STATES} states, {CLUSTERS} clusters")


def filter_lines(paths: int, steps: int) -> list[list[str]]:
    path = PathFilter(drawn())
    seen = np.random.default_rng(1).integers(0, CLUSTERS, (steps + 2, paths))
    many = seconds(lambda: stepped(path, seen))
    one = seconds(lambda: stepped(path, seen[:, 0]))
    return [
        ["steps/s, many paths at once", f"{paths * steps / many:,.0f}"],
        ["steps/s, one path after the other", f"{steps / one:,.0f}"],
    ]


def drawn() -> HiddenMarkov:
    rng = np.random.default_rng(0)
    links = rng.integers(0, 500, (2, 5_000))
    known = Labelled(STATES, CLUSTERS, rng.integers(0, STATES, 500), rng.integers(0, CLUSTERS, 500), *links)
    return counted(known)


def stepped(path: PathFilter, seen: NDArray[np.int64]) -> None:
    """From the first page of every path to the last, looking ahead from each."""
    state = path.second(path.begin(seen[0]), seen[1])
    for symbols in seen[2:]:
        state = path.go_on(state, symbols)
        path.ahead(state)


def page_lines(pages: int) -> list[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        generate(Request("topical", pages, 1), Path(folder) / "web", lambda done: None)
        web = Web.open(Path(folder) / "web")
        began = time.perf_counter()
        made = taught(web)
        training = time.perf_counter() - began
        texts = [WebBacklinks(web).said(page) for page in range(min(pages, 1_000))]
    return [["s to train on the web", f"{training:.1f}"], *visit_lines(made, texts)]


def taught(web: Web) -> TrainedPaths:
    relevant = np.flatnonzero(web.labelled("relevant"))
    return train_paths(WebBacklinks(web), relevant, Lesson("relevant", web.name, clusters=CLUSTERS), lambda read: None)


def visit_lines(made: TrainedPaths, texts: Sequence[tuple[str, str]]) -> list[list[str]]:
    """For a page of the web: its cluster, the step and what is ahead; or its layer."""
    path = PathView(made.model)

    def walk() -> None:
        state: PathState = None
        for title, text in texts:
            state = path.go_on(state, title, text)
            path.nearness(state or ())

    def sort() -> None:
        for title, text in texts:
            made.model.layer(title, text, 0.5)

    words = sum(len(text.split()) for _, text in texts) // len(texts)
    return [
        [f"µs a visited page of {words} words, hmm", f"{1e6 * seconds(walk) / len(texts):.0f}"],
        ["the same, context-graph", f"{1e6 * seconds(sort) / len(texts):.0f}"],
    ]


def seconds(work: Callable[[], None]) -> float:
    """The best of three."""
    found = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)

"""Which strategy can go on with the links that a crawl has left waiting."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from spoor import registry
from spoor.crawl import Crawl
from spoor.errors import BadInput
from spoor.frontier.frontier import Frontier
from spoor.frontier.sqlite import SqliteStore
from spoor.judging.topic_judges import Keywords
from spoor.lab.simulated import simulate
from spoor.live.relearning import check_links
from spoor.pricing import Limits
from spoor.strategy import Strategy
from tests.tiny import graph, url

TREE = graph("S: A B C; A: D; B: E F", relevant="S A")


def strategy(name: str) -> Strategy:
    return registry.strategy(name, Keywords(("horse",)))


def check(begun_by: str, gone_on_with: str, file: Path) -> None:
    with contextlib.closing(SqliteStore(file)) as store:
        crawl = Crawl(strategy(begun_by), Frontier(store), Limits(2))
        crawl.begin([url("S")])
        for _ in simulate(crawl, TREE):
            pass
        check_links(strategy(gone_on_with), store.connection)


@pytest.mark.parametrize(
    "name",
    ["learned", "breadth-first", "depth-first", "limited-distance:n=3", "tunnelling", "four-aspect", "fish-search"],
)
def test_every_strategy_goes_on_with_what_it_began(name: str, tmp_path: Path) -> None:
    check(name, name, tmp_path / "crawl.db")


def test_a_strategy_goes_on_with_what_another_one_of_the_same_evidence_began(tmp_path: Path) -> None:
    check("limited-distance:n=2", "limited-distance:n=3", tmp_path / "farther.db")
    check("limited-distance:n=2", "breadth-first", tmp_path / "everything.db")


@pytest.mark.parametrize(
    ("begun_by", "gone_on_with"),
    [("soft-focused", "learned"), ("learned", "soft-focused"), ("breadth-first", "limited-distance")],
)
def test_links_of_which_other_things_are_known_are_refused(begun_by: str, gone_on_with: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="begun by another strategy, whose evidence"):
        check(begun_by, gone_on_with, tmp_path / "crawl.db")

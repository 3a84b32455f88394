"""The classics on a live crawl: the same order as in a simulation, and a crawl that is resumed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.web import Web
from spoor.ordering.classics import CLASSICS
from tests.test_live import crawl_live, crawl_simulated, settings, visits

SOON = {"page-rank": ":every=20", "distiller": ":every=20", "link-classifier": ":every=20", "host-yield": ":every=20"}
"""So that upkeep comes within a short crawl."""
ASKED = [name + SOON.get(name, "") for name in CLASSICS]


@pytest.fixture(scope="module")
def small_web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    folder = tmp_path_factory.mktemp("webs") / "thai"
    generate(Request("thai", 300, 5, text=True), folder, lambda pages: None)
    return Web.open(folder)


@pytest.mark.parametrize("asked", [name for name in ASKED if not name.startswith("link-classifier")])
def test_a_live_crawl_visits_the_same_pages_in_the_same_order(asked: str, small_web: Web, tmp_path: Path) -> None:
    config = settings(small_web, strategy=asked, max_pages=60)
    live = visits(asyncio.run(crawl_live(small_web, tmp_path / "crawl", config)))
    assert live == visits(crawl_simulated(small_web, config))
    assert len(live) == 60


@pytest.mark.parametrize("asked", [name for name in ASKED if name.partition(":")[0] in (*SOON, "tag-path-bandit")])
def test_a_crawl_that_is_gone_on_with_repeats_nothing(asked: str, small_web: Web, tmp_path: Path) -> None:
    config = settings(small_web, strategy=asked, max_pages=30)
    before = visits(asyncio.run(crawl_live(small_web, tmp_path / "crawl", config)))
    more = replace(config, crawl=replace(config.crawl, max_pages=90))
    after = visits(asyncio.run(crawl_live(small_web, tmp_path / "crawl", more)))
    assert len(before) == 30 and len({*before, *after}) == 90


def test_a_classifier_finds_the_same_whether_links_are_read_here_or_in_a_worker(small_web: Web, tmp_path: Path) -> None:
    """Not compared with a simulation: a generated page that is served has other words around its links."""
    config = settings(small_web, strategy="link-classifier:every=20", max_pages=60)
    here = visits(asyncio.run(crawl_live(small_web, tmp_path / "here", config)))
    there = replace(config, crawl=replace(config.crawl, workers=1))
    assert visits(asyncio.run(crawl_live(small_web, tmp_path / "there", there))) == here
    assert len(here) == 60

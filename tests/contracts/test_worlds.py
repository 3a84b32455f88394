"""What every world promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from spoor.lab.web import Web
from spoor.lab.worlds import ComparedWorld, Conditions, Network, RecordedWorld
from spoor.records import Failure, Page, RobotsRules, Visit
from spoor.roles import World
from tests.handmade_web import write_web
from tests.tiny import graph

HOME = "http://h0.test/"


@pytest.fixture(params=["recorded", "written", "network", "compared"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    web = Web.open(write_web(tmp_path / "web", [[1, 2], [0], []], {"relevant": [0, 2]}))
    recorded = RecordedWorld(web, web.labelled("relevant"))
    if request.param == "written":
        pages = "h0.test/: h0.test/0 h0.test/1; h0.test/0: h0.test/"
        return graph(pages, relevant="h0.test/ h0.test/1")
    if request.param == "compared":
        return ComparedWorld(recorded)
    return recorded if request.param == "recorded" else Network(recorded, Conditions(failures=0.0))


def visit(url: str, number: int = 0) -> Visit:
    return Visit(url, "h0.test", number, 0.0)


def test_a_page_has_its_links_in_document_order(world: World) -> None:
    page, _ = world.fetch(visit(HOME))
    assert isinstance(page, Page)
    assert [link.url for link in page.links] == [f"{HOME}0", f"{HOME}1"]


def test_the_same_visit_finds_the_same(world: World) -> None:
    assert world.fetch(visit(HOME)) == world.fetch(visit(HOME))


def test_a_look_takes_no_negative_time(world: World) -> None:
    assert world.fetch(visit(HOME))[1] >= 0.0


def test_a_url_that_is_nowhere_is_a_failure_not_an_exception(world: World) -> None:
    assert isinstance(world.fetch(visit("http://nowhere.test/"))[0], Failure)
    assert not world.truth("http://nowhere.test/")


def test_the_rules_of_a_host_can_be_asked_for(world: World) -> None:
    rules, _ = world.fetch(Visit("//h0.test/robots.txt", "h0.test", 0, 0.0, "robots"))
    assert isinstance(rules, RobotsRules)


def test_truth_is_by_page(world: World) -> None:
    assert [world.truth(f"{HOME}{page}") for page in ("", "0", "1")] == [True, False, True]

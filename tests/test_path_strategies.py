"""Strategies that go through irrelevant pages: tunnelling, context graph, HMM, AHMM; on tiny webs, live and resumed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from spoor.cli.main import main
from spoor.errors import BadInput, UsageError
from spoor.judging.combined import Truth
from spoor.judging.language_judges import ScriptShare
from spoor.judging.topic_judges import Keywords
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.web import Web
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.path_model import PathView, write_paths
from spoor.ordering.paths import HiddenState, LikeliestLayer, queue_key, queued
from spoor.ordering.trails import Tunnel
from spoor.records import Link, Page, Sighting, Verdict, Visit
from spoor.registry import strategy
from spoor.settings import Config, Crawling, Politeness, Target
from tests.test_live import crawl_live, crawl_simulated, visits
from tests.tiny import events_of, graph, names, truth, url
from tests.written_links import SAID, learned


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("models") / "horses.spoor"
    write_paths(file, learned())
    return file


def world(links: str, relevant: str = "") -> WrittenWorld:
    """`world("city1: road1 city2; road1: stable1")`; a page says what its kind says."""
    lines = [line.partition(":") for line in links.split(";")]
    targets = {page.strip(): linked.split() for page, _, linked in lines}
    found = list(dict.fromkeys([*targets, *(name for linked in targets.values() for name in linked)]))
    pages = {
        url(name): Page(
            url(name), text=SAID[name.rstrip("0123456789")], links=tuple(map(Link, map(url, targets.get(name, []))))
        )
        for name in found
    }
    return WrittenWorld(pages, frozenset(map(url, relevant.split())))


def order(asked: str, web: WrittenWorld, seeds: Sequence[str] = ("city0",)) -> str:
    judge = Truth("horse", web.truth)
    return names(events_of(web, strategy(asked, judge), seeds))


# Tunnelling


def test_tunnelling_with_yes_and_no_is_prioritised_limited_distance() -> None:
    web = graph("S: A i1 i4; A: i1 B; B: S; i1: i2 C; i2: i3 D; i3: E; i4: i2; C: i5; i5: F", relevant="S A B C D E F")
    for cutoff in (0, 1, 2, 3):
        found = names(events_of(web, strategy(f"tunnelling:cutoff={cutoff}", truth(web)), ["S"]))
        assert found == names(events_of(web, strategy(f"prioritised-limited-distance:n={cutoff}", truth(web)), ["S"]))


def test_a_page_with_something_of_the_topic_costs_less_patience() -> None:
    trail, page = Tunnel(), Page("http://a.test/")
    state = trail.advance(0.0, page, Verdict(0.4, False, ""))
    assert state == pytest.approx(0.6)
    assert trail.advance(state, page, Verdict(0.0, False, "")) == pytest.approx(1.6)
    assert trail.advance(state, page, Verdict(0.9, True, "")) == 0.0


def test_a_direction_that_almost_leads_somewhere_is_followed_for_longer() -> None:
    """Both ways have two irrelevant pages; on one of them horses are mentioned."""
    hint, nothing = f"a horse {'word ' * 99}", "word " * 100
    texts = {"S": "horse " * 9, "A": nothing, "A2": nothing, "B": hint, "B2": hint, "A3": "horse", "B3": "horse"}
    links = {"S": "A B", "A": "A2", "A2": "A3", "B": "B2", "B2": "B3"}
    pages = {
        url(name): Page(url(name), text=text, links=tuple(Link(url(to)) for to in links.get(name, "").split()))
        for name, text in texts.items()
    }
    found = events_of(WrittenWorld(pages), strategy("tunnelling:cutoff=1.9", Keywords(("horse",))), ["S"])
    assert names(found) == "s a b b2 a2 b3"


def test_a_cutoff_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="tunnelling:cutoff=-1 leaves nothing to visit"):
        strategy("tunnelling:cutoff=-1", Truth("x", bool))


# Layer queues (check L-9)


def test_l_9_the_nearest_queue_that_is_not_empty_comes_first_and_in_it_the_most_certain() -> None:
    told = {"a": (2, 0.7), "b": (4, 0.9), "c": (1, 0.55), "d": (1, 0.8), "e": (3, 0.6), "f": (0, 0.51)}
    keys = {name: queue_key(queued(queue, chance, 5)) for name, (queue, chance) in told.items()}
    assert "".join(sorted(keys, key=lambda name: keys[name], reverse=True)) == "fdcaeb"


def test_a_link_that_pages_of_several_layers_hold_waits_in_the_nearest_with_the_chance_there() -> None:
    scorer = LikeliestLayer(PathView(learned()))
    far, near = queued(2, 0.9, 4), queued(1, 0.4, 4)
    merged = {name: scorer.merge[name](far[name], near[name]) for name in far}
    assert queue_key(merged) == (-1.0, 0.4)


# By a model, on tiny webs

CORRIDOR = "city0: city1 road1; city1: city2 city3; road1: stable1; stable1: horse1; horse1: city4"


@pytest.mark.parametrize("asked", ["hmm", "hmm:order=2", "hmm:decoder=viterbi", "context-graph"])
def test_roads_and_stables_are_followed_though_none_of_them_is_wanted(asked: str, model: Path) -> None:
    name, *rest = asked.split(":")
    web = world(CORRIDOR, "horse1")
    found = order(":".join([name, f"model={model}", *rest]), web)
    assert found.startswith("city0 city1 road1 stable1 horse1")
    assert order("soft-focused", web).startswith("city0 city1 road1 city2 city3 stable1")


def test_by_the_likeliest_layer_alone_links_of_pages_that_are_surely_far_come_first(model: Path) -> None:
    """Within a layer the most certain goes first, and nothing is as certain as that a city is far from everything."""
    assert order(f"hmm:model={model}:key=argmax", world(CORRIDOR)).startswith("city0 city1 city2 city3 road1 stable1")


def test_links_of_wanted_pages_and_of_pages_like_them_wait_in_the_first_queue(model: Path) -> None:
    web = world("stable1: city1; horse1: city2")
    found = order(f"context-graph:model={model}", web, seeds=("stable1", "horse1"))
    assert found == "stable1 horse1 city2 city1"


def test_pages_like_no_layer_come_last(model: Path) -> None:
    web = world("city1: city2; city3: ")
    unlike = Page(url("zebra"), text="zebra", links=(Link(url("city3")),))
    web = replace(web, outcomes={**web.outcomes, unlike.url: unlike})
    assert order(f"context-graph:model={model}", web, seeds=("zebra", "city1")) == "zebra city1 city2 city3"


def test_ahmm_weighs_what_is_ahead_and_how_the_link_looks(model: Path) -> None:
    """The path says nothing new: both links are on one page. The anchor decides."""
    pages = {
        url("s"): Page(url("s"), text=SAID["road"], links=(Link(url("a"), "a tram"), Link(url("b"), "a horse"))),
        url("a"): Page(url("a"), text=SAID["city"]),
        url("b"): Page(url("b"), text=SAID["city"]),
    }
    for key in ("expected", "argmax"):
        made = strategy(f"ahmm:model={model}:key={key}", Keywords(("horse",)))
        assert names(events_of(WrittenWorld(pages), made, ["s"])) == "s b a"


def test_ahmm_finds_the_way_where_links_say_nothing(model: Path) -> None:
    web = world(CORRIDOR, "horse1")
    assert order(f"ahmm:model={model}", web).startswith("city0 city1 road1 stable1 horse1")


def test_ahmm_takes_the_topic_from_the_model_when_the_judge_names_none(model: Path) -> None:
    made = strategy(f"ahmm:model={model}", ScriptShare("thai"))
    assert "'saddle'" in repr(made.scorer)
    assert "'saddle'" not in repr(strategy(f"ahmm:model={model}", Truth("class=mare", bool)).scorer)


def test_the_state_comes_with_the_better_key() -> None:
    """A city and a stable link to one page; what the page's own links carry follows from the path by the stable."""
    path = PathView(learned())
    trail = HiddenState(path)
    by_city = trail.advance(trail.root(), Page("http://a.test/", text=SAID["city"]), Verdict(0.0, False, ""))
    by_stable = trail.advance(trail.root(), Page("http://b.test/", text=SAID["stable"]), Verdict(0.0, False, ""))
    assert trail.rank(by_stable) > trail.rank(by_city) > trail.rank(trail.root())


def test_first_order_parameters_make_one_strategy_of_both_orders(tmp_path: Path) -> None:
    model = learned()
    write_paths(tmp_path / "first.spoor", replace(model, path=model.path.first_order()))
    web = world("; ".join(f"city{n}: city{n + 1} road{n}; road{n}: stable{n}; stable{n}: horse{n}" for n in range(9)))
    first, second = (order(f"hmm:model={tmp_path / 'first.spoor'}:order={number}", web) for number in (1, 2))
    assert first == second


def test_a_page_is_looked_at_once() -> None:
    """However many links it has, its state is worked out once and shared."""
    path = PathView(learned())
    page = Page("http://a.test/", text=SAID["road"], links=tuple(Link(f"http://{n}.test/") for n in range(3)))
    state = HiddenState(path).advance(None, page, Verdict(0.0, False, ""))
    found = LikeliestLayer(path).evidence(
        Sighting(Visit(page.url, "a.test", 0, 0.0), page, Verdict(0.0, False, ""), state), page.links
    )
    assert found[0] is found[1] is found[2]


# Wrong use


@pytest.mark.parametrize("name", ["hmm", "ahmm", "context-graph"])
def test_without_a_model_the_command_that_makes_one_is_named(name: str) -> None:
    with pytest.raises(UsageError, match=rf"{name} needs a model of paths; train one with `spoor train context`"):
        strategy(name, Truth("x", bool))


def test_what_cannot_be_asked_for_is_refused_by_name(model: Path) -> None:
    for asked, told in {
        f"hmm:model={model}:key=best": "key='best' is neither argmax nor expected",
        f"ahmm:model={model}:key=best": "key='best' is neither argmax nor expected",
        f"hmm:model={model}:order=3": "order=3 is neither 1 nor 2",
        f"hmm:model={model}:decoder=x": "decoder='x' is neither forward nor viterbi",
        f"context-graph:model={model}:least=2": "least=2 is not a probability",
    }.items():
        with pytest.raises(UsageError, match=told):
            strategy(asked, Truth("x", bool))
    with pytest.raises(BadInput, match="cannot read the model"):
        strategy("hmm:model=nowhere.spoor", Truth("x", bool))


# Live, and resumed

WANTED = ("telescope", "galaxy", "orbit", "planet")


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    folder = tmp_path_factory.mktemp("webs") / "topical"
    generate(Request("topical", 200, 8), folder, lambda pages: None)
    return Web.open(folder)


@pytest.fixture(scope="module")
def topical(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trained on a web of the same kind, not on the one that is crawled."""
    folder = tmp_path_factory.mktemp("trained")
    generate(Request("topical", 200, 9), folder / "web", lambda pages: None)
    asked = ["--target", "relevant", "--clusters", "5", "--out", str(folder / "m.spoor"), "--workers", "1"]
    assert main(["train", "context", str(folder / "web"), *asked]) == 0
    return folder / "m.spoor"


def settings(web: Web, asked: str, pages: int, workers: int = 0) -> Config:
    seeds = tuple((web.folder / "seeds.txt").read_text().split())
    crawling = Crawling(seeds=seeds, connections=1, strategy=asked, max_pages=pages, workers=workers)
    return Config(Target(keywords=WANTED), crawling, politeness=Politeness(host_delay=0.0))


@pytest.mark.parametrize("asked", ["hmm:model={}", "context-graph:model={}"])
def test_what_follows_from_texts_alone_goes_the_same_way_live_and_simulated(
    asked: str, web: Web, topical: Path, tmp_path: Path
) -> None:
    whole = settings(web, asked.format(topical), 40)
    live = visits(asyncio.run(crawl_live(web, tmp_path / "crawl", whole)))
    assert len(live) == 40 and live == visits(crawl_simulated(web, whole))


@pytest.mark.parametrize("asked", ["hmm:model={}", "ahmm:model={}", "context-graph:model={}", "tunnelling"])
def test_a_crawl_that_was_stopped_goes_on_as_if_it_had_not_been(
    asked: str, web: Web, topical: Path, tmp_path: Path
) -> None:
    first, both = (settings(web, asked.format(topical), pages) for pages in (15, 30))
    begun = visits(asyncio.run(crawl_live(web, tmp_path / "two", first)))
    gone_on = visits(asyncio.run(crawl_live(web, tmp_path / "two", both)))
    assert begun + gone_on == visits(asyncio.run(crawl_live(web, tmp_path / "one", both)))
    assert len(begun) == len(gone_on) == 15


def test_pages_read_in_another_process_are_observed_alike(web: Web, topical: Path, tmp_path: Path) -> None:
    away = settings(web, f"hmm:model={topical}", 15, workers=1)
    assert visits(asyncio.run(crawl_live(web, tmp_path / "crawl", away))) == visits(crawl_simulated(web, away))

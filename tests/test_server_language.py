"""The language of servers, learned on the way: what is expected of a place, and when a server is left."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from spoor import registry
from spoor.cli.main import main
from spoor.errors import UsageError
from spoor.judging.combined import Truth
from spoor.ordering.correlation_degree import FolderHitRates
from spoor.ordering.language_order import AbandonedServers, ServerLanguage
from spoor.records import Link, Page, Sighting, Verdict, Visit
from spoor.strategy import hinted
from spoor.urls import host_of


def sighting(url: str, relevant: bool, links: Sequence[Link] = ()) -> Sighting:
    page = Page(url, links=tuple(links))
    return Sighting(Visit(url, host_of(url), 0, 0.0), page, Verdict(float(relevant), relevant, "told"), None)


def server(scorer: ServerLanguage, *urls: str) -> list[float]:
    """The evidence of links on a page of a host that nobody links to."""
    seen = sighting("http://elsewhere.test/", False, [Link(url) for url in urls])
    links = hinted(scorer, seen.page, seen.page.links)
    return [evidence["server"] for evidence in scorer.evidence(seen, links)]


# Places


def test_of_an_unknown_place_is_expected_what_is_expected_elsewhere() -> None:
    assert FolderHitRates().expected("http://a.test/x/", 0, 0.5) == 0.5


def test_four_visits_weigh_as_much_as_what_was_expected_before() -> None:
    shares = FolderHitRates()
    for number in range(4):
        shares.note(f"http://a.test/{number}", 0, True)
    assert shares.expected("http://a.test/5", 0, 0.5) == 0.75


def test_a_folder_is_like_its_host_until_it_is_known_itself() -> None:
    shares = FolderHitRates()
    for number in range(12):
        shares.note(f"http://a.test/bad/{number}", 0, False)
    assert shares.expected("http://a.test/new/", 0, 0.5) == 0.125
    for number in range(12):
        shares.note(f"http://a.test/new/{number}", 0, True)
    assert shares.expected("http://a.test/new/x", 0, 0.5) > 0.8 > 0.2 > shares.expected("http://a.test/bad/x", 0, 0.5)


def test_kinds_of_pages_are_counted_apart() -> None:
    shares = FolderHitRates()
    for number in range(4):
        shares.note(f"http://a.test/{number}", 0, False)
    assert shares.expected("http://a.test/ja/", 1, 0.5) == 0.5


# Servers


def test_a_server_is_worth_what_its_pages_were() -> None:
    scorer = ServerLanguage("ja")
    for number in range(20):
        scorer.learn(sighting(f"http://good.test/{number}", True))
        scorer.learn(sighting(f"http://bad.test/{number}", False))
    good, unknown, bad = server(scorer, "http://good.test/x", "http://new.test/x", "http://bad.test/x")
    assert good > 0.8 > unknown == 0.0 > -0.8 > bad


def test_a_server_of_another_language_does_not_count_against_its_pages_in_ours() -> None:
    scorer = ServerLanguage("ja")
    for number in range(20):
        scorer.learn(sighting(f"http://a.test/de/{number}", False))
    assert server(scorer, "http://a.test/ja/") == [0.0]


def test_a_folder_that_was_never_translated_is_found_out() -> None:
    scorer = ServerLanguage("ja")
    for number in range(20):
        scorer.learn(sighting(f"http://a.test/ja/{number}", False))
    assert server(scorer, "http://a.test/ja/x")[0] < -0.8


def test_an_unknown_server_is_tried_not_flooded() -> None:
    first, second, third = server(ServerLanguage("ja"), "http://a.test/1", "http://a.test/2", "http://a.test/3")
    assert first > second > third
    assert server(ServerLanguage("ja"), "http://a.test/1", "http://b.test/1") == [0.0, 0.0]


def test_a_copy_has_learned_nothing() -> None:
    strategy = registry.strategy("server-language:language=ja", Truth("x", lambda url: False))
    (scorer,) = [part for part in strategy.learners() if isinstance(part, ServerLanguage)]
    scorer.learn(sighting("http://a.test/", True))
    fresh = strategy.fresh().scorer
    assert isinstance(fresh, ServerLanguage)
    assert server(scorer, "http://a.test/x") != server(fresh, "http://a.test/x") == [0.0]


def test_the_learned_evidence_can_be_left_out() -> None:
    scorer = ServerLanguage("ja", without=("server",))
    scorer.learn(sighting("http://a.test/1", True))
    seen = sighting("http://p.test/", False, [Link("http://a.test/2"), Link("http://b.test/2")])
    known, unknown = scorer.evidence(seen, hinted(scorer, seen.page, seen.page.links))
    assert scorer.key(known) == scorer.key(unknown)


# Leaving


def visited(admission: AbandonedServers, host: str, pages: int, relevant: int = 0) -> AbandonedServers:
    for number in range(pages):
        admission.learn(sighting(f"http://{host}/{number}", number < relevant))
    return admission


def decision(admission: AbandonedServers, link: str, **evidence: float) -> str:
    return admission.at_offer(Link(link), evidence, None).decision


def test_a_server_is_left_when_patience_ends() -> None:
    assert decision(visited(AbandonedServers(3), "a.test", 2), "http://a.test/x") == "admit"
    left = visited(AbandonedServers(3), "a.test", 3)
    ruling = left.at_pop(Visit("http://a.test/x", "a.test", 0, 0.0))
    assert (ruling.decision, ruling.because) == ("park", "0 of 3 pages of a.test were relevant: the server is given up")
    assert decision(left, "http://b.test/x") == "admit"


def test_a_server_with_enough_relevant_pages_is_kept() -> None:
    assert decision(visited(AbandonedServers(3), "a.test", 9, 3), "http://a.test/x") == "admit"
    assert decision(visited(AbandonedServers(3), "a.test", 9, 2), "http://a.test/x") == "park"


def test_a_sign_for_the_link_itself_brings_it_in() -> None:
    left = visited(AbandonedServers(3), "a.test", 9)
    assert decision(left, "http://a.test/ja/", url=1.0) == decision(left, "http://a.test/x", anchor=0.8) == "admit"
    assert decision(left, "http://a.test/x", url=0.0, referrer=1.0) == "park"


def test_patience_below_one_is_refused() -> None:
    with pytest.raises(UsageError, match="patience=0: at least 1 page must be visited"):
        AbandonedServers(0)


# Strategies


@pytest.mark.parametrize("name", ["server-language", "language-focused"])
class TestStrategiesThatKnowTheLanguage:
    def test_ask_the_judge_for_it(self, name: str) -> None:
        strategy = registry.strategy(name, Truth("lang=jpn", lambda url: False))
        assert "'ja'" in repr(strategy.scorer)

    def test_take_it_as_a_parameter(self, name: str) -> None:
        strategy = registry.strategy(f"{name}:language=de:without=url+page", Truth("x", lambda url: False))
        assert "'de', without=('url', 'page')" in repr(strategy.scorer)

    def test_say_what_to_do_without_one(self, name: str) -> None:
        with pytest.raises(UsageError, match=rf"{name} needs to know .* {name}:language=.* give a judge that does"):
            registry.strategy(name, Truth("class=course", lambda url: False))

    def test_refuse_a_language_that_nobody_knows(self, name: str) -> None:
        with pytest.raises(UsageError, match="unknown language 'xx'"):
            registry.strategy(f"{name}:language=xx", Truth("x", lambda url: False))


def test_a_language_of_ones_own_is_looked_for_by_its_model(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("burxan talo vesik mendar, ilto suran qevi. " * 60)
    model = tmp_path / "x-mine.spoor"
    assert main(["train", "language", "--name", "x-mine", str(text), "--out", str(model)]) == 0
    judge = registry.judge(f"language:{model}")
    for name in ("server-language", "language-focused", "n-crawl"):
        reader = registry.strategy(name, judge).link_reader
        assert reader is not None
        page = Page(
            "http://a.test/", links=(Link("http://b.mn/ja/", "burxan talo vesik mendar"), Link("http://c.test/"))
        )
        near, far = hinted(reader, page, page.links)
        assert near.hints != far.hints

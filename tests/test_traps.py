"""Trap protection: what gives nothing new loses its turn, what keeps giving goes on."""

from __future__ import annotations

import random
from calendar import month_name
from collections.abc import Sequence
from dataclasses import replace

import pytest
from bench.traps import DATA, crawl, urls
from hypothesis import given
from hypothesis import strategies as st

from spoor.errors import UsageError
from spoor.events import Event, HostDemoted, Redirected, Refused, Visited
from spoor.judging.language_judges import ScriptShare
from spoor.lab.worlds import WrittenWorld
from spoor.ordering import traps as traps_module
from spoor.ordering.admissions import AllOf, RespectNofollow
from spoor.ordering.simple import Arrival
from spoor.ordering.traps import Memory, Traps, passages, repeated_part, template, wider_groups
from spoor.parse.simhash import text_fingerprint
from spoor.pricing import Limits
from spoor.records import ADMIT, Link, Outcome, Page, Redirect, Ruling, Sighting, Verdict, Visit
from spoor.roles import Judge
from spoor.strategy import Strategy
from spoor.urls import host_of, normalise
from tests.tiny import events_of, truth

WORDS = [
    a + b for a in ("ba", "ke", "li", "mo", "nu", "ra", "se", "ti") for b in ("dan", "gor", "lun", "mes", "pit", "vak")
]
BOILERPLATE = (
    "The town hall is open on weekdays. Contact the office by telephone or come in person. Imprint and privacy."
)


def prose(number: int, words: int = 80) -> str:
    return " ".join(random.Random(number).choices(WORDS, k=words))


def page(url: str, text: str, links: Sequence[str] = ()) -> Page:
    return Page(url, text=text, links=tuple(map(Link, links)))


def month(number: int, home: str = "http://town.test/cal") -> str:
    return f"{home}/{2000 + number // 12}/{number % 12 + 1}"


def calendar(months: int, words: str = BOILERPLATE) -> dict[str, Outcome]:
    """Every month leads to the one before and the one after, and nothing ever happens."""
    pages: dict[str, Outcome] = {}
    for number in range(months):
        days = " ".join(map(str, range(1, 29 + number % 4)))
        text = f"{month_name[number % 12 + 1]} {2000 + number // 12} Mo Tu We Th Fr Sa Su {days} no events. {words}"
        pages[month(number)] = page(month(number), text, [month(max(0, number - 1)), month(number + 1)])
    return pages


def articles(pages: int) -> dict[str, Outcome]:
    def article(number: int) -> str:
        return f"http://town.test/article/{number}"

    return {
        article(number): page(article(number), f"{prose(number)} {BOILERPLATE}", [article(number + 1)])
        for number in range(pages)
    }


def guarded(world: WrittenWorld, judge: Judge | None = None) -> Strategy:
    return Strategy(judge or truth(world), Arrival(), admission=AllOf((RespectNofollow(), Traps())))


def visited(events: Sequence[Event], part: str = "") -> int:
    return sum(isinstance(event, Visited) and part in event.visit.url for event in events)


def reasons(events: Sequence[Event]) -> set[str]:
    at_offer = {refusal.because for event in events if isinstance(event, Visited) for refusal in event.refused}
    return at_offer | {event.refusal.because for event in events if isinstance(event, Refused)}


def sighting(url: str, text: str, links: Sequence[str] = (), relevant: bool = False) -> Sighting:
    verdict = Verdict(float(relevant), relevant, "told")
    return Sighting(Visit(url, host_of(url), 0, 0.0), page(url, text, links), verdict, None)


def ruling(traps: Traps, url: str) -> Ruling:
    offered = traps.at_offer(Link(url), {}, None)
    assert traps.at_pop(Visit(url, host_of(url), 0, 0.0)) == offered
    return offered


def test_an_endless_calendar_is_left_within_thirty_pages() -> None:
    world = WrittenWorld(calendar(500))
    events = events_of(world, guarded(world), ["town.test/cal/2000/1"], limits=Limits(visits=400))
    assert visited(events) <= 30
    assert reasons(events) == {"20 pages like http://town.test/cal/{n}/{n} had nothing new"}


def test_a_calendar_in_the_wanted_language_is_a_trap_too() -> None:
    world = WrittenWorld(calendar(500, words="ภาษาไทยเป็นภาษาของคนไทย" * 30))
    events = events_of(world, guarded(world, ScriptShare("thai")), ["town.test/cal/2000/1"])
    assert all(event.verdict.relevant for event in events if isinstance(event, Visited))
    assert visited(events) <= 30


def test_a_large_honest_site_goes_on() -> None:
    world = WrittenWorld(articles(600))
    events = events_of(world, guarded(world), ["town.test/article/0"])
    assert visited(events) == 600
    assert reasons(events) == set()


def test_the_honest_part_of_a_site_goes_on_when_its_calendar_is_left() -> None:
    home = page("http://town.test/", BOILERPLATE, [month(0), "http://town.test/article/0"])
    world = WrittenWorld({home.url: home} | calendar(500) | articles(300))
    events = events_of(world, guarded(world), ["town.test/"], limits=Limits(visits=500))
    assert visited(events, "/article/") == 300
    assert visited(events, "/cal/") <= 30


def test_facets_in_every_combination_are_left() -> None:
    """The query names words, so every page has a template of its own; the wider groups tell."""
    traps, fetched = Traps(), 0
    for colour in WORDS:
        for size in WORDS:
            url = f"http://shop.test/list?colour={colour}&size={size}"
            if ruling(traps, url) == ADMIT:
                fetched += 1
                traps.learn(sighting(url, BOILERPLATE))
    assert fetched <= 61
    assert "had nothing new" in ruling(traps, "http://shop.test/list?size=a&colour=b").because
    assert ruling(traps, "http://shop.test/item/1") == ADMIT


def behind_a_login(pages: int, others: int) -> dict[str, Outcome]:
    """Every page of the shop leads to its login; the pages of a village link to one another."""
    shop = [f"http://shop.test/{number}" for number in range(pages)]
    village = [f"http://village.test/{number}" for number in range(others)]
    home = page("http://town.test/", "town", [*shop, village[0]])
    login = page("http://shop.test/login", "Name and password, please.")
    outcomes: dict[str, Outcome] = {url: Redirect(f"{login.url}?next={url[-1]}") for url in shop}
    outcomes |= {f"{login.url}?next={digit}": replace(login, duplicate_of=login.url) for digit in range(10)}
    outcomes |= {url: page(url, prose(number), village[number + 1 :][:1]) for number, url in enumerate(village)}
    return outcomes | {home.url: home}


def order_of(events: Sequence[Event], host: str) -> list[int]:
    """The places of the visits to a host among all visits."""
    visits = [event.visit.url for event in events if isinstance(event, Visited | Redirected)]
    return [place for place, url in enumerate(visits) if host_of(url) == host]


def test_a_host_that_sends_every_link_to_its_login_comes_after_all_others() -> None:
    world = WrittenWorld(behind_a_login(pages=100, others=60))
    events = events_of(world, guarded(world), ["town.test/"])
    shop, village = order_of(events, "shop.test"), order_of(events, "village.test")
    assert len(shop) == 110 and len(village) == 60, "nothing is lost"
    assert sum(place < max(village) for place in shop) == 20
    demoted = [event for event in events if isinstance(event, HostDemoted)]
    assert [event.host for event in demoted] == ["shop.test"]
    assert demoted[0].because == "20 visits in a row brought nothing but redirects to http://shop.test/login"


def test_the_first_page_that_is_different_puts_its_host_back() -> None:
    outcomes = behind_a_login(pages=100, others=60)
    outcomes["http://shop.test/50"] = page("http://shop.test/50", prose(50))
    world = WrittenWorld(outcomes)
    events = events_of(world, guarded(world), ["town.test/"], limits=Limits(visits=200))
    demoted = [bool(event.because) for event in events if isinstance(event, HostDemoted)]
    assert demoted == [True, False, True]


def test_a_host_that_brings_other_pages_between_is_never_put_behind() -> None:
    traps = Traps()
    for number in range(200):
        url = f"http://a.test/{number}"
        if number % 20 == 0:
            traps.learn(sighting(url, prose(number)))
        else:
            traps.learn_redirect(Visit(url, "a.test", 0, 0.0), "http://a.test/")
        assert traps.demotion_of("a.test") == ""


def test_redirects_to_as_many_pages_say_nothing_about_a_host() -> None:
    traps = Traps()
    for number in range(200):
        traps.learn_redirect(Visit(f"http://a.test/{number}", "a.test", 0, 0.0), f"https://a.test/{number}")
        assert traps.demotion_of("a.test") == ""


def test_one_new_page_restores_the_turn() -> None:
    traps = Traps(patience=3)
    for number in range(4):
        traps.learn(sighting(f"http://a.test/p/{number}", BOILERPLATE))
    assert ruling(traps, "http://a.test/p/9").decision == "park"
    traps.learn(sighting("http://a.test/p/9", prose(9)))
    assert ruling(traps, "http://a.test/p/10") == ADMIT


def test_only_pages_in_a_row_count() -> None:
    traps = Traps(patience=3)
    for number in range(30):
        traps.learn(sighting(f"http://a.test/p/{number}", prose(number) if number % 3 == 0 else BOILERPLATE))
        assert ruling(traps, f"http://a.test/p/{number + 1}") == ADMIT


def test_the_same_words_on_another_host_are_new_there() -> None:
    traps = Traps(patience=1)
    traps.learn(sighting("http://a.test/p/1", BOILERPLATE))
    traps.learn(sighting("http://b.test/p/1", BOILERPLATE))
    assert ruling(traps, "http://b.test/p/2") == ADMIT


def test_a_page_without_text_counts_by_its_relevance_and_the_kinds_of_its_links() -> None:
    traps = Traps(patience=1)
    traps.learn(sighting("http://a.test/p/1", "", ["http://a.test/p/2", "http://a.test/new"]))
    assert ruling(traps, "http://a.test/p/2") == ADMIT
    traps.learn(sighting("http://a.test/p/2", "", relevant=True))
    assert ruling(traps, "http://a.test/p/3") == ADMIT
    traps.learn(sighting("http://a.test/p/3", "", ["http://a.test/p/4"]))
    assert ruling(traps, "http://a.test/p/5").decision == "park"


@pytest.mark.parametrize(
    ("url", "because"),
    [
        ("http://a.test/x/a/b/a/b/a/b", "trap: a/b is repeated 3 times in the path"),
        ("http://a.test/d/d/d/?q", "trap: d is repeated 3 times in the path"),
        ("http://a.test/" + "/".join(f"f{n}" for n in range(40)), "trap: 39 folders deep, more than 30"),
        ("http://a.test/?q=" + "x" * 2_000, "trap: the URL has 2,017 characters, more than 2,000"),
    ],
)
def test_urls_that_grow_for_ever_are_dropped(url: str, because: str) -> None:
    assert ruling(Traps(), url) == Ruling("drop", because)


@pytest.mark.parametrize(
    "url", ["http://a.test/2011/11/11/11", "http://a.test/a/a/b/b", "http://a.test/x?next=/b/b/b/b", "http://a.test/"]
)
def test_honest_urls_may_repeat_a_little(url: str) -> None:
    assert repeated_part(url, 3) == ""
    assert ruling(Traps(), url) == ADMIT


@pytest.mark.parametrize(
    ("url", "like"),
    [
        ("http://h2.test/cal/2031/3/index.html", "http://h2.test/cal/{n}/{n}/index.html"),
        ("http://a.test/2031-03-12-title", "http://a.test/{date}-title"),
        ("http://a.test/e/20310312", "http://a.test/e/{date}"),
        ("http://a.test/s/0badc0ffee0123/deadbeef", "http://a.test/s/{token}/deadbeef"),
        ("http://a.test/x?view=day&id=7&id=8", "http://a.test/x?id={value}&view=day"),
    ],
)
def test_a_template_leaves_numbers_dates_and_tokens_open(url: str, like: str) -> None:
    assert template(url) == like


def test_wider_groups_are_the_keys_the_query_and_the_folders() -> None:
    assert list(wider_groups("http://a.test/w/7/p?do=edit&rev=9")) == [
        "http://a.test/w/{n}/p?do=…&rev=…",
        "http://a.test/…?do=edit&rev={value}",
        "http://a.test/w/…",
        "http://a.test/w/{n}/…",
    ]


@given(st.text().map(lambda tail: normalise("http://a.test/" + tail)))
def test_every_url_has_a_template_and_a_ruling(url: str | None) -> None:
    if url is not None:
        assert template(url).startswith("http://a.test/")
        assert all("…" in group for group in wider_groups(url))
        assert ruling(Traps(), url).decision in ("admit", "drop")


@given(st.text())
def test_any_text_is_new_once_whatever_its_numbers(text: str) -> None:
    """Two passages of a text may want the same place in a small memory; most stay."""
    memory = Memory(2**16)
    assert memory.unseen(passages(text_fingerprint(text), "a.test")) == 1.0
    assert memory.unseen(passages(text_fingerprint(f"12 {text}\n34"), "a.test")) <= 0.1


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traps_module, "REMEMBERED", 10)
    traps = Traps(patience=1)
    for number in range(200):
        for _ in range(2):
            traps.learn(sighting(f"http://h{number}.test/{WORDS[number % 48]}/a/b?c=d", BOILERPLATE))
    assert len(traps._barren) <= 10
    assert len(traps._given_up) <= 10


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(UsageError, match="patience=0"):
        Traps(patience=0)
    with pytest.raises(UsageError, match="least_new=0"):
        Traps(least_new=0.0)


@pytest.mark.skipif(not (DATA / "trap-urls.txt").is_file(), reason=f"no trap-urls.txt in {DATA}")
def test_most_of_the_traps_of_a_real_crawl_are_avoided_and_few_of_its_good_pages() -> None:
    caught, good = (crawl(urls(DATA / f"{name}-urls.txt"), 20, name == "good") for name in ("trap", "good"))
    assert caught.fetched < 0.2 * caught.distinct
    assert good.fetched > 0.95 * good.distinct
    assert good.parked == 0

"""The strategy that learns on the way: what raises a link, what lowers it, when it is asked about again."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor import registry
from spoor.crawl import Crawl
from spoor.crawling.revision import relearn
from spoor.errors import BadInput, UsageError
from spoor.events import Failed, Visited
from spoor.frontier.entry import Entry
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.judging.combined import Truth
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.measures import measure
from spoor.lab.runs import run
from spoor.lab.simulated import simulate
from spoor.lab.task import PreparedTask, Task, read_seeds
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.language_order import LanguageSigns
from spoor.ordering.learned.learned import ENOUGH, FLOOR, WEIGHTS, WITHOUT, Learned, facts
from spoor.ordering.learned.scores import EVIDENCE
from spoor.ordering.trails import LastPage
from spoor.pricing import Limits
from spoor.records import Evidence, Key, Link, Page, Sighting, TargetPrior, Verdict, Visit, WaitingLink
from spoor.store.journal import lessons, open_to_read
from spoor.strategy import Strategy, hinted
from tests.written_crawl import crawl_into

START = "http://start.test/"
UNKNOWN = dict.fromkeys(Learned.merge, 0.0)
"""The evidence of a link about which nothing is known."""


def web(pages: Mapping[str, Sequence[Link]], relevant: str = "wanted") -> WrittenWorld:
    """`pages` by URL with their links; what is only linked to has none. Wanted is what has a word in its URL."""
    links = {url: tuple(targets) for url, targets in pages.items()}
    for target in [link.url for targets in pages.values() for link in targets]:
        links.setdefault(target, ())
    outcomes = {url: Page(url, links=targets) for url, targets in links.items()}
    return WrittenWorld(outcomes, {url for url in outcomes if relevant in url})


def strategy_for(world: WrittenWorld, scorer: Learned | None = None) -> Strategy:
    part = scorer or Learned()
    return Strategy(Truth("relevant", world.truth), part, LastPage(), upkeep=part)


def seeds_of(world: WrittenWorld) -> list[str]:
    """Every page that has links."""
    return [url for url, page in world.outcomes.items() if isinstance(page, Page) and page.links]


def test_only_the_first_pages_that_have_a_link_tell_something_of_it() -> None:
    link = Link("http://far.test/")
    others = {f"http://a.test/{number}": [link] for number in range(ENOUGH + 3)}
    relevant = {f"http://a.test/wanted{number}": [link] for number in range(ENOUGH + 2)}
    world = web(others | relevant)
    crawl, _ = crawled(world, strategy_for(world), len(others) + len(relevant))
    evidence = crawl.frontier.waiting.evidence_of(link.url)
    assert evidence is not None
    assert (evidence["parents"], evidence["relevant_parents"]) == (2 * ENOUGH, ENOUGH)


def crawled(world: WrittenWorld, strategy: Strategy, visits: int | None = None) -> tuple[Crawl, list[str]]:
    """A crawl, and what it visited, in order."""
    crawl = Crawl(strategy, Frontier(MemoryStore()), Limits(visits))
    crawl.begin(seeds_of(world))
    return crawl, [event.visit.url for event in simulate(crawl, world) if isinstance(event, Visited)]


def visited(world: WrittenWorld, scorer: Learned | None = None, visits: int | None = None) -> list[str]:
    return crawled(world, strategy_for(world, scorer), visits)[1]


def waiting(crawl: Crawl, url: str) -> Entry:
    (entry,) = crawl.frontier.find([url])
    assert entry is not None
    return entry


def hosts(names: str, count: int, anchor: str) -> list[Link]:
    return [Link(f"http://{names}{n}.test/", f"{anchor} {n}") for n in range(count)]


def test_words_that_led_to_wanted_pages_raise_links_with_the_same_words() -> None:
    shops, stables = hosts("shop", 16, "buy here"), hosts("wanted", 16, "riding lessons")
    world = web({START: [link for pair in zip(shops, stables, strict=True) for link in pair]})
    first, last = visited(world)[:17], visited(world)[-8:]
    assert sum("wanted" in url for url in first) >= 12 and not any("wanted" in url for url in last)


def test_the_words_can_stand_in_the_url_too() -> None:
    pages = [Link(f"http://h{n}.test/{'riding' if n % 2 else 'shop'}{n}") for n in range(32)]
    assert sum("riding" in url for url in visited(web({START: pages}, relevant="riding"))[:17]) >= 12


HUBS = {
    "http://hub.test/": hosts("wanted", 8, ""),
    "http://other.test/": hosts("page", 8, ""),
}


def test_a_hub_whose_links_were_wanted_raises_its_other_links_in_their_places() -> None:
    world = web(HUBS)
    before, _ = crawled(world, strategy_for(world), visits=2)
    after, order = crawled(world, strategy_for(world), visits=3)
    assert order[2] == "http://wanted0.test/"
    sibling, stranger = "http://wanted7.test/", "http://page7.test/"
    assert waiting(after, sibling).evidence["hub_yield"] > waiting(before, sibling).evidence["hub_yield"] == 0.0
    assert waiting(after, sibling).key > waiting(after, stranger).key
    assert waiting(before, sibling).key == waiting(before, stranger).key


def test_the_links_of_a_good_hub_come_first() -> None:
    order = visited(web(HUBS))
    assert all("wanted" in url for url in order[2:10]) and all("page" in url for url in order[10:])


def test_without_rescoring_nothing_is_raised_in_its_place() -> None:
    world = web(HUBS)
    crawl, _ = crawled(world, strategy_for(world, Learned(without=("rescoring",))), visits=3)
    assert waiting(crawl, "http://wanted7.test/").evidence["hub_yield"] == 0.0


def test_lists_of_one_page_are_told_apart() -> None:
    menu = [Link(f"http://m{n}.test/", path="html/body/nav/ul/li") for n in range(8)]
    results = [Link(f"http://wanted{n}.test/", path="html/body/main/p") for n in range(8)]
    order = visited(web({START: [link for pair in zip(menu, results, strict=True) for link in pair]}))
    assert sum("wanted" in url for url in order[1:10]) >= 7


def test_a_fruitless_host_falls_behind_an_unknown_one() -> None:
    links = [Link(f"http://dull.test/{n}") for n in range(12)]
    order = visited(web({START: [*links, Link("http://unknown.test/")]}))
    assert order.index("http://unknown.test/") < 8


def test_a_folder_is_known_by_what_was_found_in_it() -> None:
    pages = [Link(f"http://a.test/{folder}/{n}") for n in range(8) for folder in ("chaff", "wanted")]
    order = visited(web({START: pages}), Learned(without=("words", "hubs")))
    assert sum("wanted" in url for url in order[1:9]) >= 6


def test_a_link_that_is_worth_less_when_its_turn_has_come_goes_back() -> None:
    """Nothing but its turn makes anybody look at it again."""
    links = [Link(f"http://dull.test/{n}") for n in range(12)]
    world = web({START: [*links, Link("http://unknown.test/")]})
    order = visited(world, Learned(without=("rescoring",)))
    assert order.index("http://unknown.test/") < 8 and len(order) == 14


def test_a_language_that_is_wanted_orders_the_first_visits() -> None:
    links = [Link("http://a.test/en/"), Link("http://b.test/", "Deutsch"), Link("http://c.test/", hreflang="th")]
    world = web({START: [*links, Link("http://d.test/", "ภาษาไทย")]})
    assert visited(world, Learned(TargetPrior(language="th")))[1:] == [
        "http://c.test/",
        "http://d.test/",
        "http://a.test/en/",
        "http://b.test/",
    ]
    assert visited(world, Learned(TargetPrior(language="th"), without=("prior",)))[1] == "http://a.test/en/"


def test_words_that_are_wanted_order_the_first_visits() -> None:
    links = [
        Link("http://a.test/cars"),
        Link("http://b.test/", "Horses of the north"),
        Link("http://c.test/horse.html"),
    ]
    world = web({START: links})
    assert visited(world, Learned(TargetPrior(words=("horse",))))[1:3] == ["http://b.test/", "http://c.test/horse.html"]
    assert visited(world)[1] == "http://a.test/cars"


def test_a_link_that_names_more_of_the_words_goes_first() -> None:
    subjects = [Link(f"http://a.test/subject.{name}", name) for name in ("Art", "History", "Biology", "Music")]
    world = web({"http://a.test/": subjects})
    assert visited(world, Learned(TargetPrior(words=("subject", "biology"))))[1] == "http://a.test/subject.Biology"


def test_the_same_link_is_thought_of_the_same_until_more_is_learned() -> None:
    world = web(HUBS)
    crawl, _ = crawled(world, strategy_for(world), visits=6)
    scorer = crawl.strategy.scorer
    assert isinstance(scorer, Learned)
    entry = waiting(crawl, "http://page7.test/")
    link = WaitingLink(entry.url, entry.evidence, entry.trail, entry.hints)
    assert scorer.review(link) == scorer.review(link)


def test_nobody_but_a_reviewer_keeps_hints() -> None:
    world = web(HUBS)
    judge = Truth("relevant", world.truth)
    for strategy, kept in ((strategy_for(world), True), (Strategy(judge, LanguageSigns("th")), False)):
        crawl, _ = crawled(world, strategy, visits=2)
        assert bool(waiting(crawl, "http://page7.test/").hints) is kept
        assert not waiting(crawl, "http://hub.test/").hints


def test_two_runs_are_the_same() -> None:
    world = web(HUBS)
    runs = []
    for _ in range(2):
        crawl = Crawl(strategy_for(world), Frontier(MemoryStore()))
        crawl.begin(seeds_of(world))
        runs.append(list(simulate(crawl, world)))
    assert runs[0] == runs[1]


def test_a_fresh_strategy_has_forgotten_everything() -> None:
    world = web(HUBS)
    used = strategy_for(world)
    first = crawled(world, used)[1]
    evidence = {**dict.fromkeys(Learned.merge, 1.0), "words": 0.0}
    fresh = used.fresh()
    assert id(fresh.scorer) == id(fresh.upkeep) and repr(fresh) == repr(used)
    assert odds(fresh, evidence) == odds(strategy_for(world), evidence) != odds(used, evidence)
    assert crawled(world, fresh)[1] == first


def odds(strategy: Strategy, evidence: Evidence) -> float:
    scorer = strategy.scorer
    assert isinstance(scorer, Learned)
    return sum(scorer.shares(evidence).values())


def test_what_moves_a_link_adds_up_to_its_key() -> None:
    world = web(HUBS)
    crawl, _ = crawled(world, strategy_for(world, Learned(without=("exploration",))), visits=6)
    entry = waiting(crawl, "http://page7.test/")
    assert entry.key[0] == pytest.approx(odds(crawl.strategy, entry.evidence), abs=0.05)


def test_what_is_said_by_words_adds_up_to_the_evidence() -> None:
    world = web(HUBS)
    crawl, _ = crawled(world, strategy_for(world), visits=6)
    scorer, entry = crawl.strategy.scorer, waiting(crawl, "http://page7.test/")
    assert isinstance(scorer, Learned)
    link = WaitingLink(entry.url, entry.evidence, entry.trail, entry.hints)
    assert sum(scorer.word_shares(entry.hints).values()) == pytest.approx(scorer.review(link)["words"], abs=0.0005)


def test_what_was_learned_is_learned_again_from_the_database(tmp_path: Path) -> None:
    """As after a kill: the keys of what waits come out the same, to the last bit."""
    world = web(HUBS)
    strategy = strategy_for(world)
    folder = crawl_into(tmp_path / "crawl", world, strategy, seeds_of(world), limits=Limits(visits=8))
    again = strategy_for(world)
    scorer, before = again.scorer, strategy.scorer
    assert isinstance(scorer, Learned) and isinstance(before, Learned)
    with contextlib.closing(open_to_read(folder.database)) as db:
        for lesson in lessons(db):
            relearn(scorer, lesson)
        visits = [lesson.visit for lesson in lessons(db)]
    for visit in visits[2:]:
        assert scorer.review(seen(visit)) == before.review(seen(visit))
        assert scorer.key(visit.evidence) == before.key(visit.evidence)
    assert len(visits) == 8 and list(scorer.revise(NothingWaits())) == []


def seen(visit: Visit) -> WaitingLink:
    return WaitingLink(visit.url, visit.evidence, visit.trail, visit.hints)


class NothingWaits:
    """A frontier that holds nothing."""

    def evidence_of(self, url: str) -> Evidence | None:
        return None

    def links_found_on(self, url: str, most: int) -> Sequence[WaitingLink]:
        raise AssertionError("what is learned again is no reason to look at links again")

    def some(self, most: int) -> Sequence[WaitingLink]:
        return []


@pytest.mark.parametrize("name", WITHOUT)
def test_each_kind_of_evidence_can_be_left_out(name: str) -> None:
    world = web(HUBS)
    strategy = registry.strategy(f"learned:without={name}", Truth("relevant", world.truth))
    assert sorted(crawled(world, strategy)[1]) == sorted(world.outcomes)


def test_what_cannot_be_left_out_is_said_in_one_line() -> None:
    with pytest.raises(UsageError, match="learned has nothing called 'luck' to leave out; there are url, anchor"):
        registry.strategy("learned:without=words+luck", Truth("relevant", lambda url: True))


def key(scorer: Learned, **evidence: float) -> Key:
    """Of a link about which nothing else is known."""
    return scorer.key({**dict.fromkeys(Learned.merge, 0.0), **evidence})


@given(
    numbers=st.lists(st.floats(-30.0, 30.0), min_size=len(EVIDENCE), max_size=len(EVIDENCE)),
    parents=st.tuples(st.integers(0, 40), st.integers(0, 40)),
    exact=st.booleans(),
)
def test_keys_are_those_of_the_formula_to_the_last_bit(
    numbers: list[float], parents: tuple[int, int], exact: bool
) -> None:
    scorer = Learned(without=("exploration",) if exact else ())
    counts = {"relevant_parents": float(min(parents)), "parents": float(max(parents))}
    evidence = {**dict(zip(EVIDENCE, numbers, strict=True)), **counts}
    weights = [*WEIGHTS.values()]
    log_odds = weights[0]
    for weight, fact in zip(weights[1:], facts(evidence)[1:], strict=True):
        log_odds += weight * fact
    log_odds += evidence["words"]
    floor = math.floor(math.log(0.2 / 0.8) - FLOOR)
    rest = math.floor(evidence["site_yield"] + evidence["prior"] + evidence["dead"] + 0.5 * evidence["words"] + 0.5)
    below = (floor - 1 + 0.3 * min(0.0, rest), rest, -evidence["depth"])
    above = (math.floor(log_odds + 0.5), 0.0, -evidence["depth"])
    assert scorer.key(evidence) == ((log_odds, 0.0, 0.0) if exact else above if log_odds >= floor else below)


def test_evidence_that_stays_the_same_is_given_back() -> None:
    scorer = Learned(without=("parents",))
    sighting = Sighting(Visit(START, "start.test", 0, 0.0), Page(START), Verdict(0.0, False, ""), (1, START))
    links = hinted(scorer, sighting.page, [Link("http://a.test/1"), Link("http://a.test/2")])
    known = [evidence for evidence, _ in scorer.offered(sighting, links, [None, None])]
    nearer = {**known[1], "depth": 0.0}
    assert scorer.offered(sighting, links, known)[0][0] is known[0]
    assert scorer.offered(sighting, links, [None, nearer])[1][0] is nearer
    assert scorer.offered(sighting, links, [None, {**known[1], "depth": 9.0}])[1][0] == known[1]


def test_links_nearer_than_a_step_are_told_apart_by_their_depth() -> None:
    assert key(Learned(), words=2.1, depth=2) > key(Learned(), words=2.4, depth=3) > key(Learned(), words=1.0)
    exact = Learned(without=("exploration",))
    assert key(exact, words=2.1, depth=2) < key(exact, words=2.4, depth=3)


def test_where_nothing_speaks_for_a_link_the_yield_of_its_site_decides_not_its_words() -> None:
    assert key(Learned(), words=-8.5, site_yield=2.0) > key(Learned(), words=-6.0)
    exact = Learned(without=("exploration",))
    assert key(exact, words=-8.5, site_yield=2.0) < key(exact, words=-6.0)


@pytest.mark.parametrize(
    ("like", "other", "more"), [("topical", "breadth-first", 1.5), ("courses", "soft-focused", 1.2)]
)
def test_on_generated_webs_it_finds_wanted_pages_much_sooner(
    like: str, other: str, more: float, tmp_path: Path
) -> None:
    generate(Request(like, 2000, 1), tmp_path / "web", lambda pages: None)
    task = Task(tmp_path / "web", "relevant", read_seeds(tmp_path / "web" / "seeds.txt"))
    against = PreparedTask(task).yardstick
    area, below = (measure(name, run(task, name), against).area for name in ("learned", other))
    assert area > more * below


def dead(world: WrittenWorld, word: str) -> WrittenWorld:
    """The same web, in which pages with a word in their URL cannot be had."""
    return WrittenWorld({url: page for url, page in world.outcomes.items() if word not in url}, world.relevant)


def tried(world: WrittenWorld, scorer: Learned | None = None, visits: int | None = None) -> list[str]:
    """What was asked for, in order, whether or not it came."""
    crawl = Crawl(strategy_for(world, scorer), Frontier(MemoryStore()), Limits(visits))
    crawl.begin(seeds_of(world))
    return [event.visit.url for event in simulate(crawl, world) if isinstance(event, Visited | Failed)]


def test_a_host_that_fails_falls_behind_others() -> None:
    links = [Link(f"http://dead.test/{n}") for n in range(12)]
    world = dead(web({START: [*links, *(Link(f"http://live.test/{n}") for n in range(12))]}), "dead")
    assert sum("dead" in url for url in tried(world)[:13]) <= 5
    assert sum("dead" in url for url in tried(world, Learned(without=("misses",)))[:13]) > 5


def test_what_untried_hosts_bring_in_this_crawl_is_expected_of_the_next() -> None:
    strangers = hosts("gone", 30, "") + hosts("unknown", 1, "")
    world = dead(web({START: [*strangers, Link("http://start.test/about"), *strangers[:0]]}), "gone")
    learned, naive = Learned(), Learned(without=("untried",))
    keys = []
    for scorer in (learned, naive):
        crawl = Crawl(strategy_for(world, scorer), Frontier(MemoryStore()), Limits(12))
        crawl.begin(seeds_of(world))
        list(simulate(crawl, world))
        (left,) = crawl.frontier.find(["http://gone25.test/"])
        assert left is not None
        keys.append(scorer.review(WaitingLink(left.url, left.evidence, left.trail, left.hints))["site_yield"])
    assert keys[0] < keys[1] == 0.0


def test_a_host_is_worth_trying_whose_first_page_is_irrelevant_and_others_are_not() -> None:
    """First pages of hosts are never relevant here; of one kind of web those behind are."""
    fronts = [Link(f"http://h{n}.test/") for n in range(20)]
    fruitful = web({START: fronts, **{link.url: [Link(f"{link.url}wanted")] for link in fronts[:10]}})
    barren = web({START: fronts, **{link.url: [Link(f"{link.url}other")] for link in fronts[:10]}})
    places = []
    for world in (fruitful, barren):
        scorer = Learned()
        crawl = Crawl(strategy_for(world, scorer), Frontier(MemoryStore()), Limits(12))
        crawl.begin([START])
        list(simulate(crawl, world))
        left = waiting(crawl, "http://h19.test/")
        places.append(scorer.review(WaitingLink(left.url, left.evidence, left.trail, left.hints))["site_yield"])
    assert places[0] > places[1]


def test_requests_under_way_lower_what_is_expected_until_they_are_back() -> None:
    world = web({START: [Link(f"http://a.test/{n}") for n in range(4)]})
    scorer = Learned()
    crawl = Crawl(strategy_for(world, scorer), Frontier(MemoryStore()))
    crawl.begin([START])
    events = simulate(crawl, world)
    next(events)
    entry = waiting(crawl, "http://a.test/3")
    link = WaitingLink(entry.url, entry.evidence, entry.trail, entry.hints)
    before = scorer.review(link)["site_yield"]
    visit = crawl.next_visit(0.0)
    assert visit is not None
    assert scorer.review(link)["site_yield"] < before
    scorer.over(visit)
    assert scorer.review(link)["site_yield"] == before


def test_an_irrelevant_page_with_relevant_ones_behind_it_raises_pages_listed_beside_it() -> None:
    lists = [Link(f"http://a.test/list{n}", path="html/body/nav/li") for n in range(3)]
    behind = {lists[0].url: [Link(f"http://a.test/wanted{n}", path="html/body/p") for n in range(6)]}
    world = web({START: lists, **behind})
    found = []
    for without in ((), ("behind",)):
        scorer = Learned(without=without)
        crawl = Crawl(strategy_for(world, scorer), Frontier(MemoryStore()), Limits(8))
        crawl.begin([START])
        order = [event.visit.url for event in simulate(crawl, world) if isinstance(event, Visited)]
        numbers = scorer.hints(Page(START), [Link("http://a.test/list9", path="html/body/nav/li")])
        link = WaitingLink("http://a.test/list9", UNKNOWN, (1, START), bytes(numbers[0]))  # type: ignore[arg-type]
        assert sum("wanted" in url for url in order) >= 3
        found.append(scorer.review(link)["list_yield"])
    assert found[0] > found[1]


def test_a_copy_of_a_page_is_no_find() -> None:
    scorer = Learned()
    hints = scorer.hints(Page(START), [Link("http://a.test/1"), Link("http://a.test/2")])
    link = WaitingLink("http://a.test/2", UNKNOWN, (1, START), bytes(hints[1]))  # type: ignore[arg-type]
    facts_ = scorer.evidence(
        Sighting(Visit(START, "start.test", 0, 0.0), Page(START), Verdict(0.0, False, ""), (1, START)),
        [Link("http://a.test/1", hints=hints[0])],
    )[0]
    visit = Visit("http://a.test/1", "a.test", 1, 0.0, evidence=facts_, trail=(1, START), hints=bytes(hints[0]))  # type: ignore[arg-type]
    scorer.learn(
        Sighting(visit, Page(visit.url, duplicate_of="http://b.test/"), Verdict(1.0, True, ""), (0, visit.url))
    )
    assert scorer.review(link)["site_yield"] < 0.0


@pytest.mark.parametrize("hints", [b"", b"123", bytes(8), bytes(4 * 500), b"\xff" * 40])
def test_hints_that_nobody_wrote_do_no_harm(hints: bytes) -> None:
    link = WaitingLink("http://a.test/", UNKNOWN, (0, START), hints)
    with contextlib.suppress(BadInput):
        Learned().review(link)

"""One crawl as several shards: whose a host is, what leaves and what comes in, who makes the next visits."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spoor.crawl import Crawl
from spoor.crawling.share import (
    BUCKETS,
    Handover,
    Lease,
    Share,
    behind,
    bucket_of,
    claim,
    even_table,
    leases,
    visits_of_round,
)
from spoor.events import Event, Visited
from spoor.frontier.entry import HostRules, State
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.frontier.store import LinkStore
from spoor.frontier.tally import Tally
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.runs import run
from spoor.lab.sharded import Mailbag, Sharding, drawn_table
from spoor.lab.task import PreparedTask, Task, read_seeds
from spoor.lab.worlds import FIELD, Conditions, WrittenWorld
from spoor.ordering.learned.learned import ENOUGH, Learned
from spoor.ordering.learned.scores import EVIDENCE
from spoor.ordering.simple import ParentRelevance
from spoor.ordering.trails import LastPage
from spoor.records import Failure, Handed, Judged, Link, Page, Redirect, Sighting, Verdict, Visit, sighting_elsewhere
from spoor.roles import LinkScorer
from spoor.strategy import Strategy
from spoor.urls import host_of
from tests.tiny import truth

A = "http://a.test/"
OTHERS = [f"http://{letter}.test/" for letter in "bcdefgh"]
FOREIGN = next(url for url in OTHERS if bucket_of(host_of(url)) % 2 != bucket_of("a.test") % 2)
OWN = next(url for url in OTHERS if bucket_of(host_of(url)) % 2 == bucket_of("a.test") % 2)


# Whose a host is.


def test_every_host_has_one_bucket_with_and_without_www() -> None:
    assert bucket_of("example.org") == bucket_of("www.example.org") == 3509
    assert {bucket_of(f"h{number}.test") for number in range(60_000)} == set(range(BUCKETS))


def test_shards_have_equal_parts_of_the_buckets() -> None:
    assert np.bincount(even_table(3)).tolist() == [1366, 1365, 1365]


def test_each_order_of_the_seeds_of_a_simulation_has_a_table_of_its_own() -> None:
    assert drawn_table(8, 0) == even_table(8)
    assert len({drawn_table(8, order) for order in range(5)}) == 5
    assert sorted(drawn_table(8, 3)) == sorted(even_table(8))
    assert drawn_table(1, 3) == even_table(1)


def test_all_urls_of_a_host_belong_to_one_shard() -> None:
    share = Share(0, even_table(7))
    assert len({share.owner(f"{scheme}://a.test/{n}") for scheme in ("http", "https") for n in range(50)}) == 1


# What leaves and what comes in.


def shard_of(url: str, scorer: LinkScorer | None = None) -> tuple[Crawl, Mailbag]:
    """The one of two shards that has the host of `url`."""
    bag, table = Mailbag(), even_table(2)
    world = WrittenWorld({}, {A})
    strategy = Strategy(truth(world), scorer or ParentRelevance(), LastPage())
    handover = Handover(Share(Share(0, table).owner(url), table), bag)
    return Crawl(strategy, Frontier(MemoryStore(), tallied=True), handover=handover), bag


def links_in(bag: Mailbag) -> list[tuple[int, Handed]]:
    return [(to, mailed) for to, mailed in bag.letters if isinstance(mailed, Handed)]


def fetched(crawl: Crawl, page: Page | Redirect, relevance: float = 0.75) -> Event:
    visit = crawl.next_visit(0.0)
    assert visit is not None
    outcome = page if isinstance(page, Redirect) else Judged(page, Verdict(relevance, True, "so"))
    (event,) = crawl.absorb([(visit, outcome)], 1.0)
    return event


def test_a_shard_begins_with_the_seeds_of_its_own_hosts() -> None:
    crawl, _ = shard_of(A)
    crawl.begin([FOREIGN, A])
    assert len(crawl.frontier) == 1


def test_a_link_of_another_shard_leaves_with_its_evidence_and_does_not_wait_here() -> None:
    crawl, bag = shard_of(A)
    crawl.begin([A])
    event = fetched(crawl, Page(A, links=(Link(FOREIGN, "anchor"), Link(OWN))))
    assert isinstance(event, Visited)
    assert (event.added, len(crawl.frontier)) == (1, 1)
    ((to, handed),) = links_in(bag)
    assert to == Share(0, even_table(2)).owner(FOREIGN)
    page = sighting_elsewhere(A, 0, handed.trail, 0.75, True)
    assert handed == Handed(Link(FOREIGN, hints=b""), {"parent": 0.75, "depth": 1.0}, page)


def test_a_link_of_another_shard_leaves_again_when_more_is_known_of_it() -> None:
    crawl, bag = shard_of(A)
    pages = [f"{A}{number}" for number in range(3)]
    crawl.begin(pages)
    for url, relevance in zip(pages, (0.5, 0.75, 0.25), strict=True):
        fetched(crawl, Page(url, links=(Link(FOREIGN),)), relevance)
    assert [handed.found_on for _, handed in links_in(bag)] == pages[:2]


def test_a_link_of_another_shard_leaves_no_more_when_twice_what_was_sent_of_it_is_enough() -> None:
    crawl, bag = shard_of(A, Learned())
    pages = [f"{A}{number}" for number in range(ENOUGH + 2)]
    crawl.begin(pages)
    for url in pages:
        fetched(crawl, Page(url, links=(Link(FOREIGN),)))
    assert [handed.found_on for _, handed in links_in(bag)] == pages[: ENOUGH // 2]


def test_a_link_of_another_shard_leaves_no_more_once_its_page_came_there() -> None:
    crawl, bag = shard_of(A, Learned())
    crawl.begin([A])
    there = Visit(FOREIGN, "", 0, 0.0, evidence=dict.fromkeys(EVIDENCE, 0.0), trail=(0, A))
    crawl.receive([Sighting(there, Page(FOREIGN), Verdict(0.0, False, "no"), (1, FOREIGN))], 0.0)
    fetched(crawl, Page(A, links=(Link(FOREIGN), Link(f"{FOREIGN}2"))))
    assert [handed.link.url for _, handed in links_in(bag)] == [f"{FOREIGN}2"]


def test_a_handed_link_waits_where_it_would_have_waited() -> None:
    here, bag = shard_of(A)
    here.begin([A])
    fetched(here, Page(A, links=(Link(FOREIGN),)))
    there, _ = shard_of(FOREIGN)
    assert there.receive([handed for _, handed in links_in(bag)], 2.0) == []
    visit = there.next_visit(3.0)
    assert visit is not None
    assert (visit.url, visit.key, visit.depth, visit.found_on) == (FOREIGN, (0.75,), 1, A)


def test_a_link_that_is_known_gains_evidence_and_one_that_is_settled_does_not() -> None:
    crawl, _ = shard_of(FOREIGN)
    weak = Handed(Link(FOREIGN), {"parent": 0.25, "depth": 1.0}, sighting_elsewhere(A, 0, (0, A)))
    strong = replace(weak, evidence={"parent": 0.5, "depth": 1.0})
    crawl.receive([weak, strong, weak], 0.0)
    visit = crawl.next_visit(0.0)
    assert visit is not None and visit.key == (0.5,)
    crawl.absorb([(visit, Judged(Page(FOREIGN), Verdict(0.0, False, "no")))], 1.0)
    crawl.receive([strong], 2.0)
    assert crawl.next_visit(2.0) is None
    assert crawl.frontier.count(State.SETTLED) == 1


def test_the_target_of_a_redirect_leaves_with_the_place_of_the_redirecting_url() -> None:
    crawl, bag = shard_of(A)
    crawl.begin([A])
    fetched(crawl, Redirect(FOREIGN))
    ((_, handed),) = links_in(bag)
    assert (handed.link.url, handed.is_seed, handed.redirects, handed.found_on) == (FOREIGN, True, 1, A)
    there, _ = shard_of(FOREIGN)
    there.receive([handed], 2.0)
    visit = there.next_visit(2.0)
    assert visit is not None and (visit.redirects, visit.key) == (1, (float("inf"),))


def test_a_handed_link_is_scored_by_the_model_of_its_receiver() -> None:
    """The sender has seen that such links lead to relevant pages, the receiver that they do not."""
    here, bag = shard_of(A, Learned())
    here.begin([A])
    fetched(here, Page(A, title="one", links=(Link(FOREIGN, "words of an anchor"),)))
    (handed,) = [handed for _, handed in links_in(bag)]
    there, _ = shard_of(FOREIGN, Learned())
    for number in range(20):
        there.receive([replace(handed, link=handed.link._replace(url=f"{FOREIGN}{number}"))], 0.0)
        visit = there.next_visit(0.0)
        assert visit is not None
        there.absorb([(visit, Judged(Page(visit.url), Verdict(0.0, False, "no")))], 0.0)
    there.receive([handed], 0.0)
    visit = there.next_visit(0.0)
    assert visit is not None and visit.url == FOREIGN
    assert visit.evidence["words"] < handed.evidence["words"]
    assert visit.evidence["parents"] == 1.0


def test_how_a_visit_turned_out_is_told_to_all_others() -> None:
    """Words of the anchors of links that were relevant elsewhere are known here."""
    here, bag = shard_of(A, Learned())
    here.begin([A])
    fetched(here, Page(A, title="one", links=(Link(OWN, "words of an anchor"),)))
    fetched(here, Page(OWN))
    lessons = [mailed for _, mailed in bag.letters if isinstance(mailed, Sighting)]
    assert [lesson.visit.url for lesson in lessons] == [A, OWN]
    assert not any(lesson.page.title for lesson in lessons)
    scorer = Learned()
    there, _ = shard_of(FOREIGN, scorer)
    hints = lessons[1].visit.hints
    assert not any(scorer.word_shares(hints).values())
    there.receive(lessons, 0.0)
    assert all(share > 0 for share in scorer.word_shares(hints).values())


# Who makes the next visits.


def test_visits_go_to_the_shards_with_the_best_links() -> None:
    best_keys = [[((3.0,), 2), ((1.0,), 9)], [((2.0,), 5)], []]
    assert leases(best_keys, 4) == [2, 2, 0]
    assert leases(best_keys, 8) == [3, 5, 0]
    assert leases(best_keys, 99) == [11, 5, 0]


def test_links_that_are_claimed_already_are_not_offered() -> None:
    assert behind([((3.0,), 2), ((1.0,), 9)], 0) == [((3.0,), 2), ((1.0,), 9)]
    assert behind([((3.0,), 2), ((1.0,), 9)], 3) == [((1.0,), 8)]
    assert behind([((3.0,), 2)], 5) == []


def test_a_shard_claims_as_many_visits_as_it_just_made_but_never_more_than_it_was_granted() -> None:
    assert claim(Lease(100), spent=60, made=25) == 25
    assert claim(Lease(100), spent=90, made=25) == 10
    assert claim(Lease(100), spent=100, made=25) == 0
    assert claim(Lease(100), spent=120, made=25) == 0
    assert claim(Lease(100), spent=60, made=0) == 0


def test_of_equal_links_each_shard_gets_its_part() -> None:
    assert leases([[((1.0,), 60)], [((1.0,), 30)], [((1.0,), 10)]], 10) == [6, 3, 1]
    assert leases([[((1.0,), 1)], [((1.0,), 1)], [((1.0,), 1)]], 2) == [1, 1, 0]


def test_a_round_grants_a_part_of_the_visits_so_far_but_no_less_than_can_be_made_until_the_next() -> None:
    assert visits_of_round(4, 0) == 4
    assert visits_of_round(4, 1000) == 20
    assert visits_of_round(4, 1000, made=50, seconds=0.25) == 200
    assert visits_of_round(4, 1000, made=50, seconds=5.0) == 100


def test_a_shard_makes_no_more_visits_than_it_was_granted() -> None:
    crawl, _ = shard_of(A)
    crawl.begin([A, OWN])
    crawl.turns.lease = Lease(1)
    assert crawl.next_visit(0.0) is not None
    assert crawl.next_visit(0.0) is None and crawl.wake_at() is None
    crawl.turns.lease = Lease(2)
    assert crawl.next_visit(0.0) is not None


@pytest.mark.parametrize("delay", [0.0, 1.0])
def test_others_wait_for_the_best_link_of_a_shard_only_where_hosts_have_delays(delay: float) -> None:
    frontier = Frontier(MemoryStore(), HostRules(delay=delay))
    crawl = Crawl(Strategy(truth(WrittenWorld({})), ParentRelevance()), frontier)
    assert crawl.turns.best_gain(0.0) == 0.0
    crawl.begin([A])
    assert crawl.turns.best_gain(0.0) == (1.0 if delay else 0.0)


def test_a_tally_knows_how_many_links_wait_at_its_best_keys() -> None:
    tally = Tally([((1.0, -2.0), 3), ((2.0, -1.0), 2), ((1.004, -2.0), 1)])
    assert tally.best(3) == [((2.0, -1.0), 2), ((1.0, -2.0), 4)]
    tally.add((2.0, -1.0), -2)
    assert tally.best(1) == [((1.0, -2.0), 4)]


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_tally_counts_what_waits_in_the_store(in_memory: bool, tmp_path: Path) -> None:
    world = WrittenWorld.of_links({A: [*OTHERS, f"{A}x"], OTHERS[0]: [f"{A}x"]}, {A})
    with contextlib.closing(SqliteStore(tmp_path / "frontier.db")) as in_file:
        store: LinkStore = MemoryStore() if in_memory else in_file
        frontier = Frontier(store, tallied=True)
        crawl = Crawl(Strategy(truth(world), ParentRelevance(), LastPage()), frontier)
        crawl.begin([A])
        for _ in range(4):
            visit = crawl.next_visit(0.0)
            assert visit is not None
            crawl.absorb([(visit, world.fetch(visit)[0])], 0.0)
        assert frontier.best_keys(99, 0.0) == Tally(store.waiting_keys()).best(99)
        assert sum(count for _, count in frontier.best_keys(99, 0.0)) == len(frontier) > 0


def test_a_link_that_returns_counts_as_waiting_when_its_time_has_come() -> None:
    crawl, _ = shard_of(A)
    crawl.begin([A])
    visit = crawl.next_visit(0.0)
    assert visit is not None
    crawl.absorb([(visit, Failure("timed out", again_after=60.0))], 0.0)
    assert crawl.frontier.best_keys(9, 59.0) == []
    assert crawl.frontier.best_keys(9, 60.0) == [((float("inf"),), 1)]


def test_where_hosts_have_delays_each_counts_with_one_link() -> None:
    frontier = Frontier(MemoryStore(), HostRules(delay=1.0), tallied=True)
    crawl = Crawl(Strategy(truth(WrittenWorld({})), ParentRelevance()), frontier)
    crawl.begin([A, f"{A}x", f"{A}y", OWN])
    assert frontier.best_keys(9, 0.0) == [((float("inf"),), 2)]


# Whole crawls.


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Task]:
    folder = tmp_path_factory.mktemp("webs") / "web"
    generate(Request("topical", 1200, 3, text=True), folder, lambda pages: None)
    yield Task(folder, "relevant", read_seeds(folder / "seeds.txt"), budget=250, driver="simulated")


@pytest.mark.parametrize("strategy", ["learned", "breadth-first", "limited-distance:n=2", "in-links"])
@pytest.mark.parametrize("conditions", [None, FIELD], ids=["lab", "field"])
def test_one_shard_visits_in_the_order_of_a_crawl_without_shards(
    strategy: str, conditions: Conditions | None, task: Task
) -> None:
    task = replace(task, conditions=conditions)
    plain, sharded = run(task, strategy), run(task, strategy, sharding=Sharding(1))
    assert plain.order.tolist() == sharded.order.tolist()
    assert plain.queue.tolist() == sharded.queue.tolist()


@pytest.mark.parametrize("late", [0, 5])
def test_shards_reach_every_page_that_one_crawl_reaches(late: int, task: Task) -> None:
    everything = replace(task, budget=5000)
    reached = run(everything, "breadth-first", sharding=Sharding(5, late)).order
    assert len(reached) == len(set(reached.tolist()))
    assert set(reached.tolist()) == set(np.flatnonzero(PreparedTask(task).reachable).tolist())


@pytest.mark.parametrize("conditions", [None, FIELD], ids=["lab", "field"])
def test_shards_make_exactly_as_many_visits_as_there_is_budget_for(conditions: Conditions | None, task: Task) -> None:
    task = replace(task, conditions=conditions)
    done = run(task, "learned", sharding=Sharding(4))
    assert len(done.order) == 250
    assert done.timing is None or not done.timing.politeness.violations


def test_the_same_shards_do_the_same_again(task: Task) -> None:
    once, again = (run(task, "learned", sharding=Sharding(3)).order.tolist() for _ in range(2))
    assert once == again

"""Verdicts that are revised: the strategy learns anew, waiting links are re-scored, and unchanged verdicts change
nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

from spoor import registry
from spoor.crawl import Crawl
from spoor.crawling.revision import learn_anew, revised
from spoor.events import Event, Visited
from spoor.files import State
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.judging.combined import Truth
from spoor.lab.simulated import simulate
from spoor.lab.teaching import lesson_of
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.learned.learned import Learned
from spoor.records import Lesson, Verdict
from spoor.strategy import Strategy
from tests.test_resume_exact import drawn, first, visits

HALFWAY = 30
YES, NO = Verdict(0.9, True, "yes"), Verdict(0.2, False, "no")


def begun(world: WrittenWorld, most: int = HALFWAY) -> tuple[Crawl, Iterator[Event], list[Event]]:
    """A crawl by `learned`, what is still to come of it, and what has happened so far."""
    crawl = Crawl(registry.strategy("learned", Truth("relevant", world.truth)), Frontier(MemoryStore()))
    crawl.begin([first(world)])
    events = simulate(crawl, world)
    return crawl, events, list(islice(events, most))


def lessons_in(events: list[Event]) -> list[Lesson]:
    return [lesson for event in events if (lesson := lesson_of(event)) is not None]


def learned_by(strategy: Strategy) -> State:
    assert isinstance(strategy.scorer, Learned)
    return {"scorer": strategy.scorer.state(), "rates": strategy.hit_rates.state()}


def are_same(one: object, other: object) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(are_same(one[name], other[name]) for name in one)
    return bool(np.array_equal(np.asarray(one), np.asarray(other)))


def flipped(events: list[Event]) -> dict[str, Verdict]:
    """Every third page is the other thing now."""
    pages = [event for event in events if isinstance(event, Visited)]
    return {page.visit.url: NO if page.verdict.relevant else YES for page in pages[::3]}


@pytest.mark.parametrize("seed", range(3))
def test_learning_anew_from_unchanged_verdicts_changes_nothing_to_the_last_bit(seed: int) -> None:
    crawl, _, events = begun(drawn(seed))
    before = learned_by(crawl.strategy)
    same = {event.visit.url: event.verdict for event in events if isinstance(event, Visited)}
    learn_anew(crawl.strategy, revised(lessons_in(events), same, crawl.strategy))
    assert are_same(learned_by(crawl.strategy), before)


def test_another_verdict_does_change_what_was_learned() -> None:
    crawl, _, events = begun(drawn(1))
    before = learned_by(crawl.strategy)
    crawl.revise(crawl.strategy.judge, flipped(events), lessons_in(events))
    assert not are_same(learned_by(crawl.strategy), before)


def test_a_crawl_continues_as_before_when_no_verdict_changed() -> None:
    world = drawn(2)
    crawl, rest, events = begun(world)
    crawl.revise(crawl.strategy.judge, {}, lessons_in(events))
    _, _, undisturbed = begun(world, 10_000)
    assert visits(events + list(rest)) == visits(undisturbed)


def test_what_was_learned_after_a_revision_is_learned_again_from_the_revised_lessons() -> None:
    """As a resumed crawl does."""
    world = drawn(3)
    crawl, rest, events = begun(world)
    changed = flipped(events)
    crawl.revise(crawl.strategy.judge, changed, lessons_in(events))
    later = list(islice(rest, 15))
    resumed = registry.strategy("learned", Truth("relevant", world.truth))
    learn_anew(resumed, revised(lessons_in(events + later), changed, resumed))
    assert are_same(learned_by(resumed), learned_by(crawl.strategy))


def test_links_found_on_a_page_gain_when_it_turns_out_to_be_relevant() -> None:
    crawl, _, events = begun(drawn(4), 5)
    page = next(event.visit.url for event in events if isinstance(event, Visited) and not event.verdict.relevant)
    before = {link.url: link.evidence for link in crawl.frontier.waiting.links_found_on(page, 100)}
    crawl.revise(crawl.strategy.judge, {page: YES}, lessons_in(events))
    after = {link.url: link.evidence for link in crawl.frontier.waiting.links_found_on(page, 100)}
    assert before
    assert all(after[url]["relevant_parents"] > 0.0 for url in before)
    assert all(after[url]["relevance"] >= YES.relevance and after[url]["since"] == 0.0 for url in before)


def test_the_next_page_is_judged_by_the_new_judge() -> None:
    world = drawn(5)
    crawl, rest, events = begun(world, 5)
    crawl.revise(Truth("everything", lambda url: True), {}, lessons_in(events))
    assert all(event.verdict.relevant for event in rest if isinstance(event, Visited))

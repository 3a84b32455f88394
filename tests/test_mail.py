"""Links between shards arrive exactly once, whoever crashes when."""

from __future__ import annotations

import os
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from spoor.crawling.share import Share, even_table
from spoor.errors import BadInput, BrokenContract
from spoor.lab.worlds import WrittenWorld
from spoor.records import Handed, Link, Mailed, Miss, Page, Sighting, Verdict, Visit, sighting_elsewhere
from spoor.store.mail import Letter, Mail, lessons_of_others, packed, unpacked
from spoor.urls import host_of
from tests.crashing_shards import POINTS, Crashes, CrashingShard, crawled

CRASHES = int(os.environ.get("SPOOR_CRASHES", "60"))
HANDED = Handed(
    Link("http://b.test/é", "anchor", nofollow=True, hints=b"\x00\xff\x10"),
    {"one": 1.0, "two": float("inf")},
    sighting_elsewhere("http://a.test/", 2, (0, "http://a.test/", (1.5, None)), 0.75, True),
    redirects=2,
    again=True,
)


Opening = Callable[[], sqlite3.Connection]


@pytest.fixture
def mail(in_memory: Opening) -> Mail:
    return Mail(in_memory())


def test_a_link_is_the_same_after_its_way() -> None:
    plain = Handed(Link("http://b.test/", hints=(1.0, 2.5)), {}, sighting_elsewhere("", 0, None), is_seed=True)
    sister = Handed(Link("http://b.test/s"), {"one": 2.0}, HANDED.sighting)
    assert unpacked(packed([HANDED, sister, plain])) == [HANDED, sister, plain]


def test_links_of_one_page_know_the_same_page_when_they_arrive() -> None:
    one, other = unpacked(packed([HANDED, HANDED]))
    assert isinstance(one, Handed) and isinstance(other, Handed)
    assert one.sighting is other.sighting


def test_a_lesson_is_the_same_after_its_way() -> None:
    known = ((1.0, -2.5), {"one": 1.0}, (1, "http://a.test/"), 2, 0, "http://a.test/")
    visit = Visit("http://b.test/", "b.test", 7, 2.5, "page", *known, hints=b"\x01")
    page = Page("http://b.test/", 200, duplicate_of="http://c.test/")
    lessons: list[Mailed] = [
        Sighting(visit, page, Verdict(0.5, True, ""), (0, "http://b.test/")),
        Miss(visit, "timed out"),
    ]
    assert unpacked(packed(lessons)) == lessons


def test_lessons_of_others_keep_their_place_among_ones_own(in_memory: Opening) -> None:
    rows = iter([3, 7])
    here = Mail(in_memory(), lambda: next(rows))
    misses = [Miss(Visit(url, host_of(url), 0, 0.0), "gone") for url in ("http://a.test/", "http://b.test/")]
    for number, miss in enumerate(misses, 1):
        here.opened(0, [Letter(number, packed([miss, HANDED]))])
    here.write(here.db)
    assert list(lessons_of_others(here.db, 0)) == [(3.5, misses[0]), (7.5, misses[1])]
    assert list(lessons_of_others(here.db, 7)) == [(7.5, misses[1])]
    assert list(lessons_of_others(in_memory(), 0)) == []


@pytest.mark.parametrize("body", [b"", b"not compressed", packed([HANDED])[:-9], packed([HANDED])[:2]])
def test_what_is_no_letter_is_refused(body: bytes) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        unpacked(body)


def test_letters_stay_until_they_are_answered_and_are_never_numbered_twice(mail: Mail) -> None:
    for _ in range(2):
        mail.send(1, HANDED)
        mail.write(mail.db)
    assert [letter.number for letter in mail.letters(1)] == [1, 2]
    mail.delivered(1, 2)
    assert not mail.letters(1) and not mail.receivers()
    mail.send(1, HANDED)
    mail.write(mail.db)
    assert [letter.number for letter in mail.letters(1)] == [3]


def test_a_letter_that_comes_again_is_passed_over(mail: Mail) -> None:
    letter = Letter(1, packed([HANDED]))
    assert mail.opened(0, [letter]) == [HANDED]
    assert mail.opened(0, [letter]) == []
    mail.write(mail.db)
    assert mail.last_received(0) == 1
    assert mail.opened(0, [letter, Letter(2, packed([HANDED]))]) == [HANDED]


def test_a_gap_is_refused(mail: Mail) -> None:
    with pytest.raises(BrokenContract, match="sent the letters 2 after 0: some are missing"):
        mail.opened(0, [Letter(2, packed([HANDED]))])


def random_web(rng: random.Random, hosts: int, pages: int) -> WrittenWorld:
    urls = [f"http://h{n % hosts}.test/{n // hosts or ''}" for n in range(pages)]
    links = {url: list(dict.fromkeys([*rng.choices(urls, k=5), urls[(n + 1) % pages]])) for n, url in enumerate(urls)}
    return WrittenWorld.of_links(links, set(urls[::3]))


def test_nothing_is_lost_and_nothing_comes_twice_whoever_crashes_at_random(tmp_path: Path) -> None:
    rng, crashes_left, seen = random.Random(7), CRASHES, Counter[str]()
    for attempt in range(10_000):
        if crashes_left <= 0:
            break
        world = random_web(rng, hosts=7, pages=40)
        folder, crashes = tmp_path / str(attempt), Crashes(rng, 0.08)
        folder.mkdir()
        shards = [CrashingShard(number, even_table(3), folder, world, crashes) for number in range(3)]
        crawled(shards, crashes)
        check(shards, world)
        crashes_left -= crashes.counts.total()
        seen += crashes.counts
        for shard in shards:
            shard.store.close()
    assert set(seen) == set(POINTS)


def check(shards: list[CrashingShard], world: WrittenWorld) -> None:
    """Every page came once, every link to another shard was applied once for each page that has it, unless that shard
    had said that it has the page, and every other shard learned once how each visit turned out."""
    came = Counter(url for shard in shards for (url,) in shard.db.execute("SELECT url FROM came"))
    assert came == Counter(dict.fromkeys(world.outcomes, 1))
    share, applied = Share(0, even_table(len(shards))), Counter[tuple[str, str]]()
    for shard in shards:
        applied += Counter((found_on, url) for found_on, url in shard.db.execute("SELECT * FROM applied"))
    pages = ((url, link.url) for url, page in world.outcomes.items() for link in getattr(page, "links", ()))
    foreign = {(url, to) for url, to in pages if share.owner(url) != share.owner(to)}
    spared = {(url, to) for shard in shards for url, to in shard.db.execute("SELECT * FROM spared")}
    lessons = {("", url): len(shards) - 1 for url in world.outcomes}
    assert applied == Counter(dict.fromkeys(foreign - spared, 1)) + Counter(lessons)
    assert spared < foreign

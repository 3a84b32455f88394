"""Shards that lose their disks go back to copies, and no link is lost or stuck."""

from __future__ import annotations

import os
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from spoor.crawling.share import Share, even_table
from spoor.lab.worlds import WrittenWorld
from spoor.records import Handed, Link, sighting_elsewhere
from spoor.store.copied_mail import CopiedMail, begin_generation
from spoor.store.mail import Answer, Batch, Heard
from tests.copied_shards import COPY_POINTS, DAMAGE, CopiedShard
from tests.crashing_shards import POINTS, Crashes, crawled
from tests.test_mail import random_web

CRASHES = int(os.environ.get("SPOOR_CRASHES", "60"))
HANDED = Handed(Link("http://b.test/"), {}, sighting_elsewhere("http://a.test/", 0, None))


def test_no_link_is_lost_or_stuck_whoever_goes_back_to_a_copy(tmp_path: Path) -> None:
    rng, crashes_left, seen = random.Random(11), CRASHES, Counter[str]()
    for attempt in range(10_000):
        if crashes_left <= 0:
            break
        world = random_web(rng, hosts=7, pages=40)
        folder, crashes = tmp_path / str(attempt), Crashes(rng, 0.02)
        shards = [CopiedShard(number, even_table(3), folder, world, crashes) for number in range(3)]
        for shard in shards:
            shard.others = shards
        crawled(shards, crashes)
        check(shards, world)
        crashes_left -= crashes.counts.total()
        seen += crashes.counts
        for shard in shards:
            shard.close()
    assert set(DAMAGE) <= set(seen) <= {*POINTS, *COPY_POINTS, *DAMAGE}


def check(shards: list[CopiedShard], world: WrittenWorld) -> None:
    """Every page came once, as far as anybody remembers. Every link to another shard arrived, and every lesson; and not
    more often than its page was fetched, in visits that were lost or not."""
    came = Counter(url for shard in shards for (url,) in shard.db.execute("SELECT url FROM came"))
    assert came == Counter(dict.fromkeys(world.outcomes, 1))
    fetched = sum((shard.fetched for shard in shards), Counter[str]())
    share, applied = Share(0, even_table(len(shards))), Counter[tuple[str, str]]()
    for shard in shards:
        applied += Counter((found_on, url) for found_on, url in shard.db.execute("SELECT * FROM applied"))
    pages = ((url, link.url) for url, page in world.outcomes.items() for link in getattr(page, "links", ()))
    foreign = [(url, to) for url, to in pages if share.owner(url) != share.owner(to)]
    assert set(applied) == {*foreign, *(("", url) for url in world.outcomes)}
    assert all(applied[url, to] <= fetched[url] for url, to in foreign)
    assert all(len(shards) - 1 <= applied["", url] <= (len(shards) - 1) * fetched[url] for url in world.outcomes)


Opening = Callable[[], sqlite3.Connection]


def mail(db: sqlite3.Connection, generation: int = 1, other: int = 1) -> CopiedMail:
    """Of a shard with one other, that has begun so often."""
    begin_generation(db, generation)
    return CopiedMail(db, others=[other])


def letter(here: CopiedMail) -> None:
    here.send(1, HANDED)
    here.write(here.db)


def test_letters_stay_until_a_copy_of_the_receiver_has_them(in_memory: Opening) -> None:
    here = mail(in_memory())
    letter(here)
    letter(here)
    here.answered(1, Answer(Heard(2, 1), copied=Heard(1, 1)))
    assert here.receivers() == [] and here.count() == 0
    assert here.db.execute("SELECT number FROM outbox").fetchall() == [(2,)]


def test_nothing_is_sent_to_a_receiver_that_has_not_said_what_it_has_heard(in_memory: Opening) -> None:
    here = mail(in_memory())
    letter(here)
    assert here.batch(1) == Batch([], 1, None)
    assert here.receivers() == [1]
    here.answered(1, Answer(Heard(0), Heard(0)))
    assert [one.number for one in here.batch(1).letters] == [1]


def test_a_receiver_takes_letters_only_after_what_it_has_heard(in_memory: Opening) -> None:
    here, there = mail(in_memory()), mail(in_memory(), other=0)
    letter(here)
    here.answered(1, Answer(Heard(0), Heard(0)))
    batch = here.batch(1)
    assert there.taken(0, batch._replace(after=Heard(7, 1))) == []
    assert there.taken(0, batch) == [HANDED]
    assert there.taken(0, batch) == []
    there.write(there.db)
    assert there.answer(0) == Answer(heard=Heard(1, 1), copied=Heard(0))


def test_a_sender_that_went_back_sends_from_where_the_pasts_part(in_memory: Opening) -> None:
    here = mail(in_memory())
    letter(here)
    letter(here)
    begun_again = mail(here.db, 2)
    letter(begun_again)
    begun_again.answered(1, Answer(Heard(9, 1), Heard(0)))
    assert [one.number for one in begun_again.batch(1).letters] == [3]
    begun_again.answered(1, Answer(Heard(1, 1), Heard(0)))
    assert [one.number for one in begun_again.batch(1).letters] == [2, 3]


def test_a_sender_that_was_replaced_is_not_heard_any_more(in_memory: Opening) -> None:
    here, there = mail(in_memory()), mail(in_memory(), other=0)
    letter(here)
    there.taken(0, Batch(here.letters(1), 2, Heard(0)))
    there.db.executescript("INSERT INTO inbox VALUES (0, 5); INSERT INTO inbox_generations VALUES (0, 2);")
    here.answered(1, there.answer(0))
    assert here.batch(1).after is None
    assert there.taken(0, Batch([], 1, Heard(5, 2))) == []


def test_a_shard_that_begins_again_is_asked_what_it_has_heard(in_memory: Opening) -> None:
    here = mail(in_memory())
    letter(here)
    here.answered(1, Answer(Heard(1, 1), Heard(0)))
    assert here.count() == 0
    here.taken(1, Batch([], 2, None))
    assert here.receivers() == [1] and here.count() == 1

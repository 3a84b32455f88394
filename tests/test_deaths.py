"""A URL that was worked on when the process died is tried later, alone, and given up after the second death."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

from spoor.crawl import Crawl
from spoor.crawling.access import GIVEN_UP
from spoor.frontier.entry import DIED, HostRules, State
from spoor.frontier.frontier import LATER, Frontier
from spoor.frontier.sqlite import SqliteStore
from spoor.live.driver import TrackedFetch
from spoor.ordering.simple import Arrival
from spoor.records import Outcome, Page, Visit
from spoor.store.incidents import CurrentUrl, SavedTroubles, died_of
from spoor.strategy import Strategy
from tests import deadly_crawl
from tests.forked import forked
from tests.thread_server import served_here
from tests.tiny import graph, truth, url

WEB = graph("S: A B C; B: D")
UNSAVED = SavedTroubles(None)


@contextlib.contextmanager
def resumed(file: Path, now: float = 0.0, died: str = "", rules: HostRules | None = None) -> Iterator[Crawl]:
    with contextlib.closing(SqliteStore(file)) as store:
        crawl = Crawl(Strategy(truth(WEB), Arrival()), Frontier(store, rules), troubles=UNSAVED)
        crawl.resume(now, died)
        crawl.begin([url("S")])
        yield crawl


def begun(crawl: Crawl, now: float, most: int = 10) -> list[Visit]:
    """As many visits as may be under way together."""
    return [visit for _ in range(most) if (visit := crawl.next_visit(now)) is not None]


def absorb(crawl: Crawl, visits: list[Visit], now: float) -> None:
    crawl.absorb([(visit, WEB.fetch(visit)[0]) for visit in visits], now)


def begin_with_s(file: Path) -> None:
    with resumed(file) as crawl:
        absorb(crawl, begun(crawl, 0.0), 0.0)


def names(visits: list[Visit]) -> str:
    return " ".join(visit.host.removesuffix(".test") for visit in visits)


def test_a_url_that_a_process_died_of_is_left_for_later_and_then_fetched_alone(tmp_path: Path) -> None:
    begin_with_s(tmp_path / "crawl.db")
    with resumed(tmp_path / "crawl.db", 100.0, url("A")) as crawl:
        under_way = begun(crawl, 100.0)
        assert names(under_way) == "b c"
        assert begun(crawl, 100.0 + LATER) == []
        absorb(crawl, under_way, 100.0 + LATER)
        alone = begun(crawl, 100.0 + LATER)
        assert names(alone) == "a" and alone[0].apart
        absorb(crawl, alone, 100.0 + LATER)
        assert names(begun(crawl, 100.0 + LATER)) == "d"


def test_one_that_came_when_it_was_alone_is_like_any_other(tmp_path: Path) -> None:
    begin_with_s(tmp_path / "crawl.db")
    with resumed(tmp_path / "crawl.db", 100.0, url("A")) as crawl:
        absorb(crawl, begun(crawl, 100.0), 100.0)
        absorb(crawl, begun(crawl, 100.0), 100.0)
        absorb(crawl, begun(crawl, 110.0), 110.0)
        (entry,) = crawl.frontier.find([url("A")])
        assert entry is not None and (entry.state, entry.because) == (State.SETTLED, "")


def test_after_a_second_death_it_is_parked_for_good(tmp_path: Path) -> None:
    begin_with_s(tmp_path / "crawl.db")
    with resumed(tmp_path / "crawl.db", 100.0, url("A")):
        pass
    with resumed(tmp_path / "crawl.db", 200.0, url("A")) as crawl:
        (entry,) = crawl.frontier.find([url("A")])
        assert entry is not None and entry.state is State.PARKED and entry.is_given_up and entry.because == DIED
        assert names(begun(crawl, 300.0)) == "b c"


def test_each_start_leaves_it_for_later_again(tmp_path: Path) -> None:
    begin_with_s(tmp_path / "crawl.db")
    for now in (100.0, 200.0, 300.0):
        with resumed(tmp_path / "crawl.db", now, url("A") if now == 100.0 else "") as crawl:
            assert names(begun(crawl, now)) == "b c"


def test_of_two_that_wait_to_be_alone_each_is(tmp_path: Path) -> None:
    begin_with_s(tmp_path / "crawl.db")
    with resumed(tmp_path / "crawl.db", 100.0, url("A")):
        pass
    with resumed(tmp_path / "crawl.db", 200.0, url("B")) as crawl:
        absorb(crawl, begun(crawl, 200.0), 200.0)
        for expected in ("a", "b"):
            alone = begun(crawl, 300.0)
            assert names(alone) == expected
            absorb(crawl, alone, 300.0)


def test_a_url_that_is_done_with_or_unknown_is_not_blamed(tmp_path: Path) -> None:
    begin_with_s(tmp_path / "crawl.db")
    for died in (url("S"), url("nobody"), "http://elsewhere.test/robots.txt"):
        with resumed(tmp_path / "crawl.db", 100.0, died) as crawl:
            assert names(begun(crawl, 100.0)) == "a b c"


def test_a_robots_txt_that_a_process_died_of_is_asked_for_later_and_after_a_second_death_not_for_a_day(
    tmp_path: Path,
) -> None:
    begin_with_s(tmp_path / "crawl.db")
    rules = HostRules(ask_first=True)
    for now, waits in ((100.0, LATER), (200.0, GIVEN_UP)):
        with resumed(tmp_path / "crawl.db", now, "http://a.test/robots.txt", rules) as crawl:
            assert names(begun(crawl, now)) == "b c"
            assert begun(crawl, now + waits - 1) == []
    with resumed(tmp_path / "crawl.db", 300.0, "", rules) as crawl:
        assert names(begun(crawl, 300.0)) == "b c"
        assert names(begun(crawl, 300.0 + GIVEN_UP)) == "a"


def test_what_is_worked_on_can_be_read_after_the_process_died(tmp_path: Path) -> None:
    long = "http://a.test/" + "x" * 8_000
    in_work = CurrentUrl(tmp_path / "in-work")
    for address in (long, "http://b.test/"):
        in_work.on(address)
        assert died_of(tmp_path / "in-work") == in_work.url == address
    in_work.off()
    assert died_of(tmp_path / "in-work") == in_work.url == ""
    in_work.on(long)
    CurrentUrl(tmp_path / "in-work").close()
    assert died_of(tmp_path / "in-work") == ""


@pytest.mark.parametrize("content", [b"", b"\xff" * 65_536, b"\0\0\0\4nope" + bytes(65_528), b"x" * 70_000])
def test_a_file_that_says_nothing_of_use_blames_nobody(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "in-work").write_bytes(content)
    assert died_of(tmp_path / "in-work") == ""
    assert died_of(tmp_path / "nowhere") == ""


def test_a_look_is_blamed_while_it_works_and_not_while_it_waits(tmp_path: Path) -> None:
    in_work = CurrentUrl(tmp_path / "in-work")
    seen: list[str] = []

    async def look(address: str) -> Outcome:
        seen.append(in_work.url)
        await asyncio.sleep(0.01)
        seen.append(in_work.url)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.sleep(9), 0.01)
        seen.append(in_work.url)
        return Page(address)

    async def both() -> list[Outcome]:
        looks = [TrackedFetch(look(address), address, SavedTroubles(None, in_work)) for address in (url("A"), url("B"))]

        async def awaited(blamed: TrackedFetch[Outcome]) -> Outcome:
            return await blamed

        waiting = asyncio.gather(*map(awaited, looks))
        await asyncio.sleep(0)
        assert in_work.url == ""
        return await waiting

    assert asyncio.run(both()) == [Page(url("A")), Page(url("B"))]
    assert sorted(seen) == [url("A")] * 3 + [url("B")] * 3


async def _served(request: web.BaseRequest) -> web.Response:
    links = "".join(f"<a href=/{name}>x</a>" for name in ("1", "deadly", "2", "3")) if request.path == "/" else ""
    return web.Response(text=f"<p>{links}", content_type="text/html", status=404 if "robots" in request.path else 200)


async def _run_until_it_ends(folder: Path, where: str) -> list[int]:
    """The exit codes of one process after another."""
    codes: list[int] = []
    async with served_here(_served) as seed:
        while (not codes or codes[-1]) and len(codes) < 5:
            codes.append(await asyncio.to_thread(forked(deadly_crawl.main, str(folder), f"{seed}/", where).wait))
    return codes


@pytest.mark.parametrize(("where", "deaths"), [("read", 1), ("learn", 2)])
def test_a_page_that_kills_the_process_is_given_up_and_all_others_come(where: str, deaths: int, tmp_path: Path) -> None:
    """Read in another process, at the second try, it cannot kill this one."""
    assert asyncio.run(_run_until_it_ends(tmp_path / "crawl", where)) == [-signal.SIGKILL] * deaths + [0]
    with contextlib.closing(sqlite3.connect(tmp_path / "crawl" / "crawl.db")) as db:
        came = {address.rpartition("/")[2] for (address,) in db.execute("SELECT url FROM pages")}
        assert came == {"", "1", "2", "3"}
        events = db.execute(
            "SELECT kind, detail FROM events WHERE url LIKE '%deadly' AND kind != 'excused' ORDER BY id"
        ).fetchall()
        told = [(kind, json.loads(detail)) for kind, detail in events]
        (state, because) = db.execute("SELECT state, because FROM links WHERE url LIKE '%deadly'").fetchone()
    assert told[0] == ("trouble", {"reason": DIED})
    if where == "read":
        assert told[1][1]["reason"] == "the reader crashed: Killed" and state == State.SETTLED
    else:
        assert told[1] == ("refused", {"because": f"{DIED}, twice", "parked": True})
        assert (state, because) == (State.PARKED, DIED)

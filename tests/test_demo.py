"""The demo: a web as promised, served as planned, and a focused crawl that earns its name on it."""

from __future__ import annotations

import asyncio
import dataclasses
import difflib
import json
from collections import Counter
from contextlib import closing
from pathlib import Path

import aiohttp
import pytest

from spoor import registry, robots
from spoor.cli.demo_crawls import CONTACT, make_room
from spoor.cli.main import main
from spoor.demo.plan import (
    AGENT,
    DELAY,
    SCRIPTED,
    SCRIPTED_ADDRESS,
    SLOW,
    UNLINKED,
    Habits,
    Host,
    Moved,
    PageKind,
    Place,
    Plan,
    Rules,
    Text,
)
from spoor.demo.server import Asked, DemoServer, answer
from spoor.demo.site import TUNNEL, plan
from spoor.errors import BadInput
from spoor.parse.documents import read_answer
from spoor.parse.html import read_page
from spoor.parse.pdf import can_be_read
from spoor.parse.sitemaps import read_sitemap
from spoor.records import Page, SitemapFile
from spoor.store.crawl_folder import open_for_crawling
from spoor.store.journal import events, open_to_read, pages


@pytest.fixture(scope="module")
def web() -> Plan:
    return plan()


def one(web: Plan, **habits: object) -> Host:
    """The first host that has these habits."""
    relevant = habits.items()
    return next(h for h in web.hosts.values() if all(getattr(h.habits, name) == value for name, value in relevant))


def read(host: Host, path: str, times: int = 1) -> Page:
    told = answer(host, Asked(path, times, 8000))
    return read_page(f"http://{host.address}:8000{path}", told.body, told.headers.get("Content-Type", ""), told.status)


def linked(web: Plan) -> Counter[Place]:
    texts = [page for host in web.hosts.values() for page in host.pages.values() if isinstance(page, Text)]
    return Counter(link.to for text in texts for link in text.links)


def test_the_same_seed_gives_the_same_web(web: Plan) -> None:
    assert plan() == web
    assert plan(2) != web


def test_the_web_is_as_large_and_as_thai_as_promised(web: Plan) -> None:
    sizes: Counter[str] = Counter()
    for host in web.hosts.values():
        sizes[host.language] += len(host.pages)
    assert len(web.hosts) == 61
    assert all(address.startswith("127.") for address in web.hosts)
    assert 1_500 <= sizes.total() <= 2_500
    assert set(sizes) == {"thai", "english", "japanese", "russian", "german", "mongolian"}
    assert 0.25 <= sizes["thai"] / sizes.total() <= 0.30


def test_many_charsets_are_spoken_and_some_are_not_declared(web: Plan) -> None:
    spellings = {(host.spelling.charset, host.spelling.declared) for host in web.hosts.values()}
    legacy = {"tis-620", "windows-874", "iso-8859-11", "shift_jis", "euc-jp", "koi8-r", "windows-1251"}
    assert legacy | {"utf-8"} <= {charset for charset, _ in spellings}
    assert {"header", "meta", "nowhere"} == {where for _, where in spellings}
    assert ("iso-8859-11", "header") not in spellings


def test_a_reader_sees_thai_where_thai_was_written(web: Plan) -> None:
    judge = registry.judge("language:th")
    for host in web.hosts.values():
        if not host.habits.front_of and host.address != SCRIPTED_ADDRESS:
            (verdict,) = judge.judge([read(host, "/")])
            assert verdict.relevant == (host.language == "thai"), host.address


def test_rules_say_what_the_plan_forbids(web: Plan) -> None:
    asking = [host for host in web.hosts.values() if host.rules is not None]
    assert len(asking) >= 40
    assert sum(host.rules == Rules(("/",), named=True) for host in asking) == 1
    assert {robots.parse(host.rules.text(), AGENT).delay for host in asking if host.rules} == {None, DELAY}
    for host in asking:
        for path in ("/", "/news/1.html", "/private/", "/private/1.html", "/search?q=1"):
            assert host.rules is not None
            assert robots.allows(host.rules.text(), AGENT, f"http://{host.address}{path}") != host.forbids(path)


def test_some_thai_sites_are_reached_only_through_one_english_page(web: Plan) -> None:
    times = linked(web)
    tunnels = [(host, page) for host in web.hosts.values() if isinstance(page := host.pages.get(TUNNEL), Text)]
    assert [host.language for host, _ in tunnels] == ["english", "english"]
    for host, page in tunnels:
        assert times[Place(host.address, TUNNEL)] == 1
        hidden = page.links[0].to.address
        outside = [h for h in web.hosts.values() if h.address != hidden]
        assert hidden not in {place.address for place in linked(dataclasses.replace(web, hosts=without(outside, page)))}


def without(hosts: list[Host], page: Text) -> dict[str, Host]:
    """The hosts, less one page."""
    return {
        host.address: dataclasses.replace(host, pages={path: p for path, p in host.pages.items() if p is not page})
        for host in hosts
    }


def test_pages_move_and_some_go_round_in_circles(web: Plan) -> None:
    front = one(web, trap="", front_of="127.20.2.1")
    assert answer(front, Asked("/x", 0, 8000)).headers["Location"] == "http://127.20.2.1:8000/x"
    bare = web.hosts["127.20.2.1"]
    assert isinstance(bare.pages["/old/1.html"], Moved)
    assert bare.pages["/loop/1"] == Moved(Place(bare.address, "/loop/2"))
    assert bare.pages["/loop/2"] == Moved(Place(bare.address, "/loop/1"))


def test_copies_are_the_same_to_the_letter_or_nearly(web: Plan) -> None:
    host = web.hosts[web.seeds[0].address]
    original = next(path for path, page in host.pages.items() if page == host.pages["/print/1.html"])
    bodies = [answer(host, Asked(path, 1, 8000)).body for path in (original, "/print/1.html", "/mirror/1.html")]
    assert bodies[0] == bodies[1] != bodies[2]
    whole, longer = (read(host, path).text for path in (original, "/mirror/1.html"))
    assert 0.9 < difflib.SequenceMatcher(None, whole, longer, autojunk=False).ratio() < 1.0


def test_traps_have_no_end(web: Plan) -> None:
    calendar, corridor, sessions = (one(web, trap=trap) for trap in ("calendar", "corridor", "sessions"))
    assert {link.url[-8:] for link in read(calendar, "/calendar/2030/12/").links} == {
        "2029/12/",
        "2030/11/",
        "2031/01/",
        "2031/12/",
    }
    assert read(calendar, "/calendar/2030/12/").text[:80] == read(calendar, "/calendar/1999/01/").text[:80]
    assert read(corridor, "/corridor/older/older/").links[0].url.endswith("/corridor/older/older/older/")
    first, again = (read(sessions, "/", times).links[0].url for times in (1, 2))
    assert "PHPSESSID" in first
    assert first != again
    assert read(sessions, first.removeprefix(f"http://{sessions.address}:8000")).text


def test_the_guestbook_vouches_for_nobody(web: Plan) -> None:
    advertised = read(web.hosts[web.seeds[0].address], "/guestbook.html").links
    assert sum("/advertised/" in link.url for link in advertised) == 20
    assert all(link.nofollow for link in advertised)


def test_three_links_in_ten_lead_to_dead_hosts_and_every_page_may_have_some(web: Plan) -> None:
    dead = [link.to.address in web.dead for host in web.hosts.values() for link in host.links()]
    assert 0.25 <= sum(dead) / len(dead) <= 0.35
    for host in web.hosts.values():
        alone = host.habits.front_of or host.address == SCRIPTED_ADDRESS
        assert alone or any(link.to.address in web.dead for link in host.links())
    assert not web.dead.keys() & web.hosts.keys()


def test_a_sitemap_lists_pages_to_which_nobody_links(web: Plan) -> None:
    (host,) = (host for host in web.hosts.values() if host.listed)
    rules = robots.parse(answer(host, Asked("/robots.txt", 0, 8000)).body.decode(), AGENT)
    (announced,) = rules.sitemaps
    listed = read_sitemap(announced, answer(host, Asked("/sitemap.xml", 0, 8000)).body)
    assert isinstance(listed, SitemapFile)
    unlinked = [place for place, kind in web.kinds().items() if kind == "unlinked"]
    assert {f"http://{place.address}:8000{place.path}" for place in unlinked} < {each.url for each in listed.listed}
    assert (len(unlinked), {each.language for each in listed.listed}) == (UNLINKED, {"th"})
    assert not linked(web).keys() & set(unlinked)


@pytest.mark.skipif(not can_be_read(), reason="pypdfium2 is not installed: pip install 'spoor[documents]'")
def test_a_pdf_in_thai_can_be_read(web: Plan) -> None:
    ((place, text),) = texts(web, "pdf").items()
    response = answer(web.hosts[place.address], Asked(place.path, 1, 8000))
    page = read_answer(f"http://{place.address}:8000{place.path}", response.body, "application/pdf")
    assert isinstance(page, Page)
    assert (page.title, page.language, len(page.links)) == (text.title, "th", 1)
    assert page.text.replace("\n", "").endswith("".join(text.paragraphs))
    assert registry.judge("language:th").judge([page])[0].relevant


def test_scripted_pages_come_empty_and_their_content_lies_at_another_address(web: Plan) -> None:
    scripted = texts(web, "scripted")
    for place, text in scripted.items():
        host = web.hosts[place.address]
        assert read(host, place.path).needs_scripts
        content = json.loads(answer(host, Asked(f"/data{place.path}", 1, 8000)).body)
        assert (content["title"], tuple(content["paragraphs"])) == (text.title, text.paragraphs)
    assert answer(web.hosts[SCRIPTED_ADDRESS], Asked("/app.js", 1, 8000)).body.startswith(b"fetch(")
    assert answer(web.hosts[SCRIPTED_ADDRESS], Asked("/data/nowhere", 1, 8000)).status == 404
    assert len(scripted) == SCRIPTED


def texts(web: Plan, kind: PageKind) -> dict[Place, Text]:
    """The pages of a kind."""
    found = {place: web.hosts[place.address].pages[place.path] for place, one in web.kinds().items() if one == kind}
    return {place: page for place, page in found.items() if isinstance(page, Text)}


def test_hosts_differ_in_speed(web: Plan) -> None:
    seconds = sorted(host.habits.seconds for host in web.hosts.values())
    assert seconds.count(SLOW.seconds) == 4
    assert 0.02 < seconds[len(seconds) // 2] < 0.04
    assert 3 * seconds[5] < seconds[-10]


async def asked(server: DemoServer, address: str, path: str) -> tuple[int, dict[str, str], bytes]:
    url = f"http://{address}:{server.port}{path}"
    async with (
        aiohttp.ClientSession(auto_decompress=False) as session,
        session.get(url, allow_redirects=False) as told,
    ):
        return told.status, dict(told.headers), await told.read()


def test_the_server_answers_as_planned(web: Plan) -> None:
    asyncio.run(_the_server_answers_as_planned(web))


async def _the_server_answers_as_planned(web: Plan) -> None:
    well = [host for host in web.hosts.values() if host.habits == Habits(host.habits.seconds)]
    private = next(host for host in well if host.rules and host.rules.disallowed)
    zipped = next(host for host in well if host.zips)
    limited = one(web, at_first=429)
    async with DemoServer(web) as server:
        assert server.seeds[0] == f"http://{web.seeds[0].address}:{server.port}/"
        assert (await asked(server, private.address, "/robots.txt"))[2].startswith(b"User-agent: *")
        assert (await asked(server, private.address, "/nowhere"))[0] == 404
        assert (await asked(server, zipped.address, "/"))[1]["Content-Encoding"] == "gzip"
        status, headers, _ = await asked(server, limited.address, "/")
        assert (status, headers["Retry-After"]) == (429, "1")
        assert (await asked(server, limited.address, "/"))[0] == 200
        with pytest.raises(aiohttp.ClientError):
            await asked(server, one(web, resets=True).address, "/")
        lost = next(address for address, status in web.dead.items() if status == 410)
        assert [(await asked(server, lost, path))[0] for path in ("/robots.txt", "/")] == [410, 410]
        with pytest.raises(aiohttp.ClientConnectorError):
            await asked(server, next(address for address, status in web.dead.items() if not status), "/")
        assert server.disallowed.total() == 0
        await asked(server, private.address, "/private/")
        assert server.disallowed[Place(private.address, "/private/")] == 1
        assert server.requests[private.address] == 3


TIMES_AS_MANY = 3.0
"""As many Thai pages as breadth-first finds, which learned must find; it finds more where it waits for better links."""


def test_a_focused_crawl_beats_breadth_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines if line.startswith(("breadth", "learned"))]
    found = {strategy: int(thai) for strategy, _, thai, *_ in rows}
    assert [row[1] for row in rows] == ["700"] * 2
    assert [row[-1] for row in rows] == ["0", "0"], "disallowed requests"
    assert found["learned"] >= TIMES_AS_MANY * found["breadth-first"]
    assert [line.partition(":")[0] for line in lines if " by learned" in line] == [
        "12 Thai pages that only a sitemap lists",
        "1 PDF in Thai",
        "9 Thai pages that scripts make",
    ]
    for strategy in found:
        with closing(open_to_read(tmp_path / strategy / "crawl.db")) as db:
            visited = [page.url for page in pages(db)]
            kinds = Counter(event.kind for event in events(db))
        assert sum("/calendar/" in url for url in visited) <= 40
        assert not any("/private/" in url or "/advertised/" in url or "SESSID" in url for url in visited)
        assert kinds["failed"] > 0
        assert kinds["redirected"] > 0
        assert (tmp_path / strategy / "report.html").exists()


def test_only_an_earlier_demo_makes_room(tmp_path: Path) -> None:
    for name, settings in (("demo", f'contact = "{CONTACT}"'), ("other", "")):
        with open_for_crawling(tmp_path / name) as folder:
            folder.write_settings(settings)
    make_room(tmp_path / "demo")
    assert not (tmp_path / "demo").exists()
    with open_for_crawling(tmp_path / "old") as folder:
        folder.write_settings(f'contact = "{CONTACT}"')
    (tmp_path / "old" / "version").write_text("spoor crawl 0\n")
    make_room(tmp_path / "old")
    assert not (tmp_path / "old").exists()
    with pytest.raises(BadInput, match="not a demo"):
        make_room(tmp_path / "other")
    assert (tmp_path / "other" / "crawl.toml").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").touch()
    with pytest.raises(BadInput, match=r"letter\.txt"):
        make_room(tmp_path / "mine")

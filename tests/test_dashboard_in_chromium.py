"""The dashboard in a real browser, beside a crawl that runs: charts move, words are found, actions are done.

One crawl of an endless web on this machine is watched from beginning to end; the tests say what was seen."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.web import Server, ServerRunner, TCPSite

from spoor import settings as config
from spoor.dashboard.guard import Guard
from spoor.dashboard.server import Dashboard, serving
from spoor.dashboard.watching import WatchedCrawl
from spoor.live.running import Session
from spoor.live.session import open_session
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.store.journal import open_to_read
from spoor.store.marks import newest_marks
from tests.chromium import PATIENCE, Tab, needs_chromium, tab
from tests.taught_crawl import taught_crawl

pytestmark = needs_chromium

AXE = Path(__file__).resolve().parents[1] / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
"""Looks for what people cannot see, reach or understand who use a page otherwise than most."""
SERIOUS = """axe.run(document, {iframes: false, resultTypes: ["violations"]}).then((found) => found.violations
    .filter((fault) => ["serious", "critical"].includes(fault.impact))
    .map((fault) => `${fault.id}: ${fault.nodes[0].html} ${fault.nodes[0].failureSummary}`))"""

WORD = "ช้างเผือก"
WORDS = """ประเทศ ป่า ภาคเหนือ แม่น้ำ ตลาด อาหาร ดนตรี โรงเรียน หนังสือ ภูเขา ทะเล เมือง ข่าว กีฬา วัด บ้าน ฝน ดอกไม้ รถไฟ ปลา"""
DEADLY = (
    "<title><script>top.harmed=1</script>Deadly</title><script>parent.postMessage('harm','*');"
    "fetch('ADDRESS/harm')</script><img src='ADDRESS/harm' onerror='top.harmed=1'>"
    "<meta http-equiv=refresh content='0;url=ADDRESS/harm'><link rel=stylesheet href='ADDRESS/harm'>"
)
VIEWS = ("overview", "pages", "hosts", "queue", "failures", "log", "settings")
FURTHER = 25
"""Requests to other hosts after one was blocked."""


@dataclass
class EndlessWeb:
    """A proxy that answers for three hosts. Every page links to the next ones on each."""

    asked: Counter[str] = field(default_factory=Counter)
    harmed: bool = False
    address: str = ""

    async def answer(self, request: web.BaseRequest) -> web.Response:
        host, path = request.headers["Host"], request.path
        if path == "/robots.txt":
            return web.Response(status=404)
        self.harmed |= path == "/harm" and "Chrome" in request.headers["User-Agent"]
        self.asked[host] += 1
        number = int(path.strip("/") or 0) if path.strip("/").isdigit() else 0
        words = random.Random(f"{host}{number}").choices(WORDS.split(), k=80)
        links = "".join(
            f"<a href='http://{name}.test/{number + step}'>{words[step]}</a> " for name in "abc" for step in (1, 2, 3)
        )
        head = (
            DEADLY.replace("ADDRESS", self.address) if path == "/deadly" else f"<title>หน้า {number} {words[0]}</title>"
        )
        body = f"{head}<p>{WORD}{' '.join(words)}</p>{links}"
        return web.Response(text=body, content_type="text/html", charset="utf-8")


@dataclass
class Seen:
    """What was seen while the crawl ran."""

    first_chart: str = ""
    later_chart: str = ""
    found: list[str] = field(default_factory=list)
    harmed: Any = None
    preview: str = ""
    title: str = ""
    widths: dict[str, int] = field(default_factory=dict)
    faults: dict[str, list[str]] = field(default_factory=dict)
    delay: float = 0.0
    answered: dict[str, bool | None] = field(default_factory=dict)
    ground: str = ""
    after_block: int = 0
    at_end: int = 0
    others: int = 0
    marks: dict[str, bool | None] = field(default_factory=dict)
    paused: bool = False
    said: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return asyncio.run(_watched(tmp_path_factory.mktemp("watched")))


async def _watched(path: Path) -> Seen:
    endless, seen = EndlessWeb(), Seen()
    async with _proxy(endless) as proxy:
        crawling = Crawling(("http://a.test/0", "http://a.test/deadly", "http://b.test/0"), proxy=proxy, connections=4)
        settings = Config(Target(script="thai"), crawling, politeness=Politeness(host_delay=0.05))
        with open_for_crawling(path / "crawl") as folder:
            folder.write_settings(config.dumps(settings))
            async with open_session(folder, settings) as session:
                running = asyncio.create_task(_run(session))
                crawls = [WatchedCrawl(folder, 1), WatchedCrawl(taught_crawl(path / "taught"), 2)]
                dashboard = Dashboard(crawls, Guard.of("127.0.0.1"))
                async with serving(dashboard, "127.0.0.1", 0) as link, tab(path / "profile") as browser:
                    await browser.look(1200)
                    await browser.call("Page.navigate", url=link)
                    for step in (_charts, _search, _preview, _sizes, _marking, _slowing, _blocking, _pausing):
                        await step(browser, endless, folder, seen)
                    await _teaching(browser, crawls[1].folder, seen)
                    seen.said = browser.said
                session.stop("the test is over")
                await running
    seen.harmed = seen.harmed or endless.harmed
    return seen


@contextlib.asynccontextmanager
async def _proxy(endless: EndlessWeb) -> AsyncIterator[str]:
    runner = ServerRunner(Server(endless.answer), shutdown_timeout=0.1)
    await runner.setup()
    try:
        await TCPSite(runner, "127.0.0.1", 0).start()
        endless.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield endless.address
    finally:
        await runner.cleanup()


async def _run(session: Session) -> None:
    async for _ in session.run():
        pass


async def _go(browser: Tab, view: str, crawl: int = 1) -> None:
    await browser.run(f"document.querySelector('.view')?.remove(); location.hash = '#/{crawl}/{view}'")
    await browser.until("document.querySelector('.view h2').textContent")


async def _look_for_faults(browser: Tab, view: str, seen: Seen) -> None:
    """With axe-core, where it is installed; the policy of the page does not hold for the tools of developers."""
    if AXE.exists():
        if not await browser.run("typeof axe === 'object'"):
            await browser.call("Runtime.evaluate", expression=AXE.read_text("utf8"))
        seen.faults[view] = await browser.run(SERIOUS)


CHART = "document.querySelector('[data-what=relevant] path.line').getAttribute('d')"


async def _charts(browser: Tab, endless: EndlessWeb, folder: CrawlFolder, seen: Seen) -> None:
    seen.first_chart = await browser.until(f"{CHART}.length > 20 && {CHART}")
    seen.later_chart = await browser.until(f"{CHART} !== '{seen.first_chart}' && {CHART}")


async def _search(browser: Tab, endless: EndlessWeb, folder: CrawlFolder, seen: Seen) -> None:
    await browser.until(
        "fetch('/api/v1/crawls/1').then((answer) => answer.json()).then((crawl) => crawl.searchable > 0)"
    )
    await _go(browser, "pages")
    await browser.run(f"document.querySelector('[name=search]').value = '{WORD}'")
    await browser.run("document.querySelector('form').requestSubmit()")
    titles = "[...document.querySelectorAll('.cards h3')].map((title) => title.textContent)"
    seen.found = await browser.until(f"location.hash.includes('search=') && {titles}.length && {titles}")


async def _preview(browser: Tab, endless: EndlessWeb, folder: CrawlFolder, seen: Seen) -> None:
    listed = "fetch('/api/v1/crawls/1/pages?host=a.test&limit=500').then((answer) => answer.json())"
    page = await browser.run(f"{listed}.then((part) => part.items.find((one) => one.url.endsWith('deadly')).id)")
    await browser.run("addEventListener('message', () => { window.harmed = 1 })")
    await _go(browser, f"page/{page}")
    seen.title = await browser.run("document.querySelector('.view h2').textContent")
    await browser.run(
        "[...document.querySelectorAll('button')].find((one) => one.textContent.startsWith('Show')).click()"
    )
    await browser.until("document.querySelector('iframe').getAttribute('sandbox') === ''")
    seen.preview = await browser.run(f"fetch('/api/v1/crawls/1/pages/{page}/preview').then((answer) => answer.text())")
    await asyncio.sleep(
        0.5
    )  # A script that ran would have done its harm by then; nothing happens that could be waited for.
    seen.harmed = await browser.run("window.harmed ?? null")
    await _look_for_faults(browser, "page", seen)


async def _sizes(browser: Tab, endless: EndlessWeb, folder: CrawlFolder, seen: Seen) -> None:
    await browser.look(390, 800, "dark")
    for view in VIEWS:
        await _go(browser, view)
        seen.widths[view] = await browser.run("document.documentElement.scrollWidth")
        await _look_for_faults(browser, view, seen)
    seen.ground = await browser.run("getComputedStyle(document.body).backgroundColor")
    await browser.look(1200)


async def _marking(browser: Tab, endless: EndlessWeb, folder: CrawlFolder, seen: Seen) -> None:
    await _go(browser, "pages")
    await browser.run("document.querySelector('.marks button:last-child').click()")
    await browser.until("document.querySelector('.marks button:last-child').getAttribute('aria-pressed') === 'true'")
    with contextlib.closing(open_to_read(folder.database)) as db:
        seen.marks = {url: mark.relevant for url, mark in newest_marks(db).items()}


async def _slowing(browser: Tab, endless: EndlessWeb, folder: CrawlFolder, seen: Seen) -> None:
    await _go(browser, "hosts?sort=pages")
    await browser.run("document.querySelector('[aria-label=\"Slow down c.test\"]').click()")
    await browser.run("document.querySelector('td form input').value = '0.25'")
    await browser.run("document.querySelector('td form').requestSubmit()")
    await browser.until("document.querySelector('#message').textContent === 'c.test is asked every 0.25 s at most.'")
    with contextlib.closing(open_to_read(folder.database)) as db:
        (seen.delay,) = db.execute("SELECT delay FROM hosts WHERE name = 'c.test'").fetchone()


async def _blocking(browser: Tab, endless: EndlessWeb, folder: CrawlFolder, seen: Seen) -> None:
    await _go(browser, "hosts")
    await browser.run("document.querySelector('[aria-label=\"Block b.test\"]').click()")
    await browser.until("document.querySelector('#message').textContent === 'b.test is blocked.'")
    await asyncio.sleep(1.0)  # What was in transit comes back.
    seen.after_block, before = endless.asked["b.test"], endless.asked["a.test"] + endless.asked["c.test"]
    async with asyncio.timeout(PATIENCE):
        while (others := endless.asked["a.test"] + endless.asked["c.test"] - before) < FURTHER:
            await asyncio.sleep(0.05)
    seen.at_end, seen.others = endless.asked["b.test"], others


async def _pausing(browser: Tab, endless: EndlessWeb, folder: CrawlFolder, seen: Seen) -> None:
    await browser.run("location.hash = '#/1/overview'")
    await browser.until(
        "[...document.querySelectorAll('.view button')].find((one) => one.textContent === 'Pause').click() ?? 1"
    )
    seen.paused = bool(await browser.until("document.querySelector('#state').textContent === 'paused'"))


async def _teaching(browser: Tab, taught: CrawlFolder, seen: Seen) -> None:
    title = "document.querySelector('.question h3').textContent"
    await _go(browser, "teach", crawl=2)
    for answer in ("Relevant", "Not relevant"):
        first = await browser.run(title)
        await browser.run(
            f"[...document.querySelectorAll('.question button')].find((one) => one.textContent === '{answer}').click()"
        )
        await browser.until(f"{title} !== {json.dumps(first)}")
    await _look_for_faults(browser, "teach", seen)
    with contextlib.closing(open_to_read(taught.database)) as db:
        seen.answered = {url: mark.relevant for url, mark in newest_marks(db).items()}


def test_charts_move(seen: Seen) -> None:
    assert seen.first_chart and seen.later_chart and seen.first_chart != seen.later_chart


def test_a_thai_word_is_found(seen: Seen) -> None:
    assert any(title.startswith("หน้า") for title in seen.found)


def test_a_preview_with_a_hostile_script_stays_dead(seen: Seen) -> None:
    assert not seen.harmed
    head, _, body = seen.preview.partition("</title>")
    assert "<script" not in body and "/harm" not in body and "refresh" not in head + body and WORD in body


def test_markup_in_a_title_is_shown_as_text(seen: Seen) -> None:
    assert "<script>" in seen.title and "Deadly" in seen.title


def test_no_view_is_wider_than_a_telephone(seen: Seen) -> None:
    assert seen.widths == dict.fromkeys(VIEWS, 390)


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: make validators")
def test_axe_finds_no_serious_fault(seen: Seen) -> None:
    assert seen.faults == {view: [] for view in (*VIEWS, "page", "teach")}


def test_it_is_dark_where_that_is_asked_for(seen: Seen) -> None:
    assert seen.ground == "rgb(18, 24, 30)"


def test_a_blocked_host_gets_no_further_request(seen: Seen) -> None:
    assert seen.after_block > 0 and seen.at_end == seen.after_block and seen.others >= FURTHER


def test_a_host_is_slowed_down(seen: Seen) -> None:
    assert seen.delay == 0.25


def test_questions_are_answered(seen: Seen) -> None:
    assert list(seen.answered.values()) == [True, False]


def test_a_page_is_marked(seen: Seen) -> None:
    assert list(seen.marks.values()) == [False]


def test_a_crawl_is_paused(seen: Seen) -> None:
    assert seen.paused


def test_no_script_of_ours_failed_and_no_policy_was_broken(seen: Seen) -> None:
    assert seen.said == []

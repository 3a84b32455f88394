"""Pages made by scripts, in a real browser: what is read of them, what is refused, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from spoor.errors import MissingExtra
from spoor.parse.html import read_page
from spoor.records import Failure, Response, SubRequest
from spoor.render.browser import Browser, BrowserLimits, find_browser
from spoor.render.rendering import Rendered, Renderer, RenderLimits
from tests.browser_processes import is_running
from tests.scripted_site import FetchedResources, Listener, ScriptedSite, fetching

try:
    PROGRAM = find_browser()
except MissingExtra as missing:
    pytest.skip(str(missing), allow_module_level=True)

Made = TypeVar("Made")
FILL = "fetch('/data.json').then((r) => r.json()).then((d) => { root.innerHTML = d.html })"
FILES = {
    "shell.test/": "<div id=root></div><script src=/app.js></script>",
    "shell.test/app.js": FILL,
    "shell.test/data.json": '{"html": "<h1>Filled</h1><a href=/one>one</a><a href=http://other.test/>two</a>"}',
    "list.test/": """<div id=items></div><div id=end>end</div><script>
        let next = 0, busy = false;
        new IntersectionObserver(async (seen) => {
          if (!seen[0].isIntersecting || busy) return;
          busy = true;
          const more = await (await fetch("/list?from=" + next)).text();
          next += 20;
          items.insertAdjacentHTML("beforeend", more.replaceAll("<p>", "<p style='height: 100px'>"));
          busy = false;
        }).observe(end);
        </script>""",
    "push.test/": """<button onclick="location.href='/button'">B</button><b data-href=/bold>C</b>
        <script>for (const view of ["a", "b"]) history.pushState({}, "", "/view/" + view)</script>""",
    "json.test/": """<div id=root></div>
        <script id=data type=application/json>{"title": "From JSON", "to": "/j"}</script>
        <script>const d = JSON.parse(data.textContent); root.innerHTML = `<a href=${d.to}>${d.title}</a>`</script>""",
    "never.test/": "<p>before</p><script>fetch('/never').then(() => document.body.append('after'))</script>",
    "timers.test/": """<p id=count></p><script>let n = 0;
        setInterval(() => { count.textContent = "counted " + ++n }, 5);
        (function again() { Promise.resolve().then(() => setTimeout(again)) })();
        </script>""",
    "loop.test/": "<p>before the loop</p><script>setTimeout(() => { while (true) {} }, 100)</script>",
    "crash.test/": "<p>soon gone</p><script>fetch('/crash')</script>",
    "moved.test/": "<p>moving</p><script>location = 'http://elsewhere.test/new'</script>",
    "worker.test/": """<p id=root></p><script>
        root.textContent = "serviceWorker" in navigator ? "installed" : "does without";
        navigator.serviceWorker?.register("/sw.js"); </script>""",
    "worker.test/sw.js": "fetch('/from-the-worker')",
    "dedicated.test/": "<p id=root></p><script>new Worker('/w.js').onmessage = (e) => { root.append(e.data) }</script>",
    "dedicated.test/w.js": "fetch('/data.json').then((r) => r.text()).then((text) => postMessage(text))",
    "dedicated.test/data.json": "by a worker",
    "alert.test/": "<p>quiet</p><script>for (let n = 0; n < 1e4; n++) { alert(n); confirm(n) }</script><p>after</p>",
    "huge.test/": """<div id=root></div><script>
        root.innerHTML = Array.from({length: 60000}, (_, n) => `<a href=/h${n}>h${n}</a> `).join("")</script>""",
    "shadow.test/": """<x-a></x-a><script>customElements.define("x-a", class extends HTMLElement {
        connectedCallback() { this.attachShadow({mode: "open"}).innerHTML = "<a href=/inside>in the shadow</a>" } })
        </script>""",
    "kept.test/": """<p id=root></p><script>root.textContent = "had " + (localStorage.x || "") + document.cookie;
        localStorage.x = "storage"; document.cookie = "a=cookie; max-age=9999"</script>""",
    "post.test/": "<script>fetch('/save', {method: 'POST'}); navigator.sendBeacon('/beacon')</script>",
    "other.test/data.json": "from another host",
    "cross.test/": """<p id=root></p><script>fetch("http://other.test/data.json", {headers: {"X-Key": "1"}})
        .then((r) => r.text()).then((text) => { root.textContent = text })</script>""",
}
LIMITS = RenderLimits(seconds=20, busy=6, characters=500_000, links=1_000)


class CrashingResources(FetchedResources):
    """Kills the process of a page that asks for /crash."""

    browser: Browser

    async def answer(self, request: SubRequest) -> Response | Failure:
        if request.url.endswith("/crash"):
            for kind, number in await self.browser.processes():
                if kind == "renderer":
                    os.kill(number, signal.SIGKILL)
        return await super().answer(request)


def run(work: Coroutine[Any, Any, Made]) -> Made:
    return asyncio.run(work)


async def rendered_all(site: ScriptedSite) -> dict[str, Rendered]:
    """Every page of the site, one after another in one browser."""
    pages = [name for name in FILES if name.endswith("/")]
    found = {}
    async with fetching(site) as fetcher, Browser(PROGRAM) as browser:
        answers, renderer = CrashingResources(fetcher), Renderer(browser, LIMITS)
        answers.browser = browser
        for name in [*pages, "kept.test/"]:
            response = await fetcher.fetch(f"http://{name}")
            assert isinstance(response, Response)
            found[name] = await renderer.render(response, answers)
    return found


@pytest.fixture(scope="module")
def site() -> ScriptedSite:
    return ScriptedSite(FILES)


@pytest.fixture(scope="module")
def pages(site: ScriptedSite) -> dict[str, Rendered]:
    return run(rendered_all(site))


def text_of(page: Rendered) -> str:
    return read_page(page.url, page.html.encode(), "text/html; charset=utf-8").text


def refusals(page: Rendered) -> dict[str, str]:
    return {request.url: request.refused for request in page.requests if request.refused}


# Kinds of pages


def test_a_shell_is_filled_by_what_its_scripts_fetch(pages: dict[str, Rendered]) -> None:
    page = pages["shell.test/"]
    assert page.ended == "settled"
    assert "Filled" in text_of(page)
    assert page.links == ("http://shell.test/one", "http://other.test/")
    assert [request.url for request in page.requests if not request.refused] == [
        "http://shell.test/app.js",
        "http://shell.test/data.json",
    ]


def test_the_page_itself_is_not_fetched_again(pages: dict[str, Rendered], site: ScriptedSite) -> None:
    assert pages["shell.test/"].html
    assert site.requests.count("shell.test/") == 1


def test_an_endless_list_is_scrolled_a_bounded_number_of_screens(pages: dict[str, Rendered]) -> None:
    page = pages["list.test/"]
    assert page.ended == "settled"
    assert 60 <= len(page.links) <= 20 * (LIMITS.screens + 2)
    assert "item 59" in text_of(page)


def test_addresses_of_push_state_and_of_buttons_are_links(pages: dict[str, Rendered]) -> None:
    page = pages["push.test/"]
    assert set(page.links) == {f"http://push.test/{path}" for path in ("button", "bold", "view/a", "view/b")}
    assert page.url == "http://push.test/view/b"


def test_json_in_a_page_becomes_text_and_links(pages: dict[str, Rendered]) -> None:
    page = pages["json.test/"]
    assert "From JSON" in text_of(page)
    assert page.links == ("http://json.test/j",)


def test_a_page_that_never_has_loaded_is_read_as_far_as_it_is(pages: dict[str, Rendered]) -> None:
    page = pages["never.test/"]
    assert page.ended == "timed out"
    assert "before" in text_of(page) and "after" not in text_of(page)


def test_timers_without_end_do_not_keep_a_page_from_settling(pages: dict[str, Rendered]) -> None:
    page = pages["timers.test/"]
    assert page.ended == "settled"
    assert "counted" in text_of(page)


def test_a_loop_is_broken_and_what_was_there_is_read(pages: dict[str, Rendered]) -> None:
    page = pages["loop.test/"]
    assert page.ended == "timed out"
    assert "before the loop" in text_of(page)


def test_a_crash_costs_the_page_alone(pages: dict[str, Rendered]) -> None:
    page = pages["crash.test/"]
    assert (page.ended, page.html) == ("crashed", "")
    assert pages["moved.test/"].ended == "settled"


def test_going_to_another_page_is_a_link_and_not_a_request(pages: dict[str, Rendered], site: ScriptedSite) -> None:
    page = pages["moved.test/"]
    assert page.forwards == page.links == ("http://elsewhere.test/new",)
    assert "moving" in text_of(page)
    assert "elsewhere.test/new" not in site.requests


def test_there_are_no_service_workers(pages: dict[str, Rendered], site: ScriptedSite) -> None:
    assert "does without" in text_of(pages["worker.test/"])
    assert not {"worker.test/sw.js", "worker.test/from-the-worker"} & set(site.requests)


def test_workers_of_a_page_ask_through_the_gate(pages: dict[str, Rendered]) -> None:
    assert "by a worker" in text_of(pages["dedicated.test/"])


def test_a_storm_of_dialogs_holds_nothing_up(pages: dict[str, Rendered]) -> None:
    page = pages["alert.test/"]
    assert page.ended == "settled"
    assert "after" in text_of(page)


def test_a_huge_tree_is_cut(pages: dict[str, Rendered]) -> None:
    page = pages["huge.test/"]
    assert page.ended == "settled"
    assert len(page.html) == LIMITS.characters
    assert len(page.links) == LIMITS.links


def test_open_shadow_trees_are_read(pages: dict[str, Rendered]) -> None:
    page = pages["shadow.test/"]
    assert "in the shadow" in text_of(page)
    assert page.links == ("http://shadow.test/inside",)


def test_nothing_is_kept_from_one_page_to_the_next(pages: dict[str, Rendered]) -> None:
    assert re.search(r"had *$", text_of(pages["kept.test/"]))


def test_what_may_change_something_is_refused(pages: dict[str, Rendered], site: ScriptedSite) -> None:
    refused = refusals(pages["post.test/"])
    assert "POST" in refused["http://post.test/save"]
    assert refused["http://post.test/beacon"]
    assert not {"post.test/save", "post.test/beacon"} & set(site.requests)


def test_a_page_may_read_what_another_host_has_for_everybody(pages: dict[str, Rendered]) -> None:
    assert "from another host" in text_of(pages["cross.test/"])


# Nothing leaves


ESCAPES = """<!doctype html><title>out</title><link rel=stylesheet href=//A/css><link rel=prefetch href=//A/prefetch>
<link rel=preconnect href=//A><link rel=dns-prefetch href=//A><link rel=modulepreload href=//A/module>
<script type=speculationrules>{"prefetch": [{"urls": ["http://A/spec"], "eagerness": "immediate"}],
  "prerender": [{"urls": ["http://A/pre"], "eagerness": "immediate"}]}</script>
<img src=//A/img><iframe src=//A/frame></iframe><video src=//A/video autoplay></video><object data=//A/object></object>
<iframe srcdoc="<script>fetch('http://A/srcdoc'); new WebSocket('ws://A/ws2')</script>"></iframe>
<form id=form action=//A/form method=post></form><a id=ping href=//A/ping ping=//A/pinged download>p</a>
<script>
const tries = [
  () => fetch("http://A/fetch"), () => fetch("http://A/no-cors", {mode: "no-cors", keepalive: true}),
  () => { const x = new XMLHttpRequest(); x.open("GET", "http://A/xhr"); x.send() },
  () => new WebSocket("ws://A/ws"), () => new EventSource("http://A/events"),
  () => navigator.sendBeacon("http://A/beacon", "x"), () => import("http://A/import.js"),
  () => new Worker(URL.createObjectURL(new Blob(["fetch('http://A/w'); new WebSocket('ws://A/w')"]))),
  () => new SharedWorker("/shared.js"), () => navigator.serviceWorker.register("/sw.js"),
  () => { const p = new RTCPeerConnection({iceServers: [{urls: "stun:A"}]});
          p.createDataChannel("x"); p.createOffer().then((o) => p.setLocalDescription(o)) },
  () => new WebTransport("https://A/"), () => window.open("http://A/popup"), () => ping.click(), () => form.submit(),
  () => { location = "http://A/location" }, () => { location = "file:///etc/passwd" },
];
for (const go of tries) try { Promise.resolve(go()).catch(() => {}) } catch {}
document.body.append("tried everything");
</script>"""


async def escape(namespace: bool) -> tuple[Rendered, list[str]]:
    async with Listener() as listener:
        address = f"127.0.0.1:{listener.port}"
        site = ScriptedSite({"out.test/": ESCAPES.replace("//A", f"//{address}").replace("stun:A", f"stun:{address}")})
        async with fetching(site) as fetcher, Browser(PROGRAM, namespace=namespace) as browser:
            response = await fetcher.fetch("http://out.test/")
            assert isinstance(response, Response)
            page = await Renderer(browser, LIMITS).render(response, FetchedResources(fetcher))
            await asyncio.sleep(0.5)
        return page, listener.heard


@pytest.mark.parametrize("namespace", [True, False], ids=["empty namespace", "proxy that leads nowhere"])
def test_a_refused_address_hears_nothing(namespace: bool) -> None:
    page, heard = run(escape(namespace))
    assert "tried everything" in text_of(page)
    assert heard == []
    refused = [reason for url, reason in refusals(page).items() if url.endswith("/fetch")]
    assert refused and "loopback" in refused[0]


def test_the_namespace_of_the_browser_has_no_network() -> None:
    async def devices() -> tuple[str, bool]:
        async with Browser(PROGRAM) as browser:
            (number,) = (number for kind, number in await browser.processes() if kind == "browser")
            ours = os.readlink("/proc/self/ns/net") == os.readlink(f"/proc/{number}/ns/net")
            return Path(f"/proc/{number}/net/dev").read_text(), ours

    listed, ours = run(devices())
    if ours:
        pytest.skip("this machine allows no network namespaces")
    assert re.findall(r"^ *(\w+):", listed, re.M) == ["lo"]


# The browser dies, hangs, grows


async def after(trouble: str, limits: BrowserLimits) -> tuple[Rendered, Rendered, int]:
    """A page during which something happens to the browser, the page after it, and how often the browser started."""
    files = FILES | {"fat.test/": "<script>const all = []; while (true) all.push(new Uint8Array(3e7).fill(1))</script>"}
    site = ScriptedSite(files)
    async with fetching(site) as fetcher, Browser(PROGRAM, limits) as browser:
        renderer, answers = Renderer(browser, LIMITS), FetchedResources(fetcher)
        first = await fetcher.fetch("http://fat.test/" if trouble == "growth" else "http://never.test/")
        second = await fetcher.fetch("http://shell.test/")
        assert isinstance(first, Response) and isinstance(second, Response)
        task = asyncio.create_task(renderer.render(first, answers))
        if trouble != "growth":
            while "never.test/never" not in site.requests or not is_watched(browser):
                await asyncio.sleep(0.05)
            await harm(browser, trouble)
        return await task, await renderer.render(second, answers), browser.starts


def is_watched(browser: Browser) -> bool:
    """It was seen once with its GPU process: what was never seen is not missed."""
    return browser._process is not None and bool(browser._process._gpu)


async def harm(browser: Browser, trouble: str) -> None:
    sent = signal.SIGSTOP if trouble == "hang" else signal.SIGKILL
    for kind, number in await browser.processes():
        if kind == ("GPU" if trouble == "GPU" else "browser"):
            os.kill(number, sent)


@pytest.mark.parametrize(
    ("trouble", "ended"),
    [
        ("death", "the browser ended"),
        ("hang", "the browser hung"),
        ("growth", "the browser took more than 700000000 bytes of memory"),
        ("GPU", "the browser lost its GPU process"),
    ],
)
def test_a_browser_in_trouble_is_replaced(trouble: str, ended: str) -> None:
    limits = BrowserLimits(memory=700_000_000, answering=5)
    harmed, next_page, starts = run(after(trouble, limits))
    assert harmed.ended == ended
    assert harmed.seconds < LIMITS.seconds
    assert "Filled" in text_of(next_page)
    assert starts == 2


def test_tabs_are_bounded_and_pages_share_the_browser() -> None:
    async def several() -> tuple[list[Rendered], int]:
        async with fetching(ScriptedSite(FILES)) as fetcher, Browser(PROGRAM, BrowserLimits(tabs=2)) as browser:
            renderer, answers = Renderer(browser, LIMITS), FetchedResources(fetcher)
            response = await fetcher.fetch("http://shell.test/")
            assert isinstance(response, Response)
            return list(await asyncio.gather(*(renderer.render(response, answers) for _ in range(5)))), browser.starts

    found, starts = run(several())
    assert ["Filled" in text_of(page) for page in found] == [True] * 5
    assert starts == 1


# Nothing is left


PARENT = """
import asyncio, sys
from spoor.render.browser import Browser

async def main():
    async with Browser(sys.argv[1]) as browser, browser.tab():
        print(*(number for _, number in await browser.processes()), flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """For profiles. pytest's own folders have names that are too long for a browser."""
    with tempfile.TemporaryDirectory(prefix="test-", dir="/tmp") as made:
        yield Path(made)


def test_kill_9_leaves_no_process_and_no_profile(folder: Path) -> None:
    environment = os.environ | {"TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", PARENT, PROGRAM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        processes = [int(word) for word in parent.stdout.readline().split()]
        profiles = list(folder.iterdir())
        parent.kill()
    until = time.monotonic() + 10
    while time.monotonic() < until and (any(map(is_running, processes)) or list(folder.iterdir())):
        time.sleep(0.05)
    assert len(processes) >= 2 and len(profiles) == 1
    assert not any(map(is_running, processes))
    assert list(folder.iterdir()) == []


def test_an_end_in_order_leaves_nothing_either(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def opened() -> tuple[list[int], int]:
        async with Browser(PROGRAM) as browser, browser.tab():
            return [number for _, number in await browser.processes()], len(list(folder.iterdir()))

    monkeypatch.setenv("TMPDIR", str(folder))
    processes, profiles = run(opened())
    assert profiles == 1
    assert not any(map(is_running, processes))
    assert list(folder.iterdir()) == []

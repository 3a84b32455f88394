"""Renders a page: its final DOM and the URLs in it, after its scripts have run."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from spoor.records import Response
from spoor.render.browser import Browser, Tab
from spoor.render.gate import Gate, GateLimits, PageRequest
from spoor.render.pipe import ATTACH, GONE, BrowserGone, CommandRefused, Content
from spoor.roles import SubResources

SETTLED, TIMED_OUT, CRASHED = "settled", "timed out", "crashed"
"""How the rendering of a page can end, besides the reasons for which a browser ends."""

SLICES, SLICE = 4, 250
"""Number and length, in milliseconds, of the slices of virtual time in which a page settles. Virtual time stops while a
request is pending."""
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
"""Run after each slice, for what virtual time does not advance: layout, and the observers that wait for it."""
FRAMES_DUE = 0.5, 1.5
"""Seconds after which virtual time is released so that frames are drawn, and after which no frame is waited for."""
STARVED = 10_000
"""Tasks that may run while virtual time stands still, so that a page in an endless loop does not block us."""
MOST_DIALOGS = 20
WINDOW: Content = {"width": 1280, "height": 2000, "deviceScaleFactor": 1, "mobile": False}
"""Lists that load on demand fill the height of the window."""

PREPARE = """
delete Navigator.prototype.serviceWorker;
globalThis.alert = globalThis.print = () => {};
globalThis.confirm = () => false;
globalThis.prompt = () => null;
for (const name of ["SharedWorker", "RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"])
  delete globalThis[name];
"""
"""Runs before any script of a page. Pages can do without a missing API more often than with one that fails."""

SCROLL = """
(() => {
  const last = document.links[document.links.length - 1];
  if (last) last.scrollIntoView();
  const root = document.scrollingElement || document.documentElement;
  scrollTo(0, root.scrollHeight);
  return root.scrollHeight + " " + document.links.length;
})()
"""

READ = r"""
((mostCharacters, mostLinks) => {
  const links = new Set();
  const add = (address) => {
    try {
      const url = new URL(address, document.baseURI);
      if (/^https?:$/.test(url.protocol) && links.size < mostLinks) links.add(url.href);
    } catch {}
  };
  const called = /(?:location(?:\.href)?\s*=|location\.(?:assign|replace)\(|\bopen\(|State\([^)]*,)\s*['"]([^'"]+)['"]/;
  const roots = [];
  const walk = (node) => {
    for (const element of node.querySelectorAll("*")) {
      if (element.shadowRoot) { roots.push(element.shadowRoot); walk(element.shadowRoot); }
      if (element.localName === "a" || element.localName === "area") add(element.getAttribute("href") || "#");
      for (const name of ["data-href", "data-url", "data-link"])
        if (element.hasAttribute(name)) add(element.getAttribute(name));
      const script = called.exec(element.getAttribute("onclick") || "");
      if (script) add(script[1]);
    }
  };
  walk(document);
  const open = (node) => {
    for (const template of node.querySelectorAll("template[shadowrootmode]")) {
      open(template.content);
      template.replaceWith(template.content);
    }
  };
  let html = document.documentElement ? document.documentElement.outerHTML : "";
  if (roots.length) {
    const inner = document.documentElement.getHTML({shadowRoots: roots});
    const flat = new DOMParser().parseFromString(inner, "text/html");
    open(flat);
    html = flat.documentElement.outerHTML;
  }
  return {url: document.URL, html: html.slice(0, mostCharacters), links: [...links]};
})
"""
"""Evaluated in an isolated world, where a page cannot have redefined functions."""


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """Limits for one page: seconds of real time, including requests, and seconds without progress; screens to scroll;
    characters of the DOM; links; and the limits of the gate."""

    seconds: float = 20.0
    busy: float = 5.0
    screens: int = 5
    characters: int = 4_000_000
    links: int = 5_000
    gate: GateLimits = field(default_factory=GateLimits)


@dataclass(frozen=True, slots=True)
class Rendered:
    """`html` is the final DOM, "" if it could not be read; `url` the final URL of the document. `links` are the URLs in
    the DOM, including those of buttons, then those to which scripts navigated: within the page (`history.pushState`),
    in other windows, or away from it (`forwards`). `ended` is "settled", or why not; `seconds` how long its tab was
    busy.

    Rendering can lose content of the response: the caller keeps the longer text and the links of both.
    """

    url: str
    html: str
    links: tuple[str, ...]
    forwards: tuple[str, ...]
    requests: tuple[PageRequest, ...]
    ended: str
    seconds: float = 0.0


class Renderer:
    """Renders as many pages concurrently as its browser has tabs."""

    def __init__(self, browser: Browser, limits: RenderLimits | None = None) -> None:
        self._browser = browser
        self._limits = limits or RenderLimits()

    async def render(self, response: Response, answers: SubResources) -> Rendered:
        """Never raises because of a page or the browser. The page itself is not fetched again; `answers` handles all
        requests of its scripts."""
        time = asyncio.get_running_loop().time
        try:
            async with self._browser.tab() as tab:
                began = time()
                rendered = await _Rendering(tab, response, answers, self._limits).run()
                return replace(rendered, seconds=time() - began)
        except BrowserGone as gone:
            return Rendered(response.url, "", (), (), (), str(gone))


class _Rendering:
    """The rendering of one page in its tab."""

    def __init__(self, tab: Tab, response: Response, answers: SubResources, limits: RenderLimits) -> None:
        self._tab = tab
        self._pipe = tab.pipe
        self._url = response.url
        self._limits = limits
        self._gate = Gate(tab.pipe, response, answers, limits.gate)
        self._expired = asyncio.Event()
        self._until = asyncio.timeout(None)
        self._world = 0
        self._crashed = False
        self._dialogs = 0
        self._went: list[str] = []
        self._sessions: list[str] = []
        self._preparing: set[asyncio.Task[None]] = set()

    async def run(self) -> Rendered:
        found: Content = {}
        try:
            ended = await self._settle_in_time()
            found = await self._read() if ended != CRASHED else {}
        except BrowserGone as gone:
            ended = str(gone)
        finally:
            await self._close()
        went = (*self._went, *self._tab.popups, *self._gate.forwards)
        return Rendered(
            url=found.get("url", self._url),
            html=found.get("html", ""),
            links=_each_once((*found.get("links", ()), *went), self._limits.links),
            forwards=_each_once(self._gate.forwards, self._limits.links),
            requests=tuple(self._gate.requests),
            ended=ended,
        )

    async def _settle_in_time(self) -> str:
        try:
            async with asyncio.timeout(self._limits.seconds) as self._until:
                await self._settle()
        except (TimeoutError, CommandRefused):
            self._pipe.tell("Runtime.terminateExecution", self._tab.session)
            return CRASHED if self._crashed else TIMED_OUT
        return SETTLED

    async def _settle(self) -> None:
        await self._prepare(self._tab.session, "page")
        await self._call("Page.navigate", url=self._url)
        await self._draw()  # otherwise, in virtual time, it might never be drawn
        for _ in range(SLICES):
            await self._pass(SLICE)
        size = ""
        for _ in range(self._limits.screens):
            before, size = size, await self._evaluate(SCROLL)
            if size == before:
                break
            await self._draw()
            await self._pass(SLICE)
            await self._pass(SLICE)  # observers notice that the end of the list has left the window

    async def _pass(self, milliseconds: int) -> None:
        """Advances virtual time, then draws in real time."""
        self._expired.clear()
        policy = {"policy": "pauseIfNetworkFetchesPending", "budget": milliseconds}
        await self._call("Emulation.setVirtualTimePolicy", **policy, maxVirtualTimeTaskStarvationCount=STARVED)
        await self._until_expired()
        await self._draw()

    async def _draw(self) -> None:
        """With several busy tabs, one whose virtual time stands still may get no frames; it is released for a
        moment."""
        soon, late = FRAMES_DUE
        if not await self._is_drawn(soon):
            self._pipe.tell("Emulation.setVirtualTimePolicy", self._tab.session, policy="advance")
            await self._is_drawn(late)
            self._pipe.tell("Emulation.setVirtualTimePolicy", self._tab.session, policy="pause")

    async def _is_drawn(self, due: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(due):
                await self._evaluate(FRAMES)
                return True
        return False

    async def _until_expired(self) -> None:
        """Raises TimeoutError if the page waits for no response and still does not finish its slice: an endless
        loop."""
        while not self._expired.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._limits.busy):
                    await self._expired.wait()
            if not (self._expired.is_set() or self._gate.is_asking):
                raise TimeoutError

    async def _prepare(self, session: str, kind: str) -> None:
        """Prepares a page, frame or worker before anything runs in it. All commands must be completed before the
        navigation: the new renderer process inherits only what the previous one has processed."""
        self._sessions.append(session)
        self._pipe.listeners[session] = lambda method, said: self._hear(session, method, said)
        with contextlib.suppress(CommandRefused):  # most workers send requests through their page
            await self._pipe.call("Fetch.enable", session)
        orders = [self._pipe.call("Target.setAutoAttach", session, **ATTACH)]
        if kind != "worker":
            once: Content = {"source": PREPARE, "runImmediately": True}
            orders.append(self._pipe.call("Page.enable", session))
            orders.append(self._pipe.call("Page.addScriptToEvaluateOnNewDocument", session, **once))
        if kind == "page":
            orders.append(self._pipe.call("Emulation.setDeviceMetricsOverride", session, **WINDOW))
            orders.append(self._pipe.call("Inspector.enable", session))
        orders.append(self._pipe.call("Runtime.runIfWaitingForDebugger", session))
        await asyncio.gather(*orders)

    def _hear(self, session: str, method: str, said: Content) -> None:
        match method:
            case "Fetch.requestPaused":
                self._gate.hear(session, self._tab.target, said)
            case "Emulation.virtualTimeBudgetExpired":
                self._expired.set()
            case _ if method == GONE:
                self._expired.set()  # The next command says why.
            case "Page.navigatedWithinDocument" | "Page.windowOpen":
                if len(self._went) < self._limits.links:
                    self._went.append(said["url"])
            case "Page.javascriptDialogOpening":
                self._dismiss(session)
            case "Inspector.targetCrashed":
                self._crashed = True
                self._until.reschedule(asyncio.get_running_loop().time())
            case "Target.attachedToTarget" if said["targetInfo"]["type"] in {"iframe", "worker"}:
                task = asyncio.create_task(self._join(said))
                self._preparing.add(task)
                task.add_done_callback(self._preparing.discard)

    async def _join(self, said: Content) -> None:
        with contextlib.suppress(BrowserGone, CommandRefused, TimeoutError):
            await self._prepare(said["sessionId"], said["targetInfo"]["type"])

    def _dismiss(self, session: str) -> None:
        self._dialogs += 1
        if self._dialogs > MOST_DIALOGS:
            self._pipe.tell("Runtime.terminateExecution", session)
        self._pipe.tell("Page.handleJavaScriptDialog", session, accept=False)

    async def _read(self) -> Content:
        """Tries twice: terminating the scripts of the page may hit ours."""
        limits = self._limits
        for _ in range(2):
            with contextlib.suppress(CommandRefused, TimeoutError):
                found = await self._evaluate(f"({READ})({limits.characters}, {limits.links})")
                if isinstance(found, dict):
                    return found
        return {}

    async def _evaluate(self, expression: str) -> Any:
        if not self._world:
            made = await self._call("Page.createIsolatedWorld", frameId=self._tab.target)
            self._world = made["executionContextId"]
        how = {"contextId": self._world, "returnByValue": True, "awaitPromise": True}
        return (await self._call("Runtime.evaluate", expression=expression, **how))["result"].get("value")

    async def _call(self, method: str, **parameters: Any) -> Content:
        return await self._pipe.call(method, self._tab.session, self._limits.busy, **parameters)

    async def _close(self) -> None:
        for task in self._preparing:
            task.cancel()
        for session in self._sessions:
            self._pipe.listeners.pop(session, None)
        await self._gate.close()


def _each_once(urls: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(url for url in urls if url.startswith(("http://", "https://"))))[:most]

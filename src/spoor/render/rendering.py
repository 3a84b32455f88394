"""What a page is when its scripts have run: its final tree and the addresses in it."""

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
"""How a page can end, besides the reasons for which a browser ends."""

SLICES, SLICE = 4, 250
"""Virtual time in which a page settles, in milliseconds. It stands still while a request is under way."""
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
"""After each slice, for what virtual time does not move: layout, and the observers that wait for it."""
FRAMES_DUE = 0.5, 1.5
"""Seconds after which virtual time is let go for frames to be drawn, and after which no frame is waited for."""
STARVED = 10_000
"""Tasks that may run while virtual time stands still: a page that keeps itself busy does not keep us."""
MOST_DIALOGS = 20
WINDOW: Content = {"width": 1280, "height": 2000, "deviceScaleFactor": 1, "mobile": False}
"""A list that loads on makes itself as long as the window is high."""

PREPARE = """
delete Navigator.prototype.serviceWorker;
globalThis.alert = globalThis.print = () => {};
globalThis.confirm = () => false;
globalThis.prompt = () => null;
for (const name of ["SharedWorker", "RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"])
  delete globalThis[name];
"""
"""Runs before any script of a page. A page that finds no such thing does without; one that is refused it may not."""

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
"""Asked in a world of its own, where a page cannot have changed what functions do."""


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """For one page: seconds of real time, requests included, and those for which it may be busy with itself; screens
    that are scrolled; characters of the tree; links; and what the gate lets through."""

    seconds: float = 20.0
    busy: float = 5.0
    screens: int = 5
    characters: int = 4_000_000
    links: int = 5_000
    gate: GateLimits = field(default_factory=GateLimits)


@dataclass(frozen=True, slots=True)
class Rendered:
    """`html` is the final tree, "" when nothing could be read; `url` where the page says it is. `links` are the
    addresses in the tree, of buttons too, then those that scripts went to: within the page (`history.pushState`), in
    other windows, or away from it (`forwards`). `ended` is "settled", or why not; `seconds` how long its tab was busy.

    Rendering can lose what the response had: the caller keeps the longer text of both, and the links of both.
    """

    url: str
    html: str
    links: tuple[str, ...]
    forwards: tuple[str, ...]
    requests: tuple[PageRequest, ...]
    ended: str
    seconds: float = 0.0


class Renderer:
    """Renders as many pages at once as its browser has tabs."""

    def __init__(self, browser: Browser, limits: RenderLimits | None = None) -> None:
        self._browser = browser
        self._limits = limits or RenderLimits()

    async def render(self, response: Response, answers: SubResources) -> Rendered:
        """Never raises for what a page or the browser does. The page itself is not fetched again; all else that its
        scripts ask for, `answers` is asked."""
        time = asyncio.get_running_loop().time
        try:
            async with self._browser.tab() as tab:
                began = time()
                rendered = await _Rendering(tab, response, answers, self._limits).run()
                return replace(rendered, seconds=time() - began)
        except BrowserGone as gone:
            return Rendered(response.url, "", (), (), (), str(gone))


class _Rendering:
    """Of one page in its tab."""

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
        await self._draw()  # in virtual time a page that was never drawn may never be
        for _ in range(SLICES):
            await self._pass(SLICE)
        size = ""
        for _ in range(self._limits.screens):
            before, size = size, await self._evaluate(SCROLL)
            if size == before:
                break
            await self._draw()
            await self._pass(SLICE)
            await self._pass(SLICE)  # observers hear that the end of the list has left the window

    async def _pass(self, milliseconds: int) -> None:
        """Virtual time, then a little of the real one."""
        self._expired.clear()
        policy = {"policy": "pauseIfNetworkFetchesPending", "budget": milliseconds}
        await self._call("Emulation.setVirtualTimePolicy", **policy, maxVirtualTimeTaskStarvationCount=STARVED)
        await self._until_expired()
        await self._draw()

    async def _draw(self) -> None:
        """While several tabs are at work, it happens that no frame is drawn in one whose virtual time stands still."""
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
        """A page that waits for no answer and yet does not get through its time runs in circles."""
        while not self._expired.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._limits.busy):
                    await self._expired.wait()
            if not (self._expired.is_set() or self._gate.is_asking):
                raise TimeoutError

    async def _prepare(self, session: str, kind: str) -> None:
        """A page, a frame or a worker of it, before anything runs in it. All must have been said before it goes to a
        page: the process in which that runs is told what the one before it had understood."""
        self._sessions.append(session)
        self._pipe.listeners[session] = lambda method, said: self._hear(session, method, said)
        with contextlib.suppress(CommandRefused):  # most workers ask through their page
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
        """Twice if need be: what stops a script may hit our own."""
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

"""A local browser: found, started, monitored, restarted, and ended with all its processes and files."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from spoor.errors import BadInput, MissingExtra
from spoor.render.pipe import ATTACH, LONGEST_MESSAGE, BrowserGone, CommandRefused, Content, Pipe

PROGRAMS = ("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first installed one is used. The first two are half the size, and fast."""
KEEPER = Path(__file__).with_name("keeper.py")
NOWHERE = "127.0.0.1:9"
"""The proxy for requests that are not intercepted: the discard port, on which nothing listens."""
FEATURES_OFF = (
    "InitialWebUI",
    "MediaRouter",
    "OptimizationHints",
    "PaintHolding",
    "PreloadTopChromeWebUI",
    "SpareRendererForSitePerProcess",
    "Translate",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
    "WebUIReloadButton",
    "WebUIToolbar",
)
"""Mostly processes for invisible parts of the window, a third of the cost of a page in a full browser."""
OPTIONS = (
    "--headless",
    "--remote-debugging-pipe",
    f"--proxy-server={NOWHERE}",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-sync",
    "--disable-extensions",
    "--disable-default-apps",
    "--block-new-web-contents",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-notifications",
    "--deny-permission-prompts",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-software-rasterizer",
    "--disable-features=" + ",".join(FEATURES_OFF),
    "--no-first-run",
    "--no-default-browser-check",
    "--no-startup-window",
    "--mute-audio",
    "--hide-scrollbars",
)
_WATCHED_EVERY = 0.25
_PAGE_OF_MEMORY = 4096


def find_browser(named: str = "") -> str:
    """The path of the program `named`, or of the first known one. Raises MissingExtra if there is none."""
    if not sys.platform.startswith("linux"):
        raise MissingExtra(f"pages are rendered on Linux only, and this is {sys.platform}")
    for name in (named,) if named else PROGRAMS:
        if path := shutil.which(name):
            return path
    if named:
        raise MissingExtra(f"no browser is called {named}; give the path of a Chromium, or its name if it is on PATH")
    raise MissingExtra(
        f"no browser on PATH; install one of {', '.join(PROGRAMS)} (Debian: apt-get install {PROGRAMS[0]})"
    )


@dataclass(frozen=True, slots=True)
class BrowserLimits:
    """Maximum tabs at once; bytes of private memory of all browser processes; timeouts in seconds for the start, and
    for a response to a trivial command."""

    tabs: int = 1
    memory: int = 1_500_000_000
    starting: float = 30.0
    answering: float = 10.0


@dataclass(slots=True)
class Tab:
    """A tab in a browser context of its own, without cookies, cache or storage of other pages. It waits for the
    debugger, so nothing runs before it is started. `popups` are the URLs of windows opened from it, which are closed at
    once."""

    pipe: Pipe
    context: str
    target: str = ""
    session: str = ""
    popups: list[str] = field(default_factory=list)


class Browser:
    """A browser with a limited number of tabs, used as an async context manager. The process starts with the first tab,
    and again after it died or was killed because it hung, grew too large or lost its GPU process. `starts` counts the
    starts."""

    def __init__(self, program: str, limits: BrowserLimits | None = None, namespace: bool = True) -> None:
        """`program` is a path; with `namespace` False the browser stays in the current network namespace."""
        self._program = program
        self._limits = limits or BrowserLimits()
        self._namespace = namespace
        self._free = asyncio.Semaphore(self._limits.tabs)
        self._starting = asyncio.Lock()
        self._process: BrowserProcess | None = None
        self.starts = 0

    async def __aenter__(self) -> Browser:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process:
            await self._process.end("spoor ended it")

    @contextlib.asynccontextmanager
    async def tab(self) -> AsyncIterator[Tab]:
        """Waits until a tab is free. Raises BrowserGone if the browser ends while the tab is opened."""
        async with self._free:
            process = await self._running()
            tab = await process.open()
            try:
                yield tab
            finally:
                await process.close(tab)

    async def processes(self) -> list[tuple[str, int]]:
        """Type and process id of each process of the browser."""
        return await (await self._running()).processes()

    async def _running(self) -> BrowserProcess:
        async with self._starting:
            if self._process is None or self._process.pipe.gone:
                if self._process:
                    await self._process.end("it is started again")
                self._process = await BrowserProcess.start(self._program, self._limits, self._namespace)
                self.starts += 1
            return self._process


class BrowserProcess:
    """One browser process, between `start` and `end`. It has ended if `pipe.gone` is not empty."""

    def __init__(self, keeper: Process, pipe: Pipe, limits: BrowserLimits) -> None:
        self.pipe = pipe
        self._keeper = keeper
        self._limits = limits
        self._tabs: dict[str, Tab] = {}
        self._gpu = 0
        self._tasks: list[asyncio.Task[None]] = []

    @staticmethod
    async def start(program: str, limits: BrowserLimits, namespace: bool) -> BrowserProcess:
        command = (sys.executable, "-I", "-S", str(KEEPER), "empty" if namespace else "ours", program, *OPTIONS)
        keeper = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=LONGEST_MESSAGE, start_new_session=True
        )
        assert keeper.stdout is not None and keeper.stdin is not None
        process = BrowserProcess(keeper, Pipe(keeper.stdout, keeper.stdin), limits)
        try:
            await process._begin()
        except (BrowserGone, TimeoutError) as error:
            await process.end("it did not start")
            raise BadInput(f"{program} does not start as a browser; see what `{program} --headless` says") from error
        return process

    async def _begin(self) -> None:
        self.pipe.listeners[""] = self._hear
        self._tasks = [asyncio.create_task(self.pipe.listen())]
        await self.pipe.call("Target.setAutoAttach", "", self._limits.starting, **ATTACH)
        self._tasks.append(asyncio.create_task(self._watch()))

    async def end(self, reason: str) -> None:
        """Ends the browser, and waits until its processes and files are removed."""
        self.pipe.close(reason)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._keeper.wait()

    async def open(self) -> Tab:
        try:
            made = await self.pipe.call("Target.createBrowserContext", disposeOnDetach=True)
            tab = self._tabs[made["browserContextId"]] = Tab(self.pipe, made["browserContextId"])
            self.pipe.tell("Browser.setDownloadBehavior", behavior="deny", browserContextId=tab.context)
            await self.pipe.call("Target.createTarget", url="about:blank", browserContextId=tab.context)
        except (TimeoutError, CommandRefused) as error:
            self.pipe.close("the browser opened no tab")
            raise BrowserGone(self.pipe.gone) from error
        return tab

    async def close(self, tab: Tab) -> None:
        del self._tabs[tab.context]
        with contextlib.suppress(BrowserGone, CommandRefused):
            try:
                await self.pipe.call("Target.disposeBrowserContext", browserContextId=tab.context)
            except TimeoutError:
                self.pipe.close("the browser closed no tab")

    def _hear(self, method: str, said: Content) -> None:
        """The first page of a context becomes its tab. All other targets are closed before they run: windows that a
        page opens, and workers that would outlive it."""
        if method != "Target.attachedToTarget":
            return
        target = said["targetInfo"]
        tab = self._tabs.get(target.get("browserContextId", ""))
        if tab and target["type"] == "page" and not tab.target:
            tab.target, tab.session = target["targetId"], said["sessionId"]
        elif target["type"] != "tab":
            self.pipe.tell("Target.closeTarget", targetId=target["targetId"])
            if tab and target["type"] == "page":
                tab.popups.append(target["url"])

    async def _watch(self) -> None:
        """Monitors the browser while pages are open; ends it if it hangs, grows too large or has lost its GPU
        process."""
        while not self.pipe.gone:
            await asyncio.sleep(_WATCHED_EVERY)
            if self._tabs:
                with contextlib.suppress(BrowserGone):
                    if reason := await self._trouble():
                        self.pipe.close(reason)

    async def _trouble(self) -> str:
        try:
            processes = await self.processes()
        except TimeoutError:
            return "the browser hung"
        if sum(private_memory(number) for _, number in processes) > self._limits.memory:
            return f"the browser took more than {self._limits.memory} bytes of memory"
        gpu = next((number for kind, number in processes if kind == "GPU"), 0)
        if self._gpu and gpu != self._gpu:
            return "the browser lost its GPU process"
        self._gpu = gpu
        return ""

    async def processes(self) -> list[tuple[str, int]]:
        said = await self.pipe.call("SystemInfo.getProcessInfo", patience=self._limits.answering)
        return [(process["type"], process["id"]) for process in said["processInfo"]]


def private_memory(process: int) -> int:
    """Private resident memory of a process, in bytes; 0 if there is no such process."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{process}/statm").read_text().split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE_OF_MEMORY

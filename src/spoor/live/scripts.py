"""Runs the scripts of pages in a browser if that is likely to add content, within a budget."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from spoor.crawl import Crawl
from spoor.errors import BadInput, MissingExtra
from spoor.live.sub_resources import PageResources, SubResource, SubResourceFetcher
from spoor.parse.html import is_html
from spoor.records import Page, Rendering, Response, Visit
from spoor.render.browser import Browser, BrowserLimits, find_browser
from spoor.render.rendering import Renderer, RenderLimits
from spoor.render_budget import AUTO, NEVER, RenderSettings, is_for_browser, is_spent, refusal
from spoor.store.renders import Renders

LARGEST = 2_000_000
"""Largest page that is rendered, in bytes; its body is held in memory while the page is read."""
NO_TIME = "browsers have used up their share of the time"
_log = logging.getLogger(__name__)


def program_for(settings: RenderSettings) -> tuple[str, str]:
    """The browser to use, "" for none, and what is missing then. Raises MissingExtra if a browser is required."""
    if settings.mode == NEVER:
        return "", ""
    try:
        return find_browser(settings.browser), ""
    except MissingExtra as missing:
        if settings.browser or settings.mode != AUTO:
            raise
        return "", str(missing)


@contextlib.asynccontextmanager
async def browser_for(program: str, settings: RenderSettings) -> AsyncIterator[Browser | None]:
    """Yields a browser, which starts with the first rendered page. None without a program."""
    if not program:
        yield None
        return
    async with Browser(program, BrowserLimits(tabs=settings.tabs)) as browser:
        yield browser


@dataclass
class Scripts:
    """Decides for each page whether to render it. `broken` is why the browser does not start, "" if it does."""

    settings: RenderSettings
    browser: Browser
    crawl: Crawl
    resources: SubResourceFetcher
    renders: Renders
    clock: Callable[[], float]
    broken: str = field(default="", init=False)
    _began: float = field(default=0.0, init=False)
    _busy: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._began = self.clock()
        self._renderer = Renderer(self.browser, RenderLimits(seconds=self.settings.render_seconds))

    @staticmethod
    def may_run(response: Response) -> bool:
        return len(response.body) <= LARGEST and is_html(response.body, response.headers.get("content-type", ""))

    async def run(self, visit: Visit, response: Response, page: Page) -> tuple[Rendering, list[SubResource]] | None:
        """Returns the rendering and the sub-resources that the page used. None if the page does not need scripts."""
        if not is_for_browser(self.settings.mode, page.needs_scripts):
            return None
        fetched = response.at + response.seconds
        refused = self._refusal(visit.host)
        self.renders.begin(visit, not refused)
        if refused:
            return Rendering(refused, fetched), []
        self.crawl.release(visit, self.clock())
        return await self._rendered(response, fetched)

    def _refusal(self, host: str) -> str:
        if self.broken:
            return self.broken
        if is_spent(self.settings, self._busy, self.clock() - self._began):
            return NO_TIME
        return refusal(self.settings, self.renders.of(host))

    async def _rendered(self, response: Response, fetched: float) -> tuple[Rendering, list[SubResource]]:
        asked = PageResources(self.resources)
        try:
            rendered = await self._renderer.render(response, asked)
        except BadInput as error:
            self.broken = str(error)
            _log.warning("pages that need scripts are not rendered: %s", error)
            return Rendering(self.broken, fetched), []
        self._busy += rendered.seconds
        html = rendered.html if rendered.seconds else ""
        sent = tuple(asked.sent)
        return Rendering(rendered.ended, fetched, rendered.seconds, html, rendered.links, sent), asked.used

"""kill -9 while a page is rendered: nothing is lost, and no process and no profile is left."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp.web import BaseRequest, StreamResponse

from spoor import settings as config
from spoor.errors import MissingExtra
from spoor.events import Visited
from spoor.render.browser import find_browser
from spoor.report.contents import CrawledPage, pages
from spoor.settings import StoreSettings
from spoor.store.crawl_folder import CrawlFolder
from tests.browser_processes import descendants, is_running
from tests.rendered_web import STORY, crawled, settings_for, shell
from tests.scripted_site import ScriptedSite, proxied

try:
    find_browser()
except MissingExtra as missing:
    pytest.skip(str(missing), allow_module_level=True)

FILES = {
    "plain.test/": f"<title>Plain</title><p>{STORY}",
    "slow.test/": shell(),
    "slow.test/app.js": f"fetch('/held').then(() => {{ root.textContent = {STORY!r} }})",
    "slow.test/held": "",
}
PATIENCE = 120.0


class HeldSite(ScriptedSite):
    """/held is answered once the site is open."""

    def __init__(self) -> None:
        super().__init__(FILES)
        self.is_open = False

    async def answer(self, request: BaseRequest) -> StreamResponse:
        answer = await super().answer(request)
        if request.path == "/held" and not self.is_open:
            await asyncio.sleep(PATIENCE)
        return answer


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.05)


async def killed(folder: Path, temporary: Path, site: HeldSite) -> list[int]:
    """The processes that the crawl had started when it was killed, in the middle of a page."""
    environment = os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = (sys.executable, "-m", "spoor", "crawl", "--out", str(folder), "--quiet", str(folder) + ".toml")
    crawl = await asyncio.create_subprocess_exec(*command, env=environment)
    await until(lambda: "slow.test/held" in site.requests)
    below = descendants(crawl.pid)
    assert list(temporary.glob("spoor-browser-*"))
    crawl.send_signal(signal.SIGKILL)
    await crawl.wait()
    return below


async def killed_and_resumed(path: Path) -> tuple[list[CrawledPage], list[str], HeldSite]:
    """The pages in the folder afterwards, and those of the second crawl that were rendered and kept."""
    folder, temporary, site = path / "crawl", path / "t", HeldSite()
    temporary.mkdir()
    async with proxied(site) as proxy:
        settings = settings_for(proxy, ["plain.test/", "slow.test/"])
        settings = replace(settings, crawl=replace(settings.crawl, max_pages=None), store=StoreSettings("relevant"))
        (path / "crawl.toml").write_text(config.dumps(settings))
        below = await killed(folder, temporary, site)
        assert len(below) >= 2
        await until(lambda: not any(map(is_running, below)) and not list(temporary.glob("spoor-browser-*")))
        site.is_open = True
        events = await crawled(folder, settings)
    kept = [
        event.visit.url
        for event in events
        if isinstance(event, Visited) and event.rendering is not None and event.rendering.file
    ]
    return list(pages(CrawlFolder(folder))), kept, site


def test_kill_9_while_rendering_loses_nothing_and_leaves_nothing() -> None:
    with tempfile.TemporaryDirectory(prefix="test-", dir="/tmp") as made:
        found, kept, site = asyncio.run(killed_and_resumed(Path(made)))
    assert sorted(page.url for page in found) == ["http://plain.test/", "http://slow.test/"]
    assert all(page.relevant and STORY.strip() in page.text for page in found)
    assert kept == ["http://slow.test/"]
    assert site.requests.count("plain.test/") == 1

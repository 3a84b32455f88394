"""A small web of pages made by scripts, one kind a host, served behind a proxy, and a crawl of it that renders them."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

from aiohttp.web import BaseRequest, StreamResponse

from spoor import settings as config
from spoor.events import Event
from spoor.live.session import open_session
from spoor.settings import Config
from spoor.store.crawl_folder import open_for_crawling
from tests.browser_processes import renderers
from tests.scripted_site import ScriptedSite

STORY = "The riders crossed the wide plain for many days until they reached the river at the foot of the hills. " * 3
APP = "<script src=/app.js></script>"
DATA = json.dumps({"body": STORY, "posts": [{"url": "/found", "title": "Found in the data"}]})


def shell(body: str = "<div id=root></div>") -> str:
    return f"<!doctype html><title>App</title>{body}{APP}"


def kinds(refused: str) -> dict[str, str]:
    """Pages and files by URL without the scheme; `refused` is an address that must hear nothing."""
    return {
        "filled.test/": shell(),
        "filled.test/app.js": "fetch('/data.json').then((r) => r.json()).then((d) => { root.innerHTML = d.html })",
        "filled.test/data.json": json.dumps({"html": f"<p>{STORY}</p><a href=/one>one</a>"}),
        "filled.test/more/": shell(),
        "list.test/": shell("<div id=items></div><div id=end>end</div>"),
        "list.test/app.js": """let next = 0, busy = false;
            new IntersectionObserver(async (seen) => {
              if (!seen[0].isIntersecting || busy) return;
              busy = true;
              const more = await (await fetch("/list?from=" + next)).text();
              next += 20;
              items.insertAdjacentHTML("beforeend", more.replaceAll("<p>", "<p style='height: 100px'>"));
              busy = false;
            }).observe(end)""",
        "push.test/": shell("<button onclick=\"location.href='/button'\">B</button><b data-href=/bold>C</b>"),
        "push.test/app.js": "for (const view of ['a', 'b']) history.pushState({}, '', '/view/' + view)",
        "json.test/": shell(f"<script type=application/json>{DATA}</script>"),
        "json.test/app.js": "",
        "never.test/": shell("<p>before</p>"),
        "never.test/app.js": f"document.body.append({STORY!r}); fetch('/never')",
        "timers.test/": shell("<p id=count></p>"),
        "timers.test/app.js": """let n = 0; setInterval(() => { count.textContent = "counted " + ++n }, 5);
            (function again() { Promise.resolve().then(() => setTimeout(again)) })()""",
        "crash.test/": shell("<p>soon gone</p>"),
        "crash.test/app.js": "fetch('/crash')",
        "moved.test/": shell("<p>moving</p>"),
        "moved.test/app.js": "location = 'http://filled.test' + '/new'",
        "private.test/": shell("<p id=root>private</p>"),
        "private.test/app.js": f"""fetch("http://{refused}/fetch").catch(() => root.append(" was refused"));
            new WebSocket("ws://{refused}/"); new Image().src = "http://{refused}/image" """,
        "worker.test/": shell("<p id=root></p>"),
        "worker.test/app.js": """root.textContent = "serviceWorker" in navigator ? "installed" : "does without";
            navigator.serviceWorker?.register("/sw.js")""",
        "alert.test/": shell("<p>quiet</p><p id=root></p>"),
        "alert.test/app.js": "for (let n = 0; n < 1e4; n++) { alert(n); confirm(n) }; root.append('after all')",
        "huge.test/": shell(),
        "huge.test/app.js": """root.innerHTML = Array.from({length: 6000}, (_, n) => `<a href=/h${n}>h${n}</a> `)
            .join("")""",
        "robots.test/": shell(),
        "robots.test/app.js": "fetch('http://strict.test/hidden.json').catch(() => root.append('not allowed to'))",
        "strict.test/robots.txt": "User-agent: *\nDisallow: /hidden",
        "strict.test/hidden.json": "{}",
    }


class KilledRenderers(ScriptedSite):
    """Kills the process of a page that asks for /crash."""

    async def answer(self, request: BaseRequest) -> StreamResponse:
        if request.path == "/crash":
            for process in renderers():
                os.kill(process, signal.SIGKILL)
        return await super().answer(request)


def settings_for(proxy: str, seeds: list[str], workers: int = 0, **render: Any) -> Config:
    return config.checked(
        {
            "target": {"language": "en"},
            "crawl": {
                "seeds": [f"http://{seed}" for seed in seeds],
                "proxy": proxy,
                "strategy": "breadth-first",
                "max_pages": len(seeds),
                "workers": workers,
            },
            "politeness": {"host_delay": 0.05},
            "render": render,
        }
    )


async def crawled(path: Path, settings: Config) -> list[Event]:
    with open_for_crawling(path) as folder:
        async with open_session(folder, settings) as session:
            folder.write_settings(config.dumps(settings))
            return [event async for events in session.run() for event in events]

"""A dashboard on this machine, served in a thread, and asked with any header that a stranger might send."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from spoor.dashboard.guard import CSRF_HEADER, Guard
from spoor.dashboard.server import Dashboard, serving
from spoor.dashboard.watching import WatchedCrawl
from spoor.store.crawl_folder import CrawlFolder

PATIENCE = 120.0
"""Seconds, on a machine that is busy."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class ServedDashboard:
    """`headers` are sent with every request."""

    port: int
    guard: Guard
    headers: Mapping[str, str]

    def ask(self, path: str, method: str = "GET", body: str | None = None, **headers: str) -> Answer:
        """Underscores in the names of headers stand for hyphens."""
        sent = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            line.putrequest(method, path, skip_host="Host" in sent)
            for name, value in sent.items():
                line.putheader(name, value)
            if body is not None:
                line.putheader("Content-Length", str(len(body.encode())))
            line.endheaders(None if body is None else body.encode())
            answer = line.getresponse()
            return Answer(answer.status, dict(answer.headers), answer.read().decode())
        finally:
            line.close()

    def read(self, path: str) -> Any:
        answer = self.ask(f"/api/v1/{path}")
        assert answer.status == 200, answer.body
        return answer.json

    def act(self, crawl: int, action: Mapping[str, Any], **headers: str) -> Answer:
        sent = {"Content-Type": "application/json", CSRF_HEADER: self.guard.csrf, **headers}
        return self.ask(f"/api/v1/crawls/{crawl}/actions", "POST", json.dumps(action), **sent)

    def until_searchable(self) -> None:
        """Until everything is counted, and every text can be found."""
        until = time.monotonic() + PATIENCE
        while any(min(crawl["counted"], crawl["searchable"]) < 1.0 for crawl in self.read("crawls")):
            assert time.monotonic() < until
            time.sleep(0.05)


@contextmanager
def served_dashboard(*folders: CrawlFolder, address: str = "127.0.0.1") -> Iterator[ServedDashboard]:
    """As if it were bound to `address`, whatever that is; nobody but this machine can reach it."""
    guard, ended, begun = Guard.of(address), threading.Event(), threading.Event()
    ports: list[int] = []

    async def serve() -> None:
        crawls = [WatchedCrawl(folder, number) for number, folder in enumerate(folders, 1)]
        async with serving(Dashboard(crawls, guard), "127.0.0.1", 0) as link:
            ports.append(int(link.partition("?")[0].rstrip("/").rpartition(":")[2]))
            begun.set()
            await asyncio.to_thread(ended.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert begun.wait(PATIENCE)
        yield ServedDashboard(ports[0], guard, {})
    finally:
        ended.set()
        thread.join(PATIENCE)

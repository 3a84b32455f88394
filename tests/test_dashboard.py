"""The API of the dashboard, asked by a client: what it tells of a small crawl that has ended."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest

from spoor.dashboard.guard import Guard
from spoor.dashboard.server import Dashboard, serving
from spoor.dashboard.watching import Watched
from spoor.store.crawl_folder import CrawlFolder
from tests.kept_crawl import kept_crawl
from tests.written_crawl import HOSTILE, HOSTILE_URL, small_crawl

PATIENCE = 60.0


class Asking:
    """A dashboard of two crawls, served while a question is asked. Each answer is (status, headers, body)."""

    def __init__(self, *folders: CrawlFolder, address: str = "127.0.0.1", token: str = "") -> None:
        self.folders, self.guard = folders, Guard(address, token, "a csrf token")

    def ask(
        self, path: str, method: str = "GET", headers: Mapping[str, str] | None = None, data: str | None = None
    ) -> tuple[int, Mapping[str, str], str]:
        return asyncio.run(self._ask(path, method, headers or {}, data))

    def json(self, path: str) -> Any:
        status, _, body = self.ask(path)
        assert status == 200, body
        return json.loads(body)

    async def _ask(
        self, path: str, method: str, headers: Mapping[str, str], data: str | None
    ) -> tuple[int, Mapping[str, str], str]:
        crawls = [Watched(folder, number) for number, folder in enumerate(self.folders, 1)]
        async with serving(Dashboard(crawls, self.guard), "127.0.0.1", 0) as link, aiohttp.ClientSession() as client:
            await until_found(client, link)
            url = link.partition("?")[0].rstrip("/") + path
            async with client.request(method, url, headers=headers, data=data, allow_redirects=False) as answer:
                return answer.status, answer.headers, await answer.text()


async def until_found(client: aiohttp.ClientSession, link: str) -> None:
    """Until all is counted and can be searched."""
    return None

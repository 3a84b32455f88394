"""Hosts on this machine whose pages link to one another across hosts: a web that grows while it is crawled, as far as
it is told to. Several hosts are at each IP address. Every request is counted."""

from __future__ import annotations

import contextlib
import math
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from aiohttp import web

AHEAD = 40
"""Pages to which links lead and which nobody has asked for, as long as the web grows."""
NEW, KNOWN = 3, 4
"""Links of a page to pages that are new, and to others."""


@dataclass
class LinkedHosts:
    """`hosts` as in 127.0.1.1:8000. `links` has those of every page, once somebody has asked for it. It does not grow
    beyond `most` pages."""

    most: float = math.inf
    hosts: list[str] = field(default_factory=list)
    links: dict[str, list[str]] = field(default_factory=dict)
    requests: Counter[str] = field(default_factory=Counter)
    pages: list[str] = field(default_factory=list)
    _rng: random.Random = field(default_factory=lambda: random.Random(0))

    async def answer(self, request: web.BaseRequest) -> web.Response:
        url = f"http://{request.host}{request.path}"
        self.requests[url] += 1
        if request.path == "/robots.txt":
            return web.Response(status=404)
        found = "".join(f"<a href='{link}'>x</a> " for link in self._links_of(url))
        # A text of its own, or the pages of a host would be taken for a trap.
        words = " ".join(f"{random.Random(f'{url} {place}').getrandbits(32):x}" for place in range(60))
        return web.Response(text=f"<title>t</title><p>{words} {found}</p>", content_type="text/html")

    def _links_of(self, url: str) -> list[str]:
        """The same whenever it is asked for."""
        if url not in self.links:
            known, ahead = self._rng.choices(self.pages, k=KNOWN), len(self.pages) - len(self.links)
            fresh = [self._new_page() for _ in range(NEW) if ahead < AHEAD and len(self.pages) < self.most]
            self.links[url] = list(dict.fromkeys([*known, *fresh]))
        return self.links[url]

    def _new_page(self) -> str:
        self.pages.append(f"http://{self._rng.choice(self.hosts)}/{len(self.pages)}")
        return self.pages[-1]


@contextlib.asynccontextmanager
async def serving(linked: LinkedHosts, addresses: Sequence[str], ports: int) -> AsyncIterator[LinkedHosts]:
    """As many hosts as there are ports, at each address. One page is there to begin with."""
    runner = web.ServerRunner(web.Server(linked.answer), shutdown_timeout=0.1)
    await runner.setup()
    try:
        for address in addresses:
            for _ in range(ports):
                await web.TCPSite(runner, address, 0).start()
        linked.hosts += [f"{address}:{port}" for address, port in runner.addresses]
        linked.pages.append(f"http://{linked.hosts[0]}/")
        yield linked
    finally:
        await runner.cleanup()

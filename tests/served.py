"""A recorded web served on this machine, for tests that crawl it over real sockets."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from aiohttp.web import Server, ServerRunner, TCPSite

from spoor.lab.serve import WebServer
from spoor.lab.web import Web
from spoor.lab.worlds import Conditions


@contextlib.asynccontextmanager
async def served(web: Web, conditions: Conditions | None = None) -> AsyncIterator[str]:
    """The address of a proxy that answers for every host of a web."""
    runner = ServerRunner(Server(WebServer(web, conditions).answer))
    await runner.setup()
    try:
        await TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()

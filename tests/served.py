"""A recorded web served on this machine, for tests that crawl it over real sockets."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from aiohttp.web import Server, ServerRunner, TCPSite

from spoor.lab.serve import WebServer
from spoor.lab.web import Web
from spoor.lab.worlds import Conditions
from tests.thread_server import served_in_thread


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


def serving(web: Web, conditions: Conditions | None = None) -> contextlib.AbstractContextManager[str]:
    """The same, in another thread, so that a test may block its own."""
    return served_in_thread(WebServer(web, conditions).answer)

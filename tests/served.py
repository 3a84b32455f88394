"""A recorded web served on this machine, for tests that crawl it over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterator

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


@contextlib.contextmanager
def serving(web: Web, conditions: Conditions | None = None) -> Iterator[str]:
    """The same, in another thread, so that a test may block its own."""
    loop, over = asyncio.new_event_loop(), asyncio.Event()
    begun: list[str] = []
    ready = threading.Event()

    async def serve() -> None:
        async with served(web, conditions) as address:
            begun.append(address)
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    ready.wait()
    try:
        yield begun[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()

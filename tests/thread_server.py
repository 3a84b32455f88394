"""A server on this machine in a thread of its own, so that those who ask it may wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from typing import TypeVar

from aiohttp import web

T = TypeVar("T")


@contextmanager
def in_thread(served: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """What is entered and left in the event loop of another thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def enter() -> T:
        return await served.__aenter__()

    async def leave() -> None:
        await served.__aexit__(None, None, None)

    entered = asyncio.run_coroutine_threadsafe(enter(), loop).result()
    try:
        yield entered
    finally:
        asyncio.run_coroutine_threadsafe(leave(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def served_in_thread(
    answer: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
) -> AbstractContextManager[str]:
    """Its address."""
    return in_thread(_served(answer))


@asynccontextmanager
async def _served(answer: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()

"""A server on this machine, in the loop of the test or in a thread of its own, so that those who ask it may wait. And
one that can do wrong what all servers of JSON can."""

from __future__ import annotations

import asyncio
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from aiohttp import web

T = TypeVar("T")
Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def served_here(answer: Answer) -> AsyncIterator[str]:
    """Its address."""
    runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0.1)  # 0 would wait for ever.
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def served_in_thread(answer: Answer) -> AbstractContextManager[str]:
    """Its address."""
    return in_thread(served_here(answer))


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


@dataclass(kw_only=True)
class MoodyServer(ABC):
    """`mood` says what goes wrong: one of the cases of `_wrong` or of its own, "" for nothing."""

    mood: str = ""
    key: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    @contextmanager
    def running(self) -> Iterator[Self]:
        with served_in_thread(self.answer) as self.url:
            yield self

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        question = json.loads(await request.read())
        self.asked.append(question)
        return self.refusal(request, question) or await self._wrong(request) or await self.reply(question)

    @abstractmethod
    def refusal(self, request: web.BaseRequest, question: dict[str, Any]) -> web.StreamResponse | None:
        """Of a wrong path or key."""

    @abstractmethod
    async def reply(self, question: dict[str, Any]) -> web.StreamResponse: ...

    async def _wrong(self, request: web.BaseRequest) -> web.StreamResponse | None:
        is_first = len(self.asked) == 1
        match self.mood:
            case "endless":
                return await _endless(request)
            case "broken":
                return web.Response(status=500, text="<html>oh no")
            case "broken once" if is_first:
                return web.Response(status=500, text="<html>oh no")
            case "429 once" if is_first:
                return web.Response(status=429, headers={"Retry-After": "0"})
            case "hour":
                return web.Response(status=429, headers={"Retry-After": "3600"})
            case "wrong JSON":
                return web.Response(text='{"text": [', content_type="application/json")
            case "elsewhere":
                return web.Response(status=302, headers={"Location": f"{self.url}/other"})
            case "hangs up":
                assert request.transport is not None
                request.transport.close()
        return None


async def _endless(request: web.BaseRequest) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    with suppress(ConnectionError):  # when nobody listens any more
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.05)
    return response

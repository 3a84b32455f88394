"""Client for a translation server with the LibreTranslate protocol: POST /translate."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from aiohttp import ClientSession

from spoor.fetch.json_server import PAUSE, JsonServer
from spoor.pools import DaemonThreads
from spoor.records import Failure

MOST_TEXTS, MOST_CHARACTERS = 25, 5_000
"""Maximum per request; servers may refuse larger ones."""
AT_ONCE = 4
"""Concurrent requests to the server, per process."""
_CALLS = 64
"""Threads that may wait for a server, per process."""


@dataclass(frozen=True)
class Endpoint:
    """`source` is a language or "auto". The address is chosen by the user, so it may be private. The key is read from
    the environment when it is needed; it is stored nowhere and is part of no message."""

    url: str
    source: str = "auto"
    target: str = "en"
    seconds: float = 5.0
    key_variable: str = ""

    def translated(self, texts: Sequence[str]) -> list[str | Failure]:
        """One result per text, within `seconds` for all of them. Blocking; must not be called in an event loop."""
        try:
            # In a thread: the caller may have an event loop, and a DNS lookup may take longer.
            return _threads().submit(lambda: asyncio.run(self._all(texts))).result(self.seconds + PAUSE)
        except TimeoutError:
            return [self._late()] * len(texts)

    async def _all(self, texts: Sequence[str]) -> list[str | Failure]:
        deadline = asyncio.get_running_loop().time() + self.seconds
        few = asyncio.Semaphore(AT_ONCE)
        async with JsonServer.session() as session:
            asked = (self._batch(session, few, deadline, batch) for batch in _batches(texts))
            return [one for answers in await asyncio.gather(*asked) for one in answers]

    async def _batch(
        self, session: ClientSession, few: asyncio.Semaphore, deadline: float, texts: Sequence[str]
    ) -> Sequence[str | Failure]:
        try:
            async with asyncio.timeout_at(deadline), few:
                answer: list[str] | Failure = await self._translated(session, texts)
        except TimeoutError:
            answer = self._late()
        return [answer] * len(texts) if isinstance(answer, Failure) else answer

    async def _translated(self, session: ClientSession, texts: Sequence[str]) -> list[str] | Failure:
        answer = await self._server.answer(session, self._question(texts))
        if isinstance(answer, Failure):
            return answer
        found = answer.get("translatedText") if isinstance(answer, dict) else None
        found = [found] if isinstance(found, str) else found
        if not isinstance(found, list) or len(found) != len(texts) or not all(isinstance(one, str) for one in found):
            return Failure("returns something else than translations")
        return [one.encode("utf8", "replace").decode() for one in found]

    def _question(self, texts: Sequence[str]) -> dict[str, Any]:
        asked: dict[str, Any] = {"q": list(texts), "source": self.source, "target": self.target, "format": "text"}
        return asked | ({"api_key": self._key} if self._key else {})

    @property
    def _server(self) -> JsonServer:
        return JsonServer(f"{self.url.rstrip('/')}/translate", self.seconds, self._key)

    @property
    def _key(self) -> str:
        return os.environ.get(self.key_variable, "") if self.key_variable else ""

    def _late(self) -> Failure:
        return Failure(f"does not answer within {self.seconds:g} s")


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == MOST_TEXTS or size + len(text) > MOST_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


@cache
def _threads() -> DaemonThreads:
    return DaemonThreads(_CALLS)

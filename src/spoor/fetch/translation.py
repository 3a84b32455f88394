"""A server that translates, asked by LibreTranslate's protocol: POST /translate, texts in, texts out."""

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
"""Of one request; servers may refuse larger ones."""
AT_ONCE = 4
"""Requests to the server at the same time, of each process."""
_CALLS = 64
"""Threads that may wait for a server, of each process."""


@dataclass(frozen=True)
class Endpoint:
    """`source` is a language or "auto". The address is the user's own choice, so it may be a private one. The key is
    read from the environment when it is needed; it is kept nowhere and part of no message."""

    url: str
    source: str = "auto"
    target: str = "en"
    seconds: float = 5.0
    key_variable: str = ""

    def translated(self, texts: Sequence[str]) -> list[str | Failure]:
        """One for each text, within `seconds` for all of them. The caller waits; an event loop must not call this."""
        try:
            # In a thread: the caller may have an event loop, and a name may take longer to be looked up.
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

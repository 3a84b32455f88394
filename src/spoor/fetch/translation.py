"""A server that translates, asked by LibreTranslate's protocol: POST /translate, texts in, texts out."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout

from spoor.fetch.responses import failure_of
from spoor.pools import DaemonThreads
from spoor.records import Failure

MOST_TEXTS, MOST_CHARACTERS = 25, 5_000
"""Of one request; servers may refuse larger ones."""
AT_ONCE = 4
"""Requests to the server at the same time, of each process."""
TRIES = 3
PAUSE = 0.5
"""Seconds before another try, where the server does not say how long."""
LARGEST = 4_000_000
"""Bytes of an answer."""
_CALLS = 64
"""Threads that may wait for a server, of each process."""
_HEALS = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that another try may change."""
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
_DIGITS = 6
"""Of a Retry-After that is waited for."""
_SHOWN = 100
"""Characters of what the server says of an error."""


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
        async with ClientSession(timeout=ClientTimeout(total=None), auto_decompress=False) as session:
            asked = (self._batch(session, few, deadline, batch) for batch in _batches(texts))
            return [one for answers in await asyncio.gather(*asked) for one in answers]

    async def _batch(
        self, session: ClientSession, few: asyncio.Semaphore, deadline: float, texts: Sequence[str]
    ) -> Sequence[str | Failure]:
        try:
            async with asyncio.timeout_at(deadline), few:
                answer = await self._persistently(session, texts)
        except TimeoutError:
            answer = self._late()
        return [answer] * len(texts) if isinstance(answer, Failure) else answer

    async def _persistently(self, session: ClientSession, texts: Sequence[str]) -> list[str] | Failure:
        for _ in range(TRIES - 1):
            answer = await self._answer(session, texts)
            if not isinstance(answer, Failure) or answer.again_after is None or answer.again_after > self.seconds:
                return answer
            await asyncio.sleep(answer.again_after)
        return await self._answer(session, texts)

    async def _answer(self, session: ClientSession, texts: Sequence[str]) -> list[str] | Failure:
        question, address = json.dumps(self._question(texts)), f"{self.url.rstrip('/')}/translate"
        try:
            # A redirect is not followed: it would take the key along.
            async with session.post(address, data=question, headers=_HEADERS, allow_redirects=False) as response:
                return self._understood(response.status, response.headers, await _body(response), len(texts))
        except (ClientError, OSError, ValueError) as error:
            reason = failure_of(error)
            return Failure(f"cannot be asked: {reason.reason}", None if reason.again_after is None else PAUSE)

    def _question(self, texts: Sequence[str]) -> dict[str, Any]:
        asked: dict[str, Any] = {"q": list(texts), "source": self.source, "target": self.target, "format": "text"}
        return asked | ({"api_key": self._key} if self._key else {})

    def _understood(self, status: int, headers: Mapping[str, str], body: bytes, count: int) -> list[str] | Failure:
        if len(body) > LARGEST:
            return Failure("sends too large an answer")
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        if status != 200:
            waits = _seconds(headers.get("retry-after", "")) if status in _HEALS else None
            return Failure(f"answers HTTP {status}{self._complaint(answer)}", waits)
        found = answer.get("translatedText") if isinstance(answer, dict) else None
        found = [found] if isinstance(found, str) else found
        if not isinstance(found, list) or len(found) != count or not all(isinstance(one, str) for one in found):
            return Failure("answers something else than translations")
        return [one.encode("utf8", "replace").decode() for one in found]

    def _complaint(self, answer: Any) -> str:
        """What the server says of an error, without the key, should it be in there."""
        said = answer.get("error") if isinstance(answer, dict) else None
        if not isinstance(said, str):
            return ""
        said = " ".join(said.replace(self._key or "\0", "…").split())[:_SHOWN]
        return f": {said}" if said.isprintable() else ""

    @property
    def _key(self) -> str:
        return os.environ.get(self.key_variable, "") if self.key_variable else ""

    def _late(self) -> Failure:
        return Failure(f"does not answer within {self.seconds:g} s")


async def _body(response: ClientResponse) -> bytes:
    """No more than what tells that it is too large."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > LARGEST:
            break
    return bytes(body)


def _seconds(retry_after: str) -> float:
    return float(retry_after) if retry_after.isdecimal() and len(retry_after) < _DIGITS else PAUSE


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

"""Client for a JSON server chosen by the user: POST, with retries where these may help."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout

from spoor.fetch.responses import failure_of
from spoor.records import Failure

TRIES = 3
PAUSE = 0.5
"""Seconds before the second try, if the server does not send Retry-After."""
LARGEST = 4_000_000
"""Maximum size of a response in bytes."""
_HEALS = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses for which a retry may help."""
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
_DIGITS = 6
"""Maximum number of digits of a Retry-After."""
_SHOWN = 100
"""Characters shown of the error message of a server."""


@dataclass(frozen=True)
class JsonServer:
    """The address is chosen by the user, so it may be private. A wait longer than `seconds` ends the tries; without a
    Retry-After, it is `pause`, multiplied by `growth` for every further try. `key` is the secret in `headers` or
    questions, "" for none; it is part of no message."""

    address: str
    seconds: float
    key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    pause: float = PAUSE
    growth: float = 1.0

    @staticmethod
    def session() -> ClientSession:
        """To be closed by the caller. Time limits are the caller's; responses are not decompressed, so they stay
        small."""
        return ClientSession(timeout=ClientTimeout(total=None), auto_decompress=False)

    async def answer(self, session: ClientSession, question: Mapping[str, Any]) -> Any | Failure:
        """The parsed JSON, None if it is invalid."""
        for number in range(TRIES - 1):
            answer = await self._once(session, question, self.pause * self.growth**number)
            if not isinstance(answer, Failure) or answer.again_after is None or answer.again_after > self.seconds:
                return answer
            await asyncio.sleep(answer.again_after)
        return await self._once(session, question, self.pause)

    async def _once(self, session: ClientSession, question: Mapping[str, Any], pause: float) -> Any | Failure:
        headers = {**_HEADERS, **self.headers}
        try:
            # Redirects are not followed: they would forward the key.
            asking = session.post(self.address, data=json.dumps(question), headers=headers, allow_redirects=False)
            async with asking as response:
                return self._understood(response.status, response.headers, await _body(response), pause)
        except (ClientError, OSError, ValueError) as error:
            reason = failure_of(error)
            return Failure(f"cannot be reached: {reason.reason}", None if reason.again_after is None else pause)

    def _understood(self, status: int, headers: Mapping[str, str], body: bytes, pause: float) -> Any | Failure:
        if len(body) > LARGEST:
            return Failure("sends a response that is too large")
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        if status == 200:
            return answer
        waits = _seconds(headers.get("retry-after", ""), pause) if status in _HEALS else None
        return Failure(f"answers HTTP {status}{self._complaint(answer)}", waits)

    def _complaint(self, answer: Any) -> str:
        """The error message of the server, without the key in case it is repeated there."""
        said = answer.get("error") if isinstance(answer, dict) else None
        said = said.get("message") if isinstance(said, dict) else said
        if not isinstance(said, str):
            return ""
        said = " ".join(said.replace(self.key or "\0", "…").split())[:_SHOWN]
        return f": {said}" if said.isprintable() else ""


async def _body(response: ClientResponse) -> bytes:
    """Reads just enough to detect that it is too large."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > LARGEST:
            break
    return bytes(body)


def _seconds(retry_after: str, otherwise: float) -> float:
    return float(retry_after) if retry_after.isdecimal() and len(retry_after) < _DIGITS else otherwise

"""A language model behind an OpenAI-compatible server: POST /v1/chat/completions, replies by a JSON schema."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spoor.fetch.json_server import PAUSE, JsonServer
from spoor.records import Failure

GROWTH = 3.0
"""Growth of the pause between two tries: a busy model is busy for seconds."""
_PATH = "/chat/completions"
_VERSION = re.compile(r"/v\d+$")


@dataclass(frozen=True, slots=True)
class Usage:
    """Numbers of tokens; None if the server does not report them."""

    sent: int | None = None
    received: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    content: str
    usage: Usage


@dataclass(frozen=True)
class ChatModel:
    """`seconds` is the time limit of a reply, including all tries; `most_tokens` its maximum length. The key is read
    from the environment when it is needed; it is stored nowhere and is part of no message."""

    url: str
    model: str
    seconds: float = 60.0
    most_tokens: int = 300
    key_variable: str = ""
    pause: float = PAUSE

    @property
    def address(self) -> str:
        """The URL for completions, whether `url` is that of the server, of its /v1 or of the path itself."""
        url = self.url.rstrip("/")
        if url.endswith(_PATH):
            return url
        return url + _PATH if _VERSION.search(url) else f"{url}/v1{_PATH}"

    async def reply(self, messages: list[dict[str, str]], schema: Mapping[str, Any]) -> Reply | Failure:
        """`messages` as in the protocol; the content of the reply should be JSON that fits the `schema`."""
        question = {
            "model": self.model,
            "messages": messages,
            "temperature": 0,
            "max_tokens": self.most_tokens,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": schema},
            },
        }
        try:
            async with asyncio.timeout(self.seconds), JsonServer.session() as session:
                answer = await self._server().answer(session, question)
        except TimeoutError:
            return Failure(f"does not answer within {self.seconds:g} s", self.seconds)
        return answer if isinstance(answer, Failure) else _reply(answer)

    def _server(self) -> JsonServer:
        key = os.environ.get(self.key_variable, "") if self.key_variable else ""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return JsonServer(self.address, self.seconds, key, headers, self.pause, GROWTH)


def _reply(answer: Any) -> Reply | Failure:
    match answer:
        case {"choices": [{"message": {"content": str(content)}}, *_]}:
            return Reply(content, _usage(answer.get("usage")))
        case {"choices": [{"message": dict()}, *_]}:  # It refused, or sent something other than text.
            return Reply("", _usage(answer.get("usage")))
    return Failure("returns something else than a completion")


def _usage(said: Any) -> Usage:
    said = said if isinstance(said, dict) else {}
    sent, received = (said.get(name) for name in ("prompt_tokens", "completion_tokens"))
    return Usage(_tokens(sent), _tokens(received))


def _tokens(said: Any) -> int | None:
    return said if isinstance(said, int) and not isinstance(said, bool) and said >= 0 else None

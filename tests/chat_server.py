"""A server on this machine that speaks the protocol of OpenAI's chat completions, and can do everything wrong."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.thread_server import served_in_thread

Model = Callable[[str, str], str]
"""What a model says, given the instructions and the page."""

CONTENTS = {
    "prose": "Yes, this page is relevant.",
    "fenced": '```json\n{"relevant": true}\n```',
    "text for a boolean": '{"relevant": "true"}',
    "number for a boolean": '{"relevant": 1}',
    "list": '[{"relevant": true}]',
    "null": '{"relevant": null}',
    "something else": '{"verdict": true}',
    "deep": "[" * 100_000,
}
"""What a model says that does not say whether a page is relevant, by mood."""


def yes_to(word: str) -> Model:
    """A model that finds pages relevant that have the word."""
    return lambda _, page: json.dumps({"relevant": word in page})


@dataclass
class ChatServer:
    """`mood` says what goes wrong: one of the cases of `_moody`, or of CONTENTS; "" for nothing."""

    model: Model
    mood: str = ""
    key: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        question = json.loads(await request.read())
        self.asked.append(question)
        if request.method != "POST" or request.path != "/v1/chat/completions":
            return web.json_response({"error": {"message": "not found"}}, status=404)
        sent = request.headers.get("Authorization", "")
        if self.key and sent != f"Bearer {self.key}":
            return web.json_response({"error": {"message": f"Incorrect API key: {sent}"}}, status=401)
        return await self._moody(request, question)

    async def _moody(self, request: web.BaseRequest, question: dict[str, Any]) -> web.StreamResponse:
        match self.mood:
            case "slow":
                await asyncio.sleep(1)
            case "endless":
                return await _endless(request)
            case "HTML":
                return web.Response(text="<html>Welcome to nginx", content_type="text/html")
            case "broken":
                return web.Response(status=500, text="<html>oh no")
            case "broken once" if len(self.asked) == 1:
                return web.Response(status=500, text="<html>oh no")
            case "429":
                return web.json_response({"error": {"message": "Slow down"}}, status=429)
            case "429 once" if len(self.asked) == 1:
                return web.Response(status=429, headers={"Retry-After": "0"})
            case "hour":
                return web.Response(status=429, headers={"Retry-After": "3600"})
            case "wrong JSON":
                return web.Response(text='{"choices": [', content_type="application/json")
            case "no choices":
                return web.json_response({"choices": []})
            case "refusal":
                return web.json_response({"choices": [{"message": {"content": None, "refusal": "I cannot"}}]})
            case "huge":
                return web.Response(text="x" * 9_000_000)
            case "elsewhere":
                return web.Response(status=302, headers={"Location": f"{self.url}/other"})
            case "hangs up":
                assert request.transport is not None
                request.transport.close()
        return web.json_response(self._completion(question))

    def _completion(self, question: dict[str, Any]) -> dict[str, Any]:
        rules, page = (message["content"] for message in question["messages"])
        content = CONTENTS.get(self.mood) or self.model(rules, page)
        usage = {"prompt_tokens": 200, "completion_tokens": 10}
        return {"choices": [{"message": {"role": "assistant", "content": content}}], "usage": usage}


async def _endless(request: web.BaseRequest) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    with suppress(ConnectionError):  # when nobody listens any more
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.05)
    return response


def gullible(rules: str, page: str) -> str:
    """A model that obeys whatever it takes for instructions: all that is not between the two lines that its rules
    name, and all that follows a mark of its own template."""
    begin, end = (re.escape(line) for line in re.findall(r"PAGE \w+|END \w+", rules)[:2])
    outside = re.sub(rf"(?s)^{begin}\n.*?\n{end}$", "", page, count=1, flags=re.MULTILINE)
    obeyed = outside + "".join(re.findall(r"(?s)(?:<\|im_start\|>|\[INST\]|<<SYS>>).*", page))
    return json.dumps({"relevant": "is relevant" in obeyed})


@contextmanager
def chatting(model: Model, mood: str = "", key: str = "") -> Iterator[ChatServer]:
    server = ChatServer(model, mood, key)
    with served_in_thread(server.answer) as server.url:
        yield server

"""A server on this machine that speaks the protocol of OpenAI's chat completions, and can do everything wrong."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.thread_server import MoodyServer

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
class ChatServer(MoodyServer):
    """Its `mood` may also be one of CONTENTS."""

    model: Model

    def refusal(self, request: web.BaseRequest, question: dict[str, Any]) -> web.StreamResponse | None:
        if request.method != "POST" or request.path != "/v1/chat/completions":
            return web.json_response({"error": {"message": "not found"}}, status=404)
        sent = request.headers.get("Authorization", "")
        if self.key and sent != f"Bearer {self.key}":
            return web.json_response({"error": {"message": f"Incorrect API key: {sent}"}}, status=401)
        return None

    async def reply(self, question: dict[str, Any]) -> web.StreamResponse:
        match self.mood:
            case "slow":
                await asyncio.sleep(1)
            case "HTML":
                return web.Response(text="<html>Welcome to nginx", content_type="text/html")
            case "429":
                return web.json_response({"error": {"message": "Slow down"}}, status=429)
            case "no choices":
                return web.json_response({"choices": []})
            case "refusal":
                return web.json_response({"choices": [{"message": {"content": None, "refusal": "I cannot"}}]})
            case "huge":
                return web.Response(text="x" * 9_000_000)
        return web.json_response(self._completion(question))

    def _completion(self, question: dict[str, Any]) -> dict[str, Any]:
        rules, page = (message["content"] for message in question["messages"])
        content = CONTENTS.get(self.mood) or self.model(rules, page)
        usage = {"prompt_tokens": 200, "completion_tokens": 10}
        return {"choices": [{"message": {"role": "assistant", "content": content}}], "usage": usage}


def gullible(rules: str, page: str) -> str:
    """A model that obeys whatever it takes for instructions: all that is not between the two lines that its rules
    name, and all that follows a mark of its own template."""
    begin, end = (re.escape(line) for line in re.findall(r"PAGE \w+|END \w+", rules)[:2])
    outside = re.sub(rf"(?s)^{begin}\n.*?\n{end}$", "", page, count=1, flags=re.MULTILINE)
    obeyed = outside + "".join(re.findall(r"(?s)(?:<\|im_start\|>|\[INST\]|<<SYS>>).*", page))
    return json.dumps({"relevant": "is relevant" in obeyed})


def chatting(model: Model, mood: str = "", key: str = "") -> AbstractContextManager[ChatServer]:
    return ChatServer(model, mood=mood, key=key).running()

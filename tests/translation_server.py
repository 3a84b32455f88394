"""A server on this machine that speaks LibreTranslate's protocol, and can do everything wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.thread_server import served_in_thread


@dataclass
class TranslationServer:
    """Translates by the words it knows, everything else stays. `mood` says what goes wrong: one of the cases of
    `_moody`, "" for nothing."""

    words: Mapping[str, str]
    mood: str = ""
    key: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        question = json.loads(await request.read())
        self.asked.append(question)
        if request.method != "POST" or request.path != "/translate":
            return web.json_response({"error": "not found"}, status=404)
        if self.key and question.get("api_key") != self.key:
            said = f"Invalid API key {question.get('api_key')}"
            return web.json_response({"error": said}, status=403)
        return await self._moody(request, question)

    async def _moody(self, request: web.BaseRequest, question: dict[str, Any]) -> web.StreamResponse:
        right = {"translatedText": [self._translated(text) for text in question["q"]]}
        match self.mood:
            case "slow":
                await asyncio.sleep(3)
            case "drips":
                return await _dripping(request)
            case "broken":
                return web.Response(status=500, text="<html>oh no")
            case "wrong JSON":
                return web.Response(text='{"translatedText": ', content_type="application/json")
            case "too few":
                return web.json_response({"translatedText": right["translatedText"][1:]})
            case "no texts":
                return web.json_response({"translatedText": [None for _ in question["q"]]})
            case "429":
                return web.json_response({"error": "Slowdown"}, status=429)
            case "429 once" if len(self.asked) == 1:
                return web.Response(status=429, headers={"Retry-After": "0"})
            case "hour":
                return web.Response(status=429, headers={"Retry-After": "3600"})
            case "huge":
                return web.json_response({"translatedText": ["x" * 9_000_000]})
            case "elsewhere":
                return web.Response(status=302, headers={"Location": f"{self.url}/other"})
            case "refuses":
                return web.json_response({"error": "xx is not supported"}, status=400)
            case "hangs up":
                assert request.transport is not None
                request.transport.close()
        return web.json_response(right)

    def _translated(self, text: str) -> str:
        return " ".join(self.words.get(word, word) for word in text.split())

    @property
    def texts(self) -> list[str]:
        """All that it was asked for, in the order of the requests."""
        return [text for question in self.asked for text in question["q"]]


async def _dripping(request: web.BaseRequest) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    with suppress(ConnectionError):  # when nobody listens any more
        for _ in range(30):
            await response.write(b" ")
            await asyncio.sleep(0.1)
    return response


@contextmanager
def translating(words: Mapping[str, str], mood: str = "", key: str = "") -> Iterator[TranslationServer]:
    server = TranslationServer(words, mood, key)
    with served_in_thread(server.answer) as server.url:
        yield server

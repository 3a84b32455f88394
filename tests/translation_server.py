"""A server on this machine that speaks LibreTranslate's protocol, and can do everything wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.thread_server import MoodyServer


@dataclass
class TranslationServer(MoodyServer):
    """Translates by the words it knows, everything else stays."""

    words: Mapping[str, str]

    def refusal(self, request: web.BaseRequest, question: dict[str, Any]) -> web.StreamResponse | None:
        if request.method != "POST" or request.path != "/translate":
            return web.json_response({"error": "not found"}, status=404)
        if self.key and question.get("api_key") != self.key:
            return web.json_response({"error": f"Invalid API key {question.get('api_key')}"}, status=403)
        return None

    async def reply(self, question: dict[str, Any]) -> web.StreamResponse:
        texts: list[str | None] = [self._translated(text) for text in question["q"]]
        match self.mood:
            case "slow":
                await asyncio.sleep(3)
            case "too few":
                texts = texts[1:]
            case "no texts":
                texts = [None for _ in texts]
            case "huge":
                texts = ["x" * 9_000_000]
            case "429":
                return web.json_response({"error": "Slowdown"}, status=429)
            case "refuses":
                return web.json_response({"error": "xx is not supported"}, status=400)
        return web.json_response({"translatedText": texts})

    def _translated(self, text: str) -> str:
        return " ".join(self.words.get(word, word) for word in text.split())

    @property
    def texts(self) -> list[str]:
        """All that it was asked for, in the order of the requests."""
        return [text for question in self.asked for text in question["q"]]


def translating(words: Mapping[str, str], mood: str = "", key: str = "") -> AbstractContextManager[TranslationServer]:
    return TranslationServer(words, mood=mood, key=key).running()

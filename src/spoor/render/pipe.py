"""Commands to a browser and events from it: the Chrome DevTools Protocol over a pipe."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

Content = Mapping[str, Any]
"""Parameters of a command or an event, or the result of a command, as the protocol has them."""
Listener = Callable[[str, Content], None]
"""Is told the name and the parameters of an event."""

ATTACH: Content = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
"""Parameters of `Target.setAutoAttach`: what a page starts, we hear of before it runs."""
GONE = "gone"
"""The last event that listeners are told, by us: the browser is gone."""
LONGEST_MESSAGE = 64 << 20
"""Bytes."""
PATIENCE = 10.0
"""Seconds after which a command that ought to take none has no answer."""


class BrowserGone(Exception):
    """The browser ended or was killed; the text says why."""


class CommandRefused(Exception):
    """The browser said no to a command, mostly because what it is for is gone."""


class Pipe:
    """Open until the browser ends or `close` is called; then every command under way and all later ones raise
    `BrowserGone`. `listeners` are told the events of a session, that with the name "" those of the browser; the last
    event of all is `GONE`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._number = 0
        self._under_way: dict[int, asyncio.Future[Content]] = {}
        self.listeners: dict[str, Listener] = {}
        self.gone = ""

    async def call(self, method: str, session: str = "", patience: float = PATIENCE, **parameters: Any) -> Content:
        """The result of a command. TimeoutError when there is none in time."""
        number, answer = self._send(method, session, parameters)
        try:
            async with asyncio.timeout(patience):
                return await answer
        finally:
            self._under_way.pop(number, None)

    def tell(self, method: str, session: str = "", **parameters: Any) -> None:
        """A command whose result nobody waits for."""
        if not self.gone:
            _, answer = self._send(method, session, parameters)
            answer.add_done_callback(lambda done: done.cancelled() or done.exception())

    def _send(self, method: str, session: str, parameters: Content) -> tuple[int, asyncio.Future[Content]]:
        if self.gone:
            raise BrowserGone(self.gone)
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        answer = self._under_way[self._number] = asyncio.get_running_loop().create_future()
        self._writer.write(json.dumps(message).encode() + b"\0")
        return self._number, answer

    async def listen(self) -> None:
        """Until the browser is gone."""
        with contextlib.suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            while True:
                self._receive(json.loads((await self._reader.readuntil(b"\0"))[:-1]))
        self.close("the browser ended")

    def _receive(self, message: Content) -> None:
        session = message.get("sessionId", "")
        if (number := message.get("id")) is None:
            if listener := self.listeners.get(session):
                listener(message["method"], message.get("params", {}))
            return
        answer = self._under_way.pop(number, None)
        if answer is None or answer.done():
            return
        if error := message.get("error"):
            answer.set_exception(CommandRefused(error.get("message", "")))
        else:
            answer.set_result(message.get("result", {}))

    def close(self, reason: str) -> None:
        """The first reason stays."""
        self.gone = self.gone or reason
        self._writer.close()
        under_way, self._under_way = self._under_way, {}
        for answer in under_way.values():
            if not answer.done():
                answer.set_exception(BrowserGone(self.gone))
        for listener in tuple(self.listeners.values()):
            listener(GONE, {})

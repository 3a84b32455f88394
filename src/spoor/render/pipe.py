"""Sends commands to a browser and receives its events: the Chrome DevTools Protocol over a pipe."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

Content = Mapping[str, Any]
"""Parameters of a command or an event, or the result of a command, as defined by the protocol."""
Listener = Callable[[str, Content], None]
"""A callback that receives the name and the parameters of an event."""

ATTACH: Content = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
"""Parameters of `Target.setAutoAttach`: new targets of a page are reported before they run."""
GONE = "gone"
"""The last event that listeners receive, sent by `Pipe`: the browser has ended."""
LONGEST_MESSAGE = 64 << 20
"""Maximum size of a message, in bytes."""
PATIENCE = 10.0
"""Default timeout of a command, in seconds."""


class BrowserGone(Exception):
    """The browser ended or was killed; the message has the reason."""


class CommandRefused(Exception):
    """The browser rejected a command, mostly because its target no longer exists."""


class Pipe:
    """Open until the browser ends or `close` is called; then all pending and later commands raise `BrowserGone`.
    `listeners` receive events by session; the key "" is for events of the browser itself. The last event is `GONE`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._number = 0
        self._under_way: dict[int, asyncio.Future[Content]] = {}
        self.listeners: dict[str, Listener] = {}
        self.gone = ""

    async def call(self, method: str, session: str = "", patience: float = PATIENCE, **parameters: Any) -> Content:
        """Returns the result of a command. Raises TimeoutError."""
        number, answer = self._send(method, session, parameters)
        try:
            async with asyncio.timeout(patience):
                return await answer
        finally:
            self._under_way.pop(number, None)

    def tell(self, method: str, session: str = "", **parameters: Any) -> None:
        """Sends a command and ignores its result."""
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
        """Receives messages until the browser is gone."""
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
        """Only the first reason is kept."""
        self.gone = self.gone or reason
        self._writer.close()
        under_way, self._under_way = self._under_way, {}
        for answer in under_way.values():
            if not answer.done():
                answer.set_exception(BrowserGone(self.gone))
        for listener in tuple(self.listeners.values()):
            listener(GONE, {})

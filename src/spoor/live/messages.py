"""Messages between two processes in event loops, over a socket: each is pickled, after its length.

Messages of a few iterations of the loop are written together: to wake the other process takes longer than to write.
"""

from __future__ import annotations

import asyncio
import pickle
import socket
import struct
from collections.abc import Callable
from typing import Any

MOST_TOGETHER = 8
"""Messages that are written together."""
_LENGTH = struct.Struct("!I")


class Messages(asyncio.Protocol):
    """Calls `received` with each message, and `lost` once when the other process closed the connection, or died. Only
    our own data is unpickled: nothing that a server sent."""

    def __init__(self, received: Callable[[Any], None], lost: Callable[[], None]) -> None:
        self._received = received
        self._lost = lost
        self._buffer = bytearray()
        self._unsent: list[bytes] = []
        self._are_more = False
        self._transport: asyncio.Transport | None = None

    @staticmethod
    async def over(own: socket.socket, received: Callable[[Any], None], lost: Callable[[], None]) -> Messages:
        loop = asyncio.get_running_loop()
        _, messages = await loop.create_unix_connection(lambda: Messages(received, lost), sock=own)
        return messages

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(buffer, start)
            end = start + _LENGTH.size + length
            if end > len(buffer):
                break
            with memoryview(buffer) as view:
                message = pickle.loads(view[start + _LENGTH.size : end])
            start = end
            self._received(message)
        del buffer[:start]

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._lost()

    def send(self, message: object) -> None:
        """Does nothing if the connection is closed."""
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._write_soon)
        self._unsent.append(_LENGTH.pack(len(data)) + data)
        self._are_more = True
        if len(self._unsent) >= MOST_TOGETHER:
            self._write()

    def _write_soon(self) -> None:
        """Writes what was sent, unless more was sent since the last iteration."""
        if self._are_more and self._unsent:
            self._are_more = False
            asyncio.get_running_loop().call_soon(self._write_soon)
        else:
            self._write()

    def _write(self) -> None:
        if self._transport is not None and self._unsent:
            self._transport.write(b"".join(self._unsent))
        self._unsent.clear()

    def close(self) -> None:
        """After what was sent has left."""
        self._write()
        if self._transport is not None:
            self._transport.close()

"""Messages between processes: they arrive whole and in order, whatever their size, until the other side is gone."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from spoor.live.messages import MOST_TOGETHER, Messages


async def exchanged(messages: list[Any]) -> tuple[list[Any], list[str]]:
    """What arrives of messages that are sent at once, and what is known of the end on the other side."""
    received: list[Any] = []
    ended: list[str] = []
    over = asyncio.Event()
    one, other = socket.socketpair()

    def lose() -> None:
        ended.append("lost")
        over.set()

    await Messages.over(other, received.append, lose)
    sender = await Messages.over(one, received.append, lambda: ended.append("closed"))
    for message in messages:
        sender.send(message)
    sender.close()
    await over.wait()
    sender.send("too late")
    await asyncio.sleep(0)
    return received, ended


def test_messages_arrive_in_order_whatever_their_size() -> None:
    messages = [b"x" * size for size in (0, 1, 70_000, 3, 5_000_000, *range(3 * MOST_TOGETHER))]
    received, ended = asyncio.run(exchanged(messages))
    assert received == messages
    assert sorted(ended) == ["closed", "lost"]


def test_a_message_leaves_without_others() -> None:
    async def first() -> object:
        arrived: asyncio.Queue[object] = asyncio.Queue()
        one, other = socket.socketpair()
        receiver = await Messages.over(other, arrived.put_nowait, lambda: None)
        sender = await Messages.over(one, arrived.put_nowait, lambda: None)
        sender.send({"alone": True})
        try:
            return await asyncio.wait_for(arrived.get(), 10)
        finally:
            receiver.close()
            sender.close()

    assert asyncio.run(first()) == {"alone": True}

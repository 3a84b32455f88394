"""A crawl that is told to stop does, whatever it waits for."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sqlite3
import sys
import threading
import time
import weakref
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from spoor.live.driver import GRACE
from spoor.pools import DaemonThreads

SLACK = 3.0
"""Seconds that a busy machine may add to the two that are promised."""


@contextlib.asynccontextmanager
async def tarpit(answering: asyncio.Event) -> AsyncIterator[str]:
    """A server that has a robots.txt, says when it was asked for a page, and never answers that."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            asked = await reader.readuntil(b"\r\n\r\n")
            if b"/robots.txt" in asked:
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                await writer.drain()
            else:
                answering.set()
                await reader.read()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


async def _stopped_by(names: list[signal.Signals], folder: Path) -> tuple[int, float]:
    """The exit code, and the seconds after the last signal."""
    asked = asyncio.Event()
    async with tarpit(asked) as seed:
        words = ("crawl", "--script", "thai", "--seed", seed, "--allow-private", "--rest", "0", "--out", str(folder))
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(sys.executable, "-m", "spoor", *words, stdout=pipe, stderr=pipe)
        await asked.wait()
        for name in names:
            process.send_signal(name)
            began = time.monotonic()
            await asyncio.sleep(0.2)
        await process.communicate()
        return process.returncode or 0, time.monotonic() - began


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda name: name.name)
def test_a_crawl_that_waits_for_an_answer_is_gone_two_seconds_after_it_was_told_to_stop(
    name: signal.Signals, tmp_path: Path
) -> None:
    code, seconds = asyncio.run(_stopped_by([name], tmp_path / "crawl"))
    assert code == 0 and seconds < 2.0 + SLACK
    with contextlib.closing(sqlite3.connect(tmp_path / "crawl" / "crawl.db")) as db:
        (detail,) = db.execute("SELECT detail FROM events WHERE kind = 'ended'").fetchone()
        states = db.execute("SELECT state, because FROM links").fetchall()
    assert json.loads(detail)["because"] == "it was interrupted"
    assert states == [(0, "")] or states == [(3, "")]


def test_told_twice_it_waits_for_nothing(tmp_path: Path) -> None:
    code, seconds = asyncio.run(_stopped_by([signal.SIGTERM, signal.SIGTERM], tmp_path / "crawl"))
    assert code == 0 and seconds < GRACE + SLACK


LOOKUP = """
import asyncio, time
from spoor.pools import DaemonThreads
async def main():
    asyncio.get_running_loop().set_default_executor(DaemonThreads(4))
    assert await asyncio.gather(*(asyncio.to_thread(pow, 2, n) for n in range(20))) == [2**n for n in range(20)]
    try:
        await asyncio.to_thread(int, "x")
    except ValueError:
        asyncio.create_task(asyncio.to_thread(time.sleep, 600))
        await asyncio.sleep(0.1)
asyncio.run(main())
"""


def test_a_name_that_is_still_looked_up_keeps_no_process_from_ending() -> None:
    async def run() -> int:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", LOOKUP)
        return await asyncio.wait_for(process.wait(), 60)

    assert asyncio.run(run()) == 0


class Large:
    """What is given to a thread to be worked on."""


def test_a_thread_with_nothing_to_do_holds_nothing_of_what_it_did_last() -> None:
    threads, gone = DaemonThreads(1), threading.Event()
    given = Large()
    weakref.finalize(given, gone.set)
    threads.submit(id, given).result()
    del given
    assert gone.wait(SLACK)

"""A live crawl that is killed in a lesson. `main` takes a folder with its crawl.toml, a version, and when: `during` the
lesson that makes this version, before it is committed, or `after` it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from spoor import settings as config
from spoor.events import Event, Visited
from spoor.live.running import Session
from spoor.live.session import open_session
from spoor.store.crawl_folder import open_for_crawling


async def in_step(session: Session) -> AsyncIterator[list[Event]]:
    """A crawl that waits after every batch until all is asked and learned that is due: what follows does not depend on
    how quick the machine is."""
    assert session.learning is not None
    async with session.learning.beside():  # What was due when an earlier process was killed.
        await session.learning.caught_up()
    async for events in session.run():
        if any(isinstance(event, Visited) for event in events):
            await session.learning.caught_up()
        yield events


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def killed(path: Path, last: int, when: str) -> None:
    settings = config.load(path / "crawl.toml")
    with open_for_crawling(path) as folder:
        async with open_session(folder, settings) as session:
            assert session.learning is not None
            if when == "during":
                session.learning.on_lesson = lambda version: die() if version == last else None
            async for _ in in_step(session):
                if session.learning.judge.student.version >= last:
                    die()


def main() -> None:
    asyncio.run(killed(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))

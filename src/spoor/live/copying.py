"""Copies a shard that works on a local disk: every few minutes while it runs, and when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sqlite3
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spoor.crawling.share import Lease
from spoor.errors import BadInput, BrokenStorage
from spoor.live.running import Session
from spoor.settings import ShardSettings
from spoor.steering.inbox import Inbox
from spoor.store.copied_mail import CopiedMail
from spoor.store.copies import CopyName, CopyPlace, Moment, Replaced, moment_of
from spoor.store.crawl_folder import FolderInUse
from spoor.store.local_folder import LocalFolder, local_path, opened_locally
from spoor.store.mail import Heard
from spoor.store.sharded_folder import ShardedFolder

LOOK = 2.0
"""Seconds between two checks of the folder of the copies."""
LEASE_SECONDS = 30.0
"""Validity of a lease. A process that is cut off makes no visits after that, and its replacement none before."""
_FAILURES = (OSError, sqlite3.Error, BadInput)


@dataclass
class Copying:
    """Copies a running shard. `warning` is why the last copy failed, "" if it succeeded. `_heard` has the last messages
    received from each sender as of the last two complete copies of this process."""

    place: CopyPlace
    local: LocalFolder
    seconds: float
    lease_seconds: float
    warning: str = field(default="", init=False)
    _number: int = field(default=0, init=False)
    _heard: list[Mapping[int, Heard]] = field(default_factory=list, init=False)
    _ending: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _expiry: asyncio.TimerHandle | None = field(default=None, init=False)

    @property
    def cut_off(self) -> float:
        """Seconds until it is certain that no other process makes visits for this shard."""
        return 0.0 if self.local.is_over else self.lease_seconds

    def leased(self, session: Session) -> None:
        """Restarts the validity of the lease."""
        if self._expiry is not None:
            self._expiry.cancel()
        self._expiry = asyncio.get_running_loop().call_later(self.lease_seconds, _expire, session)

    @contextlib.asynccontextmanager
    async def beside(self, session: Session) -> AsyncIterator[None]:
        """Makes copies in the background while the session runs. At the end, a started copy is finished."""
        running = asyncio.create_task(self._run(session))
        try:
            yield
        finally:
            self._ending.set()
            if self._expiry is not None:
                self._expiry.cancel()
            await running

    async def _run(self, session: Session) -> None:
        """A failed copy only sets `warning`: it matters only if the disk is lost too, and the next copy may succeed."""
        loop = asyncio.get_running_loop()
        due = loop.time() + self.seconds
        while not self._ending.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), min(LOOK, self.seconds))
            try:
                await asyncio.to_thread(self.look)
                if loop.time() >= due and not self._ending.is_set():
                    await self._copy_running(session)
                    due = loop.time() + self.seconds
            except Replaced as error:
                session.driver.wake(BrokenStorage(str(error)))
                return
            except _FAILURES as error:
                self.warning = f"cannot copy {self.local.folder.path} to {self.place.path}: {error}"
                due = loop.time() + self.seconds

    def look(self) -> None:
        """Raises Replaced if another process has taken over. Fetches actions, which users put into the original
        folder."""
        self.place.check(self.local.generation)
        Inbox(self.place.folder.inbox).move_to(self.local.folder.inbox)

    async def _copy_running(self, session: Session) -> None:
        """Only closed WARC files are copied, so this closes the current one."""
        session.archive.responses.keeper.close()
        with moment_of(self.local.folder) as moment:
            await asyncio.to_thread(self._write, moment)
        self.warning = ""
        # If the newest copy is damaged, the shard is restored from the one before.
        if len(self._heard) > 1 and isinstance(session.mail, CopiedMail):
            session.mail.copied = self._heard[0]

    async def finish(self) -> None:
        """Makes the last copy, after all writes."""
        try:
            with moment_of(self.local.folder) as moment:
                await asyncio.to_thread(self._write, moment, ended=True)
        except _FAILURES as error:
            problem = f"cannot copy {self.local.folder.path} to {self.place.path}: {error}"
            raise BrokenStorage(f"{problem}; nothing is lost there: run the same command again") from None

    def _write(self, moment: Moment, ended: bool = False) -> None:
        self._number += 1
        self.place.write(CopyName(self.local.generation, self._number), moment, self.local.partial, ended)
        self._heard = [*self._heard[-1:], moment.heard]


def _expire(session: Session) -> None:
    session.crawl.turns.lease = Lease(session.crawl.frontier.spent)


@contextlib.asynccontextmanager
async def copied(folder: Path, settings: ShardSettings, lease_seconds: float) -> AsyncIterator[Copying]:
    """Opens a shard on the local disk, from the state there or from the newest copy in `folder`. On success, ends with
    a last copy. Raises FolderInUse if another process has the folder, or if it is unreachable right now."""
    place, path, crawl = CopyPlace(folder), local_path(settings.local, folder), ShardedFolder(folder.parent.parent)
    if not crawl.exists:  # Otherwise the shard would start from scratch.
        raise FolderInUse(f"{crawl.path} is not there; is it mounted on {socket.gethostname()}?")
    with contextlib.ExitStack() as stack:
        try:
            local = await asyncio.to_thread(stack.enter_context, opened_locally(place, path, time.time()))
            copying = Copying(place, local, 60 * settings.copy_minutes, lease_seconds)
            await asyncio.to_thread(copying.look)
        except OSError as error:
            raise FolderInUse(f"cannot open {path} or {folder}: {error}") from None
        yield copying
        await copying.finish()

"""A shard that works on the disk of its machine is copied every few minutes, while it runs and when it ends."""

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
"""Seconds between two looks at the place of the copies."""
LEASE_SECONDS = 30.0
"""For which a lease counts. A process that is cut off makes no visits after that, nor who takes its place before."""
_FAILURES = (OSError, sqlite3.Error, BadInput)


@dataclass
class Copying:
    """`warning` says why the last copy failed; "": it did not. `_heard` is how far senders had been heard in the last
    two copies of this process that are whole."""

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
        """Seconds until nobody else makes visits of this shard for sure."""
        return 0.0 if self.local.is_over else self.lease_seconds

    def leased(self, session: Session) -> None:
        """From now on a lease counts, for a while."""
        if self._expiry is not None:
            self._expiry.cancel()
        self._expiry = asyncio.get_running_loop().call_later(self.lease_seconds, _expire, session)

    @contextlib.asynccontextmanager
    async def beside(self, session: Session) -> AsyncIterator[None]:
        """While it runs. A copy that was begun is finished."""
        running = asyncio.create_task(self._run(session))
        try:
            yield
        finally:
            self._ending.set()
            if self._expiry is not None:
                self._expiry.cancel()
            await running

    async def _run(self, session: Session) -> None:
        """A copy that fails is missed by nobody unless the disk is lost, too: the next may succeed."""
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
        """Whether somebody has taken over; and what persons ask for they leave in the place that they know."""
        self.place.check(self.local.generation)
        Inbox(self.place.folder.inbox).move_to(self.local.folder.inbox)

    async def _copy_running(self, session: Session) -> None:
        """WARC files are copied when they are closed, so this one ends here."""
        session.archive.keeper.close()
        with moment_of(self.local.folder) as moment:
            await asyncio.to_thread(self._write, moment)
        self.warning = ""
        # Where the newest copy turns out to be damaged, the shard goes back to the one before.
        if len(self._heard) > 1 and isinstance(session.mail, CopiedMail):
            session.mail.copied = self._heard[0]

    async def finish(self) -> None:
        """The last copy, when nothing is written any more."""
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
    """Opens a shard on the disk of this machine, as it is there or from the newest copy in `folder`. When all went well
    there is a last copy. FolderInUse: another process has it, or it cannot be reached right now."""
    place, path, crawl = CopyPlace(folder), local_path(settings.local, folder), ShardedFolder(folder.parent.parent)
    if not crawl.exists:  # Or it would begin anew.
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

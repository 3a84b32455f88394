"""A live crawl as several shards: the shard, and the coordinator, which grants visits and delivers mail in rounds.

The caller that makes the handles decides where a shard runs: in this process or on another machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

from spoor import settings as config
from spoor.crawl import Crawl
from spoor.crawling.share import BestKeys, Lease, Share, behind, claim, leases, visits_of_round
from spoor.errors import REPORT_IT, RequestsBroken, SpoorError
from spoor.frontier.addresses import AddressGrant
from spoor.frontier.rows import counters_of
from spoor.live.address_turns import AddressReport, AddressTurns
from spoor.live.copying import LEASE_SECONDS, Copying, copied
from spoor.live.from_settings import host_rules
from spoor.live.running import Session
from spoor.live.session import open_session
from spoor.live.watchdog import SteadyClock
from spoor.settings import Config
from spoor.store.crawl_folder import CrawlFolder, FolderInUse, open_for_crawling
from spoor.store.journal import open_to_read
from spoor.store.mail import Answer, Batch
from spoor.store.sharded_folder import GrantedVisits, ShardedFolder
from spoor.store.totals import NOTHING, CrawlTotals, totals_of

_log = logging.getLogger(__name__)

PAUSE = 0.05
"""Minimum seconds between two rounds; the maximum is ten times as long."""
ROUNDS_TAKE = 0.1
"""The fraction of the time that rounds may take: busy shards respond late, and are asked less often."""
MAIL = 1.0
"""Seconds between two deliveries of mail, unless a shard has nothing to visit: a few large messages cost less than many
small ones."""
ADDRESSES_AT_ONCE = 1000
"""Maximum IP addresses that a shard requests in one round."""
LOCK_SECONDS = 30.0
"""Seconds before a warning that a shard waits for the lock of its folder: a frozen process may still hold it."""


class Unavailable(SpoorError):
    """A shard cannot respond right now: it is being opened, or restarted elsewhere."""


NO_ADDRESSES = AddressReport()


@dataclass(frozen=True)
class ShardReport:
    """The state of a shard. `spent` is the total of visits, including those `claimed`: visits of its old lease that it
    may still begin before the next grant. `best_keys` are those of the links after the claimed ones. `idle`: nothing
    can be visited, now or later. `letters` counts messages in its outbox. `ended` is why it ended by itself (a person
    stopped it, or it found too little), "" while it runs; `broken`: because every request failed by an error of spoor.
    `warning` is a text for the user."""

    spent: int
    best_keys: BestKeys
    gain: float
    idle: bool
    under_way: int
    letters: int
    totals: CrawlTotals
    waiting: int
    addresses: AddressReport = NO_ADDRESSES
    ended: str = ""
    claimed: int = 0
    warning: str = ""
    broken: bool = False


class ShardHandle(Protocol):
    """One shard, local or remote. Each method may raise `Unavailable`."""

    async def report(self, most: int) -> ShardReport:
        """Includes the best keys, up to `most` waiting links. Opens the shard if it is not open."""
        ...

    async def grant(self, lease: Lease, addresses: AddressGrant) -> None: ...

    async def deliver(self) -> None:
        """Sends the messages in its outbox to the other shards."""
        ...

    async def take(self, sender: int, batch: Batch) -> Answer:
        """Receives messages. Returns up to which message of the sender is committed."""
        ...

    async def stop(self, why: str) -> None:
        """Returns after the shard has stopped."""
        ...


# One shard.


def of_each_shard(settings: Config, shards: int) -> Config:
    """The settings with its part of the connections."""
    return replace(settings, crawl=replace(settings.crawl, connections=max(1, settings.crawl.connections // shards)))


NOTHING_DONE = ShardReport(0, (), 0.0, True, 0, 0, NOTHING, 0)


class Shard:
    """A crawl of some of the hosts in this process, with its own folder. The first call of `report` opens it. It makes
    no visit without a lease. Must be called from one event loop."""

    def __init__(self, folder: Path, share: Share, settings: Config, lease_seconds: float = LEASE_SECONDS) -> None:
        """`lease_seconds` is how long a lease is valid where shards are copied."""
        self.peers: Sequence[ShardHandle] = ()
        self._folder = folder
        self._share = share
        self._settings = settings
        self._lease_seconds = lease_seconds
        self._copying: Copying | None = None
        self._session: Session | None = None
        self._running: asyncio.Task[None] | None = None
        self._last = NOTHING_DONE
        self._ended = ""
        self._stopped = ""

    async def report(self, most: int) -> ShardReport:
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        if self._running.done():
            self._running.result()
        if self._ended:
            return replace(self._last, ended=self._ended)
        self._last = self._state(self._opened(), most)
        return self._last

    def _claim(self, crawl: Crawl) -> int:
        """The visits of the lease that it keeps; the rest is returned, so that other shards can have it."""
        lease, spent = crawl.turns.lease, crawl.frontier.spent
        claimed = claim(lease, spent, made=spent - (self._last.spent - self._last.claimed))
        crawl.turns.lease = replace(lease, visits=spent + claimed)
        return claimed

    def _state(self, session: Session, most: int) -> ShardReport:
        crawl, frontier, now = session.crawl, session.crawl.frontier, session.driver.clock()
        claimed = self._claim(crawl)
        best_keys = behind(frontier.best_keys(most + claimed, now), claimed)
        addresses = AddressReport(frontier.addresses.awaited(ADDRESSES_AT_ONCE), frontier.addresses.given_back(now))
        idle = not best_keys and not claimed and not addresses.awaited and frontier.wake_at() is None
        counts = (session.driver.under_way, session.mail.count())
        done = (session.totals(), len(frontier), addresses)
        known = (frontier.spent + claimed, best_keys, crawl.turns.best_gain(now), idle, *counts, *done)
        warning = (self._copying.warning if self._copying is not None else "") or session.own_error
        return ShardReport(*known, claimed=claimed, warning=warning, broken=bool(session.broken))

    async def grant(self, lease: Lease, addresses: AddressGrant) -> None:
        session = self._at_work()
        session.crawl.turns.lease = lease
        session.crawl.frontier.addresses.heed(addresses)
        if self._copying is not None:
            self._copying.leased(session)
        session.driver.wake()

    async def deliver(self) -> None:
        mail = self._at_work().mail
        for receiver in mail.receivers():
            with contextlib.suppress(Unavailable):
                mail.answered(receiver, await self.peers[receiver].take(self._share.me, mail.batch(receiver)))

    async def take(self, sender: int, batch: Batch) -> Answer:
        session = self._at_work()
        if mailed := session.mail.taken(sender, batch):
            session.crawl.receive(mailed, session.driver.clock())
            session.driver.wake()
        return session.mail.answer(sender)

    async def stop(self, why: str) -> None:
        self._stopped = why
        if self._session is not None:
            self._session.stop(why)
        if self._running is not None:
            with contextlib.suppress(Unavailable):
                await self._running

    def _opened(self) -> Session:
        if self._session is None:
            raise Unavailable(f"shard {self._share.me} is not open yet")
        return self._session

    def _at_work(self) -> Session:
        if self._ended:
            raise Unavailable(f"shard {self._share.me} has ended")
        return self._opened()

    async def _run(self) -> None:
        async with self._locked() as folder, open_session(folder, self._settings, share=self._share) as session:
            folder.write_settings(config.dumps(self._settings))
            session.crawl.turns.lease = Lease(session.crawl.frontier.spent)
            async with self._ready(session):
                self._session = session
                if self._stopped:
                    session.stop(self._stopped)
                async for _ in session.run():
                    pass
            session.crawl.turns.lease = Lease(session.crawl.frontier.spent)
            self._last, self._ended = self._state(session, 0), session.ended()

    @contextlib.asynccontextmanager
    async def _ready(self, session: Session) -> AsyncIterator[None]:
        """Once a shard reports, its IP addresses can pass to other shards, so it waits for their delay before. Requests
        of the previous process ended with it, unless it was cut off and may still run: then until its lease has
        expired, too."""
        rules = host_rules(self._settings)
        if self._copying is None:
            await asyncio.sleep(rules.address_delay)
            yield
            return
        async with self._copying.beside(session):
            cut_off = self._copying.cut_off
            await asyncio.sleep(max(rules.address_delay, cut_off + rules.delay if cut_off else 0.0))
            yield

    @contextlib.asynccontextmanager
    async def _locked(self) -> AsyncIterator[CrawlFolder]:
        """Waits for the lock of the folder, which protects it from a process that was presumed dead but still
        writes."""
        waited = 0.0
        while True:
            async with contextlib.AsyncExitStack() as stack:
                try:
                    folder = await self._open_folder(stack)
                except FolderInUse as error:
                    waited += 1.0
                    if waited == LOCK_SECONDS:
                        _log.warning("shard %s waits for its folder: %s", self._share.me, error)
                    if self._stopped:
                        raise Unavailable(f"shard {self._share.me} was stopped before it was open") from None
                    await asyncio.sleep(1.0)
                    continue
                yield folder
                return

    async def _open_folder(self, stack: contextlib.AsyncExitStack) -> CrawlFolder:
        if not self._settings.shards.local:
            return stack.enter_context(open_for_crawling(self._folder))
        copying = copied(self._folder, self._settings.shards, self._lease_seconds)
        self._copying = await stack.enter_async_context(copying)
        return self._copying.local.folder


# The coordinator of all shards.


async def _report(shard: ShardHandle, most: int) -> ShardReport | None:
    """None if the shard is unavailable right now."""
    try:
        return await shard.report(most)
    except Unavailable:
        return None


async def _all(calls: Iterable[Awaitable[None]]) -> None:
    """Awaits all calls. Ignores `Unavailable`: the call is repeated in the next round."""
    for result in await asyncio.gather(*calls, return_exceptions=True):
        if isinstance(result, BaseException) and not isinstance(result, Unavailable):
            raise result


@dataclass(frozen=True, slots=True)
class Totals(CrawlTotals):
    """Sums over all shards. `spent` visits were charged to the budget, those that are under way or still granted
    included; `busiest` is the share of the busiest shard in them. `warnings` are the current ones of shards."""

    waiting: int = 0
    spent: int = 0
    busiest: float = 0.0
    warnings: tuple[str, ...] = ()


NOTHING_BEFORE = Totals()


def done_without_hosts(folder: ShardedFolder) -> Totals:
    """Sums over the shards whose buckets were all moved to other shards."""
    table, totals, spent = {*folder.buckets()}, NOTHING, 0
    for path in folder.folders():
        if int(path.name) not in table:
            with contextlib.closing(open_to_read(CrawlFolder(path).database)) as db:
                counters = counters_of(db.execute("SELECT name, value FROM counters"))
                totals, spent = totals + totals_of(db), spent + counters.visits - counters.excused
    return Totals(**asdict(totals), spent=spent)


class Coordinator:
    """Runs rounds: all shards report, those with the best links are granted visits, mail is delivered. Grants are
    stored before they are sent, so `visits` is never exceeded, whichever process dies. `reports` are those of the
    last round."""

    def __init__(
        self,
        shards: Sequence[ShardHandle],
        granted: GrantedVisits,
        visits: int | None = None,
        before: Totals = NOTHING_BEFORE,
    ) -> None:
        """`before` has the sums of shards that own no hosts any more."""
        self._shards = shards
        self._granted = granted
        self._visits = visits
        self._run_time = granted.run_time(SteadyClock())
        self._addresses = AddressTurns(len(shards))
        self._before = before
        self.reports: list[ShardReport | None] = [None] * len(shards)
        self._last_round = time.monotonic(), self._all_spent()
        self._mail_at = 0.0
        self._why = ""

    def stop(self, why: str) -> None:
        """Ends the crawl after this round."""
        self._why = self._why or why

    async def run(self, tell: Callable[[Totals], None]) -> str:
        """Returns why the crawl ended. `tell` is called after every round, and at the end."""
        idle_rounds = 0
        while not self._why:
            began = time.monotonic()
            await self._round()
            took = time.monotonic() - began
            await self._deliver()
            tell(self.totals())
            idle_rounds = idle_rounds + 1 if self._is_idle() else 0
            if ended := next((report.ended for report in self.reports if report and report.ended), ""):
                self.stop(ended)
            elif idle_rounds > 1:
                self.stop("nothing is waiting")
            elif self._left() == 0 and all(r and not r.under_way and not r.claimed for r in self.reports):
                self.stop(f"the budget of {self._visits} visits is spent")
            await asyncio.sleep(min(10 * PAUSE, max(PAUSE, took / ROUNDS_TAKE)))
        await asyncio.gather(*(shard.stop(self._why) for shard in self._shards))
        self._run_time.end()
        self._granted.write([], self._run_time)
        tell(self.totals())
        if any(report.broken for report in self.reports if report):
            raise RequestsBroken(f"{self._why}; {REPORT_IT}")
        return self._why

    async def _round(self) -> None:
        lease = self._lease()
        self.reports = list(await asyncio.gather(*(_report(shard, lease) for shard in self._shards)))
        left = self._left()
        lease = lease if left is None else min(lease, left)
        best_keys = [report.best_keys if report else () for report in self.reports]
        gains = [report.gain if report else 0.0 for report in self.reports]
        visits = [self._spent(number) + more for number, more in enumerate(leases(best_keys, lease))]
        here = [number for number, report in enumerate(self.reports) if report]
        addresses = self._addresses.round({n: report.addresses for n, report in enumerate(self.reports) if report})
        if here and not self._run_time.has_begun:
            self._run_time.begin()
        self._granted.write([(number, visits[number]) for number in here], self._run_time)
        rivals = [max(gains[:number] + gains[number + 1 :], default=0.0) for number in range(len(gains))]
        await _all(
            self._shards[number].grant(Lease(visits[number], rivals[number]), addresses[number]) for number in here
        )

    def _lease(self) -> int:
        (then, spent_then), now = self._last_round, time.monotonic()
        spent = self._all_spent()
        self._last_round = now, spent
        return visits_of_round(len(self._shards), spent, spent - spent_then, max(PAUSE, now - then))

    async def _deliver(self) -> None:
        here = {number: report for number, report in enumerate(self.reports) if report}
        if time.monotonic() >= self._mail_at or not all(report.best_keys for report in here.values()):
            self._mail_at = time.monotonic() + MAIL
            await _all(self._shards[number].deliver() for number in here)

    def _spent(self, number: int) -> int:
        """Visits of a shard. An unavailable shard may have spent all that it was granted."""
        report = self.reports[number]
        return report.spent if report else self._granted.of(number)

    def _all_spent(self) -> int:
        return sum(map(self._spent, range(len(self._shards))))

    def _left(self) -> int | None:
        if self._visits is None:
            return None
        return max(0, self._visits - self._before.spent - self._all_spent())

    def _is_idle(self) -> bool:
        return all(
            report is not None and report.idle and not report.under_way and not report.letters
            for report in self.reports
        )

    def totals(self) -> Totals:
        reports = [report for report in self.reports if report]
        spent = [self._spent(number) for number in range(len(self._shards))]
        in_all = self._before.spent + sum(spent)
        totals = sum((report.totals for report in reports), NOTHING + self._before)
        return Totals(
            **asdict(replace(totals, seconds=self._run_time.total)),
            waiting=sum(report.waiting for report in reports),
            spent=in_all,
            busiest=max(spent) / max(1, in_all),
            warnings=tuple(report.warning for report in reports if report.warning),
        )

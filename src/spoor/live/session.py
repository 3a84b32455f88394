"""A live crawl in a folder: everything opened, wired together, run, and closed again."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from spoor import __version__, registry
from spoor import settings as config
from spoor.crawl import Crawl
from spoor.errors import UsageError
from spoor.events import ClockSet, Event, Held
from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http import HttpFetcher
from spoor.fetch.responses import HEALS_AFTER
from spoor.files import SUFFIX
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.judging.classifiers import write_topic
from spoor.judging.language_tags import accept_language
from spoor.judging.profiles import tag_of
from spoor.judging.train_topic import topic_from
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.live.driver import LiveDriver
from spoor.live.page_reader import Archive, LiveDownloader, Reader, Remembering
from spoor.live.relearning import SnapshotWriter, check_links, earlier_crawl, relearn_all, warm_name
from spoor.live.sitemap_archive import SitemapArchive
from spoor.live.watchdog import NOTICED, Hold, SteadyClock, watching
from spoor.live.workers import ReadingLimits, can_be_sent, working
from spoor.ordering.admissions import AllOf, Manners
from spoor.ordering.scope import Scope
from spoor.ordering.traps import Traps
from spoor.parse.demanding import demanding
from spoor.pools import DaemonThreads
from spoor.pricing import Limits
from spoor.progress import Advance, unseen
from spoor.records import Failure, Judged, Outcome, Response, Visit
from spoor.roles import Downloader, Judge, Troubles
from spoor.settings import GIVEN_IN_PYTHON, Config
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.duplicates import Duplicates
from spoor.store.incidents import InWork, SavedTroubles, died_of
from spoor.store.journal import Journal, last_moment
from spoor.store.sitemap_versions import SitemapVersions
from spoor.store.warc import WarcKeeper
from spoor.strategy import Strategy, prior_of
from spoor.urls import host_of

# What the `spoor` command changes for its whole process; a program that imports spoor decides for itself.


_MMAP_THRESHOLD = -3
"""`M_MMAP_THRESHOLD` of glibc's malloc.h."""
_LARGE = 1 << 19
"""Bytes."""


def give_back_large_blocks() -> None:
    """For the whole process. Blocks of half a megabyte and more come from the system one by one, and go back when they
    are freed. By itself glibc raises that bound with every large block that it frees, up to 32 MB; from then on the
    bodies of pages lie among everything else, and what is left of them in pieces. Nothing happens without glibc."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").mallopt(_MMAP_THRESHOLD, _LARGE)


ALLOCATIONS_BETWEEN_SEARCHES = 50_000
"""What a crawl makes lives long or dies at once, without circles. Python would search for circles after every 700 new
objects, which takes a twentieth of all time."""


def search_seldom_for_circles() -> None:
    """For the whole process."""
    gc.set_threshold(ALLOCATIONS_BETWEEN_SEARCHES, *gc.get_threshold()[1:])


# A live crawl in a folder: everything opened, wired together, run, and closed again.


AGENT = "spoor"
"""The name by which robots rules call us."""

LOOKUPS = 64
"""Names that are looked up at once."""

WAITING = 4
"""Processes that read pages where a page waits for its translations, unless somebody asks for another number."""
CALLS = 3
"""Times that a page waits for translations at most: what is judged, what is classified, what stands around links."""

ADDRESS_DELAY = 0.25
"""The delay in seconds of all hosts at one IP address after a visit to one of them."""


@dataclass
class Session:
    """A crawl that can be run once. `stop` may be called at any time from the same loop."""

    crawl: Crawl
    driver: LiveDriver
    archive: Archive
    snapshots: SnapshotWriter
    _why: str = ""
    _noted: list[Event] = field(default_factory=list, init=False)

    def stop(self, why: str) -> None:
        self._why = self._why or why
        self.driver.stop()

    async def run(self) -> AsyncIterator[list[Event]]:
        """The events of each batch, after they were committed and the WARC was told."""
        async for events in self.driver.run():
            self.archive.note(events)
            self.snapshots.committed(self.driver.clock())
            noted, self._noted = self._noted, []
            yield [*noted, *events]
        self.archive.journal.end(self.driver.clock(), self.ended(), self.crawl.idle)
        self.crawl.frontier.commit()
        await self.snapshots.finish(self.driver.clock())

    def note(self, event: Event) -> None:
        """Something happened that the crawl does not know of: it is in the journal with the next batch."""
        self.archive.journal.note([event])
        self._noted.append(event)

    def held(self, hold: Hold) -> None:
        self.note(Held(self.driver.clock(), hold.seconds, hold.cpu, hold.url, hold.where))

    def ended(self) -> str:
        """Why it stopped."""
        return self._why or self.crawl.ended()


Maker = Callable[[Judge], Strategy]
"""Makes a strategy that has learned nothing yet."""


@dataclass(frozen=True)
class Objects:
    """What a program gives as objects instead of by the names in the settings. A strategy that is given ready-made
    brings its own judge."""

    strategy: Strategy | Maker | None = None
    judge: Judge | None = None

    def unbound(self, settings: Config, folder: CrawlFolder | None = None) -> Strategy:
        """The strategy as it was asked for, with nothing learned. Translations are kept in the `folder`."""
        if isinstance(self.strategy, Strategy):
            return self.strategy.fresh()
        if self.judge is None and GIVEN_IN_PYTHON in settings.target.judge:
            raise _not_given("judge")
        translator = registry.translator_of(settings.translate, folder.translations if folder else None)
        judge = registry.judge_of(settings.target, self.judge, translator)
        if self.strategy is not None:
            return self.strategy(judge)
        if settings.crawl.strategy == GIVEN_IN_PYTHON:
            raise _not_given("strategy")
        return registry.strategy(settings.crawl.strategy, judge)

    def made(self, settings: Config) -> Objects:
        """The same with the strategy made from the settings. So what is wrong with it is said before a folder is made,
        and a model is read once."""
        return Objects(self.unbound(settings))


def _not_given(kind: str) -> UsageError:
    problem = f"the {kind} of this crawl was given as a Python object, which crawl.toml cannot hold"
    return UsageError(f"{problem}; resume it with spoor.crawl(…, {kind}=…), or name a {kind}")


NO_OBJECTS = Objects()


@contextlib.asynccontextmanager
async def open_session(
    folder: CrawlFolder,
    settings: Config,
    advance: Advance = unseen,
    objects: Objects = NO_OBJECTS,
    came: dict[str, Judged] | None = None,
) -> AsyncIterator[Session]:
    """The folder is locked by the caller; a crawl that it holds already is resumed. `advance` is told of every visit
    from which the strategy learns again. `came` is given every page with its texts, by URL, before the event that tells
    of it; whoever gives it takes the pages out again."""
    strategy = strategy_of(settings, objects, folder)
    earlier = earlier_crawl(settings, strategy, folder)
    store, died = SqliteStore(folder.database), died_of(folder.in_work)
    in_work, languages = InWork(folder.in_work), accepted_languages(settings, strategy)
    troubles = SavedTroubles(folder.troubles, in_work)
    with (
        contextlib.closing(store),
        contextlib.closing(in_work),
        WarcKeeper(folder.warcs, _about(settings, languages)) as keeper,
    ):
        check_links(strategy, store.connection)
        archive = _archive(store, keeper, troubles, settings)
        known = relearn_all(strategy, store.connection, earlier, advance, folder.snapshots, troubles)
        clock = SteadyClock()
        now = clock()
        kept = (store.connection, archive.journal, folder.snapshots, warm_name(earlier))
        snapshots = SnapshotWriter(strategy, *kept, known, now)
        frontier = Frontier(store, host_rules(settings), resumed_at=now)
        crawl = Crawl(strategy, frontier, _limits(settings, now), archive.journal, troubles)
        crawl.resume(now, died, last_moment(store.connection))
        crawl.begin(settings.crawl.seeds)
        count, reader = settings.crawl.workers, Reader.of(strategy, settings.limits.links_per_page, settings.parse)
        reader = reader if came is None else replace(reader, texts=True)
        # Nobody waits for a name that is looked up when the crawl is told to stop.
        asyncio.get_running_loop().set_default_executor(DaemonThreads(LOOKUPS))
        if reader.waits:
            await asyncio.to_thread(_warm_up, strategy, reader)
        else:
            _warm_up(strategy, reader)
        limits = _reading_limits(settings, reader)
        async with (
            working(count or (WAITING if reader.waits else 1), reader, limits) as workers,
            fetcher_for(settings, clock) as fetcher,
        ):
            away = workers if await can_be_sent(reader) else None
            reader = replace(reader, apart=away is None)
            everything = count > 0 or reader.waits
            listings = _sitemaps(store, archive) if settings.store.keep == "all" else None
            downloader: Downloader = LiveDownloader(
                fetcher, archive, reader, away, everything, troubles, languages, listings
            )
            downloader = downloader if came is None else Remembering(downloader, came)
            driver = LiveDriver(crawl, downloader, settings.crawl.connections, clock, troubles)
            session = Session(crawl, driver, archive, snapshots)
            async with watching(lambda: in_work.url, session.held), _watching_clock(clock, session):
                yield session


@contextlib.asynccontextmanager
async def _watching_clock(clock: SteadyClock, session: Session) -> AsyncIterator[None]:
    async def watch() -> None:
        while True:
            await asyncio.sleep(NOTICED)
            if jump := clock.jump():
                session.note(ClockSet(clock(), jump))

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()


def strategy_of(settings: Config, objects: Objects = NO_OBJECTS, folder: CrawlFolder | None = None) -> Strategy:
    """The strategy asked for, bound by scope, manners and a sense for traps."""
    named = objects.unbound(settings, folder)
    scope = settings.scope
    bounds = Scope(scope.include, scope.exclude, scope.hosts, scope.domains, scope.max_depth, scope.pages_per_host)
    return replace(named, admission=AllOf((Manners(), bounds, Traps(), named.admission)))


def with_kept_model(settings: Config, folder: CrawlFolder) -> Config:
    """What was trained from a folder of examples stays with the crawl, so that it is resumed with the same judge."""
    examples = settings.target.examples
    if not examples or examples.endswith(SUFFIX):
        return settings
    kept = folder.path.resolve() / f"examples{SUFFIX}"
    write_topic(kept, topic_from(Path(examples)))
    return replace(settings, target=replace(settings.target, examples=str(kept)))


def user_agent(settings: Config) -> str:
    """`spoor/0.1.0 (+https://example.org/our-crawl)`."""
    name = settings.crawl.user_agent or f"{AGENT}/{__version__}"
    return f"{name} (+{settings.crawl.contact})" if settings.crawl.contact else name


def accepted_languages(settings: Config, strategy: Strategy) -> str:
    """The header Accept-Language, "" for none: as the settings say, else by the language of the target."""
    return settings.crawl.accept_language or accept_language(tag_of(prior_of(strategy.judge).language))


def _archive(store: SqliteStore, keeper: WarcKeeper, troubles: Troubles, settings: Config) -> Archive:
    journal = Journal.create(store.connection)
    Duplicates.create(store.connection)
    duplicates = Duplicates(store.connection)
    store.write_along(journal.write)
    store.write_along(duplicates.write)
    return Archive(keeper, journal, duplicates, troubles, relevant_only=settings.store.keep == "relevant")


def _sitemaps(store: SqliteStore, archive: Archive) -> SitemapArchive:
    SitemapVersions.create(store.connection)
    versions = SitemapVersions(store.connection)
    store.write_along(versions.write)
    return SitemapArchive(archive.keeper, archive.duplicates, versions, archive.archived)


def _about(settings: Config, languages: str) -> dict[str, str]:
    settings_line = " ".join(config.dumps(settings).split())
    return {
        "software": f"spoor/{__version__}",
        "http-header-user-agent": user_agent(settings),
        **({"http-header-accept-language": languages} if languages else {}),
        "robots": "obey",
        "settings": settings_line,
    }


def host_rules(settings: Config) -> HostRules:
    """What every host is promised, at the least."""
    polite, delay = settings.politeness, settings.politeness.host_delay
    return HostRules(delay, min(delay, ADDRESS_DELAY), polite.connections_per_host, ask_first=True)


def _limits(settings: Config, now: float) -> Limits:
    asked = settings.crawl
    until = None if asked.max_minutes is None else now + 60 * asked.max_minutes
    longest = 3600 * asked.retry_hours
    growth = max(1.0, longest / HEALS_AFTER) ** (1 / max(1, asked.tries - 2))
    return Limits(
        asked.max_pages,
        asked.tries,
        growth,
        longest,
        agent=AGENT,
        began=now,
        until=until,
        effort=asked.effort,
        sitemaps=asked.sitemaps,
    )


def fetcher_for(settings: Config, clock: Callable[[], float] = time.time) -> HttpFetcher:
    asked, agent = settings.crawl, user_agent(settings)
    limits = FetchLimits.of(settings.limits, settings.parse.documents)
    return HttpFetcher(agent, limits, clock, asked.connections, asked.proxy or None, asked.allow_private)


def _warm_up(strategy: Strategy, reader: Reader) -> None:
    """Crawls a few pages before the first request, with a copy that is thrown away: a page with one link, one with
    several, and one that fails. The first time loads tables and compiled code, which takes most of a second or more;
    during a crawl, every request would wait for that."""
    demanding(b"")
    home = "http://warm.invalid/"
    outcomes: dict[str, Outcome] = {f"{home}gone": Failure("HTTP 404")}
    for page, links in (("", ("one", "two", "gone")), ("one", ("two",)), ("two", ())):
        url = home + page
        found = " ".join(f"<a href='{home}{link}'>a link</a>" for link in links)
        body = f"<title>t</title><p>Some words and {found}</p>".encode()
        response = Response(url, 200, {"content-type": "text/html"}, body, body, b"", b"", "", 0.0, 0.0)
        outcomes[url] = reader.read(Visit(url, host_of(url), 0, 0.0), response)
    crawl = Crawl(strategy.fresh(), Frontier(MemoryStore()), troubles=SavedTroubles(None))
    crawl.begin([home])
    for _ in simulate(crawl, WrittenWorld(outcomes)):
        pass


def _reading_limits(settings: Config, reader: Reader) -> ReadingLimits:
    """With the time for which a page may wait for its translations."""
    waiting = CALLS * (settings.translate.answer_seconds + 1.0) if reader.waits else 0.0
    return ReadingLimits(settings.limits.parse_seconds + waiting, settings.limits.parse_bytes)


async def run_for(session: Session, minutes: float | None) -> AsyncIterator[list[Event]]:
    """Like `Session.run`, but stops when the time is up."""
    if minutes is not None:
        asyncio.get_running_loop().call_later(60 * minutes, session.stop, f"{minutes:g} minutes are over")
    async for events in session.run():
        yield events

"""Opens, connects and closes all parts of a live crawl in a folder."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace

from spoor import __version__, roles
from spoor import settings as config
from spoor.compiled import prepare
from spoor.crawl import Crawl
from spoor.crawling.guidance import Guidance
from spoor.crawling.share import Handover, Share
from spoor.events import ClockSet, Event
from spoor.fetch.http import HttpFetcher
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.live.action_applier import ActionApplier
from spoor.live.active_learning import ActiveLearning, learning_of, resumed_judge
from spoor.live.archive import Archive, ResponseArchive
from spoor.live.downloader import CollectingDownloader, LaterSteps, LiveDownloader, PageFetcher
from spoor.live.driver import LiveDriver
from spoor.live.example_pages import fetch_examples, keep_examples
from spoor.live.from_settings import (
    AGENT,
    LOOKUPS,
    NO_OBJECTS,
    WAITING,
    Objects,
    accepted_languages,
    fetcher_for,
    host_rules,
    kernels_for,
    limits_of,
    reading_limits,
    strategy_of,
    user_agent,
    within_limit,
)
from spoor.live.page_reader import Reader
from spoor.live.reading_processes import packed_to_send, reading
from spoor.live.relearning import SnapshotWriter, check_links, earlier_crawl, relearn_all, warm_name, warm_name_of
from spoor.live.running import Session
from spoor.live.saturated import SaturatedLinks, saturated_links
from spoor.live.scripts import Scripts, browser_for, program_for
from spoor.live.sitemap_archive import SitemapArchive, SitemapVersions
from spoor.live.sub_resources import SubResourceFetcher
from spoor.live.watchdog import NOTICED, SteadyClock, watching
from spoor.live.workers import Workers, WorkerSetup, working
from spoor.parse.demanding import demanding
from spoor.pools import DaemonThreads
from spoor.pricing import Limits
from spoor.progress import Advance, unseen
from spoor.records import Failure, Judged, Outcome, Page, Response, Visit
from spoor.render.browser import Browser
from spoor.render_budget import NEVER
from spoor.roles import Downloader, Saturated, Saturating, Troubles
from spoor.settings import Config, ScopeSettings
from spoor.stopping import LastRequests, too_few
from spoor.store.copied_mail import mail_of
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.duplicates import Duplicates
from spoor.store.incidents import CurrentUrl, SavedTroubles, died_of
from spoor.store.journal import Journal, demoted_hosts, set_back
from spoor.store.mail import Mail
from spoor.store.recent import last_requests
from spoor.store.renders import Renders
from spoor.store.run_time import RunTime
from spoor.store.steered import SteeringLog, steered
from spoor.store.verdicts import last_change
from spoor.store.warc import WarcWriter
from spoor.strategy import Strategy
from spoor.urls import host_of

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Journals:
    """Passes events to several journals."""

    journals: Sequence[roles.Journal]

    def note(self, events: Sequence[Event]) -> None:
        for journal in self.journals:
            journal.note(events)


@contextlib.asynccontextmanager
async def open_session(
    folder: CrawlFolder,
    settings: Config,
    advance: Advance = unseen,
    objects: Objects = NO_OBJECTS,
    came: dict[str, Judged] | None = None,
    share: Share | None = None,
) -> AsyncIterator[Session]:
    """The caller must hold the lock of the folder. A crawl in the folder is resumed. `advance` is called for each visit
    from which the strategy relearns. `came` receives each page with its texts, by URL, before its event; the caller
    must remove the pages. With a `share` of the hosts the session is one shard of a crawl."""
    # Daemon threads: stopping does not wait for DNS lookups.
    asyncio.get_running_loop().set_default_executor(DaemonThreads(LOOKUPS))
    await asyncio.to_thread(prepare, kernels_for(settings, objects))
    await keep_examples(folder.examples, settings.target.like, lambda urls: _fetched(urls, settings))
    fitting, too_many = within_limit(settings)
    if too_many:
        _log.warning("%s", too_many)
    program, no_browser = program_for(settings.render)
    strategy = strategy_of(settings, objects, folder)
    is_shared = settings.crawl.workers > 0 and isinstance(strategy.scorer, Saturating)
    with (
        saturated_links() if is_shared else contextlib.nullcontext() as saturated,
        _resumed(folder, settings, strategy, advance, share, saturated) as resumed,
    ):
        reader = Reader.of(resumed.crawl.strategy, settings.limits.links_per_page, settings.parse)
        reader = reader if came is None and resumed.learning is None else replace(reader, texts=True)
        await _warm_up(resumed.crawl.strategy, reader)
        later = _later_steps(resumed, settings, program)
        async with (
            _page_fetcher(resumed, fitting, reader, later) as own,
            _workers(resumed, fitting, folder, own, saturated) as workers,
            browser_for(program, settings.render) as browser,
        ):
            last_word = None if resumed.learning is None else resumed.learning.judged
            downloader = LiveDownloader(own, resumed.archive, workers, last_word)
            seen: Downloader = downloader if came is None else CollectingDownloader(downloader, came)
            connections, is_shard = fitting.crawl.connections, share is not None
            driver = LiveDriver(resumed.crawl, seen, connections, resumed.clock, resumed.troubles, is_shard)
            if browser is not None:
                downloader.scripts = _scripts(resumed, settings, browser, own.fetcher, driver)
            session = _session(resumed, settings, folder, driver, no_browser)
            async with (
                watching(lambda: resumed.in_work.url, session.held),
                _watching_clock(resumed.clock, session),
            ):
                yield session


@dataclass(frozen=True)
class _Resumed:
    """A crawl as loaded from its folder, ready to be driven."""

    crawl: Crawl
    store: SqliteStore
    archive: Archive
    renders: Renders
    snapshots: SnapshotWriter
    learning: ActiveLearning | None
    mail: Mail | None
    earlier: CrawlFolder | None
    languages: str
    in_work: CurrentUrl
    troubles: SavedTroubles
    clock: SteadyClock
    run_time: RunTime


@contextlib.contextmanager
def _resumed(
    folder: CrawlFolder,
    settings: Config,
    strategy: Strategy,
    advance: Advance,
    share: Share | None,
    saturated: Saturated | None,
) -> Iterator[_Resumed]:
    earlier, languages = earlier_crawl(settings, strategy, folder), accepted_languages(settings, strategy)
    store, died, in_work = SqliteStore(folder.database), died_of(folder.in_work), CurrentUrl(folder.in_work)
    troubles = SavedTroubles(folder.troubles, in_work)
    with (
        contextlib.closing(store),
        contextlib.closing(in_work),
        WarcWriter(folder.warcs, _about(settings, languages)) as keeper,
    ):
        db = store.connection
        check_links(strategy, db)
        archive = _archive(store, keeper, troubles)
        taught = resumed_judge(strategy.judge, db)
        strategy = strategy if taught is None else replace(strategy, judge=taught.judge)
        known = relearn_all(strategy, db, earlier, advance, folder.snapshots, troubles)
        clock = SteadyClock()
        now = clock()
        kept = (db, archive.journal, folder.snapshots, warm_name(earlier, db))
        snapshots = SnapshotWriter(strategy, *kept, known, now)
        mail, renders = _mail(store, archive.journal, share) if share else None, Renders.create(db)
        store.write_along(renders.write)
        guidance = Guidance.of(steered(db))
        rules = host_rules(settings, shards=len(share.others) + 1 if share else 1)
        frontier = Frontier(store, rules, resumed_at=now, tallied=share is not None)
        frontier.ask_delays(guidance.delays)
        for host in demoted_hosts(db):
            frontier.demote(host)
        journals = Journals((SteeringLog.create(store, archive.journal), renders))
        handover = Handover(share, mail) if share and mail else None
        crawl = Crawl(strategy, frontier, limits_of(settings, now), journals, troubles, guidance, handover, saturated)
        behind = set_back(db, now)
        crawl.resume(now, died, behind)
        crawl.begin(settings.crawl.seeds)
        run_time = RunTime.create(db, clock, behind)
        store.write_along(run_time.write)
        learning = None if taught is None else learning_of(taught, crawl, archive.journal, store, settings, clock)
        parts = (crawl, store, archive, renders, snapshots, learning, mail)
        yield _Resumed(*parts, earlier, languages, in_work, troubles, clock, run_time)


def _mail(store: SqliteStore, journal: Journal, share: Share) -> Mail:
    mail = mail_of(store.connection, lambda: journal.last, share.others)
    store.write_along(mail.write)
    return mail


def _later_steps(resumed: _Resumed, settings: Config, browser: str) -> LaterSteps:
    scripts = settings.render.mode if browser else NEVER
    return LaterSteps(settings.store.keep == "relevant", scripts, resumed.learning is not None)


@contextlib.asynccontextmanager
async def _page_fetcher(
    resumed: _Resumed, settings: Config, reader: Reader, later: LaterSteps
) -> AsyncIterator[PageFetcher]:
    """What fetches pages in this process."""
    packed = await packed_to_send(reader)
    sitemaps = _sitemaps(resumed.store, resumed.archive) if settings.store.keep == "all" else None
    async with fetcher_for(settings, resumed.clock) as fetcher:
        fetching = PageFetcher(
            fetcher,
            replace(reader, apart=packed is None),
            resumed.archive.responses,
            troubles=resumed.troubles,
            accept_language=resumed.languages,
            later=later,
            sitemaps=sitemaps,
        )
        if packed is None:
            yield fetching
            return
        async with reading(WAITING if reader.waits else 1, packed, reading_limits(settings, reader)) as processes:
            yield replace(fetching, processes=processes)


@contextlib.asynccontextmanager
async def _workers(
    resumed: _Resumed, settings: Config, folder: CrawlFolder, own: PageFetcher, saturated: SaturatedLinks | None
) -> AsyncIterator[Workers | None]:
    """None if this process fetches the pages itself."""
    count = settings.crawl.workers
    if not count or own.processes is None:
        yield None
        return
    setup = WorkerSetup(
        own.processes.reader,
        max(1, WAITING // count) if own.reader.waits else 1,
        settings,
        folder,
        resumed.clock,
        _about(settings, resumed.languages),
        resumed.languages,
        own.later,
    )
    async with working(count, setup, saturated) as workers:
        yield workers


def _scripts(
    resumed: _Resumed, settings: Config, browser: Browser, fetcher: HttpFetcher, driver: LiveDriver
) -> Scripts:
    resources = SubResourceFetcher(resumed.crawl, fetcher, driver, resumed.troubles, resumed.languages)
    return Scripts(settings.render, browser, resumed.crawl, resources, resumed.renders, resumed.clock)


def _session(resumed: _Resumed, settings: Config, folder: CrawlFolder, driver: LiveDriver, no_browser: str) -> Session:
    crawl, learning, snapshots = resumed.crawl, resumed.learning, resumed.snapshots
    db = resumed.store.connection
    actions = ActionApplier(folder, db, settings, crawl, resumed.clock)
    actions.on_verdicts = lambda: snapshots.renew(warm_name(resumed.earlier, db))
    last = _last_requests(settings, resumed.store)
    parts = (crawl, driver, resumed.archive, resumed.run_time, snapshots, actions, learning)
    session = Session(*parts, last, no_browser, resumed.mail)
    if learning is not None:
        learning.note, learning.on_error = session.note, driver.wake
        learning.on_lesson = lambda version: snapshots.renew(warm_name_of(resumed.earlier, version, last_change(db)))
    return session


async def _fetched(urls: Sequence[str], settings: Config) -> dict[str, Page]:
    """Fetches pages with the delays and robots.txt rules of the crawl itself."""
    plain = replace(settings, crawl=replace(settings.crawl, strategy="breadth-first"), scope=ScopeSettings(max_depth=0))
    strategy, clock, came = strategy_of(plain), SteadyClock(), dict[str, Judged]()
    frontier, troubles = Frontier(MemoryStore(), host_rules(settings)), SavedTroubles(None)
    async with fetcher_for(settings, clock) as fetcher:
        crawl = Crawl(strategy, frontier, Limits(tries=1, agent=AGENT, began=clock()), troubles=troubles)
        reader = replace(Reader.of(strategy, parsing=settings.parse), apart=True)
        downloader = CollectingDownloader(LiveDownloader(PageFetcher(fetcher, reader, troubles=troubles)), came)
        driver = LiveDriver(crawl, downloader, settings.crawl.connections, clock, troubles)
        return await fetch_examples(urls, driver, came)


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


def _last_requests(settings: Config, store: SqliteStore) -> LastRequests | None:
    if not settings.crawl.until:
        return None
    rule = too_few(settings.crawl.until)
    return LastRequests(rule, last_requests(store.connection, rule.requests))


def _archive(store: SqliteStore, keeper: WarcWriter, troubles: Troubles) -> Archive:
    journal = Journal.create(store.connection)
    Duplicates.create(store.connection)
    duplicates = Duplicates(store.connection)
    store.write_along(journal.write)
    store.write_along(duplicates.write)
    return Archive(ResponseArchive(keeper, duplicates), journal, duplicates, troubles)


def _sitemaps(store: SqliteStore, archive: Archive) -> SitemapArchive:
    SitemapVersions.create(store.connection)
    versions = SitemapVersions(store.connection)
    store.write_along(versions.write)
    return SitemapArchive(archive.responses.keeper, archive.duplicates, versions, archive.responses.keep)


def _about(settings: Config, languages: str) -> dict[str, str]:
    settings_line = " ".join(config.dumps(settings).split())
    return {
        "software": f"spoor/{__version__}",
        "http-header-user-agent": user_agent(settings),
        **({"http-header-accept-language": languages} if languages else {}),
        "robots": "obey",
        "settings": settings_line,
    }


async def _warm_up(strategy: Strategy, reader: Reader) -> None:
    """Warms up in a thread if reading waits for a server."""
    if reader.waits:
        await asyncio.to_thread(_crawl_a_little, strategy, reader)
    else:
        _crawl_a_little(strategy, reader)


def _crawl_a_little(strategy: Strategy, reader: Reader) -> None:
    """Crawls a few invented pages with a copy of the strategy before the first request: one with one link, one with
    several, and one that fails. The first pages load tables, and compile what no part has declared; during a crawl, all
    requests would wait for that."""
    demanding(b"")
    home = "http://warm.invalid/"
    outcomes: dict[str, Outcome] = {f"{home}gone": Failure("HTTP 404")}
    for page, links in (("", ("one", "two", "gone")), ("one", ("two",)), ("two", ())):
        url = home + page
        found = " ".join(f"<a href='{home}{link}'>a link with some words</a>" for link in links)
        body = f"<title>t</title><p>Some words and {found}</p>".encode()
        response = Response(url, 200, {"content-type": "text/html"}, body, body, b"", b"", "", 0.0, 0.0)
        outcomes[url] = reader.read(Visit(url, host_of(url), 0, 0.0), response)
    crawl = Crawl(strategy.fresh(), Frontier(MemoryStore()), troubles=SavedTroubles(None))
    crawl.begin([home])
    for _ in simulate(crawl, WrittenWorld(outcomes)):
        pass

"""A live crawl in a folder: everything opened, wired together, run, and closed again."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from spoor import __version__, registry, roles
from spoor import settings as config
from spoor.crawl import Crawl
from spoor.errors import OF_STORAGE, UsageError
from spoor.events import ClockSet, Event, Held
from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http import HttpFetcher
from spoor.fetch.responses import HEALS_AFTER
from spoor.files import SUFFIX
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.guidance import Guidance
from spoor.judging.classifiers import write_topic
from spoor.judging.language_tags import accept_language
from spoor.judging.profiles import tag_of
from spoor.judging.train_topic import topic_from
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.live.active_learning import ActiveLearning, learning_of, resumed_judge
from spoor.live.driver import LiveDriver
from spoor.live.example_pages import fetch_examples, read_examples, write_examples
from spoor.live.heeding import LOOK, Heeding, minutes_in, stopped_by
from spoor.live.page_reader import Archive, LiveDownloader, Reader, Remembering
from spoor.live.relearning import SnapshotWriter, check_links, earlier_crawl, relearn_all, warm_name, warm_name_of
from spoor.live.scripts import Scripts, browser_for, program_for
from spoor.live.sub_resources import SubResourceFetcher
from spoor.live.watchdog import NOTICED, Hold, SteadyClock, watching
from spoor.live.workers import ReadingLimits, can_be_sent, working
from spoor.ordering.admissions import AllOf, Manners
from spoor.ordering.scope import Scope
from spoor.ordering.traps import Traps
from spoor.parse.demanding import demanding
from spoor.pools import DaemonThreads
from spoor.pricing import Limits
from spoor.progress import Advance, unseen
from spoor.records import Failure, Judged, Outcome, Page, Response, Visit
from spoor.roles import Downloader, Judge, Troubles
from spoor.settings import GIVEN_IN_PYTHON, Config, ScopeSettings
from spoor.share import Handover, Share
from spoor.steering.log import SteeringLog
from spoor.stopping import LastRequests, too_few
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.duplicates import Duplicates
from spoor.store.incidents import InWork, SavedTroubles, died_of
from spoor.store.journal import Journal, last_moment
from spoor.store.mail import Mail
from spoor.store.recent import last_requests
from spoor.store.renders import Renders
from spoor.store.steered import steered
from spoor.store.warc import WarcKeeper
from spoor.strategy import Strategy, prior_of
from spoor.teaching.taught_judge import TaughtJudge
from spoor.teaching.teachers import check_teacher
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
    """A crawl that can be run once. `stop` may be called at any time from the same loop. `no_browser` says what is
    missing to render pages that need scripts, "" when nothing is."""

    crawl: Crawl
    driver: LiveDriver
    archive: Archive
    snapshots: SnapshotWriter
    heeding: Heeding
    learning: ActiveLearning | None = None
    last_requests: LastRequests | None = None
    no_browser: str = ""
    _mail: Mail | None = None
    _why: str = ""
    _noted: list[Event] = field(default_factory=list, init=False)
    _deadline: asyncio.TimerHandle | None = field(default=None, init=False)

    def stop(self, why: str) -> None:
        self._why = self._why or why
        self.driver.stop()

    async def run(self) -> AsyncIterator[list[Event]]:
        """The events of each batch, after they were committed and the WARC was told."""
        self.heed()
        async with self._listening(), contextlib.nullcontext() if self.learning is None else self.learning.beside():
            going_on = True
            while going_on:
                async for events in self.driver.run():
                    self.archive.note(events)
                    self.snapshots.committed(self.driver.clock())
                    self._stop_if_too_few(events)
                    if self.learning is not None:
                        self.learning.wake()
                    yield [*self._taken(), *events]
                going_on = not self._why and self.heed()
        if self.learning is not None and self.learning.finish():
            yield self._taken()
        self.archive.journal.end(self.driver.clock(), self.ended(), self.crawl.idle)
        self.crawl.frontier.commit()
        await self.snapshots.finish(self.driver.clock())

    def _stop_if_too_few(self, events: list[Event]) -> None:
        if (last := self.last_requests) is not None:
            last.note(events)
            if last.are_too_few:
                self.stop(
                    f"the last {last.rule.requests:,} requests found fewer than {last.rule.finds:,} relevant pages"
                )

    async def learn(self) -> list[Event]:
        """Instead of `run`: nothing is fetched, but the judge learns from all answers that it does not know yet."""
        if self.learning is not None and self.learning.finish():
            await self.snapshots.finish(self.driver.clock())
        return self._taken()

    def _taken(self) -> list[Event]:
        noted, self._noted = self._noted, []
        return noted

    @contextlib.asynccontextmanager
    async def _listening(self) -> AsyncIterator[None]:
        async def listen() -> None:
            while True:
                await asyncio.sleep(LOOK)
                try:
                    self.heed()
                except OF_STORAGE as error:
                    self.driver.wake(error)

        listening = asyncio.create_task(listen())
        try:
            yield
        finally:
            listening.cancel()

    def heed(self) -> bool:
        """Does what persons asked for since the last time, if anything."""
        events = self.heeding.heed()
        self._noted += events
        if who := stopped_by(events):
            self.stop(f"{who} stopped it")
        if (minutes := minutes_in(events)) is not None:
            self.stop_after(minutes)
        if events:
            self.driver.wake()
        return bool(events)

    def stop_after(self, minutes: float) -> None:
        """Since it began, whatever was said before."""
        if self._deadline is not None:
            self._deadline.cancel()
        left = self.crawl.limits.began + 60 * minutes - self.driver.clock()
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(max(0.0, left), self.stop, f"{minutes:g} minutes are over")

    def note(self, event: Event) -> None:
        """Something happened that the crawl does not know of: it is in the journal with the next batch."""
        self.archive.journal.note([event])
        self._noted.append(event)

    def held(self, hold: Hold) -> None:
        self.note(Held(self.driver.clock(), hold.seconds, hold.cpu, hold.url, hold.where))

    @property
    def mail(self) -> Mail:
        """Of a shard."""
        assert self._mail is not None
        return self._mail

    def ended(self) -> str:
        """Why it stopped."""
        return self._why or self.crawl.ended()


@dataclass(frozen=True)
class Journals:
    """Several that are told the same."""

    journals: Sequence[roles.Journal]

    def note(self, events: Sequence[Event]) -> None:
        for journal in self.journals:
            journal.note(events)


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
        judge = registry.judge_of(settings.target, self.judge, translator, _examples(settings, folder))
        check_teacher(settings.teacher, settings.target.about, TaughtJudge.of(judge))
        if self.strategy is not None:
            return self.strategy(judge)
        if settings.crawl.strategy == GIVEN_IN_PYTHON:
            raise _not_given("strategy")
        return registry.strategy(settings.crawl.strategy, judge)

    def made(self, settings: Config) -> Objects:
        """The same with the strategy made from the settings. So what is wrong with it is said before a folder is made,
        and a model is read once. Not where examples must be fetched first."""
        made = self.unbound(settings)
        return self if settings.target.like_urls else Objects(made)


def _not_given(kind: str) -> UsageError:
    problem = f"the {kind} of this crawl was given as a Python object, which crawl.toml cannot hold"
    return UsageError(f"{problem}; resume it with spoor.crawl(…, {kind}=…), or name a {kind}")


NO_OBJECTS = Objects()


def _examples(settings: Config, folder: CrawlFolder | None) -> Mapping[str, Page]:
    """The examples that are URLs; without a folder, in which they are kept once they were fetched, pages in their
    place."""
    urls = settings.target.like_urls
    return {url: Page(url, title=url) for url in urls} if folder is None else read_examples(folder.examples)


@contextlib.asynccontextmanager
async def open_session(
    folder: CrawlFolder,
    settings: Config,
    advance: Advance = unseen,
    objects: Objects = NO_OBJECTS,
    came: dict[str, Judged] | None = None,
    share: Share | None = None,
) -> AsyncIterator[Session]:
    """The folder is locked by the caller; a crawl that it holds already is resumed. `advance` is told of every visit
    from which the strategy learns again. `came` is given every page with its texts, by URL, before the event that tells
    of it; whoever gives it takes the pages out again. With a `share` of the hosts it is one shard of a crawl."""
    await _fetch_examples(folder, settings)
    strategy = strategy_of(settings, objects, folder)
    program, no_browser = program_for(settings.render)
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
        taught = resumed_judge(strategy.judge, store.connection)
        strategy = strategy if taught is None else replace(strategy, judge=taught.judge)
        known = relearn_all(strategy, store.connection, earlier, advance, folder.snapshots, troubles)
        clock = SteadyClock()
        now = clock()
        kept = (store.connection, archive.journal, folder.snapshots, warm_name(earlier, store.connection))
        snapshots = SnapshotWriter(strategy, *kept, known, now)
        mail = Mail(store.connection, lambda: archive.journal.last) if share else None
        handover = Handover(share, mail) if share and mail else None
        if mail:
            store.write_along(mail.write)
        rules = host_rules(settings, shards=len(share.others) + 1 if share else 1)
        frontier = Frontier(store, rules, resumed_at=now, tallied=share is not None)
        renders = Renders.create(store.connection)
        store.write_along(renders.write)
        log, guidance = SteeringLog.create(store, archive.journal), Guidance.of(steered(store.connection))
        frontier.ask_delays(guidance.delays)
        journals = Journals((log, renders))
        crawl = Crawl(strategy, frontier, _limits(settings, now), journals, troubles, guidance, handover)
        crawl.resume(now, died, last_moment(store.connection))
        crawl.begin(settings.crawl.seeds)
        learning = None if taught is None else learning_of(taught, crawl, archive.journal, store, settings, clock)
        count, reader = settings.crawl.workers, Reader.of(strategy, settings.limits.links_per_page, settings.parse)
        reader = reader if came is None and learning is None else replace(reader, texts=True)
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
            browser_for(program, settings.render) as browser,
        ):
            away = workers if await can_be_sent(reader) else None
            reader = replace(reader, apart=away is None)
            everything = count > 0 or reader.waits
            last_word = None if learning is None else learning.judged
            reading = (reader, away, everything, troubles, languages, last_word)
            downloader = LiveDownloader(fetcher, archive, *reading)
            visible: Downloader = downloader if came is None else Remembering(downloader, came)
            driver = LiveDriver(crawl, visible, settings.crawl.connections, clock, troubles, share is not None)
            if browser is not None:
                resources = SubResourceFetcher(crawl, fetcher, driver, troubles, languages)
                downloader.scripts = Scripts(settings.render, browser, crawl, resources, renders, clock)
            heeding = Heeding(folder, store.connection, settings, crawl, clock)
            last = _last_requests(settings, store)
            session = Session(crawl, driver, archive, snapshots, heeding, learning, last, no_browser, mail)
            if learning is not None:
                learning.note = session.note
                learning.on_lesson = lambda version: snapshots.renew(warm_name_of(earlier, version))
            async with watching(lambda: in_work.url, session.held), _watching_clock(clock, session):
                yield session


async def _fetch_examples(folder: CrawlFolder, settings: Config) -> None:
    """Once, with the delays and the obedience to robots.txt that the crawl itself has."""
    urls = [url for url in settings.target.like_urls if url not in read_examples(folder.examples)]
    if not urls:
        return
    plain = replace(settings, crawl=replace(settings.crawl, strategy="breadth-first"), scope=ScopeSettings(max_depth=0))
    strategy, clock, came = strategy_of(plain), SteadyClock(), dict[str, Judged]()
    frontier, troubles = Frontier(MemoryStore(), host_rules(settings)), SavedTroubles(None)
    async with fetcher_for(settings, clock) as fetcher:
        crawl = Crawl(strategy, frontier, Limits(tries=1, agent=AGENT, began=clock()), troubles=troubles)
        reader = replace(Reader.of(strategy, parsing=settings.parse), apart=True)
        downloader = Remembering(LiveDownloader(fetcher, None, reader, troubles=troubles), came)
        driver = LiveDriver(crawl, downloader, settings.crawl.connections, clock, troubles)
        pages = await fetch_examples(urls, driver, came)
    write_examples(folder.examples, read_examples(folder.examples) | pages)


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


def _about(settings: Config, languages: str) -> dict[str, str]:
    settings_line = " ".join(config.dumps(settings).split())
    return {
        "software": f"spoor/{__version__}",
        "http-header-user-agent": user_agent(settings),
        **({"http-header-accept-language": languages} if languages else {}),
        "robots": "obey",
        "settings": settings_line,
    }


def host_rules(settings: Config, shards: int = 1) -> HostRules:
    """What every host is promised, at the least. Hosts of several shards may be at one IP address: each waits longer,
    so that all together ask it no more often."""
    polite, delay = settings.politeness, settings.politeness.host_delay
    return HostRules(delay, min(delay, ADDRESS_DELAY) * shards, polite.connections_per_host, ask_first=True)


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
        session.stop_after(minutes)
    async for events in session.run():
        yield events

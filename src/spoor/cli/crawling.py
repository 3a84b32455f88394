"""`spoor crawl`: collect relevant pages from the web into a folder; on the same folder it resumes."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from spoor import registry
from spoor import settings as config
from spoor.actions import described
from spoor.cli.dashboards import beside_crawl
from spoor.cli.terminal import announced, is_quiet, print_json, progress, remark, say
from spoor.compiled import prepare
from spoor.errors import REPORT_IT, BadInput, RequestsBroken, UsageError
from spoor.events import (
    Event,
    Failed,
    Held,
    HostDemoted,
    HttpsPaused,
    HttpsResumed,
    Paused,
    Resumed,
    Steered,
    Taught,
    Troubled,
    Visited,
)
from spoor.fetch.proxies import Proxies
from spoor.files import SUFFIX
from spoor.live.from_settings import NO_OBJECTS, Objects, kernels_for, strategy_of
from spoor.live.inputs import check_inputs, with_kept_inputs
from spoor.live.measuring import metrics_of
from spoor.live.process import give_back_large_blocks, search_seldom_for_circles
from spoor.live.relearning import check_target, earlier_crawl, misleading
from spoor.live.running import Session, run_for
from spoor.live.scripts import program_for
from spoor.live.session import open_session
from spoor.live.surroundings import remarks
from spoor.metrics import registry_of, serving
from spoor.report.showing import count_of, duration, moment, plain, share, visits_in_words
from spoor.settings import Config
from spoor.stopping import ExpectedFinds
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.store.recent import expected_in
from spoor.store.sharded_folder import ShardedFolder
from spoor.store.totals import CrawlTotals
from spoor.trust import ALL_KEYS, Key, admit

# A status line of a running crawl: redrawn on a terminal, otherwise printed and logged every few seconds.


_log = logging.getLogger(__name__)

SECONDS_BETWEEN_LINES = 10.0
SECONDS_WITHOUT_A_PAGE = 600.0
"""After this time without a page, a message is printed."""


MOST_HOSTS_NAMED = 5
"""Number of demoted hosts in the summary."""


class LiveLine:
    """Shows events and the totals of all runs; all output goes to standard error."""

    def __init__(self, session: Session) -> None:
        self._session, self._crawl, self._frontier = session, session.crawl, session.crawl.frontier
        self._last_line = time.monotonic()
        self._before = session.totals()
        self._troubled = self._holds = 0
        self._demoted: set[str] = set()
        self._says_no_browser = False
        self._longest: Held | None = None
        self._last_failure = ""
        self.expected: ExpectedFinds | None = None
        self._last_page, self._silence_reported = self._last_line, False
        self._last_requests = self._before.requests
        shown = _terminal() and not is_quiet()
        self._live = Live(console=Console(stderr=True), transient=True, refresh_per_second=4) if shown else None

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def tell(self, events: Sequence[Event]) -> None:
        for event in events:
            _log.debug("%s", event)
            match event:
                case Visited():
                    self._last_page, self._silence_reported = time.monotonic(), False
                    self._tell_no_browser(event)
                case Failed():
                    self._last_failure = f"{event.visit.url}: {event.reason}"
                case Troubled():
                    self._troubled += 1
                    _log.warning("%s: %s; a sample is in the folder trouble", event.url, event.reason)
                case HostDemoted(host=host, because=because):
                    (self._demoted.add if because else self._demoted.discard)(host)
                case Held():
                    self._holds += 1
                    _log.info("the event loop was blocked for %.1f s by %s: %s", event.seconds, event.url, event.where)
                    if self._longest is None or event.seconds > self._longest.seconds:
                        self._longest = event
                case Taught():
                    self._say(taught_line(event))
                case Paused(since=since, reason=reason):
                    self._say(f"nothing has answered since {moment(since)}; the last failure was: {reason}; paused")
                case HttpsPaused(at=at, since=since, reason=reason):
                    self._say(https_line(at, since, reason))
                case HttpsResumed(seconds=seconds):
                    self._say(f"https certificates are accepted again after {duration(seconds)}; https links go on")
                case Resumed(seconds=seconds):
                    self._say(f"something answers again after {duration(seconds)}; resumed")
                case Steered(who=who, action=action, refused=refused):
                    refusal = f"; refused: {refused}" if refused else ""
                    self._say(f"{who} asks: {plain(described(action), 400)}{refusal}")
        self.tick()

    def _tell_no_browser(self, event: Visited) -> None:
        if event.needs_scripts and self._session.no_browser and not self._says_no_browser:
            self._says_no_browser = True
            self._say(f"pages that need scripts are not rendered: {self._session.no_browser}")

    def tick(self) -> None:
        """Call regularly, whether or not there were events."""
        if self._live:
            self._live.update(Text(self.line()))
        if time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            requests = self._session.totals().requests
            if requests > self._last_requests:
                self._last_line, self._last_requests = time.monotonic(), requests
                _log.info("%s", self.line())
                if not self._live:
                    remark(self.line())
        if self._crawl.guidance.paused_by:
            self._last_page = time.monotonic()
        if time.monotonic() - self._last_page >= SECONDS_WITHOUT_A_PAGE and not self._silence_reported:
            self._silence_reported = True
            self._say(self._gains_nothing())

    def _gains_nothing(self) -> str:
        wake_at = self._crawl.wake_at()
        following = "" if wake_at is None else f", the next is tried from {moment(wake_at)} on"
        failure = f"; the last failure was {self._last_failure}" if self._last_failure else ""
        waiting = f"{len(self._frontier):,} links wait{following}"
        return f"no page has arrived for {duration(SECONDS_WITHOUT_A_PAGE)}: {waiting}{failure}"

    def _say(self, line: str) -> None:
        _log.info("%s", line)
        if self._live:
            self._live.console.print(Text(line))
        else:
            remark(line)

    def line(self) -> str:
        totals = self._session.totals()
        seconds = max(1e-9, totals.seconds)
        found = f"{totals.relevant:,} relevant ({share(totals.relevant, totals.pages)})"
        done = f"{totals.pages:,} pages  {totals.pages / seconds:,.1f}/s  {found}"
        queue = f"{len(self._frontier):,} waiting  {self._frontier.hosts_delayed():,} hosts delayed"
        idle = f"idle by choice {self._crawl.idle / max(1e-9, self._session.run_time.seconds):.0%}"
        since, who = self._crawl.paused_since, self._crawl.guidance.paused_by
        end = self._end(totals) if since is None else f"paused: nothing has answered since {moment(since)}"
        if (https_since := self._crawl.https_paused_since) is not None:
            end = f"https links wait: no certificate was accepted since {moment(https_since)}"
        end = f"paused by {plain(who, 40)}, until `spoor unpause`" if who else end
        scripts = f"{totals.needs_scripts:,} need scripts  " if totals.needs_scripts else ""
        scripts += f"{totals.rendered:,} rendered ({totals.gained:,} gained)  " if totals.rendered else ""
        scripts = f"{totals.internal_errors:,} internal errors  {scripts}" if totals.internal_errors else scripts
        return f"{done}  {queue}  {totals.failures:,} failures  {scripts}{idle}  {self._expected()}{end}"

    def _expected(self) -> str:
        if (expected := self.expected) is None:
            return ""
        return f"expected: {expected.among_waiting:,.0f} relevant waiting, {expected.next_500:,.0f} in the next 500  "

    def _end(self, totals: CrawlTotals) -> str:
        """The reason and time of the end of the crawl, by the budget that will be spent first."""
        ends, limits = [], self._crawl.limits
        if limits.visits is not None:
            left = max(0, limits.visits - self._frontier.spent)
            ends.append((left * totals.seconds / max(1, totals.visits), f"{left:,} visits left"))
        if limits.until is not None:
            allowed = limits.until - limits.began
            left_seconds = max(0.0, allowed - self._session.run_time.seconds)
            ends.append((left_seconds, f"{allowed / 60:g} minutes in all"))
        if not ends:
            return "ends when nothing waits"
        soonest, why = min(ends)
        return f"ends in {soonest:,.0f} s ({why})"

    @property
    def nothing_but(self) -> str:
        """The last failure, if no page was fetched in this run; otherwise ""."""
        return "" if self._session.totals().pages > self._before.pages else self._last_failure

    def summary(self, ended: str, folder: Path) -> str:
        totals = self._session.totals()
        found = f"{totals.relevant:,} relevant ({share(totals.relevant, totals.pages)})"
        if totals.relevant_duplicates:
            found += f", {count_of(totals.relevant_duplicates, 'duplicate')} among them"
        done = f"{count_of(totals.pages, 'page')} in {duration(totals.seconds)}, {found}"
        left = f"{visits_in_words(totals)}; {len(self._frontier):,} links still waiting"
        idle = f"a connection was idle for {self._crawl.idle:,.1f} s, waiting for better links on delayed hosts"
        end = f"ended because {ended}; the crawl is in {folder}"
        return "\n".join([f"{done}; {left}", idle, *self._mishaps(totals), end])

    def as_json(self, ended: str, folder: Path) -> dict[str, object]:
        return {
            "folder": str(folder),
            **self._session.totals().as_json(),
            "waiting": len(self._frontier),
            "idle": self._crawl.idle,
            "ended_because": ended,
        }

    def _mishaps(self, totals: CrawlTotals) -> Iterator[str]:
        if self._demoted:
            some = ", ".join(sorted(self._demoted)[:MOST_HOSTS_NAMED])
            more = ", …" if len(self._demoted) > MOST_HOSTS_NAMED else ""
            what = "nothing but duplicates or redirects to one page came, so their links come last"
            yield f"hosts from which {what}: {some}{more}"
        if totals.needs_scripts:
            missing = f"; {self._session.no_browser}" if self._session.no_browser else ""
            yield f"{totals.needs_scripts:,} pages need scripts: they have hardly any text{missing}"
        if totals.rendered:
            took = f"tabs were busy for {totals.render_seconds:,.1f} s"
            yield f"{totals.rendered:,} pages were rendered, {totals.gained:,} of them gained text or links; {took}"
        if self._troubled:
            yield f"{self._troubled:,} URLs were processed in part because of internal errors; samples are in trouble/"
        if totals.internal_errors:
            yield f"{totals.internal_errors:,} requests failed because of internal errors; samples are in trouble/"
        if self._longest is not None:
            yield f"the crawl stood still {count_of(self._holds, 'time')}, for up to {self._longest.seconds:.1f} s"


def https_line(at: float, since: float, reason: str) -> str:
    """A wrong clock shows in the times of the line."""
    what = f"no certificate of an https host has been accepted since {moment(since)}; the last failure was: {reason}"
    remedy = f"check the clock of this machine, which says {moment(at)}, and its CA certificates (SSL_CERT_FILE)"
    return f"{what}; https links wait: {remedy}"


def taught_line(event: Taught) -> str:
    doubts = {
        "confident verdicts that new answers contradict": event.surprises,
        "pages with two answers": event.contradictions,
    }
    doubtful = "".join(f"; {what}: {number:,}" for what, number in doubts.items() if number)
    source = count_of(event.answers, "answer") if event.answers else "the pages it has seen"
    learned = f"the judge has learned from {source}, version {event.version}"
    return f"{learned}: {event.changed:,} verdict{'s' * (event.changed != 1)} changed{doubtful}"


def _terminal() -> bool:
    return sys.stderr.isatty()


# `spoor crawl`: collects relevant pages from the web into a folder; on an existing folder it resumes.


SECONDS_BETWEEN_TICKS = 1.0
SECONDS_BETWEEN_FORECASTS = 30.0
FLAGS = {
    "language": ("target", "language"),
    "charset": ("target", "charset"),
    "script": ("target", "script"),
    "keywords": ("target", "keywords"),
    "topic": ("target", "topic"),
    "ontology": ("target", "ontology"),
    "judge": ("target", "judge"),
    "require": ("target", "require"),
    "strategy": ("crawl", "strategy"),
    "warm": ("crawl", "warm"),
    "max_pages": ("crawl", "max_pages"),
    "max_minutes": ("crawl", "max_minutes"),
    "until": ("crawl", "until"),
    "effort": ("crawl", "effort"),
    "workers": ("crawl", "workers"),
    "connections": ("crawl", "connections"),
    "contact": ("crawl", "contact"),
    "proxy": ("crawl", "proxy"),
    "allow_private": ("crawl", "allow_private"),
    "seeds": ("crawl", "seeds_file"),
    "seed": ("crawl", "seeds"),
    "host_delay": ("politeness", "host_delay"),
    "keep": ("store", "keep"),
    "render": ("render", "mode"),
    "local": ("shards", "local"),
    "copy_minutes": ("shards", "copy_minutes"),
}
"""The setting of crawl.toml for each flag."""


def run_crawl(arguments: argparse.Namespace) -> int:
    settings = settings_for(CrawlFolder(arguments.out), arguments)
    admit(settings, arguments.out, given_by(arguments))
    check_inputs(settings, CrawlFolder(arguments.out), given_by(arguments))
    objects = checked(settings, CrawlFolder(arguments.out))
    for line in remarks(settings.crawl.proxy, os.environ):
        _log.warning("%s", line)
    if shards := _shards(arguments):
        from spoor.cli.sharded_crawls import run_sharded

        return run_sharded(arguments, settings, objects, shards)
    if settings.shards.local:
        raise UsageError(f"--local {settings.shards.local}: say with --shards how many shards the crawl is to have")
    give_back_large_blocks()
    search_seldom_for_circles()
    with open_for_crawling(arguments.out) as folder:
        prepare(kernels_for(settings, objects), announced)
        return asyncio.run(_crawl(folder, with_kept_inputs(settings, folder), objects, arguments))


def _shards(arguments: argparse.Namespace) -> int | None:
    """None for a crawl without shards, which does not import Ray."""
    there = ShardedFolder(arguments.out).shards
    if there is None and (arguments.shards or 1) == 1:
        if arguments.cluster:
            raise UsageError(f"--cluster {arguments.cluster}: give the number of shards with --shards")
        if arguments.rebalance:
            raise UsageError(f"--rebalance: {arguments.out} is not a crawl of several shards")
        return None
    return arguments.shards or there


def checked(settings: Config, folder: CrawlFolder) -> Objects:
    """Builds the strategy. Reports errors in the settings before a folder is created."""
    check_target(settings, folder)
    objects = NO_OBJECTS.made(settings, folder)
    Proxies.of(settings.crawl.proxy, os.environ)
    program_for(settings.render)
    if warning := misleading(settings, earlier_crawl(settings, strategy_of(settings, objects), folder)):
        _log.warning("%s", warning)
    return objects


def given_by(arguments: argparse.Namespace) -> Collection[Key]:
    """The settings that the person gives with this command; all others are those of the folder."""
    if arguments.settings is not None:
        return ALL_KEYS
    return {key for flag, key in FLAGS.items() if getattr(arguments, flag) is not None}


def settings_for(folder: CrawlFolder, arguments: argparse.Namespace) -> Config:
    """The settings of the folder, or of the given file; flags override both."""
    earlier = folder.settings()
    if arguments.settings is not None and earlier is not None:
        raise UsageError(f"{folder.path} has its own crawl.toml; leave out {arguments.settings} to resume it")
    if arguments.settings is not None:
        table, beside = config.read(arguments.settings), arguments.settings.parent
    else:
        table, beside = config.parsed(earlier or "", str(folder.path / "crawl.toml")), folder.path
    return registry.checked(with_flags(table, arguments), beside)


def with_flags(table: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    merged = {section: dict(values) for section, values in table.items() if isinstance(values, dict)}
    merged = {**table, **merged}
    for flag, (section, key) in FLAGS.items():
        value = getattr(arguments, flag)
        if value is not None:
            merged.setdefault(section, {})[key] = _with_path(flag, value)
    return merged


def _with_path(flag: str, value: Any) -> Any:
    """Resolves the files that a flag names relative to the working directory."""
    if flag == "strategy":
        return registry.STRATEGIES.with_files(value, Path())
    if flag == "judge":
        return [registry.with_its_files(judge, Path()) for judge in value]
    names_file = flag in ("seeds", "topic", "ontology", "warm") or (flag == "language" and value.endswith(SUFFIX))
    return str(Path(value).resolve()) if names_file else value


async def _tick(line: LiveLine) -> None:
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_TICKS)
        line.tick()


async def _look_ahead(line: LiveLine, folder: CrawlFolder) -> None:
    """In a thread, because it counts every waiting link."""
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_FORECASTS)
        with contextlib.suppress(BadInput):  # Tried again later.
            line.expected = await asyncio.to_thread(expected_in, folder)


async def _crawl(folder: CrawlFolder, settings: Config, objects: Objects, arguments: argparse.Namespace) -> int:
    async with contextlib.AsyncExitStack() as opened:
        with progress("learning from earlier visits") as advance:
            session = await opened.enter_async_context(open_session(folder, settings, advance, objects))
        folder.write_settings(config.dumps(settings))
        if arguments.dashboard is not None:
            remark(await opened.enter_async_context(beside_crawl(folder, arguments.dashboard)))
        _log.info("crawling into %s by %s", folder.path, settings.crawl.strategy)
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(name, session.stop, "it was interrupted")
        if who := session.crawl.guidance.paused_by:
            remark(f"paused by {plain(who)}: no requests are made until `spoor unpause {folder.path}`")
        if arguments.metrics is not None:
            registered = registry_of(metrics_of(session))
            address = await opened.enter_async_context(serving(registered, arguments.metrics))
            remark(f"metrics are at {address}")
        with LiveLine(session) as line:
            beside = [asyncio.create_task(task) for task in (_tick(line), _look_ahead(line, folder))]
            async for events in run_for(session, settings.crawl.max_minutes):
                line.tell(events)
            for task in beside:
                task.cancel()
        _log.info("%s", line.summary(session.ended(), folder.path).replace("\n", "; "))
        if arguments.json:
            print_json(line.as_json(session.ended(), folder.path))
        else:
            say(line.summary(session.ended(), folder.path))
        nothing_but = line.nothing_but
    if session.broken:
        raise RequestsBroken(f"{session.broken}; {REPORT_IT}")
    if nothing_but:
        raise BadInput(f"no page was fetched; the last failure was {nothing_but}")
    return 0

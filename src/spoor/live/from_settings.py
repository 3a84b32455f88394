"""The parts of a live crawl that depend only on its settings: strategy, limits, politeness, the fetcher."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from spoor import __version__, registry
from spoor.compiled import Kernels
from spoor.errors import UsageError
from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http import HttpFetcher
from spoor.fetch.proxies import Proxies
from spoor.fetch.responses import HEALS_AFTER
from spoor.frontier.entry import HostRules
from spoor.judging.language_tags import accept_language
from spoor.judging.profiles import tag_of
from spoor.live import page_reader
from spoor.live.example_pages import read_examples
from spoor.live.page_reader import Reader
from spoor.live.reading_processes import ReadingLimits
from spoor.open_files import OpenFiles, open_files, raise_limit
from spoor.ordering.admissions import AllOf, RespectNofollow
from spoor.ordering.scope import Scope
from spoor.ordering.traps import Traps
from spoor.pricing import Limits
from spoor.records import Page
from spoor.roles import Judge
from spoor.settings import GIVEN_IN_PYTHON, Config
from spoor.store.crawl_folder import CrawlFolder
from spoor.strategy import Strategy, prior_of
from spoor.teaching.student import Aim, Student
from spoor.teaching.taught_judge import TaughtJudge
from spoor.teaching.teachers import check_teacher

AGENT = "spoor"
"""The product token of this crawler in robots.txt."""

LOOKUPS = 64
"""Concurrent DNS lookups."""
WAITING = 4
"""Number of processes that read pages, if that waits for translations."""
CALLS = 3
"""Maximum number of translation calls for a page: the judged text, the classified text, the contexts of links."""

ADDRESS_DELAY = 0.25
"""The delay in seconds of all hosts at one IP address after a visit to one of them."""


Maker = Callable[[Judge], Strategy]
"""Makes a strategy that has learned nothing yet."""


@dataclass(frozen=True)
class Objects:
    """Objects that a program passes instead of names in the settings. A finished strategy includes its own judge."""

    strategy: Strategy | Maker | None = None
    judge: Judge | None = None

    def unbound(self, settings: Config, folder: CrawlFolder | None = None) -> Strategy:
        """The requested strategy, with nothing learned. Translations are cached in the `folder`."""
        if isinstance(self.strategy, Strategy):
            return self.strategy.fresh()
        if self.judge is None and GIVEN_IN_PYTHON in settings.target.judge:
            raise _not_given("judge")
        translator = registry.translator_of(settings.translate, folder.translations if folder else None)
        aim = Aim(settings.teacher.precision, settings.teacher.recall)
        judge = registry.judge_of(settings.target, self.judge, translator, _examples(settings, folder), aim)
        check_teacher(settings.teacher, settings.target.about, TaughtJudge.of(judge))
        if self.strategy is not None:
            return self.strategy(judge)
        if settings.crawl.strategy == GIVEN_IN_PYTHON:
            raise _not_given("strategy")
        return registry.strategy(settings.crawl.strategy, judge)

    def made(self, settings: Config, folder: CrawlFolder) -> Objects:
        """The same with the strategy built from the settings, so that errors show before the `folder` is created, and a
        model is loaded only once. Unchanged if examples must be fetched first."""
        if settings.target.like_urls:
            self.unbound(settings)
            return self
        return Objects(self.unbound(settings, folder))


def _not_given(kind: str) -> UsageError:
    problem = f"the {kind} of this crawl was given as a Python object, which crawl.toml cannot hold"
    return UsageError(f"{problem}; resume it with spoor.crawl(…, {kind}=…), or name a {kind}")


NO_OBJECTS = Objects()


def _examples(settings: Config, folder: CrawlFolder | None) -> Mapping[str, Page]:
    """The examples that are URLs, as stored in the folder; without a folder, placeholder pages."""
    urls = settings.target.like_urls
    return {url: Page(url, title=url) for url in urls} if folder is None else read_examples(folder.examples)


def begun_student(settings: Config, folder: CrawlFolder) -> Student | None:
    """The initial student of the crawl; None if its judge cannot be taught."""
    aim = Aim(settings.teacher.precision, settings.teacher.recall)
    judge = TaughtJudge.of(registry.judge_of(settings.target, fetched=read_examples(folder.examples), aim=aim))
    return None if judge is None else judge.student


def strategy_of(settings: Config, objects: Objects = NO_OBJECTS, folder: CrawlFolder | None = None) -> Strategy:
    """The requested strategy, restricted by scope, nofollow rules and trap detection."""
    named = objects.unbound(settings, folder)
    scope = settings.scope
    bounds = Scope(scope.include, scope.exclude, scope.hosts, scope.domains, scope.max_depth, scope.pages_per_host)
    return replace(named, admission=AllOf((RespectNofollow(), bounds, Traps(), named.admission)))


def kernels_for(settings: Config, objects: Objects = NO_OBJECTS) -> Kernels:
    """The compiled functions that a crawl calls."""
    return (*page_reader.KERNELS, *objects.unbound(settings).kernels)


def user_agent(settings: Config) -> str:
    """`spoor/0.1.0 (+https://example.org/our-crawl)`."""
    name = settings.crawl.user_agent or f"{AGENT}/{__version__}"
    return f"{name} (+{settings.crawl.contact})" if settings.crawl.contact else name


def accepted_languages(settings: Config, strategy: Strategy) -> str:
    """The value of the header Accept-Language: as set, or by the language of the target; "" for none."""
    return settings.crawl.accept_language or accept_language(tag_of(prior_of(strategy.judge).language))


def host_rules(settings: Config, shards: int = 1) -> HostRules:
    """The minimum delays and limits for every host. Hosts of several shards may share one IP address."""
    polite, delay = settings.politeness, settings.politeness.host_delay
    return HostRules(
        delay,
        min(delay, ADDRESS_DELAY),
        polite.connections_per_host,
        ask_first=True,
        shared_addresses=shards > 1,
    )


def limits_of(settings: Config, now: float) -> Limits:
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


def within_limit(settings: Config) -> tuple[Config, str]:
    """The settings with as many connections as fit below the limit of open files, which is raised first; and a line
    that says so, "" if all fit."""
    limits, asked = raise_limit(), settings.crawl.connections
    if asked <= limits.most_connections:
        return settings, ""
    fitting = replace(settings, crawl=replace(settings.crawl, connections=limits.most_connections))
    most = f"at most {limits.most_connections:,} connections fit below the limit of {limits.soft:,} open files"
    remedy = f"raise it with `ulimit -n {OpenFiles.needed(asked)}` (as root, or in limits.conf)"
    return fitting, f"connections = {asked:,}: {most}; {remedy}"


def fetcher_for(settings: Config, clock: Callable[[], float] = time.time) -> HttpFetcher:
    asked, agent = settings.crawl, user_agent(settings)
    limits = FetchLimits.of(settings.limits, settings.parse.documents)
    proxies = Proxies.of(asked.proxy, os.environ)
    idle = open_files().most_idle(asked.connections)
    return HttpFetcher(agent, limits, clock, asked.connections, proxies, asked.allow_private, idle)


def reading_limits(settings: Config, reader: Reader) -> ReadingLimits:
    """Limits for reading one page, including the time that it may wait for translations."""
    waiting = CALLS * (settings.translate.answer_seconds + 1.0) if reader.waits else 0.0
    return ReadingLimits(settings.limits.parse_seconds + waiting, settings.limits.parse_bytes)

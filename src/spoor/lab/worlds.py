"""The worlds that a simulated crawl fetches from instead of the network: a recorded web, with latencies and failures,
with duplicate detection, or written by hand."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.lab.web import TEXTS, Web
from spoor.parse.simhash import text_fingerprint
from spoor.records import Failure, Link, Listed, Outcome, Page, Redirect, RobotsRules, SitemapFile, Visit
from spoor.roles import World
from spoor.store.duplicates import SimilarTexts

# The simulated network: latency, bandwidth, host delays and failures for each host, drawn from a seed.


SPREAD = 0.6
"""Sigma of the log-normal distributions of latency and bandwidth over hosts."""

SLOW_SHARE, SLOW_FACTOR = 0.1, 5.0
"""The share of hosts whose robots.txt demands a longer delay, and how many times longer."""

HEADERS = 500
"""Bytes of a response besides the page."""
LISTED = 100
"""Bytes of a sitemap per listed URL."""


@dataclass(frozen=True)
class Conditions:
    """Network conditions. Medians over hosts: `latency` in seconds, `bandwidth` in bytes per second. `delay` is the
    host delay in seconds, `failures` the share of requests that time out and can be retried after `retry_after`
    seconds. `connections` is the maximum number of concurrent requests, at most one per host. `open_web`: links to
    unrecorded pages are offered, and each costs a failed request; otherwise they are left out."""

    latency: float = 0.2
    bandwidth: float = 500_000.0
    delay: float = 1.0
    failures: float = 0.0
    seed: int = 0
    connections: int = 16
    open_web: bool = False
    retry_after: float = 60.0

    def as_json(self) -> dict[str, Any]:
        """Keys are the option names of `simulate` and `compare`, where the host delay is `--rest`."""
        return {"rest" if name == "delay" else name: value for name, value in asdict(self).items()}


FIELD = Conditions(failures=0.02, connections=64, open_web=True)
"""Field conditions: those of a live crawl. Under any conditions robots.txt is requested first. The lab is the absence
of conditions: one visit at a time in a closed web, where nothing takes time and nothing fails."""

NAMED: Mapping[str, Conditions | None] = {"field": FIELD, "lab": None}
"""Conditions by name, as in `--conditions`."""


@dataclass(frozen=True)
class Network:
    """A world behind a simulated network. Visits with a recorded duration take that time. A failed visit takes ten
    latencies."""

    world: World
    conditions: Conditions = Conditions()

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        latency = self.conditions.latency * self._factor("latency", visit.host)
        if visit.purpose == "robots":
            said = self.world.fetch(visit)[0]
            sitemaps = said.text if isinstance(said, RobotsRules) else ""
            rules = f"User-agent: *\nCrawl-delay: {self._delay(visit.host)}\n{sitemaps}"
            return RobotsRules(rules, whole_host=True), latency
        if self._chance(f"failure {visit.tries}", visit.url) < self.conditions.failures:
            return Failure("timed out", again_after=self.conditions.retry_after), 10 * latency
        outcome, recorded = self.world.fetch(visit)
        return outcome, recorded or latency + self._transfer(outcome, visit.host)

    def truth(self, url: str) -> bool:
        return self.world.truth(url)

    def _transfer(self, outcome: Outcome, host: str) -> float:
        size = HEADERS
        if isinstance(outcome, Page):
            size += outcome.size
        elif isinstance(outcome, SitemapFile):
            size += LISTED * outcome.count
        return size / (self.conditions.bandwidth * self._factor("bandwidth", host))

    def _delay(self, host: str) -> float:
        slow = self._chance("rest", host) < SLOW_SHARE
        return self.conditions.delay * (SLOW_FACTOR if slow else 1.0)

    def _factor(self, what: str, host: str) -> float:
        return math.exp(SPREAD * NormalDist().inv_cdf(self._chance(what, host)))

    def _chance(self, what: str, whose: str) -> float:
        """A number strictly between 0 and 1, always the same for the same arguments."""
        digest = hashlib.blake2b(f"{self.conditions.seed} {what} {whose}".encode(), digest_size=6).digest()
        return (int.from_bytes(digest, "big") + 0.5) / 2**48


# The world of a web on disk.


@dataclass(frozen=True)
class RecordedWorld:
    """Answers visits from a recorded web. `relevant` marks the relevant pages. `with_content` loads texts and link
    contexts, which strategies that use only attributes do not need. Links out of the web are left out, unless
    `open_ended`: then a visit to one fails. The robots.txt of a host contains only its sitemaps."""

    web: Web
    relevant: NDArray[np.bool_]
    with_content: bool = False
    open_ended: bool = False
    _numbers: dict[str, int] = field(default_factory=dict, repr=False)
    _links: dict[int, Link] = field(default_factory=dict, repr=False)

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        """Takes the recorded time, or none; `Network` adds the latency that a recording lacks."""
        if visit.purpose == "robots":
            return RobotsRules(self._announcement(visit.host)), 0.0
        if visit.purpose == "sitemap":
            return self._sitemap(visit.url), 0.0
        number = self.number(visit.url)
        if number is None or number >= self.web.pages:
            return Failure("not recorded"), 0.0
        seconds = self.web.seconds
        return self._outcome(number), 0.0 if seconds is None else float(seconds[number])

    def truth(self, url: str) -> bool:
        number = self.number(url)
        return number is not None and number < self.web.pages and bool(self.relevant[number])

    def number(self, url: str) -> int | None:
        """The page number of a URL; None if it is not in the web."""
        number = self._numbers.get(url)
        if number is None and (number := self.web.urls.find(url)) is not None:
            self._numbers[url] = number
        return number

    def _announcement(self, host: str) -> str:
        sitemaps = self.web.sitemaps
        return "".join(f"Sitemap: {url}\n" for url in sitemaps.announced.get(host, ())) if sitemaps.named else ""

    def _sitemap(self, url: str) -> Outcome:
        file = self.web.sitemaps.find(url)
        if file is None:
            return Failure("HTTP 404")
        return file if self.open_ended else replace(file, listed=tuple(filter(self._is_held, file.listed)))

    def _is_held(self, listed: Listed) -> bool:
        number = self.number(listed.url)
        return (number is not None and number < self.web.pages) or listed.url in self.web.sitemaps

    def _outcome(self, number: int) -> Outcome:
        redirects = self.web.redirects
        if redirects is not None and (to := int(redirects[number])) >= 0:
            return Redirect(self._link(to).url, int(self.web.array("status")[number]))
        page = self.web.page(number)
        if not 200 <= page.status < 300:
            return Failure(f"HTTP {page.status}" if page.status else "no answer")
        return self._with_links(number, page)

    def _with_links(self, number: int, page: Page) -> Page:
        targets = self.web.targets(number)
        held = range(len(targets)) if self.open_ended else [i for i, t in enumerate(targets) if t < self.web.pages]
        links = tuple([self._link(targets[index]) for index in held])
        left_out = len(targets) - len(links)
        if not (self.with_content and self.web.has_content):
            return replace(page, links=links, unrecorded=left_out)
        contexts = self.web.contexts[number] or [()] * len(targets)
        links = tuple(Link(link.url, *contexts[index]) for link, index in zip(links, held, strict=True))
        texts = dict(zip(TEXTS, self.web.texts[number] or (), strict=False))
        return replace(page, links=links, unrecorded=left_out, **texts)

    def _link(self, number: int) -> Link:
        """A link without context is the same on every page, so it is cached."""
        link = self._links.get(number)
        if link is None:
            url = self.web.urls[number]
            link = self._links[number] = Link(url)
            self._numbers[url] = number
        return link


# Duplicates in a simulation: every page is compared with those fetched before, as in a live crawl.


@dataclass
class ComparedWorld:
    """A world with texts that marks duplicates: pages with the same recorded content, and near-duplicates by text. Of
    two concurrent visits, the one started first is the original."""

    world: World
    _equal: dict[bytes, str] = field(default_factory=dict, init=False, repr=False)
    _similar: SimilarTexts = field(default_factory=SimilarTexts, init=False, repr=False)

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        outcome, seconds = self.world.fetch(visit)
        return self._compared(outcome) if isinstance(outcome, Page) else outcome, seconds

    def truth(self, url: str) -> bool:
        return self.world.truth(url)

    def _compared(self, page: Page) -> Page:
        drawn = text_fingerprint(page.text) if page.text else None
        twin = self._equal.setdefault(_digest(page), page.url)
        if twin == page.url:
            twin = self._similar.alike(page.url, None if drawn is None else drawn.fingerprint)
        return replace(page, text_fingerprint=drawn, duplicate_of=twin)


def _digest(page: Page) -> bytes:
    """Replaces the digest of the bytes, which not every web has: covers what a crawl reads of them."""
    said = (page.title, page.text, page.language, page.meta_charset, sorted(page.tag_texts.items()), page.links)
    return hashlib.blake2b(repr(said).encode("utf-8", "surrogatepass"), digest_size=16).digest()


# A web defined by hand: for tests, examples and explanations.


@dataclass(frozen=True)
class WrittenWorld:
    """`outcomes` by URL, the relevant URLs, and the response time of each host in seconds (default 0). `rules` has the
    outcome for robots.txt, by URL, or by host if it is the same for http and https."""

    outcomes: Mapping[str, Outcome]
    relevant: Collection[str] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    rules: Mapping[str, Outcome] = field(default_factory=dict)

    @staticmethod
    def of_links(links: Mapping[str, Collection[str]], relevant: Collection[str] = ()) -> WrittenWorld:
        """Pages that contain only links."""
        pages = {url: Page(url, links=tuple(map(Link, targets))) for url, targets in links.items()}
        return WrittenWorld(pages, relevant)

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        seconds = self.seconds.get(visit.host, 0.0)
        if visit.purpose == "robots":
            return self.rules.get(visit.url) or self.rules.get(visit.host, RobotsRules()), seconds
        return self.outcomes.get(visit.url, Failure("not recorded")), seconds

    def truth(self, url: str) -> bool:
        return url in self.relevant

"""The model of a demo web: hosts with their languages, behaviour and rules, pages, and links between them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal

# The parts of a demo web: hosts with their behaviour, pages in their languages, links between them.


AGENT = "spoor"
"""The user agent named by a host that disallows spoor."""

Trap = Literal["", "calendar", "corridor", "sessions"]


@dataclass(frozen=True, slots=True)
class Place:
    """A host and a path, independent of the port on which the web is served."""

    address: str
    path: str = "/"


@dataclass(frozen=True, slots=True)
class Anchor:
    words: str
    to: Place
    nofollow: bool = False


PageKind = Literal["ordinary", "unlinked", "scripted", "pdf"]


@dataclass(frozen=True, slots=True)
class Text:
    """The content of a page. An `unlinked` page is listed only in a sitemap; a `scripted` one is served empty, and a
    script fills it with data from another URL."""

    title: str
    paragraphs: tuple[str, ...]
    links: tuple[Anchor, ...]
    kind: PageKind = "ordinary"


@dataclass(frozen=True, slots=True)
class Moved:
    to: Place


@dataclass(frozen=True, slots=True)
class Spelling:
    """The charset of a host, and where it is declared."""

    charset: str
    declared: Literal["header", "meta", "nowhere"] = "header"


@dataclass(frozen=True, slots=True)
class Habits:
    """`seconds` is the latency of every response. The first response to each page may be `at_first`, a temporary error
    status. A host that `resets` closes every connection; one that is a `front_of` another redirects everything
    there."""

    seconds: float = 0.03
    at_first: int = 200
    resets: bool = False
    front_of: str = ""
    trap: Trap = ""
    unwelcoming: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """The robots.txt of a host: disallowed path prefixes, and the crawl delay in seconds. `named`: the rules are for
    spoor only, by name."""

    disallowed: tuple[str, ...] = ()
    delay: float = 0.0
    named: bool = False

    def forbid(self, path: str) -> bool:
        return path != "/robots.txt" and path.startswith(self.disallowed)

    def text(self) -> str:
        lines = [f"User-agent: {AGENT if self.named else '*'}", *(f"Disallow: {start}" for start in self.disallowed)]
        return "\n".join([*lines, *([f"Crawl-delay: {self.delay}"] if self.delay else []), ""])


@dataclass(frozen=True, slots=True)
class Host:
    """`rules` is None if it has no robots.txt; otherwise that names a sitemap if there are paths in `listed`."""

    address: str
    language: str
    spelling: Spelling
    habits: Habits
    rules: Rules | None
    zips: bool
    pages: Mapping[str, Text | Moved]
    listed: tuple[str, ...] = ()

    def forbids(self, path: str) -> bool:
        return self.rules is not None and self.rules.forbid(path)

    def links(self) -> list[Anchor]:
        return [link for page in self.pages.values() if isinstance(page, Text) for link in page.links]


@dataclass(frozen=True, slots=True)
class Plan:
    """`dead` are addresses outside the web to which its pages link nevertheless: the status with which each responds to
    everything, 0 if nothing listens there."""

    hosts: Mapping[str, Host]
    seeds: tuple[Place, ...]
    dead: Mapping[str, int]

    def kinds(self) -> dict[Place, PageKind]:
        """The kinds of pages that are not ordinary."""
        pages = ((host.address, path, page) for host in self.hosts.values() for path, page in host.pages.items())
        return {
            Place(address, path): page.kind
            for address, path, page in pages
            if isinstance(page, Text) and page.kind != "ordinary"
        }


# The hosts of the demo web: their languages, charsets, behaviour and rules, and the paths of their pages.


HOSTS = {"thai": 17, "english": 14, "japanese": 10, "russian": 8, "german": 6, "mongolian": 5}
SPELLINGS = {
    "thai": (
        Spelling("tis-620", "meta"),
        Spelling("windows-874"),
        Spelling("iso-8859-11", "meta"),
        Spelling("utf-8"),
        Spelling("tis-620", "nowhere"),
    ),
    "english": (Spelling("utf-8"), Spelling("utf-8", "meta")),
    "japanese": (Spelling("shift_jis", "meta"), Spelling("euc-jp"), Spelling("utf-8"), Spelling("euc-jp", "nowhere")),
    "russian": (Spelling("koi8-r"), Spelling("windows-1251", "meta"), Spelling("utf-8")),
    "german": (Spelling("utf-8"), Spelling("iso-8859-1", "meta")),
    "mongolian": (Spelling("utf-8"),),
}
"""Assigned to the hosts of a language in turn."""

LATENCY, SPREAD = 0.03, 0.6
"""Seconds before a response: the median over hosts, and the sigma of their log-normal distribution."""
SLOW = Habits(seconds=0.3)
HABITS = {
    ("thai", 0): Habits(trap="calendar"),
    ("thai", 4): SLOW,
    ("thai", 6): Habits(at_first=503),
    ("thai", 8): Habits(at_first=429),
    ("english", 2): Habits(resets=True),
    ("english", 5): SLOW,
    ("english", 6): Habits(at_first=500),
    ("japanese", 0): Habits(trap="corridor"),
    ("japanese", 2): Habits(trap="sessions"),
    ("japanese", 4): SLOW,
    ("russian", 3): Habits(unwelcoming=True),
    ("german", 2): SLOW,
}
"""For some hosts, by language and number; the others behave normally."""

TUNNELS = {("english", 8): ("thai", 14), ("english", 9): ("thai", 15)}
"""Each has one page that links to a Thai host to which no other page links."""
TUNNEL_ENTRANCES = {("thai", 0): ("english", 8), ("thai", 3): ("english", 9)}
"""Hosts whose home page is the only one that links to that page."""
FRONT, BEHIND = ("thai", 16), ("thai", 1)
"""Like a `www.` name: the first redirects everything to the second."""

LISTING, PUBLISHING = ("thai", 7), ("thai", 3)
"""The first has a sitemap with pages to which no page links; the home page of the second links to a PDF and to the last
host, whose pages are all built by scripts."""
UNLINKED, SCRIPTED = 12, 9
SCRIPTED_ADDRESS = "127.22.1.1"

SECTIONS = ("news", "travel", "food", "music", "school", "sport", "history", "weather")
HAS_ROBOTS, HAS_PRIVATE, HAS_DELAY = 0.8, 0.6, 0.1
DELAY = 0.5

ANSWERS = (404, 410, 404, 403, 404, 0)
"""The responses of dead hosts, in turn; most exist and have lost their pages."""
DEAD = 150


@dataclass(frozen=True, slots=True)
class Site:
    """A host before its pages are generated. `paths` are the ordinary ones, reachable by links."""

    address: str
    language: str
    number: int
    habits: Habits
    rules: Rules | None
    paths: tuple[str, ...]

    @property
    def which(self) -> tuple[str, int]:
        return self.language, self.number

    @property
    def keeps_secrets(self) -> bool:
        """Whether it has pages that robots.txt disallows."""
        return self.rules is not None and bool(self.rules.disallowed)

    @property
    def home(self) -> Place:
        return Place(self.address)

    @property
    def sections(self) -> list[str]:
        return [path for path in self.paths[1:] if path.endswith("/")]

    def pages_in(self, section: str) -> list[str]:
        return [path for path in self.paths if path.startswith(section) and path != section]


def sites(rng: random.Random) -> Iterator[Site]:
    addresses = (f"127.20.{number}.1" for number in count(1))
    addressed = {(language, k): next(addresses) for language, hosts in HOSTS.items() for k in range(hosts)}
    for (language, k), address in addressed.items():
        habits = Habits(front_of=addressed[BEHIND]) if (language, k) == FRONT else HABITS.get((language, k), Habits())
        if habits.seconds != SLOW.seconds:
            habits = replace(habits, seconds=LATENCY * rng.lognormvariate(0.0, SPREAD))
        yield Site(address, language, k, habits, _rules(habits, rng), tuple(_paths(habits, rng)))


def dead_hosts() -> dict[str, int]:
    """The response of each dead host, by its address; the first have most links."""
    return {f"127.21.{k + 1}.1": ANSWERS[k % len(ANSWERS)] for k in range(DEAD)}


def _rules(habits: Habits, rng: random.Random) -> Rules | None:
    if habits.unwelcoming:
        return Rules(("/",), named=True)
    if habits.front_of or rng.random() > HAS_ROBOTS:
        return None
    private = ("/private/", "/search") if rng.random() < HAS_PRIVATE else ()
    return Rules(private, DELAY if rng.random() < HAS_DELAY else 0.0)


def _paths(habits: Habits, rng: random.Random) -> Iterator[str]:
    yield "/"
    if habits.front_of:
        return
    for section in rng.sample(SECTIONS, rng.randint(3, 5)):
        yield f"/{section}/"
        yield from (f"/{section}/{page}.html" for page in range(1, rng.randint(6, 10)))

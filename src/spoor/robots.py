"""What does a robots.txt allow, and how slowly (RFC 9309)? Which robots.txt holds for a URL, and which must be fetched
before that is known?

A file is read for one robot: only the rules that speak to it or to all are kept, so however many names share however
many rules, no rule is kept more than twice. Nothing that a file says takes more than linear time or raises.

A file is known by the URL that was asked for. It may lead to another, on whatever host; the rules found there are for
the host that was asked first.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf

from spoor.urls import normalise, robots_url

# What does a robots.txt allow, and how slowly? RFC 9309, read in one pass over a bounded number of bytes.


LONGEST_FILE = 512_000
"""Bytes or characters of a robots.txt that are read: the 500 KiB of RFC 9309. The rest is ignored."""

LONGEST_DELAY = 3600.0
"""Seconds of a Crawl-delay that are heeded; a host that asks for days would keep a crawl open for ever."""

MOST_STARS = 1_000
"""Stars in rules that have some inside, the only ones that must be tried one by one. Of a rule beyond, no more than its
beginning is heeded if it disallows, and nothing if it allows."""

MOST_KEPT = 32_000_000
"""Bytes of rules that are kept ready for the next URL of their hosts, roughly."""

MOST_SITEMAPS = 10
"""Sitemap lines that are heeded."""

_USER_AGENT, _ALLOW, _DISALLOW, _CRAWL_DELAY, _REQUEST_RATE, _SITEMAP = range(6)
_FIELDS = {
    "user-agent": _USER_AGENT,
    "useragent": _USER_AGENT,
    "user agent": _USER_AGENT,
    "allow": _ALLOW,
    "disallow": _DISALLOW,
    "dissallow": _DISALLOW,
    "dissalow": _DISALLOW,
    "disalow": _DISALLOW,
    "diasllow": _DISALLOW,
    "disallaw": _DISALLOW,
    "crawl-delay": _CRAWL_DELAY,
    "crawldelay": _CRAWL_DELAY,
    "request-rate": _REQUEST_RATE,
    "sitemap": _SITEMAP,
    "site-map": _SITEMAP,
}
"""What a line may be about, with the misspellings that other crawlers forgive too."""

_TOKEN = re.compile(r"[A-Za-z_-]*")
_STARS = re.compile(r"\*\*+")
_IN_URLS = r"!#&-)+-;=?-\[\]_a-z~"
_PLAIN = re.compile(f"[{_IN_URLS}]+")
"""A pattern that has one spelling and no signs."""
_SPELT_OTHERWISE = re.compile(f"%[0-9A-Fa-f]{{2}}|[^$%*{_IN_URLS}]+")
"""What may be written in two ways: an escape, and characters that have no place in a URL."""
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_RATE = re.compile(r"([0-9]+)\s*/\s*([0-9]+)\s*([smhd]?)", re.IGNORECASE)
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_OBJECT, _PIECE = 150, 60
"""Bytes that a rule (or a file), and each piece of it, takes besides its characters, roughly."""

Weight = tuple[int, bool]
"""How specific a rule is, in characters, and whether it allows. The larger wins, so of two that are equally specific
the one that allows."""
NO_RULE: Weight = (0, True)


def allows(text: str, agent: str, url: str) -> bool:
    """May `agent` (its name or its whole User-Agent header) fetch the normalised `url`? Never raises."""
    return parse(text, agent).allow(url)


def whole_lines(text: str) -> str:
    """The beginning of a file that is too long or broke off: half a line might say the opposite of the whole."""
    return text[: max(text.rfind("\n"), text.rfind("\r")) + 1]


@dataclass(frozen=True, slots=True)
class Wildcard:
    """A pattern with stars inside: `pieces` follow one another with anything between, the first at the beginning, the
    last at the end if it is `anchored`."""

    weight: Weight
    pieces: tuple[str, ...]
    anchored: bool

    def matches(self, path: str) -> bool:
        """Each piece where it is found first: that leaves most room for the next, and looks at nothing twice."""
        first, *middle = self.pieces
        if not path.startswith(first):
            return False
        end = len(path)
        if self.anchored:
            last = middle.pop()
            if not path.endswith(last):
                return False
            end -= len(last)
        place = len(first)
        for piece in middle:
            found = path.find(piece, place, end)
            if found < 0:
                return False
            place = found + len(piece)
        return place <= end


@dataclass(slots=True)
class Patterns:
    """The rules of all groups for one name: those for paths that begin so, for one path, and with stars inside."""

    beginnings: dict[str, Weight] = field(default_factory=dict)
    whole: dict[str, Weight] = field(default_factory=dict)
    wildcards: list[Wildcard] = field(default_factory=list)
    delay: float | None = None
    size: int = 0
    stars: int = 0

    def add(self, value: str, allowed: bool) -> None:
        """A pattern as it stands in the file; an empty one says nothing."""
        self.size += _OBJECT
        if _PLAIN.fullmatch(value):
            self.size += len(value)
            _keep(self.beginnings, value, (len(value), allowed))
        elif value:
            self._add_signs(_STARS.sub("*", _one_spelling(value)), allowed)

    def _add_signs(self, pattern: str, allowed: bool) -> None:
        self.size += len(pattern)
        weight = (len(pattern), allowed)
        anchored = pattern.endswith("$")
        bare = (pattern[:-1] if anchored else pattern.removesuffix("*")).replace("$", "%24")
        stars = bare.count("*")
        if not stars:
            _keep(self.whole if anchored else self.beginnings, bare, weight)
        elif self.stars < MOST_STARS:
            self.wildcards.append(Wildcard(weight, tuple(bare.split("*")), anchored))
            self.stars += stars
            self.size += stars * _PIECE
        elif not allowed:
            _keep(self.beginnings, bare.partition("*")[0], weight)

    def wait(self, seconds: float | None) -> None:
        """Of several delays the longest counts."""
        if seconds is not None:
            self.delay = max(seconds, self.delay or 0.0)

    def rules(self) -> Rules:
        lengths = sorted({len(beginning) for beginning in self.beginnings})
        wildcards = sorted(self.wildcards, key=lambda wildcard: wildcard.weight, reverse=True)
        return Rules(self.beginnings, tuple(lengths), self.whole, tuple(wildcards), self.delay, self.size)


def _keep(patterns: dict[str, Weight], pattern: str, weight: Weight) -> None:
    patterns[pattern] = max(weight, patterns.get(pattern, NO_RULE))


@dataclass(frozen=True, slots=True)
class Rules:
    """What a file says to one robot. `lengths` are those of the `beginnings`; `wildcards` come the weightiest first;
    `delay` is the seconds that it asks for between two visits, by Crawl-delay or Request-rate, at most LONGEST_DELAY
    (None: it does not say); `size` is what all this takes, in bytes, roughly. `sitemaps` are the URLs of the sitemaps
    that it names to everybody."""

    beginnings: Mapping[str, Weight]
    lengths: tuple[int, ...]
    whole: Mapping[str, Weight]
    wildcards: tuple[Wildcard, ...]
    delay: float | None
    size: int
    sitemaps: tuple[str, ...] = ()

    def allow(self, url: str) -> bool:
        if not self.size:
            return True
        path = _path(url)
        if path == "/robots.txt":
            return True
        weight = max(self._beginning(path), self.whole.get(path, NO_RULE))
        for wildcard in self.wildcards:
            if wildcard.weight <= weight:
                break
            if wildcard.matches(path):
                return wildcard.weight[1]
        return weight[1]

    def _beginning(self, path: str) -> Weight:
        """The weightiest of those with which the path begins."""
        beginnings, weight = self.beginnings, NO_RULE
        for length in self.lengths:
            if length > len(path):
                break
            weight = max(weight, beginnings.get(path[:length], NO_RULE))
        return weight


def parse(text: str, agent: str) -> Rules:
    """What the file says to `agent`: the rules of all groups that name it, or, where none does, of those for all."""
    name = _product(agent)
    ours, everybody = Patterns(), Patterns()
    spoken_to: list[Patterns] = []
    sitemaps: dict[str, None] = {}
    named = naming = False
    for line in filter(None, _lines(text)):
        known, value = _understood(line)
        if known is None:
            continue
        if known == _USER_AGENT:
            if not naming:
                spoken_to, naming = [], True
            if (who := _who(value)) == name and name:
                named = True
                spoken_to.append(ours)
            elif who == "*":
                spoken_to.append(everybody)
        elif known == _SITEMAP:
            if len(sitemaps) < MOST_SITEMAPS and (url := normalise(value)) is not None:
                sitemaps[url] = None
        elif known in (_ALLOW, _DISALLOW):
            naming = False
            _each_add(spoken_to, value, known == _ALLOW)
        elif spoken_to:
            seconds = _seconds(value) if known == _CRAWL_DELAY else _seconds_of_rate(value)
            for patterns in spoken_to:
                patterns.wait(seconds)
    spoken = ours if named else everybody
    spoken.size += sum(map(len, sitemaps))
    return replace(spoken.rules(), sitemaps=tuple(sitemaps))


def _each_add(spoken_to: Iterable[Patterns], value: str, allowed: bool) -> None:
    for patterns in spoken_to:
        patterns.add(value, allowed)


def _lines(text: str) -> list[str]:
    """The byte order mark is skipped, and so is what is left of half a one."""
    if len(text) > LONGEST_FILE:
        text = whole_lines(text[:LONGEST_FILE])
    return text.lstrip("\ufeff\ufffd").replace("\r", "\n").split("\n")


def _understood(line: str) -> tuple[int | None, str]:
    """What a line is about, None when that is not known, and what it says of it."""
    said, colon, value = line.partition("#")[0].partition(":")
    if not colon:  # some forget it; two words are meant so all the same
        words = said.split()
        said, value = words if len(words) == 2 else ("", "")
    return _FIELDS.get(said.strip().lower()), value.strip()


def _who(value: str) -> str:
    """The product token that a User-agent line names, in small letters; "*" for all, "" for nobody."""
    return "*" if value.split(maxsplit=1)[:1] == ["*"] else _product(value)


def _product(agent: str) -> str:
    """`spoor` of `spoor/1.0 (+https://example.org)`."""
    found = _TOKEN.match(agent.strip())
    return found[0].lower() if found else ""


def _path(url: str) -> str:
    """What patterns are compared with. A star and a dollar sign stand for themselves in a URL, so here they are
    written as a pattern must write them that means nothing else."""
    start = url.find("/", url.find("//") + 2)
    return _one_spelling(url[start:] if start >= 0 else "/").replace("*", "%2A").replace("$", "%24")


def _one_spelling(path: str) -> str:
    """Octets that need no escape without one, all that have no place in a URL with one. Reserved characters stay as
    they are: %3F is not the question mark at which a query begins."""
    return _SPELT_OTHERWISE.sub(_respelt, path)


def _respelt(found: re.Match[str]) -> str:
    written = found[0]
    if written[0] == "%":
        meant = chr(int(written[1:], 16))
        return meant if meant in _UNRESERVED else written.upper()
    return "%" + written.encode("utf-8", "surrogatepass").hex("%").upper()


def _seconds(value: str) -> float | None:
    """Of a Crawl-delay. A number of any length is one; what is infinite or negative is none."""
    found = _SECONDS.fullmatch(value)
    return min(float(found[0]), LONGEST_DELAY) if found else None


def _seconds_of_rate(value: str) -> float | None:
    """Of a Request-rate, as in 1/10 or 30/1m; the hours of the day that may follow are not heeded."""
    found = _RATE.match(value)
    if found is None:
        return None
    requests, seconds = float(found[1]), float(found[2]) * _UNITS[found[3].lower()]
    between = seconds / requests if requests else 0.0
    return min(between, LONGEST_DELAY) if between > 0.0 else None  # neither 0 nor NaN


class RulesCache:
    """What robots.txt files say to `agent`, by their URLs: those asked about last, as many as fit into `most` bytes.
    The text of any other is asked for and read again."""

    def __init__(self, agent: str, text_of: Callable[[str], str], most: int = MOST_KEPT) -> None:
        self._agent = agent
        self._text_of = text_of
        self._most = most
        self._size = 0
        self._known: OrderedDict[str, Rules] = OrderedDict()

    def rules(self, url: str) -> Rules:
        rules = self._known.get(url)
        if rules is None:
            return self.read(url, self._text_of(url))
        self._known.move_to_end(url)
        return rules

    def read(self, url: str, text: str) -> Rules:
        """Of a file that is new, or says something new."""
        self._forget(url)
        rules = self._known[url] = parse(text, self._agent)
        self._size += rules.size + _OBJECT
        while self._size > self._most and len(self._known) > 1:
            self._forget(next(iter(self._known)))
        return rules

    def _forget(self, url: str) -> None:
        if (rules := self._known.pop(url, None)) is not None:
            self._size -= rules.size + _OBJECT


# Which robots.txt holds for a URL, and which one must be fetched before that is known?


MOST_REDIRECTS = 5
"""As many in a row as RFC 9309 asks crawlers to follow."""


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """What came of a request for a robots.txt; it counts until `until`, in seconds. The text is kept elsewhere.

    `delay` is the crawl delay that it asks for, 0: none. `leads_to` is where it redirects to, "" when it does not.
    `failed` says why it could not be fetched, "" when it could; `may_heal`, whether a retry may help, and `tries`
    how often it failed in a row. `etag` and `modified` are what the server calls this version of the file, "" when it
    does not.
    """

    url: str
    until: float
    delay: float = 0.0
    leads_to: str = ""
    failed: str = ""
    may_heal: bool = False
    tries: int = 0
    etag: str = ""
    modified: str = ""


@dataclass(frozen=True, slots=True)
class NeededFile:
    """A robots.txt that must be fetched first. `under` is the URL of the rules that bind this request, "" for none: a
    file that is not at /robots.txt is a page like others to the host that it is on."""

    url: str
    under: str = ""


Known = Callable[[str], RobotsFile | None]
"""What is known of a robots.txt, by its URL."""


def holding_for(known: Known, robots: str, now: float) -> RobotsFile | NeededFile:
    """What holds for the URLs whose robots.txt is at `robots`: a file that leads nowhere else, or the first that is not
    known, or no more. More than five redirects in a row are a file that is not there (RFC 9309, 2.3.1.2)."""
    return _holding(known, robots, now, MOST_REDIRECTS)


def _holding(known: Known, robots: str, now: float, depth: int) -> RobotsFile | NeededFile:
    url = robots
    for _ in range(MOST_REDIRECTS + 1):
        file = known(url)
        if file is None or now >= file.until:
            return _to_ask(known, url, now, depth)
        if not file.leads_to:
            return file
        url = file.leads_to
    return RobotsFile(robots, inf)


def _to_ask(known: Known, url: str, now: float, depth: int) -> RobotsFile | NeededFile:
    """/robots.txt may always be asked for, and so may the file to which the one of its own host leads. For any other,
    the rules of its host come first, or what must be asked for them. `depth` ends circles, in which hosts name one
    another's pages and all want to be asked."""
    own = robots_url(url)
    if url == own or not depth or _leads(known, own, url):
        return NeededFile(url)
    holding = _holding(known, own, now, depth - 1)
    return NeededFile(url, holding.url) if isinstance(holding, RobotsFile) and not holding.failed else holding


def _leads(known: Known, start: str, to: str) -> bool:
    for _ in range(MOST_REDIRECTS):
        file = known(start)
        if file is None or not file.leads_to:
            return False
        start = file.leads_to
        if start == to:
            return True
    return False


def delay_for(known: Known, host: str) -> float:
    """The crawl delay that a host asks for, the longer one if its http and https files differ; 0: none. Files that are
    too old still count for this."""
    files = (holding_for(known, f"{scheme}://{host}/robots.txt", -inf) for scheme in ("http", "https"))
    return max(file.delay if isinstance(file, RobotsFile) else 0.0 for file in files)

"""Parses robots.txt (RFC 9309), and determines which robots.txt applies to a URL, or must be fetched first.

A file is parsed for one user agent: only the rules for it or for all are kept, so that no rule is stored more than
twice, however many names share however many rules. No input takes more than linear time or raises.

A file is identified by the URL that was requested. It may redirect to another, on any host; the rules found there apply
to the host that was asked first.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf

from spoor.urls import join, normalise, robots_url

# Parsing, in one pass over a bounded number of bytes.


LONGEST_FILE = 512_000
"""Bytes or characters of a robots.txt that are parsed: the 500 KiB of RFC 9309. The rest is ignored."""

LONGEST_DELAY = 3600.0
"""Maximum Crawl-delay in seconds; a host that asks for days would keep a crawl open for ever."""

MOST_STARS = 1_000
"""Maximum number of stars in rules with stars inside, the only rules that must be tried one by one. Of a rule beyond
the limit, the literal beginning is used if it disallows; it is ignored if it allows."""

MOST_KEPT = 32_000_000
"""Approximate size in bytes of the cache of parsed rules."""

MOST_SITEMAPS = 10
"""Maximum number of Sitemap lines used."""

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
"""The known fields, with the misspellings that other crawlers accept, too."""

_TOKEN = re.compile(r"[A-Za-z_-]*")
_STARS = re.compile(r"\*\*+")
_IN_URLS = r"!#&-)+-;=?-\[\]_a-z~"
_PLAIN = re.compile(f"[{_IN_URLS}]+")
"""A pattern with only one spelling and no wildcards."""
_SPELT_OTHERWISE = re.compile(f"%[0-9A-Fa-f]{{2}}|[^$%*{_IN_URLS}]+")
"""What can be written in two ways: an escape, and characters that are not allowed in a URL."""
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SITEMAP_PATH = re.compile(r"/\S*|(?![\w+.-]*:)\S+\.\w+", re.ASCII)
_INVISIBLE = dict.fromkeys(map(ord, "\0\u200b\u2060"))
"""Characters that editors and converters leave behind; nobody sees them in a name or a path."""
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_RATE = re.compile(r"([0-9]+)\s*/\s*([0-9]+)\s*([smhd]?)", re.IGNORECASE)
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_OBJECT, _PIECE = 150, 60
"""Approximate overhead in bytes of a rule (or a file), and of each piece of it."""

Weight = tuple[int, bool]
"""The specificity of a rule in characters, and whether it allows. The larger wins: of two equally specific rules, the
one that allows."""
NO_RULE: Weight = (0, True)


def allows(text: str, agent: str, url: str) -> bool:
    """Whether `agent` (its name or its whole User-Agent header) may fetch the normalised `url`. Never raises."""
    return parse(text, agent).allow(url)


def has_rules(text: str) -> bool:
    """Whether a line names a user agent or a sitemap; without one a file says nothing."""
    fields = (_understood(line)[0] for line in _lines(text) if ":" in line)
    return any(known in (_USER_AGENT, _SITEMAP) for known in fields)


def whole_lines(text: str) -> str:
    """The complete lines of a truncated file: half a line might mean the opposite of the whole."""
    return text[: max(text.rfind("\n"), text.rfind("\r")) + 1]


@dataclass(frozen=True, slots=True)
class Wildcard:
    """A pattern with stars inside: `pieces` in this order with anything between, the first at the beginning, the last
    at the end if `anchored`."""

    weight: Weight
    pieces: tuple[str, ...]
    anchored: bool

    def matches(self, path: str) -> bool:
        """Matches each piece at its first occurrence, which leaves most room for the next: no backtracking."""
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
    """The rules of all groups for one name: prefixes, whole paths, and patterns with stars inside."""

    beginnings: dict[str, Weight] = field(default_factory=dict)
    whole: dict[str, Weight] = field(default_factory=dict)
    wildcards: list[Wildcard] = field(default_factory=list)
    delay: float | None = None
    size: int = 0
    stars: int = 0

    def add(self, value: str, allowed: bool) -> None:
        """Adds a pattern as written in the file; an empty one is ignored."""
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
        """The longest of several delays applies."""
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
    """The rules of a file for one user agent. `lengths` are those of the `beginnings`; `wildcards` are sorted by
    weight, largest first; `delay` is the Crawl-delay or Request-rate in seconds, at most LONGEST_DELAY, None if not
    given; `size` is the approximate size in bytes. `sitemaps` are the URLs of its Sitemap lines, which apply to all
    user agents."""

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
        """The largest weight of the prefixes of the path."""
        beginnings, weight = self.beginnings, NO_RULE
        for length in self.lengths:
            if length > len(path):
                break
            weight = max(weight, beginnings.get(path[:length], NO_RULE))
        return weight


def parse(text: str, agent: str, url: str = "") -> Rules:
    """The rules for `agent`: those of all groups that name it, or, if none does, of the groups for `*`. `url` is that
    of the file; without it relative URLs of sitemaps are ignored."""
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
            if len(sitemaps) < MOST_SITEMAPS and (sitemap := _sitemap(value, url)) is not None:
                sitemaps[sitemap] = None
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


def _sitemap(value: str, url: str) -> str | None:
    """The standard wants it absolute; many files give the path alone."""
    return join(url, value) if url and _SITEMAP_PATH.fullmatch(value) else normalise(value)


def _each_add(spoken_to: Iterable[Patterns], value: str, allowed: bool) -> None:
    for patterns in spoken_to:
        patterns.add(value, allowed)


def _lines(text: str) -> list[str]:
    """Without a byte order mark, even a broken one, and without invisible characters."""
    if len(text) > LONGEST_FILE:
        text = whole_lines(text[:LONGEST_FILE])
    if not text.isascii() or "\0" in text:
        text = text.lstrip("\ufeff\ufffd").translate(_INVISIBLE)
    return text.replace("\r", "\n").split("\n")


def _understood(line: str) -> tuple[int | None, str]:
    """The field of a line, None if unknown, and its value."""
    said, colon, value = line.partition("#")[0].partition(":")
    if not colon:  # The colon is missing in some files; two words are accepted.
        words = said.split()
        said, value = words if len(words) == 2 else ("", "")
    return _FIELDS.get(said.strip().lower()), value.strip()


def _who(value: str) -> str:
    """The product token of a User-agent line, in lower case; "*" for all, "" for none."""
    return "*" if value.split(maxsplit=1)[:1] == ["*"] else _product(value)


def _product(agent: str) -> str:
    """`spoor` of `spoor/1.0 (+https://example.org)`."""
    found = _TOKEN.match(agent.strip())
    return found[0].lower() if found else ""


def _path(url: str) -> str:
    """The path that patterns are matched against. Literal stars and dollar signs in a URL are percent-encoded, as a
    pattern must write them to match literally."""
    start = url.find("/", url.find("//") + 2)
    return _one_spelling(url[start:] if start >= 0 else "/").replace("*", "%2A").replace("$", "%24")


def _one_spelling(path: str) -> str:
    """Decodes escapes of unreserved characters, and escapes characters that are not allowed in a URL. Reserved
    characters are left as they are: %3F is not the question mark at which a query begins."""
    return _SPELT_OTHERWISE.sub(_respelt, path)


def _respelt(found: re.Match[str]) -> str:
    written = found[0]
    if written[0] == "%":
        meant = chr(int(written[1:], 16))
        return meant if meant in _UNRESERVED else written.upper()
    return "%" + written.encode("utf-8", "surrogatepass").hex("%").upper()


def _seconds(value: str) -> float | None:
    """Parses a Crawl-delay. Accepts any number of digits, but no infinite or negative numbers."""
    found = _SECONDS.fullmatch(value)
    return min(float(found[0]), LONGEST_DELAY) if found else None


def _seconds_of_rate(value: str) -> float | None:
    """Parses a Request-rate, such as 1/10 or 30/1m; times of day that may follow are ignored."""
    found = _RATE.match(value)
    if found is None:
        return None
    requests, seconds = float(found[1]), float(found[2]) * _UNITS[found[3].lower()]
    between = seconds / requests if requests else 0.0
    return min(between, LONGEST_DELAY) if between > 0.0 else None  # Neither 0 nor NaN.


class RulesCache:
    """Cache of the parsed rules for `agent`, by URL of the robots.txt: least recently used ones are removed beyond
    `most` bytes. Missing ones are loaded and parsed again."""

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
        """Parses a new or changed file and caches the result."""
        self._forget(url)
        rules = self._known[url] = parse(text, self._agent, url)
        self._size += rules.size + _OBJECT
        while self._size > self._most and len(self._known) > 1:
            self._forget(next(iter(self._known)))
        return rules

    def _forget(self, url: str) -> None:
        if (rules := self._known.pop(url, None)) is not None:
            self._size -= rules.size + _OBJECT


# Which robots.txt applies to a URL, and which one must be fetched first.


MOST_REDIRECTS = 5
"""The number of consecutive redirects that RFC 9309 asks crawlers to follow."""


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """The result of a request for a robots.txt; valid until `until`, in seconds. The text is stored elsewhere.

    `delay` is its crawl delay, 0 if none. `leads_to` is the target of a redirect, "" if none. `failed` is the reason
    why it could not be fetched, "" if it could; `may_heal`: whether a retry may help; `tries`: number of failures in a
    row. `etag` and `modified` are its validators, "" if not sent.
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
    """A robots.txt that must be fetched first. `under` is the URL of the robots.txt that this request itself is subject
    to, "" for none: a file that is not at /robots.txt is an ordinary page of its host."""

    url: str
    under: str = ""


Known = Callable[[str], RobotsFile | None]
"""Looks up a robots.txt by its URL."""


def holding_for(known: Known, robots: str, now: float) -> RobotsFile | NeededFile:
    """What applies to the URLs whose robots.txt is at `robots`: a file that is not a redirect, or the first that is
    unknown or expired. More than five redirects in a row count as no file (RFC 9309, 2.3.1.2)."""
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
    """/robots.txt may always be fetched, and so may the file to which the one of its own host redirects. For any other,
    the rules of its host come first, or the file needed for them. `depth` ends cycles of hosts that redirect to one
    another's pages."""
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
    """The crawl delay of a host, the longer one if its http and https files differ; 0 if none. Expired files are used,
    too."""
    files = (holding_for(known, f"{scheme}://{host}/robots.txt", -inf) for scheme in ("http", "https"))
    return max(file.delay if isinstance(file, RobotsFile) else 0.0 for file in files)

"""Which robots.txt holds for a URL, and which one must be fetched before that is known?

A file is known by the URL that was asked for. It may lead to another, on whatever host; the rules found there are for
the host that was asked first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from spoor.urls import robots_url

MOST_REDIRECTS = 5
"""As many in a row as RFC 9309 asks crawlers to follow."""


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """What came of a request for a robots.txt; it counts until `until`, in seconds. The text is kept elsewhere.

    `delay` is the crawl delay that it asks for, 0: none. `leads_to` is where it redirects to, "" when it does not.
    `failed` says why it could not be had, "" when it could; `may_heal`, whether it is worth another try, and `tries`
    how often it failed in a row.
    """

    url: str
    until: float
    delay: float = 0.0
    leads_to: str = ""
    failed: str = ""
    may_heal: bool = False
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A robots.txt that must be fetched first. `under` is the URL of the rules that bind this request, "" for none: a
    file that is not at /robots.txt is a page like others to the host that it is on."""

    url: str
    under: str = ""


Known = Callable[[str], RobotsFile | None]
"""What is known of a robots.txt, by its URL."""


def holding_for(known: Known, robots: str, now: float) -> RobotsFile | Wanted:
    """What holds for the URLs whose robots.txt is at `robots`: a file that leads nowhere else, or the first that is not
    known, or no more. More than five redirects in a row are a file that is not there (RFC 9309, 2.3.1.2)."""
    return _holding(known, robots, now, MOST_REDIRECTS)


def _holding(known: Known, robots: str, now: float, depth: int) -> RobotsFile | Wanted:
    url = robots
    for _ in range(MOST_REDIRECTS + 1):
        file = known(url)
        if file is None or now >= file.until:
            return _to_ask(known, url, now, depth)
        if not file.leads_to:
            return file
        url = file.leads_to
    return RobotsFile(robots, inf)


def _to_ask(known: Known, url: str, now: float, depth: int) -> RobotsFile | Wanted:
    """/robots.txt may always be asked for, and so may the file to which the one of its own host leads. For any other,
    the rules of its host come first, or what must be asked for them. `depth` ends circles, in which hosts name one
    another's pages and all want to be asked."""
    own = robots_url(url)
    if url == own or not depth or _leads(known, own, url):
        return Wanted(url)
    holding = _holding(known, own, now, depth - 1)
    return Wanted(url, holding.url) if isinstance(holding, RobotsFile) and not holding.failed else holding


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

"""Cookies against redirect loops: some servers redirect in a loop until a cookie comes back that they set on the
way."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from aiohttp import CookieJar
from yarl import URL

from spoor.fetch.responses import header_values
from spoor.records import Redirect, Response
from spoor.urls import host_of

MOST_COOKIES, MOST_BYTES = 20, 8_192
"""Limits of one chain: number of Set-Cookie headers, and their total length."""
MOST_CHAINS = 256
"""Number of chains whose next URL has not been visited yet; beyond it, the oldest are removed."""


@dataclass
class RedirectChain:
    """Consecutive redirects on one host: the URLs so far, and the cookies that were set. These are sent once the chain
    has returned to one of its URLs: `repeated`."""

    passed: set[str] = field(default_factory=set)
    repeated: bool = False
    _jar: CookieJar | None = None
    _count: int = 0
    _bytes: int = 0

    def headers(self, url: str) -> dict[str, str]:
        """The cookie header for a request for `url`, if any."""
        if not self.repeated or self._jar is None:
            return {}
        cookies = self._jar.filter_cookies(URL(url, encoded=True)).values()
        return {"Cookie": "; ".join(f"{one.key}={one.coded_value}" for one in cookies)} if cookies else {}

    def note(self, response: Response) -> None:
        """Ignores cookies for other hosts, and those that exceed the limits."""
        self.passed.add(response.url)
        for value in header_values(response, "set-cookie"):
            self._count, self._bytes = self._count + 1, self._bytes + len(value)
            if self._count > MOST_COOKIES or self._bytes > MOST_BYTES:
                return
            # "unsafe": hosts that are IP addresses may set cookies, too.
            self._jar = self._jar or CookieJar(unsafe=True)
            self._jar.update_cookies_from_headers([value], URL(response.url, encoded=True))

    def can_end_at(self, url: str) -> bool:
        """Whether a redirect to `url` closes a loop for the first time, and there is a cookie that may end it."""
        return url in self.passed and not self.repeated and self._jar is not None and len(self._jar) > 0


class RedirectCookies:
    """The redirect chains of a crawl, in memory only. Every redirect is a visit of its own, so a chain is stored under
    the URL that it led to, until that is visited."""

    def __init__(self) -> None:
        self._chains: dict[str, RedirectChain] = {}

    def chain_to(self, url: str) -> RedirectChain:
        """Removes and returns the chain that led to `url`, or a new one."""
        return self._chains.pop(url, None) or RedirectChain()

    def follow(self, chain: RedirectChain, url: str, redirect: Redirect) -> Redirect:
        """The redirect from `url`, with `again` if the target must be fetched again with the cookies of the chain. A
        new chain begins on another host."""
        if host_of(redirect.to) != host_of(url):
            return redirect
        again = chain.can_end_at(redirect.to)
        chain.repeated = chain.repeated or again
        self._chains[redirect.to] = chain
        if len(self._chains) > MOST_CHAINS:
            del self._chains[next(iter(self._chains))]
        return replace(redirect, again=again)

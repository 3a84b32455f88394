"""Fetches resources that scripts of pages request, under the rules of pages: robots.txt, host delays, limits and
refused addresses."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from spoor.crawl import Crawl
from spoor.errors import OF_STORAGE
from spoor.fetch.http import HttpFetcher
from spoor.fetch.responses import pause_asked_by
from spoor.live.driver import LiveDriver
from spoor.records import Failure, Response, Ruling, SentRequest, SubRequest, Visit
from spoor.roles import Troubles
from spoor.urls import host_of, normalise

LARGEST = 5_000_000
"""Largest sub-resource, in bytes."""
MOST_CACHED = 64_000_000
"""Size of the cache of sub-resources, in bytes."""
FAILED_FOR = 600.0
"""Seconds for which a failed sub-resource is not requested again."""
SOONEST, LATEST = 0.02, 1.0
"""Shortest and longest time in seconds between two checks whether a host is free."""
LONGEST_HEADERS = 4_000
"""Characters of all header values together; if they are longer, none of them are sent."""
NOT_SENT = frozenset({"accept-language", "origin", "upgrade-insecure-requests"})
"""Headers of scripts that are not sent, besides those that the gate removes."""

Key = tuple[str, str]


@dataclass(slots=True)
class SubResource:
    """A response to requests of pages. `kind` is the requested type of resource; `is_kept`: it is in the archive."""

    response: Response
    kind: str
    is_kept: bool = False


@dataclass
class SubResourceFetcher:
    """Fetches the sub-resources of a crawl, with an LRU cache of `MOST_CACHED` bytes. Requests to a host run one after
    the other; while one waits, no link of that host is fetched."""

    crawl: Crawl
    fetcher: HttpFetcher
    driver: LiveDriver
    troubles: Troubles
    accept_language: str = ""
    _cached: OrderedDict[Key, tuple[float, SubResource | Failure]] = field(default_factory=OrderedDict, init=False)
    _size: int = field(default=0, init=False)
    _queues: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary, init=False)

    @property
    def clock(self) -> Callable[[], float]:
        return self.driver.clock

    async def get(self, request: SubRequest, sent: list[SentRequest]) -> SubResource | Failure:
        """Adds each request that is sent to `sent`, also if it is cancelled."""
        url = normalise(request.url)
        if url is None:
            return Failure(f"not an http(s) URL: {request.url[:80]}")
        headers = self._headers(request.headers)
        key = url, repr(sorted(item for item in headers.items() if item[0] != "referer"))
        async with self._queue(host_of(url)):
            known = self._known(key)
            if known is None:
                known = await self._fetched(url, headers, request.kind, sent)
                self._remember(key, known)
            return known

    def _queue(self, host: str) -> asyncio.Lock:
        return self._queues.setdefault(host, asyncio.Lock())

    def _headers(self, asked: Mapping[str, str]) -> dict[str, str]:
        """Headers that scripts set themselves are sent too, as a browser would do."""
        headers = {name: value for name, value in asked.items() if name not in NOT_SENT and value.isprintable()}
        if sum(map(len, headers.values())) > LONGEST_HEADERS:
            headers = {}
        return headers | ({"accept-language": self.accept_language} if self.accept_language else {})

    def _known(self, key: Key) -> SubResource | Failure | None:
        at, known = self._cached.get(key, (0.0, None))
        if isinstance(known, Failure) and self.clock() > at + FAILED_FOR:
            return None
        if known is not None:
            self._cached.move_to_end(key)
        return known

    def _remember(self, key: Key, found: SubResource | Failure) -> None:
        self._forget(key)
        self._cached[key] = self.clock(), found
        self._size += _size(found)
        while self._size > MOST_CACHED:
            self._forget(next(iter(self._cached)))

    def _forget(self, key: Key) -> None:
        if key in self._cached:
            self._size -= _size(self._cached.pop(key)[1])

    async def _fetched(
        self, url: str, headers: Mapping[str, str], kind: str, sent: list[SentRequest]
    ) -> SubResource | Failure:
        try:
            ruling = await self._turn(url)
            if ruling.decision != "admit":
                return Failure(ruling.because)
            response = await self._response(url, headers, sent)
        except Exception as error:
            if isinstance(error, OF_STORAGE):
                raise
            return Failure(self.troubles.keep(url, "fetched for a page", error))
        return response if isinstance(response, Failure) else SubResource(response, kind)

    async def _turn(self, url: str) -> Ruling:
        """Waits until a request may be sent, and marks the host as busy; or returns why it is refused."""
        host = host_of(url)
        self.crawl.frontier.reserve(host)
        try:
            while True:
                now = self.clock()
                turn = self.crawl.turn_of(url, now)
                if isinstance(turn, Ruling):
                    return turn
                if isinstance(turn, Visit):
                    self.driver.begin(turn)
                else:
                    await asyncio.sleep(min(max(turn - now, SOONEST), LATEST))
        finally:
            self.crawl.frontier.unreserve(host)
            self.driver.wake()

    async def _response(self, url: str, headers: Mapping[str, str], sent: list[SentRequest]) -> Response | Failure:
        began, result, pause = self.clock(), "given up", None
        try:
            response = await self.fetcher.fetch(url, every_type=True, most=LARGEST, headers=headers)
            if isinstance(response, Failure):
                result = response.reason
            else:
                result, pause = str(response.status), pause_asked_by(response)
            return response
        finally:
            now = self.clock()
            sent.append(SentRequest(url, began, now, result))
            self.crawl.request_over(url, now, pause)
            self.driver.wake()


def _size(found: SubResource | Failure) -> int:
    """Size in bytes, with about a kilobyte of overhead."""
    return 1_000 + (0 if isinstance(found, Failure) else len(found.response.payload) + len(found.response.body))


@dataclass
class PageResources:
    """The sub-resources of one page: `sent` are the requests that were made, `used` the responses that it received."""

    resources: SubResourceFetcher
    sent: list[SentRequest] = field(default_factory=list, init=False)
    used: list[SubResource] = field(default_factory=list, init=False)

    async def answer(self, request: SubRequest) -> Response | Failure:
        found = await self.resources.get(request, self.sent)
        if isinstance(found, Failure):
            return found
        self.used.append(found)
        return found.response

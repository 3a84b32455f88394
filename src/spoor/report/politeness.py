"""Did a crawl keep what it promises to hosts? Read from crawl.db alone: every visit, when it began and when it ended.

Only what is on disk can be checked: a visit that was cut off by a kill left no row, and of the rules of a host only the
last text is kept, so that visits are held against it from the time it came.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from spoor import robots
from spoor.frontier.host import HostRules
from spoor.measure.politeness import Peace, share
from spoor.report.reading import one_moment
from spoor.store.crawl_folder import CrawlFolder


@dataclass(frozen=True, slots=True)
class Promise:
    """What is promised: `rules` to every host, and to do what its robots.txt tells `agent`."""

    rules: HostRules
    agent: str


@dataclass(frozen=True, slots=True)
class Breach:
    """A visit that broke the promise."""

    at: float
    host: str
    url: str
    how: str


@dataclass(frozen=True, slots=True)
class Conduct:
    """`tightest` is the smallest share of the rest due that any host got; None: no host was visited twice."""

    hosts: int
    visits: int
    tightest: float | None
    breaches: tuple[Breach, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One visit. `opened` is the rest that the host is due after it told its rules; None: it told none. `again_at` is
    when the same URL may be asked for again after a failure."""

    began: float
    ended: float
    host: str
    url: str
    for_rules: bool = False
    opened: float | None = None
    again_at: float | None = None


@dataclass
class _Host:
    """A host while its visits are gone through. `rules_at` is when its rules were learned; None: not yet."""

    robots: str
    told_last: float
    rest: float
    peace: Peace
    rules_at: float | None = None
    retries: dict[str, float] = field(default_factory=dict)


def conduct(folder: CrawlFolder, promise: Promise) -> Conduct:
    """Address by address, so that only the visits to one are in memory at a time."""
    hosts, visits, breaches, tightest = 0, 0, list[Breach](), float("inf")
    with one_moment(folder) as db:
        for neighbours in _neighbours(db):
            calls = [call for name in neighbours for call in _calls(db, name, promise.rules.rest)]
            check = _Check(promise, neighbours, calls)
            breaches += check.breaches()
            hosts, visits = hosts + len({call.host for call in calls}), visits + len(calls)
            tightest = min(tightest, check.tightest)
    ordered = tuple(sorted(breaches, key=lambda breach: breach.at))
    return Conduct(hosts, visits, None if tightest == float("inf") else tightest, ordered)


class _Check:
    """Goes through the visits to the hosts at one address, `robots_of` by name, in the order in which they began."""

    def __init__(self, promise: Promise, robots_of: dict[str, str], calls: Sequence[Call]) -> None:
        rules = promise.rules
        self.promise = promise
        self.tightest = float("inf")
        self._calls = sorted(calls, key=lambda call: (call.began, not call.for_rules, call.ended))
        told = {call.host: call.ended for call in self._calls if call.opened is not None}
        self._hosts = {
            name: _Host(text, told.get(name, float("inf")), rules.rest, Peace(rules.connections))
            for name, text in robots_of.items()
        }
        self._address = Peace(len(calls) + 1)

    def breaches(self) -> Iterator[Breach]:
        for call in self._calls:
            host = self._hosts[call.host]
            for how in self._wrongs(call, host):
                yield Breach(call.began, call.host, call.url, how)
            self._note(call, host)

    def _wrongs(self, call: Call, host: _Host) -> Iterator[str]:
        yield from self._haste(call, host)
        if call.began < (again_at := host.retries.get(call.url, call.began)):
            yield f"tried again {again_at - call.began:.3f} s too soon"
        if not call.for_rules:
            yield from self._disobedience(call, host)

    def _haste(self, call: Call, host: _Host) -> Iterator[str]:
        since = host.peace.since(call.began)
        if host.rest:
            self.tightest = min(self.tightest, share(since, call.began, host.rest))
        if call.began < since:
            yield "too many visits at once"
        elif call.began < since + host.rest:
            yield f"after {call.began - since:.3f} s of rest, {host.rest:g} s were due"
        elif host.rules_at is not None:  # Before that nobody knew at which address the host is.
            since, due = self._address.since(call.began), self.promise.rules.address_rest
            if call.began < since + due:
                yield f"its IP address had rested {call.began - since:.3f} s, {due:g} s were due"

    def _disobedience(self, call: Call, host: _Host) -> Iterator[str]:
        if host.rules_at is None:
            yield "the rules of the host were not known"
        elif call.began >= host.rules_at + self.promise.rules.rules_last:
            yield f"the rules of the host were {call.began - host.rules_at:,.0f} s old"
        elif call.began >= host.told_last and not robots.allows(host.robots, self.promise.agent, call.url):
            yield "robots.txt disallows it"

    def _note(self, call: Call, host: _Host) -> None:
        host.peace.visit(call.began, call.ended)
        if host.rules_at is not None:
            self._address.visit(call.began, call.ended)
        elif call.opened is not None:  # Its address is known since the end of this very visit.
            self._address.visit(float("-inf"), call.ended)
        if call.opened is not None:
            host.rest, host.rules_at = call.opened, call.ended
        if call.again_at is not None:
            host.retries[call.url] = call.again_at


def _neighbours(db: sqlite3.Connection) -> Iterator[dict[str, str]]:
    """The robots.txt of the hosts at each IP address, by name; a host of which none is known is alone."""
    groups: dict[str, list[str]] = {}
    for name, address in db.execute("SELECT name, address FROM hosts ORDER BY id"):
        groups.setdefault(address or name, []).append(name)
    for names in groups.values():
        texts = (db.execute("SELECT name, robots FROM hosts WHERE name = ?", (name,)).fetchone() for name in names)
        yield dict(texts)


def _calls(db: sqlite3.Connection, host: str, rest: float) -> Iterable[Call]:
    for began, ended, url in db.execute("SELECT started, ended, url FROM pages WHERE host = ?", (host,)):
        yield Call(began, ended, host, url)
    query = "SELECT started, at, url, kind, detail FROM events WHERE host = ? AND started IS NOT NULL"
    for began, ended, url, kind, detail in db.execute(query, (host,)):
        told = json.loads(detail)
        for_rules, again_at = told["purpose"] == "robots", told.get("again_at")
        # Of a host that is given up without an answer nothing more is known: only what we promise to all is due.
        opened = told["rest"] if kind == "host opened" else rest if for_rules and again_at is None else None
        yield Call(began, ended, host, url, for_rules, opened, again_at)

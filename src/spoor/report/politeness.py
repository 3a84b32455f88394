"""Checks the politeness of a crawl from crawl.db alone: start and end of every visit.

Delays are those of the settings, of robots.txt, and of persons. Every request is included: also robots.txt, its
redirects, and sub-resources of scripts. Only stored data can be checked: a visit interrupted by a kill has no row, and
only the last text of a robots.txt is kept, so visits are checked against it from the time it was fetched.

Times are those of the crawl, which never go back: where the clock had been set back between two runs, as the crawl saw
when it was resumed, everything after it is later by that much.

For a crawl with several shards, the visits of all are checked together. The clocks of their machines must agree.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from operator import itemgetter
from typing import Any

from spoor import robots
from spoor.frontier.entry import HostRules
from spoor.frontier.rows import stored_robots_text
from spoor.lab.delays import LastVisits, RobotsHistory, share
from spoor.report.showing import consistent_read
from spoor.robots import NeededFile, RobotsFile, delay_for, holding_for
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.crawl_parts import Part, owner_of, timelines
from spoor.store.renders import fetch_ends, sub_requests
from spoor.store.run_time import Timeline
from spoor.urls import host_of, robots_url


@dataclass(frozen=True, slots=True)
class PolitenessRules:
    """The rules that a crawl must keep: `rules` for every host, and the robots.txt rules for `agent`."""

    rules: HostRules
    agent: str


@dataclass(frozen=True, slots=True)
class PolitenessViolation:
    """A visit that violated a rule."""

    at: float
    host: str
    url: str
    how: str


@dataclass(frozen=True, slots=True)
class PolitenessReport:
    """`tightest` is the smallest ratio of kept to due host delay of any host; None if no host was visited twice."""

    hosts: int
    visits: int
    tightest: float | None
    breaches: tuple[PolitenessViolation, ...]


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One visit by a shard. `answered`: there was a response, so the IP address is known. `again_at` is when the same
    URL may be retried after a failure. All times are `shift` seconds later than recorded."""

    shard: int
    began: float
    ended: float
    host: str
    url: str
    for_rules: bool = False
    answered: bool = True
    again_at: float | None = None
    shift: float = 0.0


@dataclass
class _Host:
    """The state of a host during the check. `found_by`: the shards that know its address."""

    visits: LastVisits
    found_by: set[int] = field(default_factory=set)
    retries: dict[str, float] = field(default_factory=dict)


def conduct(folder: CrawlFolder, promise: PolitenessRules) -> PolitenessReport:
    """Processes one IP address at a time, so that only its visits are in memory."""
    hosts, visits, breaches, tightest = 0, 0, list[PolitenessViolation](), float("inf")
    with consistent_read(folder) as parts:
        times = timelines(parts)
        files, asked_delays = _Files(parts, times, promise), _AskedDelays(parts, times)
        for neighbours in _neighbours(parts):
            calls = [
                call
                for name in neighbours
                for n, (part, timeline) in enumerate(zip(parts, times, strict=True))
                for call in _calls(part.db, timeline, n, name)
            ]
            check = _Check(promise, files, asked_delays, calls)
            breaches += check.breaches()
            hosts, visits = hosts + len({call.host for call in calls}), visits + len(calls)
            tightest = min(tightest, check.tightest)
    ordered = tuple(sorted(breaches, key=lambda breach: breach.at))
    return PolitenessReport(hosts, visits, None if tightest == float("inf") else tightest, ordered)


class _AskedDelays:
    """The host delays that persons set, of any shard: `spoor slow`. The last one of a host holds from then on."""

    def __init__(self, parts: Sequence[Part], times: Sequence[Timeline]) -> None:
        self._of_hosts: dict[str, list[tuple[float, float]]] = {}
        by_part = [_asked_delays(part.db, timeline) for part, timeline in zip(parts, times, strict=True)]
        for at, host, delay in heapq.merge(*by_part, key=itemgetter(0)):
            self._of_hosts.setdefault(host, []).append((at, delay))

    def delay(self, host: str, moment: float) -> float:
        """In seconds; 0 if nobody had set one."""
        return next((delay for at, delay in reversed(self._of_hosts.get(host, ())) if at <= moment), 0.0)


class _Files:
    """The robots.txt files of a crawl: what was known at any time, and their texts. Files known to one
    shard count for all, because a host may have moved."""

    def __init__(self, parts: Sequence[Part], times: Sequence[Timeline], promise: PolitenessRules) -> None:
        self._parts = parts
        self._promise = promise
        self._history = RobotsHistory()
        self._rules = robots.RulesCache(promise.agent, self._text)
        by_part = [_answers(part.db, timeline) for part, timeline in zip(parts, times, strict=True)]
        for answer in heapq.merge(*by_part, key=itemgetter(0)):
            self._note(*answer)

    def _note(self, at: float, url: str, kind: str, detail: dict[str, Any]) -> None:
        file = RobotsFile(url, at + self._promise.rules.rules_last)
        if kind == "host opened":
            file = replace(file, delay=detail["delay"])
        elif kind == "redirected":
            file = replace(file, leads_to=detail["to"])
        else:
            file = replace(file, failed=detail["reason"], until=detail["again_at"] or inf)
        self._history.note(at, file)

    def delay(self, host: str, moment: float) -> float:
        return max(self._promise.rules.delay, delay_for(self._history.as_of(moment), host))

    def wrong(self, url: str, moment: float) -> str:
        """Why robots.txt forbids a visit to a page; "" if it does not."""
        file = holding_for(self._history.as_of(moment), robots_url(url), moment)
        if isinstance(file, NeededFile):
            return f"{file.url} was unknown or expired"
        if file.failed:
            return f"{file.url} could not be fetched: {file.failed}"
        if moment >= self._history.last(file.url) and not self._rules.rules(file.url).allow(url):
            return "robots.txt disallows it"
        return ""

    def _text(self, url: str) -> str:
        texts = (stored_robots_text(part.db, url) for part in (owner_of(self._parts, url), *self._parts))
        return next(filter(None, texts), "")


class _Check:
    """Checks the visits to the hosts at one address, in the order in which they began. `_first` has, by shard, the
    visits that revealed the address of a host: other shards do not know of them."""

    def __init__(
        self, promise: PolitenessRules, files: _Files, asked_delays: _AskedDelays, calls: Sequence[RequestRecord]
    ) -> None:
        self.promise = promise
        self.tightest = float("inf")
        self._files = files
        self._asked_delays = asked_delays
        self._calls = sorted(calls, key=lambda call: (call.began, not call.for_rules, call.ended))
        self._hosts = {call.host: _Host(LastVisits(promise.rules.connections)) for call in calls}
        self._address = LastVisits(len(calls) + 1)
        self._first = {call.shard: LastVisits(len(calls) + 1) for call in calls}

    def breaches(self) -> Iterator[PolitenessViolation]:
        for call in self._calls:
            host = self._hosts[call.host]
            for how in self._wrongs(call, host):
                yield PolitenessViolation(call.began - call.shift, call.host, call.url, how)
            self._note(call, host)

    def _wrongs(self, call: RequestRecord, host: _Host) -> Iterator[str]:
        yield from self._haste(call, host)
        if call.began < (again_at := host.retries.get(call.url, call.began)):
            yield f"tried again {again_at - call.began:.3f} s too soon"
        if not call.for_rules and (wrong := self._files.wrong(call.url, call.began)):
            yield wrong

    def _haste(self, call: RequestRecord, host: _Host) -> Iterator[str]:
        since = host.visits.since(call.began)
        delay = max(self._files.delay(call.host, call.began), self._asked_delays.delay(call.host, call.began))
        if delay:
            self.tightest = min(self.tightest, share(since, call.began, delay))
        if call.began < since:
            yield "too many visits at once"
        elif call.began < since + delay:
            yield f"after {call.began - since:.3f} s, with a host delay of {delay:g} s"
        elif call.shard in host.found_by:  # Before that, the shard did not know the address of the host.
            since = max(self._address.since(call.began), self._first[call.shard].since(call.began))
            due = self.promise.rules.address_delay
            if call.began < since + due:
                yield f"after {call.began - since:.3f} s at its IP address, with a delay of {due:g} s"

    def _note(self, call: RequestRecord, host: _Host) -> None:
        host.visits.visit(call.began, call.ended)
        if call.shard in host.found_by:
            self._address.visit(call.began, call.ended)
        elif call.answered:  # Its address is known from the end of this visit on.
            self._first[call.shard].visit(-inf, call.ended)
            host.found_by.add(call.shard)
        if call.again_at is not None:
            host.retries[call.url] = call.again_at


def _neighbours(parts: Sequence[Part]) -> Iterable[list[str]]:
    """The hosts at each IP address; a host without a known address is a group of its own."""
    addresses: dict[str, str] = {}
    for part in parts:
        for name, address in part.db.execute("SELECT name, address FROM hosts ORDER BY id"):
            if part.has(name) or name not in addresses:
                addresses[name] = address or name
    groups: dict[str, list[str]] = {}
    for name, address in addresses.items():
        groups.setdefault(address, []).append(name)
    return groups.values()


_CALLS = "SELECT id, started, at, url, kind, detail FROM events WHERE {}"


def _answers(db: sqlite3.Connection, times: Timeline) -> Iterator[tuple[float, str, str, dict[str, Any]]]:
    """Time, URL, kind and detail of each event of a robots.txt, in their order."""
    asked = "json_extract(detail, '$.purpose') = 'robots' ORDER BY id"
    for number, _, at, url, kind, detail in db.execute(_CALLS.format(asked)):
        shift = times.shift(number)
        yield at + shift, url, kind, _later(json.loads(detail), shift)


def _asked_delays(db: sqlite3.Connection, times: Timeline) -> Iterator[tuple[float, str, float]]:
    """Time, host and seconds of each delay that a person set, in their order."""
    asked = "kind = 'steered' AND detail ->> 'action' = 'slow down' AND detail ->> 'refused' = '' ORDER BY id"
    for number, _, at, _, _, detail in db.execute(_CALLS.format(asked)):
        facts = json.loads(detail)
        yield at + times.shift(number), str(facts["host"]), float(facts["seconds"])


def _later(detail: dict[str, Any], shift: float) -> dict[str, Any]:
    again_at = detail.get("again_at")
    return detail if again_at is None else detail | {"again_at": again_at + shift}


def _calls(db: sqlite3.Connection, times: Timeline, shard: int, host: str) -> Iterable[RequestRecord]:
    fetched = fetch_ends(db, host)
    rows = db.execute("SELECT id, started, ended, url, number FROM pages WHERE host = ?", (host,))
    for row, began, ended, url, number in rows:
        shift = times.shift(row)
        ended = fetched.get((url, number), ended)
        yield RequestRecord(shard, began + shift, ended + shift, host, url, shift=shift)
    for page, began, ended, url in sub_requests(db, host):
        shift = times.shift(_row_of(db, page, began))
        yield RequestRecord(shard, began + shift, ended + shift, host, url, shift=shift)
    for row, began, ended, url, kind, detail in db.execute(_CALLS.format("host = ? AND started IS NOT NULL"), (host,)):
        shift = times.shift(row)
        facts = _later(json.loads(detail), shift)
        came = (facts["purpose"] == "robots", kind != "failed", facts.get("again_at"))
        yield RequestRecord(shard, began + shift, ended + shift, host, url, *came, shift)


def _row_of(db: sqlite3.Connection, page: str, at: float) -> int:
    """The number of the page whose visit was under way at this time."""
    query = "SELECT ifnull(max(id), 0) FROM pages WHERE host = ? AND url = ? AND started <= ? AND ended >= ?"
    return int(db.execute(query, (host_of(page), page, at, at)).fetchone()[0])

"""The frontier: selects the next URL. The only owner of the order of links."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from spoor.errors import BrokenContract
from spoor.frontier.entry import DIED, Entry, Host, HostRules, State, check_key
from spoor.frontier.host_queue import HostQueue
from spoor.frontier.hosts import Returning, RobotsQueue
from spoor.frontier.store import Bounds, LinkStore, Waiting
from spoor.frontier.tally import Tally
from spoor.records import Evidence, Key, TrailState
from spoor.robots import NeededFile, RobotsFile, delay_for, holding_for
from spoor.urls import host_of, robots_url

PAUSE = 0.01
"""Seconds for which a host is delayed after a link was postponed: there may be many, and other hosts must not
starve."""
LATER = 10.0
"""Seconds after the start of a process in which no link is fetched that may have killed an earlier process: other links
come first, and their results are stored whatever happens afterwards."""
WITHIN = 1.0
"""`best_keys` counts links that can be fetched within this number of seconds."""


class Frontier:
    """The URLs of a crawl with their states: unknown, waiting, returning, parked, in transit or settled. Only
    `settle(again_at=…)` and `postpone` send a URL back. Postponed links return from `_postponed`; the crawl does not
    wait for them. `_hosts` orders the hosts.

    The caller passes the current time. Not thread-safe.
    """

    def __init__(
        self,
        store: LinkStore,
        rules: HostRules | None = None,
        resumed_at: float | None = None,
        tallied: bool = False,
    ) -> None:
        """`resumed_at`: the delay of every host starts then, because a killed crawl may have sent a request that was
        not recorded. `tallied`: count the waiting links by key; only where hosts have no delays."""
        self._store = store
        self.rules = rules or HostRules()
        self._counters = store.counters()
        self._hosts = HostQueue(store, self.rules, resumed_at)
        self.addresses = self._hosts.addresses
        self._returning, self._postponed = Returning(store, postponed=False), Returning(store, postponed=True)
        self._robots_queue = RobotsQueue()
        self._released: set[str] = set()
        self._asked_delays: dict[str, float] = {}
        self._tally = Tally(store.waiting_keys()) if tallied and not self.rules.delay else None
        self.interrupted: tuple[str, ...] = ()
        """The pages whose visits had not ended when the previous process did; these visits do not count."""
        self.waiting = Waiting(store, self._counters)
        self._resume(resumed_at)

    def __len__(self) -> int:
        """The number of waiting links, including those that return later."""
        return self._counters.by_state[State.WAITING] + self._counters.by_state[State.RETURNING]

    @property
    def visits(self) -> int:
        """The number of visits begun."""
        return self._counters.visits

    @property
    def spent(self) -> int:
        """The number of visits that count: without failures on our side."""
        return self._counters.visits - self._counters.excused

    def count(self, state: State) -> int:
        return self._counters.by_state[state]

    def hosts_delayed(self) -> int:
        """The number of hosts under a delay, as of the last `peek`."""
        return self._hosts.count_delayed()

    def find(self, urls: Sequence[str]) -> list[Entry | None]:
        """The entry of each URL, in the same order. Read-only: change entries only through the frontier."""
        return self._store.find(urls)

    def best_keys(self, links: int, now: float) -> list[tuple[Key, int]]:
        """The best keys, rounded, of the best `links` links that can be fetched within a second, with the number of
        links at each. Where hosts have delays, one link per host counts; elsewhere, the frontier must be `tallied`."""
        self._return_due(now)
        if self._tally is not None:
            return self._tally.best(links)
        return Tally((key, 1) for key in self._hosts.best_keys(links, now + WITHIN)).best(links)

    def add(self, entry: Entry) -> None:
        """Queues a URL that was unknown, or parks it if that is its state."""
        check_key(entry.url, entry.key)
        entry.put_at(entry.key, self._next_arrival())
        self._counters.by_state[entry.state] += 1
        self._hosts.host(entry.host)
        self._store.save(entry)
        if entry.state is State.WAITING:
            self._count_waiting(entry.key, 1)
            self._hosts.link_placed(entry)

    def change(self, entry: Entry, key: Key, evidence: Evidence, trail: TrailState, hints: bytes | None = None) -> bool:
        """Updates an open link. Returns whether its position changed. `hints` None leaves them unchanged."""
        was = entry.order if key != entry.key else None
        if was is not None:
            check_key(entry.url, key)
            if self._tally is not None and entry.state is State.WAITING:
                self._tally.add(entry.key, -1)
                self._tally.add(key)
            entry.put_at(key, self._next_arrival())
        entry.evidence, entry.trail = evidence, trail
        if hints is not None:
            entry.hints = hints
        self._store.save(entry)
        if entry.state is State.WAITING:
            self._hosts.changed(entry, was)
        return was is not None

    def park(self, entry: Entry, because: str) -> None:
        """Removes a link from the queue until `admit`."""
        entry.because = because
        self._leave(entry, State.PARKED)

    def host_names(self) -> Iterator[str]:
        return self._store.host_names()

    def readmit(self, host: str, because: str, after: int, most: int) -> int | None:
        """Queues some links of a host that are parked for this reason, with their old keys. Returns the next value for
        `after`, None if there are no more. Start with `FIRST_HASH`."""
        entries, after_these = self._store.parked(host, because, after, most)
        for entry in entries:
            entry.because = ""
            self._enter(entry, State.WAITING)
            self._hosts.link_placed(entry)
        return after_these

    def admit(self, entry: Entry, key: Key | None = None) -> None:
        """Queues a link that was parked or visited; also a sitemap that is to be read again. `key` is a new one."""
        entry.because, entry.tries = "", 0 if key else entry.tries
        entry.put_at(entry.key if key is None else key, self._next_arrival())
        self._enter(entry, State.WAITING)
        self._hosts.link_placed(entry)

    def drop(self, entry: Entry, because: str) -> None:
        """Settles a waiting link without a visit."""
        entry.because = because
        self._leave(entry, State.SETTLED)

    def peek(self, now: float) -> Entry | None:
        """The best link whose host is available now; None if no host is. Its host may still be closed."""
        self._return_due(now)
        return self._hosts.peek(now)

    def foremost(self, now: float) -> Entry | None:
        """The best waiting link of all hosts that are free now or soon; None if no link waits there."""
        return self._hosts.foremost(now)

    def _return_due(self, now: float) -> None:
        """Queues the returning links that are due."""
        due = [*self._returning.due(now), *self._postponed.due(now)]
        for entry in self.find(due) if due else ():
            if entry is not None and entry.state is State.RETURNING and entry.again_at <= now:
                entry.because = entry.because if entry.is_apart else ""
                self._enter(entry, State.WAITING)
                self._hosts.link_placed(entry)

    def robots_for(self, url: str, now: float) -> RobotsFile | NeededFile | None:
        """The robots.txt that applies to a URL, or the one that must be fetched first; None if robots.txt is not
        used."""
        return holding_for(self.robots_file, robots_url(url), now) if self.rules.ask_first else None

    def robots_file(self, url: str) -> RobotsFile | None:
        """The result of the last request for a robots.txt, by its own URL; None if there was none."""
        return self._store.robots_file(url)

    def robots_text(self, url: str) -> str:
        """The last text of a robots.txt, by its own URL; "" if there is none."""
        return self._store.robots_text(url)

    def want(self, robots: str, host: str, now: float) -> None:
        """Requests this robots.txt, on whatever host it is; until it is known, nothing of `host` may be fetched."""
        if self._hosts.host(host).waits_for == robots:
            return
        self._hosts.host(host).waits_for = robots
        where = self._hosts.host(host_of(robots))
        if self._robots_queue.add(robots, where.name, host):
            self._robots_queue.wake(where.name, now)

    def keeps_delay(self, name: str, now: float) -> bool:
        """Whether the delay of a host is as long as its robots.txt files require. If not, adjusts it: the file may also
        apply to another host and have been fetched for that one."""
        host, delay = self._hosts.host(name), delay_for(self.robots_file, name)
        if delay <= host.delay:
            return True
        host.change_delay(delay)
        self._store.save_host(host)
        self._hosts.sleep(host, now)
        return host.free_at <= now

    def polite_delay(self, name: str) -> float:
        """The minimum delay of a host in seconds: the configured one, or that of its robots.txt files if longer."""
        return max(delay_for(self.robots_file, name), self.rules.delay)

    def ask_delays(self, delays: Mapping[str, float]) -> None:
        """Delays that a person set in an earlier process. They apply where they are longer than the polite delay."""
        self._asked_delays |= delays

    def slow_down(self, name: str, delay: float, now: float) -> None:
        """Sets a longer delay, on behalf of a person."""
        self._asked_delays[name] = delay
        host = self._hosts.host(name)
        self._adopt_delay(host)
        self._hosts.sleep(host, now)

    def demote(self, name: str) -> bool:
        """The links of a host come after those of all other hosts from now on. Returns whether that is new."""
        return self._hosts.demote(name)

    def restore_host(self, name: str) -> bool:
        """The links of a host are no longer behind those of others. Returns whether they were."""
        return self._hosts.restore(name)

    def turn_to_demoted(self) -> bool:
        """To be called when `peek` found nothing and nothing is in transit: if no links of other hosts wait, those of
        demoted hosts may be fetched from now on, until others are found. Returns whether that is new."""
        return self._returning.next_at() is None and self._hosts.turn_to_demoted()

    def call_off(self, refused: Callable[[str], bool]) -> None:
        """Cancels the requests for robots.txt files whose URLs are `refused`. Hosts that waited for one are available
        again."""
        for name in self._robots_queue.call_off(refused):
            host = self._hosts.host(name)
            host.waits_for = ""
            self._hosts.show(host)

    def next_robots_request(self, now: float) -> tuple[str, int] | None:
        """A robots.txt to be fetched now, and the number of earlier failed tries; None if none is due or no host is
        available. Such visits are not numbered."""
        while (name := self._robots_queue.due(now)) is not None:
            host = self._hosts.host(name)
            if self._hosts.can_be_asked(host, now) and self.keeps_delay(name, now):
                url = self._robots_queue.take(name)
                self._hosts.begin_visit(host, now)
                known = self.robots_file(url)
                return url, 0 if known is None else known.tries
            if host.visiting < self.rules.connections:
                self._robots_queue.wake(name, self._hosts.free_at(host, now))
        return None

    def answer(self, file: RobotsFile, now: float, text: str = "", address: str = "") -> float:
        """Stores the result of a request for a robots.txt. `address` is its IP address, "" if not known. Returns the
        delay in seconds of the hosts to which it applies: what it asks for, but at least the configured one."""
        self.keep_robots(file, text)
        host = self._hosts.host(host_of(file.url))
        host.address = address or host.address
        self._adopt_delay(host)
        self._end_visit(host, now)
        for name in self._robots_queue.answered(file.url):
            waiting = self._hosts.host(name)
            waiting.waits_for = ""
            self._adopt_delay(waiting)
            self._hosts.sleep(waiting, now)
            self._hosts.show(waiting)
        return max(file.delay, self.rules.delay)

    def keep_robots(self, file: RobotsFile, text: str = "") -> None:
        """Stores a robots.txt."""
        self._store.save_robots(file, text)

    def postpone(self, entry: Entry, because: str, until: float, now: float) -> None:
        """Postpones a waiting link to that time; the crawl may end before, as it does not wait for it."""
        entry.because, entry.again_at = because, until
        self._postponed.add(entry)
        self._leave(entry, State.RETURNING)
        self.delay_until(entry.host, now, now + PAUSE)

    def begin(self, entry: Entry, now: float) -> int:
        """Puts the link from `peek` in transit and its host to work. Returns the number of the visit; a visit to a
        sitemap has no number of its own."""
        self._hosts.begin_visit(self._hosts.host(entry.host), now)
        self._leave(entry, State.IN_TRANSIT)
        self._counters.visits += not entry.is_sitemap
        return self._counters.visits - 1

    def settle(self, url: str, now: float, again_at: float | None = None, because: str = "") -> None:
        """Ends a visit. Without `again_at` the URL is settled for ever; otherwise it may be tried again from then on.
        `because` is set after an error of spoor."""
        entry = self._in_transit(url)
        entry.because = because
        if again_at is None:
            self._enter(entry, State.SETTLED)
        else:
            entry.tries, entry.again_at = entry.tries + 1, again_at
            self._enter(entry, State.RETURNING)
            self._await(entry)
        self._end_transit(entry, now)

    def excuse(self, url: str, now: float) -> None:
        """Ends a visit that failed on our side: the URL waits as if it had not been fetched."""
        entry = self._in_transit(url)
        self._return_uncounted(entry, entry.tries, now)
        self._end_transit(entry, now)

    def restore(self, url: str, tries: int, now: float) -> State | None:
        """A failed visit later turned out to have failed on our side: the URL waits again, with the earlier number of
        tries. Returns its state before; None if it stays as it is."""
        (entry,) = self.find([url])
        if entry is None or entry.state not in (State.SETTLED, State.RETURNING):
            return None
        if (before := entry.state) is State.RETURNING and entry.because:
            return None
        self._return_uncounted(entry, tries, now if before is State.SETTLED else entry.again_at)
        return before

    def _return_uncounted(self, entry: Entry, tries: int, at: float) -> None:
        self._counters.excused += not entry.is_sitemap
        entry.because, entry.tries, entry.again_at = entry.because if entry.is_apart else "", tries, at
        self._enter(entry, State.RETURNING)
        self._await(entry)

    def release(self, url: str, now: float) -> None:
        """The response has arrived. The URL stays in transit, but its host may receive other requests."""
        self._end_visit(self._hosts.host(self._in_transit(url).host), now)
        self._released.add(url)

    def reserve(self, name: str) -> None:
        """Blocks all links of the host until `unreserve` was called as often: another request to the host is
        pending."""
        self._hosts.reserve(name)

    def unreserve(self, name: str) -> None:
        self._hosts.unreserve(name)

    def free_at(self, name: str, now: float) -> float:
        """When the delay of a host is over, or when to ask again."""
        return self._hosts.free_at(self._hosts.host(name), now)

    def begin_request(self, url: str, now: float) -> bool:
        """Begins a request that is not for a link, such as a robots.txt for which no host waits. Returns False, without
        beginning it, if its host is not free."""
        host = self._hosts.host(host_of(url))
        free = self._hosts.can_be_asked(host, now)
        if free:
            self._hosts.begin_visit(host, now)
        return free

    def end_request(self, url: str, now: float) -> None:
        self._end_visit(self._hosts.host(host_of(url)), now)

    def end_uncounted(self, robots: str, now: float) -> None:
        """Ends a visit to a robots.txt that failed on our side: the file is requested again for the next link that
        needs it."""
        self._end_visit(self._hosts.host(host_of(robots)), now)
        for name in self._robots_queue.answered(robots):
            self._hosts.host(name).waits_for = ""
            self._hosts.show(self._hosts.host(name))

    def give_up(self, url: str, now: float, because: str) -> None:
        """Ends a visit and parks the URL for ever, whatever evidence it gains."""
        entry = self._in_transit(url)
        entry.because, entry.again_at = because, math.inf
        self._enter(entry, State.PARKED)
        self._end_transit(entry, now)

    def _in_transit(self, url: str) -> Entry:
        (entry,) = self.find([url])
        if entry is None or entry.state is not State.IN_TRANSIT:
            raise BrokenContract(f"{url} was settled but is not in transit")
        return entry

    def delay_until(self, name: str, now: float, until: float) -> None:
        """No requests to this host before `until`: the server asked for it, or its rules could not be fetched."""
        self._hosts.delay_until(self._hosts.host(name), now, until)

    def wake_at(self) -> float | None:
        """When a delayed host, a returning link or a robots.txt may be ready; None if waiting does not help."""
        if not len(self):
            return None
        times = (*self._hosts.wake_times(), self._returning.next_at(), self._robots_queue.wake_at)
        return min((time for time in times if time is not None), default=None)

    def commit(self) -> None:
        """Makes all changes since the last commit durable, atomically."""
        self._store.commit(self._counters)
        self._returning.committed()
        self._postponed.committed()
        self._hosts.committed(self._robots_queue)

    def _resume(self, at: float | None) -> None:
        if at is not None:
            self._store.resume(at)
        in_transit = list(self._store.in_state(State.IN_TRANSIT))
        self.interrupted = tuple(entry.url for entry in in_transit if not entry.is_sitemap)
        self._counters.excused += len(self.interrupted)
        for entry in in_transit:
            self._enter(entry, State.WAITING)
            self._hosts.link_placed(entry)

    def reopen(self, now: float, died_of: str = "", ahead: float = 0.0, longest: float = math.inf) -> bool:
        """To be called before the first visit of a resumed crawl. `died_of` is the URL that the previous process was
        working on when it died; returns whether it is given up. Links that may have killed a process return later.
        `ahead`: how many seconds the clock has been set back since times were stored; no time may be more than
        `longest` seconds in the future."""
        bounds = Bounds(now, ahead, longest, self.rules.rules_last, now + LATER)
        self._store.bound(bounds)
        self._hosts.reopen(bounds)
        self._returning.begin_again()
        self._postponed.begin_again()
        return bool(died_of) and self._blame(died_of, now)

    def _blame(self, url: str, now: float) -> bool:
        """After the first death the link is fetched in isolation; after the second it is parked for ever."""
        (entry,) = self.find([url])
        if entry is None or entry.state not in (State.WAITING, State.RETURNING):
            return False
        if entry.because == DIED:
            entry.again_at = math.inf
            self._leave(entry, State.PARKED)
            return True
        entry.because, entry.again_at = DIED, now + LATER
        self._leave(entry, State.RETURNING)
        self._await(entry)
        return False

    def _await(self, entry: Entry) -> None:
        """Schedules the return of a link. The crawl does not wait for a postponed one."""
        (self._postponed if entry.is_postponed else self._returning).add(entry)

    def _next_arrival(self) -> int:
        self._counters.arrivals += 1
        return self._counters.arrivals

    def _enter(self, entry: Entry, state: State) -> None:
        self._counters.by_state[entry.state] -= 1
        self._counters.by_state[state] += 1
        if State.WAITING in (entry.state, state):
            self._count_waiting(entry.key, (state is State.WAITING) - (entry.state is State.WAITING))
        entry.state = state
        self._store.save(entry)

    def _count_waiting(self, key: Key, change: int) -> None:
        if self._tally is not None:
            self._tally.add(key, change)

    def _leave(self, entry: Entry, state: State) -> None:
        """Removes a link from the queue of its host and changes its state."""
        host = self._hosts.host(entry.host)
        self._enter(entry, state)
        self._hosts.left(host, entry)

    def _adopt_delay(self, host: Host) -> None:
        host.change_delay(max(self.polite_delay(host.name), self._asked_delays.get(host.name, 0.0)))
        self._store.save_host(host)

    def _end_transit(self, entry: Entry, now: float) -> None:
        if entry.url in self._released:
            self._released.discard(entry.url)
        else:
            self._end_visit(self._hosts.host(entry.host), now)

    def _end_visit(self, host: Host, now: float) -> None:
        self._hosts.end_visit(host, now)
        self._robots_queue.wake(host.name, host.free_at)

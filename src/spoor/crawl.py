"""THE crawl: what to visit next, and what to make of what came back. No I/O, no clock, no chance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from spoor.access import Access
from spoor.errors import BrokenContract
from spoor.events import Event, Failed, Redirected, Refusal, Refused, Visited
from spoor.frontier.entry import DIED, OPEN, TROUBLE, Entry, State
from spoor.frontier.frontier import Frontier
from spoor.isolation import IsolatedParts, Isolation
from spoor.outage import Outage
from spoor.pricing import Limits
from spoor.records import (
    ADMIT,
    SOONEST,
    Failure,
    Judged,
    Link,
    Outcome,
    Page,
    Redirect,
    RobotsRules,
    Ruling,
    Sighting,
    SitemapFile,
    Trouble,
    Verdict,
    Visit,
)
from spoor.roles import Journal, Troubles
from spoor.scoring import Scoring
from spoor.sitemap_budget import SitemapBudget
from spoor.strategy import Strategy
from spoor.urls import host_of, robots_url

Arrival = tuple[Visit, Outcome]

LONGEST_DELAY = 86_400.0
"""Seconds for which a server may ask to be left alone, and for which a robots.txt counts."""
APART_AFTER = 60.0
"""Seconds before a URL is tried once more, apart from others, after a mistake of ours."""
AT_ONCE = 512
"""Links that one decision re-scores at most, some 60 ms: then it takes the best of them. As many are turned away before
others have their turn."""


class Crawl:
    """Told the time and what came back; says what to visit next. Driven from one task in one thread.

    With `troubles` an exception costs the URL or link that is worked on: what failed is reported, the crawl continues.
    Only broken storage ends it. Without, as in simulations, exceptions are raised.
    """

    def __init__(
        self,
        strategy: Strategy,
        frontier: Frontier,
        limits: Limits | None = None,
        journal: Journal | None = None,
        troubles: Troubles | None = None,
    ) -> None:
        self.strategy = strategy
        self.frontier = frontier
        self.limits = limits or Limits()
        self._journal = journal
        self._isolation = Isolation(troubles)
        self._parts = IsolatedParts(strategy, self._isolation)
        self._scoring = Scoring(strategy, frontier, self._isolation)
        self._access = Access(frontier, self.limits)
        self._sitemaps = SitemapBudget(frontier, self._scoring, self._access.sitemaps, strategy.admission)
        self._turned_away: list[Refused] = []
        self._under_way = 0
        self._alone = False
        self._outage = Outage()
        self._outage_changes: list[Event] = []
        self._reviewed: set[str] = set()
        self._reviews = 0
        self._interrupted_at: float | None = None
        self._idle = 0.0
        self._idle_since: float | None = None

    def begin(self, seeds: Iterable[str]) -> None:
        """Seeds wait before everything else, in the given order; those the frontier knows already are passed over."""
        root = self.strategy.trail.root()
        for url in dict.fromkeys(seeds):
            if self.frontier.find([url]) == [None]:
                self.frontier.add(Entry(url, host_of(url), SOONEST, trail=root))
        self.frontier.commit()

    def resume(self, now: float, died_of: str = "", last_heard_of: float | None = None) -> None:
        """Before `begin`, where a crawl may be resumed. `died_of` is the URL that the process before this one worked on
        when it died, if it did; `last_heard_of` what time it was then: later than now, if the clock was set back."""
        ahead = 0.0 if last_heard_of is None else max(0.0, last_heard_of - now)
        given_up = self.frontier.reopen(now, died_of, ahead, max(LONGEST_DELAY, self.limits.longest_wait))
        if given_up:
            self._turned_away.append(Refused(now, Refusal(died_of, f"{DIED}, twice", parked=True)))
        elif died_of:
            self._access.blame(died_of, now)
            self._isolation.note(died_of, DIED)

    # What to visit next.

    def next_visit(self, now: float) -> Visit | None:
        """None: nobody can be visited right now, or it is better to wait; `wake_at` says when to ask again, `ended`
        whether ever."""
        self._count_idle(now)
        if self._outage.paused_since is not None:
            return self._probe(now)
        self._reviews, self._interrupted_at = 0, None
        best: Entry | None = None
        while not self._alone and not self._spent():
            if (asking := self._access.next_visit(now)) is not None:
                self._under_way += 1
                return asking
            if (entry := self.frontier.peek(now)) is None:
                return None
            if len(self._turned_away) >= AT_ONCE:
                self._interrupted_at = now
                return None
            if self._goes_back(entry):
                best = entry if best is None or entry.order < best.order else best
                if self._reviews < AT_ONCE:
                    continue
                entry = best
            if self._waits_for_better(entry, now):
                self._idle_since = now
                return None
            if entry.because == DIED and self._under_way:
                return None
            if (allowed := self._allowed(entry, now)) is None:
                continue
            visit = self._visit(entry, now)
            ruling = self._at_turn(visit, entry) if allowed.decision == "admit" else allowed
            if ruling.decision == "admit":
                self._begin(visit, entry, now)
                return visit
            self._turn_away(entry, visit, ruling, now)
        return None

    def _probe(self, now: float) -> Visit | None:
        """While nothing answers: one request after another, for the robots.txt of a host that answered before."""
        if self._outage.is_probing or self._spent() or now < self._outage.probe_at:
            return None
        for url in map(robots_url, self._outage.candidates()):
            if self.frontier.begin_probe(url, now):
                self._outage.probe(url, now)
                self._under_way += 1
                return Visit(url, host_of(url), self.frontier.visits, now, "robots")
        self._outage.probe("", now)
        return None

    def _goes_back(self, entry: Entry) -> bool:
        """Whether a link is worth less by now than when it got its place. It is asked about once until the next
        arrival, unless too many were in one decision."""
        if not self._scoring.reviews_links or entry.is_seed or entry.url in self._reviewed or self._reviews >= AT_ONCE:
            return False
        self._reviewed.add(entry.url)
        self._reviews += 1
        return self._scoring.review(entry)

    def _waits_for_better(self, entry: Entry, now: float) -> bool:
        """Whether a link is not worth its price: a better one waits on a host that is free soon."""
        price = self.limits.price_at(now, self.frontier.visits)
        if not price or entry.is_seed:
            return False
        while (best := self.frontier.foremost(now)) is not None and best is not entry and self._reviews < AT_ONCE:
            if not self._goes_back(best):
                return best.is_seed or self._parts.is_outbid(entry.url, entry.key, best.key, price)
        return False

    def _count_idle(self, now: float) -> None:
        if self._idle_since is not None:
            self._idle, self._idle_since = self._idle + now - self._idle_since, None

    def _allowed(self, entry: Entry, now: float) -> Ruling | None:
        """By robots.txt; None: it cannot be said yet."""
        ruling = self._isolation.attempt(entry.url, "checked against robots.txt", self._access.ruling, entry, now)
        return Ruling("park", ruling.reason) if isinstance(ruling, Trouble) else ruling

    def _at_turn(self, visit: Visit, entry: Entry) -> Ruling:
        """The strategy's own admission does not bind seeds."""
        return ADMIT if entry.is_seed else self._parts.at_pop(visit)

    def _visit(self, entry: Entry, now: float) -> Visit:
        return Visit(
            url=entry.url,
            host=entry.host,
            number=self.frontier.visits,
            at=now,
            purpose="sitemap" if entry.is_sitemap else "page",
            key=entry.key,
            evidence=entry.evidence,
            trail=entry.trail,
            depth=entry.depth,
            tries=entry.tries,
            found_on=entry.found_on,
            redirects=entry.redirects,
            hints=entry.hints,
            apart=entry.is_apart,
        )

    def _begin(self, visit: Visit, entry: Entry, now: float) -> None:
        self._under_way += 1
        self._alone = entry.because == DIED
        self.frontier.begin(entry, now)
        self._parts.begun(visit)

    def _turn_away(self, entry: Entry, visit: Visit, ruling: Ruling, now: float) -> None:
        parked = ruling.decision == "park"
        (self.frontier.park if parked else self.frontier.drop)(entry, ruling.because)
        if not parked:
            self._parts.learn_miss(visit, ruling.because)
        self._turned_away.append(Refused(now, Refusal(entry.url, ruling.because, parked)))

    # What to make of what came back.

    def absorb(self, arrivals: Sequence[Arrival], now: float) -> list[Event]:
        """Digests what came back, as one transaction, and tells what happened, in order; a visit apart from others as
        a transaction of its own. Once more with nothing at the end of a crawl: links may have been turned away since
        the last arrival."""
        self._under_way -= len(arrivals)
        self._alone = self._alone and not arrivals
        events = self._batch([arrival for arrival in arrivals if not arrival[0].apart], now)
        for arrival in arrivals:
            if arrival[0].apart:
                events += self._batch([arrival], now)
        return events

    def _batch(self, arrivals: Sequence[Arrival], now: float) -> list[Event]:
        self._reviewed.clear()
        self._interrupted_at = None
        verdicts = self._parts.judge([outcome for _, outcome in arrivals if isinstance(outcome, Page)])
        events: list[Event] = [*self._turned_away]
        self._turned_away.clear()
        events.extend(self._take_in(visit, outcome, verdicts, now) for visit, outcome in arrivals)
        self._scoring.keep_up()
        for visit in self._outage.doubtful():
            self._restore(visit, now)
        events.extend(self._outage_changes)
        self._outage_changes.clear()
        events.extend(self._isolation.events(now))
        if self._journal is not None:
            self._journal.note(events)
        self.frontier.commit()
        return events

    def _take_in(self, visit: Visit, outcome: Outcome, verdicts: Iterator[Verdict | Trouble], now: float) -> Event:
        """Whatever is raised on the way, the visit is over when this is."""
        verdict = next(verdicts) if isinstance(outcome, Page) else None
        self._isolation.on(visit.url)
        try:
            event = self._isolation.attempt(visit.url, "absorbed", self._absorbed, visit, outcome, verdict, now)
            return self._in_vain(visit, event, now) if isinstance(event, Trouble) else event
        finally:
            self._isolation.off()

    def _absorbed(self, visit: Visit, outcome: Outcome, verdict: Verdict | Trouble | None, now: float) -> Event:
        if (change := self._outage.hear(visit, outcome, now)) is not None:
            self._outage_changes.append(change)
        if isinstance(outcome, Failure) and self._outage.excuses(visit, outcome):
            return self._excuse(visit, outcome, now)
        if visit.purpose == "robots" and not isinstance(outcome, Trouble):
            return self._access.take_in(visit, outcome, now, self._waiting())
        self._parts.over(visit)
        return self._concluded(visit, outcome, verdict, now)

    def _concluded(self, visit: Visit, outcome: Outcome, verdict: Verdict | Trouble | None, now: float) -> Event:
        match outcome:
            case Page() as page:
                assert verdict is not None
                if isinstance(verdict, Trouble):
                    return self._in_vain(visit, verdict, now)
                return self._digest(visit, page, verdict, now)
            case Judged(page, judged):
                return self._digest(visit, page, judged, now)
            case Redirect() as redirect:
                return self._follow(visit, redirect, now)
            case Failure() as failure:
                return self._let_go_or_wait(visit, failure, now)
            case Trouble() as trouble:
                return self._in_vain(visit, trouble, now)
            case SitemapFile() as file if visit.purpose == "sitemap":
                return self._sitemaps.take_in(visit, file, now, self._waiting())
            case RobotsRules() | SitemapFile():
                raise BrokenContract(f"{visit.url} is a page, but a {type(outcome).__name__} came for it")

    def _digest(self, visit: Visit, page: Page, verdict: Verdict, now: float) -> Visited:
        """What may fail for the page as a whole comes before anything is changed."""
        if not math.isfinite(verdict.relevance):
            raise BrokenContract(f"{self.strategy.judge!r} gave {page.url} the relevance {verdict.relevance}")
        trail = self.strategy.trail.advance(visit.trail, page, verdict)
        waiting = self._waiting()
        self.frontier.settle(visit.url, now)
        sighting = Sighting(visit, page, verdict, trail)
        self._parts.learn(sighting)
        offered = self._scoring.offer(sighting)
        if self.limits.sitemaps:
            self._sitemaps.page_came(sighting)
        counts = (offered.added, offered.moved, tuple(offered.refused))
        return Visited(visit, now, page.status, page.size, verdict, *counts, waiting, page.needs_scripts)

    def _follow(self, visit: Visit, redirect: Redirect, now: float) -> Redirected:
        """The target takes the place that the redirecting URL had. A redirect that leads to nothing new is a miss."""
        followed = self._hand_over(visit, redirect.to, redirect.again, now)
        if followed.because:
            self._parts.learn_miss(visit, followed.because)
        return followed

    def _hand_over(self, visit: Visit, to: str, again: bool, now: float) -> Redirected:
        (entry,) = self.frontier.find([to])
        waiting = self._waiting()
        self.frontier.settle(visit.url, now)
        if visit.redirects >= self.limits.redirects:
            return Redirected(visit, now, to, f"more than {self.limits.redirects} redirects in a row", waiting)
        if visit.purpose == "sitemap" and (refusal := self._sitemaps.refusal(to)):
            return Redirected(visit, now, to, refusal, waiting)
        if entry is None:
            ruling = ADMIT if visit.key == SOONEST else self._scoring.at_offer(Link(to), visit.evidence, visit.trail)
            if ruling.decision != "admit":
                return Redirected(visit, now, to, ruling.because, waiting)
            place = (visit.key, visit.evidence, visit.trail, visit.depth, visit.url, visit.redirects + 1)
            self.frontier.add(Entry(to, host_of(to), *place, hints=visit.hints))
        elif again and entry.state is State.SETTLED:
            self.frontier.admit(entry)
            return Redirected(visit, now, to, "", waiting, again=True)
        elif entry.state not in OPEN:
            return Redirected(visit, now, to, "already visited", waiting)
        elif visit.key != SOONEST and not entry.is_seed:
            self._scoring.found_again(Link(to, hints=visit.hints), entry, visit.evidence, visit.trail)
        return Redirected(visit, now, to, "", waiting)

    def _let_go_or_wait(self, visit: Visit, failure: Failure, now: float) -> Event:
        waiting = self._waiting()
        wait = None if failure.again_after is None else self.limits.wait_before(visit.tries, failure.again_after)
        again_at = None if wait is None else now + wait
        if failure.whole_host and again_at is not None:
            self.frontier.leave_alone(visit.host, now, again_at)
        if visit.tries + 1 >= self.limits.tries:
            again_at = None
        self.frontier.settle(visit.url, now, again_at)
        self._parts.learn_miss(visit, failure.reason)
        return Failed(visit, now, failure.reason, again_at, waiting)

    def _in_vain(self, visit: Visit, trouble: Trouble, now: float) -> Event:
        """After a mistake of ours: a URL is tried once more, apart from others, and then parked for good. What was done
        before the mistake stays done."""
        self._isolation.forget(visit.url)
        if visit.purpose == "robots":
            return self._access.take_in(visit, Failure(trouble.reason, APART_AFTER), now, self._waiting())
        waiting, again_at = self._waiting(), None if visit.apart else now + APART_AFTER
        (entry,) = self.frontier.find([visit.url])
        if entry is None or entry.state is not State.IN_TRANSIT:
            again_at = None
        elif again_at is None:
            self.frontier.give_up(visit.url, now, trouble.reason)
        else:
            self.frontier.settle(visit.url, now, again_at, TROUBLE + trouble.reason)
        self._parts.learn_miss(visit, trouble.reason)
        return Failed(visit, now, trouble.reason, again_at, waiting)

    def _excuse(self, visit: Visit, failure: Failure, now: float) -> Failed:
        """Our own side is out of order: the URL is tried again as if nothing had been, and nobody learns from it."""
        waiting = self._waiting()
        if visit.purpose == "robots":
            self.frontier.end_in_vain(visit.url, now)
        else:
            self._parts.over(visit)
            self.frontier.excuse(visit.url, now)
        return Failed(visit, now, failure.reason, now, waiting, excused=True)

    def _restore(self, visit: Visit, now: float) -> None:
        """The same for a visit that failed before that was known."""
        if visit.purpose == "robots":
            self._access.forget(visit.url, now)
        else:
            self.frontier.restore(visit.url, visit.tries, now)

    def _waiting(self) -> int:
        """The length of the queue, what is being visited included."""
        return len(self.frontier) + self.frontier.count(State.IN_TRANSIT)

    # When to ask again, and whether.

    def wake_at(self) -> float | None:
        """When to ask for a visit again if nothing arrives before; None: only an arrival can help."""
        if self._spent():
            return None
        if self._outage.paused_since is not None:
            return None if self._outage.is_probing else self._outage.probe_at
        return self.frontier.wake_at() if self._interrupted_at is None else self._interrupted_at

    @property
    def interrupted(self) -> bool:
        """Whether the last decision turned so many links away that it was broken off: absorb, then ask again."""
        return self._interrupted_at is not None

    @property
    def paused_since(self) -> float | None:
        """Since when nothing answers, so that nothing is fetched; None: it is."""
        return self._outage.paused_since

    @property
    def idle(self) -> float:
        """Seconds in which a connection was left free although a link could have been fetched, because better
        ones were on hosts that are free soon."""
        return self._idle

    def ended(self) -> str:
        """Why there is no next visit, once nothing is in flight and `wake_at` is None."""
        if self._spent():
            return f"the budget of {self.limits.visits} visits is spent"
        put_off = len(self.frontier)
        links = "1 link" if put_off == 1 else f"{put_off:,} links"
        return f"nothing is waiting but {links} without a robots.txt" if put_off else "nothing is waiting"

    def _spent(self) -> bool:
        return self.limits.visits is not None and self.frontier.spent >= self.limits.visits

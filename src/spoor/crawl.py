"""The crawl: selects the next URL and processes each outcome. No I/O; the caller passes in the time; no randomness."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from spoor.actions import Action, AddSeeds, Budget, Submission
from spoor.crawling.access import Access
from spoor.crawling.failures import Failures
from spoor.crawling.guidance import Guidance, Readmission, carry_out
from spoor.crawling.https_outage import HttpsOutage
from spoor.crawling.isolation import IsolatedParts, Isolation
from spoor.crawling.outage import Outage
from spoor.crawling.revision import learn_anew, revised
from spoor.crawling.scoring import Scoring
from spoor.crawling.share import Handover
from spoor.crawling.sitemap_budget import SitemapBudget
from spoor.crawling.turns import AT_ONCE, Turns
from spoor.errors import BrokenContract
from spoor.events import Event, Excused, HostDemoted, Redirected, Refusal, Refused, Steered, Visited
from spoor.frontier.entry import DIED, OPEN, Entry, State, visit_to
from spoor.frontier.frontier import Frontier
from spoor.pricing import Limits
from spoor.records import (
    ADMIT,
    SOONEST,
    Failure,
    Handed,
    Judged,
    Lesson,
    Link,
    Mailed,
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
    sighting_elsewhere,
)
from spoor.roles import Journal, Judge, Saturated, Troubles
from spoor.strategy import Strategy
from spoor.urls import host_of

Arrival = tuple[Visit, Outcome]

LONGEST_DELAY = 86_400.0
"""The longest delay, in seconds, that a server may ask for, and the longest time for which a robots.txt is valid."""

INTERRUPTED = "the crawl was interrupted"
"""Why a visit that had begun does not count."""


class Crawl:
    """Selects visits and absorbs their outcomes. The caller passes the current time. Not thread-safe.

    With a `handover`, this is one shard of a crawl: it keeps the seeds of its own hosts, passes links to other hosts
    on, and gets links found by other shards through `receive`. With `troubles`, an exception costs only the URL or link
    that is being processed, and is reported; only broken storage ends the crawl. Without, exceptions are raised.
    `saturated` is told which links further pages need not contain."""

    def __init__(
        self,
        strategy: Strategy,
        frontier: Frontier,
        limits: Limits | None = None,
        journal: Journal | None = None,
        troubles: Troubles | None = None,
        guidance: Guidance | None = None,
        handover: Handover | None = None,
        saturated: Saturated | None = None,
    ) -> None:
        self.strategy = strategy
        self.frontier = frontier
        self.limits = limits or Limits()
        self.guidance = guidance or Guidance()
        self._journal = journal
        self._isolation = Isolation(troubles)
        self._parts = IsolatedParts(strategy, self._isolation, handover)
        self._scoring = Scoring(strategy, frontier, self._isolation, self.guidance, handover, saturated)
        self.turns = Turns(frontier, self._scoring, self._parts, self.guidance)
        self._access = Access(frontier, self.limits, self.guidance)
        self._failures = Failures(frontier, self._access, self._parts, self._isolation, self.limits)
        self._sitemaps = SitemapBudget(frontier, self._scoring, self._access.sitemaps, strategy.admission)
        self._readmission = Readmission(frontier)
        self._turned_away: list[Event] = []
        self._under_way = 0
        self._alone = False
        self._outage = Outage()
        self._https = HttpsOutage(frontier)
        self._changes: list[Event] = []
        self._interrupted_at: float | None = None
        self._idle = 0.0
        self._idle_since: float | None = None

    def begin(self, seeds: Iterable[str]) -> None:
        """Queues the seeds before everything else, in the given order. Of those already in the frontier, the ones that
        were refused or not answered are tried again: what kept them back may have been changed since."""
        for url in dict.fromkeys(seeds):
            self._add_seed(url)
        self.frontier.commit()

    def _add_seed(self, url: str) -> None:
        (entry,) = self.frontier.find([url])
        if self._scoring.is_foreign(url):
            return
        if entry is None:
            self.frontier.add(Entry(url, host_of(url), SOONEST, trail=self.strategy.trail.root()))
        elif entry.may_be_a_seed:
            self._access.ask_again(url)
            if entry.state is State.WAITING:
                self.frontier.change(entry, SOONEST, entry.evidence, entry.trail)
            else:
                self.frontier.admit(entry, SOONEST)

    def resume(self, now: float, died_of: str = "", set_back: float = 0.0) -> None:
        """To be called before `begin`, which commits, if the crawl may be a resumed one. `died_of` is the URL that the
        previous process was working on when it died, "" if it did not die. The clock is `set_back` seconds behind the
        last time that it recorded."""
        given_up = self.frontier.reopen(now, died_of, set_back, max(LONGEST_DELAY, self.limits.longest_wait))
        if self._journal is not None:
            self._journal.note([Excused(now, url, INTERRUPTED, before=None) for url in self.frontier.interrupted])
        if given_up:
            self._turned_away.append(Refused(now, Refusal(died_of, f"{DIED}, twice", parked=True)))
        elif died_of:
            self._access.blame(died_of, now)
            self._isolation.note(died_of, DIED)
        self._readmission.add(*self.guidance.unblocked)

    # Selecting the next visit.

    def next_visit(self, now: float) -> Visit | None:
        """None if no host is available now or waiting is better: `wake_at` returns when to ask again, `ended` why there
        will be no more."""
        self._count_idle(now)
        if self.guidance.paused_by:
            return None
        if self._outage.paused_since is not None:
            return self._probe(now)
        self.turns.begin()
        self._https.select(now)
        self._interrupted_at = None
        best: Entry | None = None
        while not self._alone and not self.is_spent():
            if (asking := self._access.next_visit(now)) is not None:
                self._under_way += 1
                self._https.begun(asking)
                return asking
            if (entry := self.frontier.peek(now)) is None:
                if self._under_way or not self.frontier.turn_to_demoted():
                    return None
                continue
            if len(self._turned_away) + self.turns.set_aside >= AT_ONCE:
                self._interrupted_at = now
                return None
            if self._https.holds(entry, now):
                self.turns.set_aside += 1
                continue
            if self.turns.is_blocked(entry):
                continue
            if self.turns.goes_back(entry):
                best = entry if best is None or entry.order < best.order else best
                if self.turns.may_review:
                    continue
                entry = best
            if self._https.paused_since is None and self.turns.waits_for_better(
                entry, self.limits.price_at(now, self.frontier.visits), now
            ):
                self._idle_since = now
                return None
            if entry.because == DIED and self._under_way:
                return None
            if (allowed := self._allowed(entry, now)) is None:
                continue
            visit = visit_to(entry, self.frontier.visits, now)
            ruling = self._at_turn(visit, entry) if allowed.decision == "admit" else allowed
            if ruling.decision == "admit":
                self._begin(visit, entry, now)
                return visit
            self._refuse(entry, visit, ruling, now)
        return None

    def _probe(self, now: float) -> Visit | None:
        """During an outage: requests the robots.txt of hosts that answered before, one at a time."""
        if self._outage.is_probing or self.is_spent() or now < self._outage.probe_at:
            return None
        for url in self._outage.candidates():
            if not self.guidance.blocks(url) and self.frontier.begin_request(url, now):
                self._outage.probe(url, now)
                self._under_way += 1
                return Visit(url, host_of(url), self.frontier.visits, now, "robots")
        self._outage.probe("", now)
        return None

    def _count_idle(self, now: float) -> None:
        if self._idle_since is not None:
            self._idle, self._idle_since = self._idle + now - self._idle_since, None

    def _allowed(self, entry: Entry, now: float) -> Ruling | None:
        """The ruling of robots.txt; None if that file is not known yet."""
        ruling = self._isolation.attempt(entry.url, "checked against robots.txt", self._access.ruling, entry, now)
        return Ruling("park", ruling.reason) if isinstance(ruling, Trouble) else ruling

    def _at_turn(self, visit: Visit, entry: Entry) -> Ruling:
        """The strategy's admission does not apply to seeds."""
        return ADMIT if entry.is_seed else self._parts.at_pop(visit)

    def _begin(self, visit: Visit, entry: Entry, now: float) -> None:
        self._under_way += 1
        self._alone = entry.because == DIED
        self.frontier.begin(entry, now)
        self._https.begun(visit)
        self._parts.begun(visit)

    def _refuse(self, entry: Entry, visit: Visit, ruling: Ruling, now: float) -> None:
        parked = ruling.decision == "park"
        (self.frontier.park if parked else self.frontier.drop)(entry, ruling.because)
        if not parked:
            self._parts.learn_miss(visit, ruling.because)
        self._turned_away.append(Refused(now, Refusal(entry.url, ruling.because, parked)))

    # Requests by the scripts of a page.

    def release(self, visit: Visit, now: float) -> None:
        """The response has arrived and its scripts are about to run: the host may receive other requests."""
        self.frontier.release(visit.url, now)

    def turn_of(self, url: str, now: float) -> Ruling | Visit | float:
        """Whether a script may request this URL. If admitted: send it now and call `request_over` afterwards. A visit:
        fetch that robots.txt first. A number: ask again at that time."""
        if self._outage.paused_since is not None:
            return self._outage.probe_at
        turn = self._access.turn_of(url, now)
        self._under_way += isinstance(turn, Visit)
        return turn

    def request_over(self, url: str, now: float, pause: float | None = None) -> None:
        """`pause`: for how many seconds the server asks to be left alone."""
        self.frontier.end_request(url, now)
        if pause is not None:
            self.frontier.delay_until(host_of(url), now, now + pause)

    # Processing outcomes.

    def absorb(self, arrivals: Sequence[Arrival], now: float) -> list[Event]:
        """Processes the outcomes in one transaction, and returns the events in order. A visit marked `apart` gets a
        transaction of its own. To be called with no arrivals at the end of a crawl, because links may have been refused
        since the last arrival."""
        self._under_way -= len(arrivals)
        self._alone = self._alone and not arrivals
        events = self._batch([arrival for arrival in arrivals if not arrival[0].apart], now)
        for arrival in arrivals:
            if arrival[0].apart:
                events += self._batch([arrival], now)
        return events

    def receive(self, batch: Sequence[Mailed], now: float) -> list[Event]:
        """Takes in links and lessons from other shards, in one transaction. Returns the refused links as events."""
        self.turns.more_is_known()
        for mailed in batch:
            if not isinstance(mailed, Handed):
                self._parts.learn_from_others(mailed)
                self._scoring.hear_of(mailed)
        refused = self._scoring.receive([mailed for mailed in batch if isinstance(mailed, Handed)]).refused
        events: list[Event] = [*(Refused(now, refusal) for refusal in refused), *self._isolation.events(now)]
        if self._journal is not None:
            self._journal.note(events)
        self.frontier.commit()
        return events

    def _batch(self, arrivals: Sequence[Arrival], now: float) -> list[Event]:
        self.turns.more_is_known()
        self._interrupted_at = None
        verdicts = self._parts.judge([outcome for _, outcome in arrivals if isinstance(outcome, Page)])
        events: list[Event] = [*self._turned_away]
        self._turned_away.clear()
        self.turns.set_aside = 0
        events.extend(self._absorb_one(visit, outcome, verdicts, now) for visit, outcome in arrivals)
        self._scoring.keep_up()
        for visit in chain(self._outage.doubtful(), self._https.doubtful()):
            events.extend(self._failures.restore(visit, now))
        events.extend(self._changes)
        self._changes.clear()
        events.extend(self._isolation.events(now))
        if self._journal is not None:
            self._journal.note(events)
        self.frontier.commit()
        self._readmission.go_on()
        return events

    def _absorb_one(self, visit: Visit, outcome: Outcome, verdicts: Iterator[Verdict | Trouble], now: float) -> Event:
        """Always ends the visit, whatever is raised."""
        verdict = next(verdicts) if isinstance(outcome, Page) else None
        self._isolation.on(visit.url)
        try:
            event = self._isolation.attempt(visit.url, "absorbed", self._absorbed, visit, outcome, verdict, now)
            return (
                self._failures.on_internal_error(visit, event, now, self._waiting())
                if isinstance(event, Trouble)
                else event
            )
        finally:
            self._isolation.off()

    def _absorbed(self, visit: Visit, outcome: Outcome, verdict: Verdict | Trouble | None, now: float) -> Event:
        changes = self._outage.hear(visit, outcome, now), self._https.hear(visit, outcome, now)
        self._changes.extend(change for change in changes if change is not None)
        if isinstance(outcome, Failure) and any(one.excuses(visit, outcome) for one in (self._outage, self._https)):
            return self._failures.excuse(visit, outcome, now, self._waiting())
        if visit.purpose == "robots" and not isinstance(outcome, Trouble):
            return self._access.take_in(visit, outcome, now, self._waiting())
        self._parts.over(visit)
        return self._process_outcome(visit, outcome, verdict, now)

    def _process_outcome(self, visit: Visit, outcome: Outcome, verdict: Verdict | Trouble | None, now: float) -> Event:
        match outcome:
            case Page() as page:
                assert verdict is not None
                if isinstance(verdict, Trouble):
                    return self._failures.on_internal_error(visit, verdict, now, self._waiting())
                return self._process_page(visit, page, verdict, now)
            case Judged(page, judged):
                return self._process_page(visit, page, judged, now)
            case Redirect() as redirect:
                return self._follow(visit, redirect, now)
            case Failure() as failure:
                return self._failures.retry_or_give_up(visit, failure, now, self._waiting())
            case Trouble() as trouble:
                return self._failures.on_internal_error(visit, trouble, now, self._waiting())
            case SitemapFile() as file if visit.purpose == "sitemap":
                return self._sitemaps.take_in(visit, file, now, self._waiting())
            case RobotsRules() | SitemapFile():
                raise BrokenContract(f"{visit.url} is a page, but the outcome is a {type(outcome).__name__}")

    def _process_page(self, visit: Visit, page: Page, verdict: Verdict, now: float) -> Visited:
        """Steps that can fail for the whole page come first, before any state changes."""
        if not math.isfinite(verdict.relevance):
            raise BrokenContract(f"{self.strategy.judge!r} gave {page.url} the relevance {verdict.relevance}")
        trail = self.strategy.trail.advance(visit.trail, page, verdict)
        waiting = self._waiting()
        self.frontier.settle(visit.url, now)
        sighting = Sighting(visit, page, verdict, trail)
        self._parts.learn(sighting)
        self._rank_host(visit.host, now, is_restored=not page.duplicate_of)
        offered = self._scoring.offer(sighting)
        if self.limits.sitemaps:
            self._sitemaps.page_came(sighting)
        counts = (offered.added, offered.moved, tuple(offered.refused))
        came = (visit, now, page.status, page.size, verdict)
        return Visited(*came, *counts, waiting, page.needs_scripts, page.rendering, page.duplicate_of)

    def _rank_host(self, host: str, now: float, is_restored: bool = False) -> None:
        """Puts the links of a host behind those of all others, or back."""
        because = self._parts.demotion_of(host)
        if because and self.frontier.demote(host):
            self._changes.append(HostDemoted(now, host, because))
        elif is_restored and not because and self.frontier.restore_host(host):
            self._changes.append(HostDemoted(now, host, ""))

    def _follow(self, visit: Visit, redirect: Redirect, now: float) -> Redirected:
        """The target inherits the key and evidence of the redirecting URL. A redirect to a URL that is not new is a
        miss."""
        self._parts.learn_redirect(visit, redirect.to)
        self._rank_host(visit.host, now)
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
            if self._scoring.is_foreign(to):
                self._send_on(visit, to, again)
                return Redirected(visit, now, to, "", waiting)
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

    def _send_on(self, visit: Visit, to: str, again: bool) -> None:
        """Passes the target of a redirect on to its shard, which alone knows whether it is new."""
        page = sighting_elsewhere(visit.url, visit.depth - 1, visit.trail)
        is_seed, link = visit.key == SOONEST, Link(to, hints=visit.hints)
        self._scoring.hand_over(Handed(link, visit.evidence, page, visit.redirects + 1, is_seed, again))

    def _waiting(self) -> int:
        """The length of the queue, including the visits in transit."""
        return len(self.frontier) + self.frontier.count(State.IN_TRANSIT)

    # Actions of persons.

    def steer(self, submission: Submission, now: float) -> list[Event]:
        """Applies or refuses the action, in one transaction, and returns the events."""
        action, who = submission.action, submission.who
        refused = self.guidance.refusal(action, self.frontier) or self.limits.refusal(submission, now)
        if not refused:
            self.guidance.note(action, who)
            self._do(action, now)
        self._turned_away.append(Steered(now, submission.id, who, action, refused))
        return self._batch([], now)

    def _do(self, action: Action, now: float) -> None:
        match action:
            case Budget():
                self.limits = self.limits.changed(action)
            case AddSeeds(urls):
                for url in urls:
                    self._add_seed(url)
            case _:
                carry_out(action, self.frontier, self.guidance, self._readmission, now)

    # Revised verdicts.

    def revise(self, judge: Judge, changed: Mapping[str, Verdict], lessons: Iterable[Lesson]) -> None:
        """Replaces the judge. `changed` has the verdicts on visited pages that differ now, by URL. The strategy
        relearns from `lessons`, everything it has learned from so far in the original order, with these verdicts in
        place of the old ones. If no verdict changed, its state stays the same to the last bit. One transaction, between
        two batches; to be repeated, with the revised lessons, when the crawl is resumed."""
        self.strategy = replace(self.strategy, judge=judge)
        self._parts.take_judge(judge)
        if changed:
            learn_anew(self.strategy, revised(lessons, changed, self.strategy), self._parts.under_way.values())
            self._scoring.inherit(changed)
            self.turns.more_is_known()
            self.frontier.commit()

    # When to ask again, and why not.

    def wake_at(self) -> float | None:
        """When to ask for a visit again if nothing arrives before. None if only an arrival can help, infinity if only
        `steer` can."""
        if self.is_spent():
            return None
        if self.guidance.paused_by or not self._readmission.is_over:
            return math.inf if self._readmission.is_over else -math.inf
        if self._outage.paused_since is not None:
            return None if self._outage.is_probing else self._outage.probe_at
        if self._interrupted_at is not None:
            return self._interrupted_at
        times = (self.frontier.wake_at(), self._https.wake_at)
        return min((at for at in times if at is not None), default=None)

    @property
    def interrupted(self) -> bool:
        """Whether the last `next_visit` stopped because it refused too many links, or more links are to be readmitted:
        call `absorb`, then ask again."""
        return self._interrupted_at is not None or not self._readmission.is_over

    @property
    def paused_since(self) -> float | None:
        """Start of the current outage, during which no pages are fetched; None if there is none."""
        return self._outage.paused_since

    @property
    def https_paused_since(self) -> float | None:
        """Since when no certificate of an https host has been accepted, so that https links wait; None otherwise."""
        return self._https.paused_since

    @property
    def idle(self) -> float:
        """Seconds in which a connection stayed free although a link could have been fetched, because hosts that are
        free soon had better links."""
        return self._idle

    def ended(self) -> str:
        """Why there is no next visit, once nothing is in flight and `wake_at` is None."""
        if self.is_spent():
            return f"the budget of {self.limits.visits} visits is spent"
        postponed = len(self.frontier)
        links = "1 link" if postponed == 1 else f"{postponed:,} links"
        if postponed and self._https.paused_since is not None:
            return f"nothing is waiting but {links} while no https host is accepted: {self._https.reason}"
        return f"nothing is waiting but {links} without a robots.txt" if postponed else "nothing is waiting"

    def is_spent(self) -> bool:
        """Whether the budget or the lease is used up, so that no visit may begin."""
        spent, limits = self.frontier.spent, (self.limits.visits, self.turns.lease.visits)
        return any(limit is not None and spent >= limit for limit in limits)

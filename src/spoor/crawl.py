"""THE crawl: what to visit next, and what to make of what came back. No I/O, no clock, no chance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from spoor.access import Access
from spoor.errors import OF_STORAGE, BrokenContract
from spoor.events import Event, Failed, Redirected, Refusal, Refused, Troubled, Visited
from spoor.frontier.entry import DIED, OPEN, TROUBLE, Entry, State
from spoor.frontier.frontier import Frontier
from spoor.outage import Outage
from spoor.pricing import Limits
from spoor.records import (
    ADMIT,
    SOONEST,
    Evidence,
    Failure,
    Judged,
    Key,
    Link,
    Miss,
    Outcome,
    Page,
    Redirect,
    RobotsRules,
    Ruling,
    Sighting,
    TrailState,
    Trouble,
    Verdict,
    Visit,
    WaitingLink,
)
from spoor.roles import Forecast, Journal, MissLearner, PendingCounter, Reviewer, Saturating, Troubles, Upkeep
from spoor.strategy import Strategy, hinted
from spoor.urls import host_of, robots_url

Arrival = tuple[Visit, Outcome]

LONGEST_REST = 86_400.0
"""Seconds for which a server may ask to be left alone, and for which a robots.txt counts."""
APART_AFTER = 60.0
"""Seconds before a URL is tried once more, apart from others, after a mistake of ours."""
AT_ONCE = 512
"""Links that one decision re-scores at most, some 60 ms: then it takes the best of them. As many are turned away before
others have their turn."""


@dataclass(slots=True)
class _Offered:
    """What became of the links of one page."""

    added: int = 0
    moved: int = 0
    refused: list[Refusal] = field(default_factory=list)


class Crawl:
    """Told the time and what came back; says what to visit next. Driven from one task in one thread.

    With `troubles` an exception costs the URL or link that is worked on: what failed is told, and the crawl goes on.
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
        self._troubles = troubles
        self._troubled: dict[str, str] = {}
        self._access = Access(frontier, self.limits)
        self._learners = strategy.learners()
        self._miss_learners = [learner for learner in self._learners if isinstance(learner, MissLearner)]
        self._counters = [learner for learner in self._learners if isinstance(learner, PendingCounter)]
        self._forecast = strategy.scorer if isinstance(strategy.scorer, Forecast) else strategy.hit_rates
        self._link_reader = strategy.link_reader
        self._reviewer = strategy.scorer if isinstance(strategy.scorer, Reviewer) else None
        self._saturating = strategy.scorer if isinstance(strategy.scorer, Saturating) else None
        self._scorer = strategy.scorer
        self._merge = self._scorer.merge
        self._turned_away: list[Refused] = []
        self._under_way = 0
        self._alone = False
        self._outage = Outage()
        self._outage_told: list[Event] = []
        self._reviewed: set[str] = set()
        self._reviews = 0
        self._interrupted_at: float | None = None
        self._idle = 0.0
        self._idle_since: float | None = None
        self._upkeep_at = self._next_upkeep()

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
        given_up = self.frontier.reopen(now, died_of, ahead, max(LONGEST_REST, self.limits.longest_wait))
        if given_up:
            self._turned_away.append(Refused(now, Refusal(died_of, f"{DIED}, twice", parked=True)))
        elif died_of:
            self._access.blame(died_of, now)
            self._troubled[died_of] = DIED

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
            ruling = self._at_turn(visit, entry.is_seed) if allowed.decision == "admit" else allowed
            if ruling.decision == "admit":
                self._begin(visit, entry, now)
                return visit
            self._turn_away(entry, visit, ruling, now)
        return None

    @property
    def paused_since(self) -> float | None:
        """Since when nothing answers, so that nothing is fetched; None: it is."""
        return self._outage.paused_since

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
        verdicts = self._judge([outcome for _, outcome in arrivals if isinstance(outcome, Page)])
        events: list[Event] = [*self._turned_away]
        self._turned_away.clear()
        events.extend(self._take_in(visit, outcome, verdicts, now) for visit, outcome in arrivals)
        if self._upkeep_at is not None and self.frontier.visits >= self._upkeep_at:
            self._keep_up()
        for visit in self._outage.doubtful():
            self._restore(visit, now)
        events.extend(self._outage_told)
        self._outage_told.clear()
        events.extend(Troubled(now, url, reason) for url, reason in self._troubled.items())
        self._troubled.clear()
        if self._journal is not None:
            self._journal.note(events)
        self.frontier.commit()
        return events

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

    def _visit(self, entry: Entry, now: float) -> Visit:
        return Visit(
            url=entry.url,
            host=entry.host,
            number=self.frontier.visits,
            at=now,
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
        for counter in self._counters:
            try:
                counter.begun(visit)
            except Exception as error:
                self._spare(visit.url, "begun", error)

    def _count_idle(self, now: float) -> None:
        if self._idle_since is not None:
            self._idle, self._idle_since = self._idle + now - self._idle_since, None

    def _waits_for_better(self, entry: Entry, now: float) -> bool:
        """Whether a link is not worth its price: a better one waits on a host that is free soon."""
        price = self.limits.price_at(now, self.frontier.visits)
        if not price or entry.is_seed:
            return False
        while (best := self.frontier.foremost(now)) is not None and best is not entry and self._reviews < AT_ONCE:
            if not self._goes_back(best):
                return best.is_seed or self._is_outbid(entry, best, price)
        return False

    def _is_outbid(self, entry: Entry, best: Entry, price: float) -> bool:
        try:
            return self._forecast.gain(entry.key) < price * self._forecast.gain(best.key)
        except Exception as error:
            self._spare(entry.url, "compared with others", error)
            return False

    def _goes_back(self, entry: Entry) -> bool:
        """Whether a link is worth less by now than when it got its place. It is asked about once until the next
        arrival, unless too many were in one decision."""
        if self._reviewer is None or entry.is_seed or entry.url in self._reviewed or self._reviews >= AT_ONCE:
            return False
        self._reviewed.add(entry.url)
        self._reviews += 1
        was = entry.key
        try:
            evidence = self._reviewer.review(WaitingLink(entry.url, entry.evidence, entry.trail, entry.hints))
            key = self._key(evidence)
            if key != was or evidence != entry.evidence:
                self.frontier.change(entry, key, evidence, entry.trail)
        except Exception as error:
            self._spare(entry.url, "scored again", error)
            return False
        return key < was

    def _allowed(self, entry: Entry, now: float) -> Ruling | None:
        """By robots.txt; None: it cannot be said yet."""
        try:
            return self._access.ruling(entry, now)
        except Exception as error:
            return Ruling("park", self._spare(entry.url, "held against robots.txt", error))

    def _at_turn(self, visit: Visit, is_seed: bool) -> Ruling:
        try:
            return self._at_pop(visit, is_seed)
        except Exception as error:
            return Ruling("park", self._spare(visit.url, "admitted at its turn", error))

    def _at_pop(self, visit: Visit, is_seed: bool) -> Ruling:
        """The strategy's own admission does not bind seeds."""
        return ADMIT if is_seed else self.strategy.admission.at_pop(visit)

    def _turn_away(self, entry: Entry, visit: Visit, ruling: Ruling, now: float) -> None:
        parked = ruling.decision == "park"
        (self.frontier.park if parked else self.frontier.drop)(entry, ruling.because)
        if not parked:
            self._learn_miss(visit, ruling.because)
        self._turned_away.append(Refused(now, Refusal(entry.url, ruling.because, parked)))

    def _judge(self, pages: list[Page]) -> Iterator[Verdict | Trouble]:
        """All pages together; if that fails, each by itself."""
        try:
            return iter(self._verdicts(pages) if pages else ())
        except Exception as error:
            if self._troubles is None or isinstance(error, OF_STORAGE):
                raise
            return map(self._verdict_alone, pages)

    def _verdicts(self, pages: list[Page]) -> list[Verdict]:
        verdicts = self.strategy.judge.judge(pages)
        if len(verdicts) != len(pages):
            raise BrokenContract(f"{self.strategy.judge!r} gave {len(verdicts)} verdicts for {len(pages)} pages")
        return verdicts

    def _verdict_alone(self, page: Page) -> Verdict | Trouble:
        try:
            return self._verdicts([page])[0]
        except Exception as error:
            return Trouble(self._spare(page.url, "judged", error))

    def _take_in(self, visit: Visit, outcome: Outcome, verdicts: Iterator[Verdict | Trouble], now: float) -> Event:
        """Whatever is raised on the way, the visit is over when this is."""
        verdict = next(verdicts) if isinstance(outcome, Page) else None
        if self._troubles is not None:
            self._troubles.on(visit.url)
        try:
            if (change := self._outage.hear(visit, outcome, now)) is not None:
                self._outage_told.append(change)
            if isinstance(outcome, Failure) and self._outage.excuses(visit, outcome):
                return self._excuse(visit, outcome, now)
            if visit.purpose == "robots" and not isinstance(outcome, Trouble):
                return self._access.take_in(visit, outcome, now, self._waiting())
            self._is_over(visit)
            return self._absorbed(visit, outcome, verdict, now)
        except Exception as error:
            return self._in_vain(visit, Trouble(self._spare(visit.url, "absorbed", error)), now)
        finally:
            if self._troubles is not None:
                self._troubles.off()

    def _excuse(self, visit: Visit, failure: Failure, now: float) -> Failed:
        """Our own side is out of order: the URL is tried again as if nothing had been, and nobody learns from it."""
        waiting = self._waiting()
        if visit.purpose == "robots":
            self.frontier.end_in_vain(visit.url, now)
        else:
            self._is_over(visit)
            self.frontier.excuse(visit.url, now)
        return Failed(visit, now, failure.reason, now, waiting, excused=True)

    def _restore(self, visit: Visit, now: float) -> None:
        """The same for a visit that failed before that was known."""
        if visit.purpose == "page":
            self.frontier.restore(visit.url, visit.tries, now)
        else:
            self._access.forget(visit.url, now)

    def _is_over(self, visit: Visit) -> None:
        for counter in self._counters:
            try:
                counter.over(visit)
            except Exception as error:
                self._spare(visit.url, "taken off the requests under way", error)

    def _absorbed(self, visit: Visit, outcome: Outcome, verdict: Verdict | Trouble | None, now: float) -> Event:
        match outcome:
            case Page() as page:
                assert verdict is not None
                if isinstance(verdict, Trouble):
                    return self._in_vain(visit, verdict, now)
                return self._digest(visit, page, verdict, now)
            case Judged(page, judged):
                return self._digest(visit, page, judged, now)
            case Redirect(to):
                return self._follow(visit, to, now)
            case Failure() as failure:
                return self._let_go_or_wait(visit, failure, now)
            case Trouble() as trouble:
                return self._in_vain(visit, trouble, now)
            case RobotsRules():
                raise BrokenContract(f"{visit.url} is a page, but a robots.txt came for it")

    def _in_vain(self, visit: Visit, trouble: Trouble, now: float) -> Event:
        """After a mistake of ours: a URL is tried once more, apart from others, and then parked for good. What was done
        before the mistake stays done."""
        self._troubled.pop(visit.url, None)
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
        self._learn_miss(visit, trouble.reason)
        return Failed(visit, now, trouble.reason, again_at, waiting)

    def _spare(self, url: str, doing: str, error: Exception) -> str:
        """A mistake that costs a URL, or less, and not the crawl, in one line."""
        if self._troubles is None or isinstance(error, OF_STORAGE):
            raise error
        reason = self._troubled[url] = self._troubles.keep(url, doing, error)
        return reason

    def _digest(self, visit: Visit, page: Page, verdict: Verdict, now: float) -> Visited:
        """What may fail for the page as a whole comes before anything is changed."""
        if not math.isfinite(verdict.relevance):
            raise BrokenContract(f"{self.strategy.judge!r} gave {page.url} the relevance {verdict.relevance}")
        trail = self.strategy.trail.advance(visit.trail, page, verdict)
        waiting = self._waiting()
        self.frontier.settle(visit.url, now)
        sighting = Sighting(visit, page, verdict, trail)
        for learner in self._learners:
            try:
                learner.learn(sighting)
            except Exception as error:
                self._spare(visit.url, "learned from", error)
        offered = self._offer(sighting)
        counts = (offered.added, offered.moved, tuple(offered.refused))
        return Visited(visit, now, page.status, page.size, verdict, *counts, waiting)

    def _offer(self, sighting: Sighting) -> _Offered:
        """The links of a page that are still open: new ones are let in or refused, known ones gain evidence."""
        links = sighting.page.links
        known = self.frontier.find([link.url for link in links])
        of_use = [(link, e) for link, e in zip(links, known, strict=True) if e is None or self._gains(e, sighting)]
        offered = _Offered()
        for (link, evidence), (_, entry) in zip(
            self._scored(sighting, [link for link, _ in of_use]), of_use, strict=True
        ):
            if evidence is None:
                offered.refused.append(Refusal(link.url, "it could not be scored", parked=False))
                continue
            try:
                if entry is None:
                    self._let_in(link, evidence, sighting, offered)
                else:
                    offered.moved += self._meet_again(link, entry, evidence, sighting.trail)
            except Exception as error:
                reason = self._spare(sighting.visit.url, "searched for links", error)
                offered.refused.append(Refusal(link.url, reason, parked=False))
        return offered

    def _gains(self, entry: Entry, sighting: Sighting) -> bool:
        """Whether more would be known of a link by this page."""
        if entry.state not in OPEN or entry.is_seed:
            return False
        try:
            return self._saturating is None or not self._saturating.is_saturated(entry.evidence, sighting)
        except Exception as error:
            self._spare(entry.url, "met again", error)
            return False

    def _scored(self, sighting: Sighting, links: list[Link]) -> Iterable[tuple[Link, Evidence | None]]:
        """All links together; if that fails, each by itself, and those that cannot be scored without evidence."""
        try:
            read = self._read(sighting.page, links)
            return zip(read, self._evidence(sighting, read), strict=True)
        except Exception as error:
            self._spare(sighting.visit.url, "searched for links", error)
            return [self._scored_alone(sighting, link) for link in links]

    def _scored_alone(self, sighting: Sighting, link: Link) -> tuple[Link, Evidence | None]:
        try:
            read = self._read(sighting.page, [link])
            return read[0], self._evidence(sighting, read)[0]
        except Exception as error:
            if isinstance(error, OF_STORAGE):
                raise
            return link, None

    def _read(self, page: Page, links: list[Link]) -> list[Link]:
        """With hints, if they were not read together with the page."""
        if self._link_reader is None or not links or links[0].hints:
            return links
        return hinted(self._link_reader, page, links)

    def _evidence(self, sighting: Sighting, links: list[Link]) -> Sequence[Evidence]:
        facts = self._scorer.evidence(sighting, links) if links else ()
        if len(facts) != len(links):
            told = f"{len(facts)} evidences for {len(links)} links on {sighting.page.url}"
            raise BrokenContract(f"{self._scorer!r} gave {told}")
        return facts

    def _at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return self.strategy.admission.at_offer(link, evidence, trail)

    def _let_in(self, link: Link, evidence: Evidence, sighting: Sighting, offered: _Offered) -> None:
        ruling = self._at_offer(link, evidence, sighting.trail)
        key = () if ruling.decision == "drop" else self._key(evidence)
        if ruling.decision != "admit":
            offered.refused.append(Refusal(link.url, ruling.because, ruling.decision == "park"))
        if ruling.decision == "drop":
            return
        parent = sighting.visit
        found = (evidence, sighting.trail, parent.depth + 1, parent.url)
        entry = Entry(link.url, host_of(link.url), key, *found, hints=self._kept_hints(link))
        if ruling.decision == "park":
            entry.state, entry.because = State.PARKED, ruling.because
        else:
            offered.added += 1
        self.frontier.add(entry)

    def _meet_again(self, link: Link, entry: Entry, evidence: Evidence, trail: TrailState) -> bool:
        """A link that is known but not visited yet gains evidence. Says whether it changed its place."""
        merge = self._merge
        merged = {name: merge[name](old, evidence[name]) for name, old in entry.evidence.items()}
        key = self._key(merged)
        better = key > entry.key or (key == entry.key and self._ranks_higher(trail, entry.trail))
        kept, hints = (trail, self._kept_hints(link)) if better else (entry.trail, entry.hints)
        if merged == entry.evidence and kept is entry.trail:
            return False
        moved = self.frontier.change(entry, key, merged, kept, hints)
        return self._reconsider(link, entry) or moved

    def _ranks_higher(self, trail: TrailState, other: TrailState) -> bool:
        return self.strategy.trail.rank(trail) > self.strategy.trail.rank(other)

    def _kept_hints(self, link: Link) -> bytes:
        return link.hints if isinstance(link.hints, bytes) else b""

    def _reconsider(self, link: Link, entry: Entry) -> bool:
        """A parked link about which more is known may be let in."""
        if entry.state is not State.PARKED or entry.is_given_up:
            return False
        if self._at_offer(link, entry.evidence, entry.trail).decision != "admit":
            return False
        self.frontier.admit(entry)
        return True

    def _learn_miss(self, visit: Visit, because: str) -> None:
        for learner in self._miss_learners:
            try:
                learner.learn_miss(Miss(visit, because))
            except Exception as error:
                self._spare(visit.url, "learned from", error)

    def _follow(self, visit: Visit, to: str, now: float) -> Redirected:
        """The target takes the place that the redirecting URL had. A redirect that leads to nothing new is a miss."""
        followed = self._hand_over(visit, to, now)
        if followed.because:
            self._learn_miss(visit, followed.because)
        return followed

    def _hand_over(self, visit: Visit, to: str, now: float) -> Redirected:
        (entry,) = self.frontier.find([to])
        waiting = self._waiting()
        self.frontier.settle(visit.url, now)
        if visit.redirects >= self.limits.redirects:
            return Redirected(visit, now, to, f"more than {self.limits.redirects} redirects in a row", waiting)
        if entry is None:
            ruling = ADMIT if visit.key == SOONEST else self._at_offer(Link(to), visit.evidence, visit.trail)
            if ruling.decision != "admit":
                return Redirected(visit, now, to, ruling.because, waiting)
            place = (visit.key, visit.evidence, visit.trail, visit.depth, visit.url, visit.redirects + 1)
            self.frontier.add(Entry(to, host_of(to), *place, hints=visit.hints))
        elif entry.state not in OPEN:
            return Redirected(visit, now, to, "already visited", waiting)
        elif visit.key != SOONEST and not entry.is_seed:
            self._meet_again(Link(to, hints=visit.hints), entry, visit.evidence, visit.trail)
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
        self._learn_miss(visit, failure.reason)
        return Failed(visit, now, failure.reason, again_at, waiting)

    def _waiting(self) -> int:
        """The length of the queue, what is being visited included."""
        return len(self.frontier) + self.frontier.count(State.IN_TRANSIT)

    def _key(self, evidence: Evidence) -> Key:
        key = self._scorer.key(evidence)
        return key if isinstance(key, tuple) else (key,)

    def _next_upkeep(self) -> int | None:
        upkeep = self.strategy.upkeep
        return None if upkeep is None else (self.frontier.visits // upkeep.every + 1) * upkeep.every

    def _keep_up(self) -> None:
        assert self.strategy.upkeep is not None
        self._upkeep_at = self._next_upkeep()
        try:
            self._revise(self.strategy.upkeep)
        except Exception as error:
            self._spare("", "valued anew", error)

    def _revise(self, upkeep: Upkeep) -> None:
        for url, evidence in upkeep.revise(self.frontier):
            (entry,) = self.frontier.find([url])
            if entry is not None and entry.state in OPEN and not entry.is_seed and evidence != entry.evidence:
                self.frontier.change(entry, self._key(evidence), evidence, entry.trail)
                if entry.state is State.PARKED:
                    self._reconsider(Link(url), entry)

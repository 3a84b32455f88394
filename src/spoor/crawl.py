"""THE crawl: what to visit next, and what to make of what came back. No I/O, no clock, no chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from spoor import robots
from spoor.errors import BrokenContract
from spoor.events import Event, Failed, HostOpened, Redirected, Refusal, Refused, Visited
from spoor.frontier.entry import OPEN, Entry, State
from spoor.frontier.frontier import Frontier
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
    Verdict,
    Visit,
    WaitingLink,
)
from spoor.roles import Forecast, Journal, MissLearner, PendingCounter, Reviewer
from spoor.strategy import Strategy, hinted
from spoor.urls import host_of, robots_url

__all__ = ["Arrival", "Crawl", "Limits"]

Arrival = tuple[Visit, Outcome]

AT_ONCE = 128
"""Links that one decision re-scores at most, some 15 ms: then it takes the best of them. As many are turned away before
others have their turn."""


@dataclass(slots=True)
class _Offered:
    """What became of the links of one page."""

    added: int = 0
    moved: int = 0
    refused: list[Refusal] = field(default_factory=list)


class Crawl:
    """Told the time and what came back; says what to visit next. Driven from one task in one thread."""

    def __init__(
        self, strategy: Strategy, frontier: Frontier, limits: Limits | None = None, journal: Journal | None = None
    ) -> None:
        self.strategy = strategy
        self.frontier = frontier
        self.limits = limits or Limits()
        self._journal = journal
        self._learners = strategy.learners()
        self._miss_learners = [learner for learner in self._learners if isinstance(learner, MissLearner)]
        self._counters = [learner for learner in self._learners if isinstance(learner, PendingCounter)]
        self._forecast = strategy.scorer if isinstance(strategy.scorer, Forecast) else strategy.hit_rates
        self._link_reader = strategy.link_reader
        self._reviewer = strategy.scorer if isinstance(strategy.scorer, Reviewer) else None
        self._merge = strategy.scorer.merge
        self._turned_away: list[Refused] = []
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

    def next_visit(self, now: float) -> Visit | None:
        """None: nobody can be visited right now, or it is better to wait; `wake_at` says when to ask again, `ended`
        whether ever."""
        self._count_idle(now)
        self._reviews, self._interrupted_at = 0, None
        best: Entry | None = None
        while not self._spent() and (entry := self.frontier.peek(now)) is not None:
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
            if self.frontier.is_closed(entry.host, now):
                tries = self.frontier.begin_asking(entry.host, now)
                return Visit(robots_url(entry.url), entry.host, self.frontier.visits, now, "robots", tries=tries)
            visit = self._visit(entry, now)
            ruling = self._at_pop(visit, entry.is_seed)
            if ruling.decision == "admit":
                self._begin(visit, entry, now)
                return visit
            self._turn_away(entry, visit, ruling, now)
        return None

    def absorb(self, arrivals: Sequence[Arrival], now: float) -> list[Event]:
        """Digests what came back, as one transaction, and tells what happened, in order. Once more with nothing at the
        end of a crawl: links may have been turned away since the last arrival."""
        self._reviewed.clear()
        self._interrupted_at = None
        verdicts = self._judge([outcome for _, outcome in arrivals if isinstance(outcome, Page)])
        events: list[Event] = [*self._turned_away]
        self._turned_away.clear()
        events.extend(self._take_in(visit, outcome, verdicts, now) for visit, outcome in arrivals)
        if self._upkeep_at is not None and self.frontier.visits >= self._upkeep_at:
            self._keep_up()
        if self._journal is not None:
            self._journal.note(events)
        self.frontier.commit()
        return events

    def wake_at(self) -> float | None:
        """When to ask for a visit again if nothing arrives before; None: only an arrival can help."""
        if self._spent():
            return None
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
        return f"the budget of {self.limits.visits} visits is spent" if self._spent() else "nothing is waiting"

    def _spent(self) -> bool:
        return self.limits.visits is not None and self.frontier.visits >= self.limits.visits

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
        )

    def _begin(self, visit: Visit, entry: Entry, now: float) -> None:
        self.frontier.begin(entry, now)
        for counter in self._counters:
            counter.begun(visit)

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
                return best.is_seed or self._forecast.gain(entry.key) < price * self._forecast.gain(best.key)
        return False

    def _goes_back(self, entry: Entry) -> bool:
        """Whether a link is worth less by now than when it got its place. It is asked about once until the next
        arrival, unless too many were in one decision."""
        if self._reviewer is None or entry.is_seed or entry.url in self._reviewed or self._reviews >= AT_ONCE:
            return False
        self._reviewed.add(entry.url)
        self._reviews += 1
        evidence = self._reviewer.review(WaitingLink(entry.url, entry.evidence, entry.trail, entry.hints))
        key, was = self._key(evidence), entry.key
        if key != was or evidence != entry.evidence:
            self.frontier.change(entry, key, evidence, entry.trail)
        return key < was

    def _at_pop(self, visit: Visit, is_seed: bool) -> Ruling:
        """Robots rules bind everybody; the strategy's own admission does not bind seeds."""
        rules = self.frontier.robots_of(visit.host)
        if not robots.allows(rules, self.limits.agent, visit.url):
            return Ruling(
                "drop", "its host could not be asked" if rules == robots.SILENT else "robots.txt disallows it"
            )
        return ADMIT if is_seed else self.strategy.admission.at_pop(visit)

    def _turn_away(self, entry: Entry, visit: Visit, ruling: Ruling, now: float) -> None:
        parked = ruling.decision == "park"
        (self.frontier.park if parked else self.frontier.drop)(entry, ruling.because)
        if not parked:
            self._learn_miss(visit, ruling.because)
        self._turned_away.append(Refused(now, Refusal(entry.url, ruling.because, parked)))

    def _judge(self, pages: list[Page]) -> Iterator[Verdict]:
        verdicts = self.strategy.judge.judge(pages) if pages else []
        if len(verdicts) != len(pages):
            raise BrokenContract(f"{self.strategy.judge!r} gave {len(verdicts)} verdicts for {len(pages)} pages")
        return iter(verdicts)

    def _take_in(self, visit: Visit, outcome: Outcome, verdicts: Iterator[Verdict], now: float) -> Event:
        if visit.purpose == "page":
            for counter in self._counters:
                counter.over(visit)
        match outcome:
            case Page() as page:
                return self._digest(visit, page, next(verdicts), now)
            case Judged(page, verdict):
                return self._digest(visit, page, verdict, now)
            case Redirect(to):
                return self._follow(visit, to, now)
            case RobotsRules() as rules:
                return self._open(visit, rules, now)
            case Failure() as failure:
                return self._let_go_or_wait(visit, failure, now)

    def _digest(self, visit: Visit, page: Page, verdict: Verdict, now: float) -> Visited:
        waiting = self._waiting()
        self.frontier.settle(visit.url, now)
        sighting = Sighting(visit, page, verdict, self.strategy.trail.advance(visit.trail, page, verdict))
        for learner in self._learners:
            learner.learn(sighting)
        offered = self._offer(sighting)
        counts = (offered.added, offered.moved, tuple(offered.refused))
        return Visited(visit, now, page.status, page.size, verdict, *counts, waiting)

    def _offer(self, sighting: Sighting) -> _Offered:
        """The links of a page that are still open: new ones are let in or refused, known ones gain evidence."""
        links = sighting.page.links
        known = self.frontier.find([link.url for link in links])
        still_open = [(link, e) for link, e in zip(links, known, strict=True) if e is None or e.state in OPEN]
        read = self._read(sighting.page, [link for link, _ in still_open])
        offered = _Offered()
        for link, (_, entry), evidence in zip(read, still_open, self._evidence(sighting, read), strict=True):
            if entry is None:
                self._let_in(link, evidence, sighting, offered)
            elif not entry.is_seed:
                offered.moved += self._meet_again(link, entry, evidence, sighting.trail)
        return offered

    def _read(self, page: Page, links: list[Link]) -> list[Link]:
        """With hints, if they were not read together with the page."""
        if self._link_reader is None or not links or links[0].hints:
            return links
        return hinted(self._link_reader, page, links)

    def _evidence(self, sighting: Sighting, links: list[Link]) -> Sequence[Evidence]:
        scorer = self.strategy.scorer
        facts = scorer.evidence(sighting, links) if links else ()
        if len(facts) != len(links):
            told = f"{len(facts)} evidences for {len(links)} links on {sighting.page.url}"
            raise BrokenContract(f"{scorer!r} gave {told}")
        return facts

    def _at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return self.strategy.admission.at_offer(link, evidence, trail)

    def _let_in(self, link: Link, evidence: Evidence, sighting: Sighting, offered: _Offered) -> None:
        ruling = self._at_offer(link, evidence, sighting.trail)
        if ruling.decision != "admit":
            offered.refused.append(Refusal(link.url, ruling.because, ruling.decision == "park"))
        if ruling.decision == "drop":
            return
        parent = sighting.visit
        found = (evidence, sighting.trail, parent.depth + 1, parent.url)
        entry = Entry(link.url, host_of(link.url), self._key(evidence), *found, hints=self._kept_hints(link))
        if ruling.decision == "park":
            entry.state, entry.because = State.PARKED, ruling.because
        else:
            offered.added += 1
        self.frontier.add(entry)

    def _meet_again(self, link: Link, entry: Entry, evidence: Evidence, trail: TrailState) -> bool:
        """A link that is known but not visited yet gains evidence. Says whether it changed its place."""
        merged = {name: self._merge[name](old, evidence[name]) for name, old in entry.evidence.items()}
        key = self._key(merged)
        rank = self.strategy.trail.rank
        better = (key, rank(trail)) > (entry.key, rank(entry.trail))
        kept, hints = (trail, self._kept_hints(link)) if better else (entry.trail, entry.hints)
        if merged == entry.evidence and kept is entry.trail:
            return False
        moved = self.frontier.change(entry, key, merged, kept, hints)
        return self._reconsider(link, entry) or moved

    def _kept_hints(self, link: Link) -> bytes:
        return link.hints if isinstance(link.hints, bytes) else b""

    def _reconsider(self, link: Link, entry: Entry) -> bool:
        """A parked link about which more is known may be let in."""
        if entry.state is not State.PARKED:
            return False
        if self._at_offer(link, entry.evidence, entry.trail).decision != "admit":
            return False
        self.frontier.admit(entry)
        return True

    def _learn_miss(self, visit: Visit, because: str) -> None:
        for learner in self._miss_learners:
            learner.learn_miss(Miss(visit, because))

    def _follow(self, visit: Visit, to: str, now: float) -> Redirected:
        """The target takes the place that the redirecting URL had. A redirect that leads to nothing new is a miss."""
        followed = self._hand_over(visit, to, now)
        if followed.because:
            self._learn_miss(visit, followed.because)
        return followed

    def _hand_over(self, visit: Visit, to: str, now: float) -> Redirected:
        waiting = self._waiting()
        self.frontier.settle(visit.url, now)
        (entry,) = self.frontier.find([to])
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
        again_at = None if failure.again_after is None else now + failure.again_after * 2**visit.tries
        if failure.whole_host and again_at is not None:
            self.frontier.leave_alone(visit.host, now, again_at)
        if visit.tries + 1 >= self.limits.tries:
            again_at = None
        if visit.purpose == "page":
            self.frontier.settle(visit.url, now, again_at)
            self._learn_miss(visit, failure.reason)
        elif again_at is not None:
            self.frontier.keep_closed(visit.host, now, again_at)
        else:
            rules = RobotsRules() if failure.again_after is None else RobotsRules(robots.SILENT)
            self.frontier.open_host(visit.host, now, rules, None)
        return Failed(visit, now, failure.reason, again_at, waiting)

    def _open(self, visit: Visit, rules: RobotsRules, now: float) -> HostOpened:
        rest = robots.delay(rules.text, self.limits.agent)
        return HostOpened(visit, now, self.frontier.open_host(visit.host, now, rules, rest))

    def _waiting(self) -> int:
        """The length of the queue, what is being visited included."""
        return len(self.frontier) + self.frontier.count(State.IN_TRANSIT)

    def _key(self, evidence: Evidence) -> Key:
        key = self.strategy.scorer.key(evidence)
        return key if isinstance(key, tuple) else (key,)

    def _next_upkeep(self) -> int | None:
        upkeep = self.strategy.upkeep
        return None if upkeep is None else (self.frontier.visits // upkeep.every + 1) * upkeep.every

    def _keep_up(self) -> None:
        assert self.strategy.upkeep is not None
        for url, evidence in self.strategy.upkeep.revise(self.frontier):
            (entry,) = self.frontier.find([url])
            if entry is not None and entry.state in OPEN and not entry.is_seed and evidence != entry.evidence:
                self.frontier.change(entry, self._key(evidence), evidence, entry.trail)
                if entry.state is State.PARKED:
                    self._reconsider(Link(url), entry)
        self._upkeep_at = self._next_upkeep()

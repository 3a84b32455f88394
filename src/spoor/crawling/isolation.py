"""Isolates exceptions, so that they cost one URL and not the crawl; and wraps the parts of a strategy in this way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, TypeVarTuple

from spoor.crawling.share import Handover
from spoor.errors import OF_STORAGE
from spoor.events import Troubled
from spoor.records import Key, Lesson, Miss, Page, Ruling, Sighting, Trouble, Verdict, Visit
from spoor.roles import Forecast, HostDemoter, Judge, MissLearner, PendingCounter, Relearner, Troubles
from spoor.strategy import AdmitAll, Strategy, verdicts_of

Given = TypeVarTuple("Given")
Made = TypeVar("Made")


class Isolation:
    """With `troubles`, an exception becomes a `Trouble`, reported in the next batch of events; only broken storage is
    still raised. Without `troubles`, as in simulations, every exception is raised."""

    def __init__(self, troubles: Troubles | None = None) -> None:
        self.troubles = troubles
        self._reasons: dict[str, str] = {}

    def attempt(self, url: str, doing: str, do: Callable[[*Given], Made], *given: *Given) -> Made | Trouble:
        """Returns the result of `do`, or a Trouble. `doing` is the step, such as "judged"."""
        try:
            return do(*given)
        except Exception as error:
            return Trouble(self.spare(url, doing, error))

    def spare(self, url: str, doing: str, error: Exception) -> str:
        """Returns a one-line message. For callers that catch the exception themselves, because `attempt` is too slow
        for every link."""
        reason = self._reasons[url] = self.survive(error).keep(url, doing, error)
        return reason

    def survive(self, error: Exception) -> Troubles:
        """Raises an error that ends the crawl; otherwise returns where to report it."""
        if self.troubles is None or isinstance(error, OF_STORAGE):
            raise error
        return self.troubles

    def note(self, url: str, reason: str) -> None:
        """Records a problem with a URL for which no exception was caught."""
        self._reasons[url] = reason

    def forget(self, url: str) -> None:
        """For a URL whose problem is reported in another event."""
        self._reasons.pop(url, None)

    def events(self, now: float) -> list[Troubled]:
        """The problems since the last call, with the last reason for each URL."""
        events = [Troubled(now, url, reason) for url, reason in self._reasons.items()]
        self._reasons.clear()
        return events

    def on(self, url: str) -> None:
        """From now until `off`, this URL is blamed if the process dies."""
        if self.troubles is not None:
            self.troubles.on(url)

    def off(self) -> None:
        if self.troubles is not None:
            self.troubles.off()


class IsolatedParts:
    """The parts of a strategy that handle pages and visits. For those that handle links, see `scoring.py`."""

    def __init__(self, strategy: Strategy, isolation: Isolation, handover: Handover | None = None) -> None:
        self._strategy = strategy
        self._isolation = isolation
        self._handover = handover
        self.learners = strategy.learners()
        self._miss_learners = [learner for learner in self.learners if isinstance(learner, MissLearner)]
        self._demoters = [learner for learner in self.learners if isinstance(learner, HostDemoter)]
        self._counters = [learner for learner in self.learners if isinstance(learner, PendingCounter)]
        self.under_way: dict[int, Visit] = {}
        apart_from_hosts = replace(strategy, admission=AdmitAll()).learners()
        self._pupils = [learner for learner in apart_from_hosts if isinstance(learner, Relearner)]
        self._forecast = strategy.scorer if isinstance(strategy.scorer, Forecast) else strategy.hit_rates

    def take_judge(self, judge: Judge) -> None:
        """Replaces the judge."""
        self._strategy = replace(self._strategy, judge=judge)

    def judge(self, pages: list[Page]) -> Iterator[Verdict | Trouble]:
        """Judges all pages together; if that fails, each by itself."""
        try:
            return iter(verdicts_of(self._strategy.judge, pages) if pages else ())
        except Exception as error:
            self._isolation.survive(error)
            return map(self._verdict_alone, pages)

    def _verdict_alone(self, page: Page) -> Verdict | Trouble:
        verdicts = self._isolation.attempt(page.url, "judged", verdicts_of, self._strategy.judge, [page])
        return verdicts if isinstance(verdicts, Trouble) else verdicts[0]

    def at_pop(self, visit: Visit) -> Ruling:
        """Parks a link for which the admission raises."""
        ruling = self._isolation.attempt(visit.url, "admitted at its turn", self._strategy.admission.at_pop, visit)
        return Ruling("park", ruling.reason) if isinstance(ruling, Trouble) else ruling

    def is_outbid(self, url: str, key: Key, best: Key, price: float) -> bool:
        """Whether the expected gain of a link is below this share of that of the best one."""
        outbid = self._isolation.attempt(url, "compared with others", self._promises_less, key, best, price)
        return not isinstance(outbid, Trouble) and outbid

    def gain(self, url: str, key: Key) -> float:
        """The number of relevant pages that a link is expected to bring; 0 if the forecast fails."""
        gain = self._isolation.attempt(url, "compared with others", self._forecast.gain, key)
        return 0.0 if isinstance(gain, Trouble) else gain

    def _promises_less(self, key: Key, best: Key, price: float) -> bool:
        return self._forecast.gain(key) < price * self._forecast.gain(best)

    def begun(self, visit: Visit) -> None:
        """Learners are informed only of visits to pages."""
        self.under_way[visit.number] = visit
        for counter in self._counters_of(visit):
            self._isolation.attempt(visit.url, "begun", counter.begun, visit)

    def over(self, visit: Visit) -> None:
        self.under_way.pop(visit.number, None)
        for counter in self._counters_of(visit):
            self._isolation.attempt(visit.url, "removed from the requests in transit", counter.over, visit)

    def _counters_of(self, visit: Visit) -> Sequence[PendingCounter]:
        return self._counters if visit.purpose == "page" else ()

    def learn(self, sighting: Sighting) -> None:
        for learner in self.learners:
            self._isolation.attempt(sighting.visit.url, "learned from", learner.learn, sighting)
        self._teach_others(sighting)

    def learn_miss(self, visit: Visit, because: str) -> None:
        for learner in self._miss_learners if visit.purpose == "page" else ():
            self._isolation.attempt(visit.url, "learned from", learner.learn_miss, Miss(visit, because))
        if visit.purpose == "page":
            self._teach_others(Miss(visit, because))

    def learn_redirect(self, visit: Visit, to: str) -> None:
        for demoter in self._demoters if visit.purpose == "page" else ():
            self._isolation.attempt(visit.url, "learned from", demoter.learn_redirect, visit, to)

    def demotion_of(self, host: str) -> str:
        """Why the links of a host come after those of all others; "" if they do not."""
        return next(filter(None, (demoter.demotion_of(host) for demoter in self._demoters)), "")

    def _teach_others(self, lesson: Lesson) -> None:
        if self._handover is not None and self._pupils:
            self._handover.teach(lesson)

    def learn_from_others(self, lesson: Lesson) -> None:
        """Learns from a visit of another shard. Admissions do not, because they judge the hosts of their own shard."""
        for pupil in self._pupils:
            if isinstance(lesson, Sighting):
                self._isolation.attempt(lesson.visit.url, "learned from", pupil.relearn, lesson)
            elif isinstance(pupil, MissLearner):
                self._isolation.attempt(lesson.visit.url, "learned from", pupil.learn_miss, lesson)

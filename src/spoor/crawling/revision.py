"""Revised verdicts: the strategy relearns from all visits, as if they had been judged that way at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from spoor.records import Lesson, Sighting, Verdict, Visit
from spoor.roles import Heir, Learner, MissLearner, PendingCounter, Relearner, Snapshotted
from spoor.strategy import Strategy, fresh_part


def relearn(learner: Relearner, lesson: Lesson) -> None:
    """Learns a lesson again. Not every learner learns from misses."""
    if isinstance(lesson, Sighting):
        learner.relearn(lesson)
    elif isinstance(learner, MissLearner):
        learner.learn_miss(lesson)


def revised(lessons: Iterable[Lesson], verdicts: Mapping[str, Verdict], strategy: Strategy) -> Iterator[Lesson]:
    """The lessons with the revised verdicts: each page with its current verdict, each link with the evidence it would
    have inherited from the page it was found on. Those not in `verdicts` are unchanged."""
    heir = strategy.scorer if isinstance(strategy.scorer, Heir) else None
    for lesson in lessons:
        found_on = verdicts.get(lesson.visit.found_on)
        visit = lesson.visit if heir is None or found_on is None else _inherited(heir, lesson.visit, found_on)
        if isinstance(lesson, Sighting):
            yield replace(lesson, visit=visit, verdict=verdicts.get(lesson.page.url, lesson.verdict))
        else:
            yield replace(lesson, visit=visit)


def _inherited(heir: Heir, visit: Visit, found_on: Verdict) -> Visit:
    if not visit.hints:
        return visit
    evidence, trail = heir.inherit(visit.evidence, visit.trail, found_on)
    return replace(visit, evidence=evidence, trail=trail)


def learn_anew(strategy: Strategy, lessons: Iterable[Lesson], under_way: Iterable[Visit] = ()) -> None:
    """Parts that can relearn are reset and learn all lessons in order; others stay unchanged. Visits in flight are
    counted again."""
    learners = [learner for learner in strategy.learners() if isinstance(learner, Relearner)]
    forgetful = [learner for learner in learners if _forgets(learner)]
    for lesson in lessons if forgetful else ():
        for learner in forgetful:
            relearn(learner, lesson)
    counters = [learner for learner in forgetful if isinstance(learner, PendingCounter)]
    for visit in under_way:
        for counter in counters:
            counter.begun(visit)


def _forgets(learner: Learner | Relearner) -> bool:
    if not isinstance(learner, Snapshotted):
        return False
    blank: Snapshotted = fresh_part(learner)
    learner.restore(blank.state())
    return True

"""What every trail and every admission promises."""

from __future__ import annotations

import json

import pytest

from spoor.ordering.admissions import (
    AllOf,
    AtLeast,
    AtMost,
    KeyAbove,
    LimitedDistance,
    NoNoise,
    RespectNofollow,
    TwoThresholds,
)
from spoor.ordering.host_yield import MinimumYield
from spoor.ordering.language_order import AbandonedServers
from spoor.ordering.path_model import PathView
from spoor.ordering.paths import HiddenState
from spoor.ordering.scope import Scope
from spoor.ordering.simple import RelevantReferrer
from spoor.ordering.trails import Both, ChainHops, Inherited, LastPage, SinceRelevant, Tunnel
from spoor.ordering.traps import Traps
from spoor.records import Link, Page, TrailState, Verdict, Visit
from spoor.roles import Admission, Trail
from spoor.strategy import AdmitAll, NoTrail
from tests.written_links import learned

PAGE = Page("http://p.test/")
GOOD, BAD = Verdict(1.0, True, "good"), Verdict(0.0, False, "bad")
PATH = HiddenState(PathView(learned()))
TRAILS: list[Trail] = [
    NoTrail(),
    SinceRelevant(),
    ChainHops(),
    Inherited(),
    Tunnel(),
    PATH,
    Both(PATH, ChainHops()),
    LastPage(),
]


def tuples(state: TrailState) -> TrailState:
    """As a store gives it back: JSON knows no tuples, trail states know no lists."""
    return tuple(map(tuples, state)) if isinstance(state, list) else state


@pytest.mark.parametrize("trail", TRAILS, ids=repr)
class TestEveryTrail:
    def test_has_states_that_can_be_stored(self, trail: Trail) -> None:
        state = trail.root()
        for verdict in (GOOD, BAD, BAD, GOOD):
            assert tuples(json.loads(json.dumps(state))) == state
            state = trail.advance(state, PAGE, verdict)

    def test_can_rank_every_state(self, trail: Trail) -> None:
        state = trail.advance(trail.root(), PAGE, BAD)
        assert trail.rank(state) == trail.rank(state)


ADMISSIONS: list[Admission] = [
    AdmitAll(),
    AbandonedServers(),
    MinimumYield(),
    LimitedDistance(1),
    AtLeast("relevant_referrer", 1.0),
    AtMost("relevant_referrer", 0.0),
    NoNoise(),
    TwoThresholds("relevant_referrer", 0.5, "another", 3.0),
    KeyAbove(RelevantReferrer(), 0.5),
    RespectNofollow(),
    Scope(exclude=("/private/",), domains=("a.test",), max_depth=3, pages_per_host=1),
    Traps(patience=1),
    AllOf((RespectNofollow(), Scope(hosts=("a.test",)), Traps(), LimitedDistance(1))),
]


@pytest.mark.parametrize("admission", ADMISSIONS, ids=repr)
class TestEveryAdmission:
    def test_gives_a_reason_for_everything_it_does_not_admit(self, admission: Admission) -> None:
        for distance in range(4):
            evidence = {"relevant_referrer": float(distance == 0)}
            ruling = admission.at_offer(Link("http://a.test/"), evidence, distance)
            assert ruling.decision == "admit" or ruling.because

    def test_admits_at_the_turn_what_it_admitted_when_offered(self, admission: Admission) -> None:
        visit = Visit("http://a.test/", "a.test", 0, 0.0, evidence={"relevant_referrer": 1.0}, trail=0)
        assert admission.at_pop(visit).decision == "admit"

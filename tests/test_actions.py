"""Actions of persons, as records and as JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.actions import (
    NAMES,
    SLOWEST,
    Action,
    AddSeeds,
    Block,
    Budget,
    Mark,
    Pause,
    SlowDown,
    Stop,
    Submission,
    Unblock,
    Unpause,
    action_of,
    as_json,
    described,
    dumps,
    loads,
)
from spoor.errors import BadInput

TEXTS = st.text(st.characters(codec="utf8"), min_size=1, max_size=40).filter(str.strip)
ACTIONS: st.SearchStrategy[Action] = st.one_of(
    st.builds(Pause),
    st.builds(Unpause),
    st.builds(Stop),
    st.builds(Budget, st.none() | st.integers(1, 2**62), st.none() | st.floats(0, 1e9)),
    st.builds(AddSeeds, st.lists(TEXTS, min_size=1, max_size=4).map(tuple)),
    st.builds(Block, TEXTS),
    st.builds(Unblock, TEXTS),
    st.builds(SlowDown, TEXTS, st.floats(0, SLOWEST)),
    st.builds(Mark, TEXTS, st.none() | st.booleans()),
)


@given(ACTIONS, TEXTS, TEXTS, st.floats(0, 1e12))
def test_what_is_submitted_is_what_arrives(action: Action, number: str, who: str, at: float) -> None:
    submission = Submission(number, at, who, action)
    assert loads(dumps(submission)) == submission
    assert action_of(json.loads(json.dumps(as_json(action)))) == action


@given(ACTIONS)
def test_every_action_can_be_told_in_one_line(action: Action) -> None:
    assert len(described(action).splitlines()) >= 1


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Budget(max_pages=5000), "budget of 5,000 requests"),
        (Budget(10, 1.5), "budget of 10 requests and 1.5 minutes"),
        (AddSeeds(("http://a.test/", "http://b.test/")), "2 seeds, the first http://a.test/"),
        (Unblock("a.test"), "unblock a.test"),
        (SlowDown("a.test", 2.0), "host delay of 2 s for a.test"),
        (Mark("http://a.test/", None), "http://a.test/ is no longer marked"),
    ],
)
def test_an_action_in_words(action: Action, said: str) -> None:
    assert described(action) == said


ANYTHING = st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.lists(st.text() | st.none())
FIELDS = st.sampled_from(["action", "url", "urls", "pattern", "seconds", "host", "relevant", "max_pages", "x"])


@given(st.sampled_from(sorted(NAMES)), st.dictionaries(FIELDS, ANYTHING))
def test_whatever_somebody_sends_is_an_action_or_refused_in_one_line(name: str, fields: dict[str, object]) -> None:
    content = {"action": name, **fields}
    try:
        action = as_json(action_of(content))
        assert all(action[field] == value for field, value in content.items())
    except BadInput as refused:
        assert "\n" not in str(refused)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"action": "block"}, "pattern must be a string"),
        ({"action": "pause", "pattern": "x"}, "has no 'pattern'"),
        ({"action": "budget", "max_pages": 0}, "max_pages must be a whole number above 0, not 0"),
        ({"action": "budget", "max_pages": True}, "max_pages must be a whole number above 0, not True"),
        ({"action": "slow down", "host": "a.test", "seconds": -1}, "seconds must be a number of 0 or more, not -1"),
        ({"action": "slow down", "host": "a.test", "seconds": 1e9}, "at most 86,400"),
        ({"action": "add seeds", "urls": "http://a.test/"}, "must be a list of 1 to 10,000 URLs"),
        ({"action": "mark", "url": "http://a.test/"}, "relevant must be true, false or null"),
        ({"action": "mark", "url": "http://a.test/\ud800", "relevant": True}, "url must be a string"),
        ({"action": "explode"}, "there is no action 'explode'; there are pause, unpause"),
    ],
)
def test_a_complaint_names_the_field_and_the_value(content: object, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        action_of(content)


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", '{"id": 1, "at": 0, "who": "a", "action": "pause"}', "[" * 9])
def test_a_file_that_is_no_submission_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        loads(text)

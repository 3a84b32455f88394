"""Judges joined by and, or, not: decisions, relevance and reasons."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.errors import UsageError
from spoor.judging.combined import CombinedJudge, Truth
from spoor.judging.language_judges import Charset, ScriptShare
from spoor.judging.topic_judges import Keywords
from spoor.naming import Combined, asserted, names, parse
from spoor.records import Page, TargetPrior
from spoor.roles import Judge
from spoor.strategy import prior_of

JUDGES: dict[str, Judge] = {
    "charset": Charset("th"),
    "script": ScriptShare("thai", 0.5),
    "greek": ScriptShare("greek", 0.1),
}
PAGE = Page("http://a.test/", meta_charset="tis-620", text="กขคงจฉabcd")  # six letters of ten are Thai


def test_and_takes_the_least_or_the_most_not_what_is_missing() -> None:
    def verdict(require: str) -> tuple[float, bool]:
        (said,) = CombinedJudge(require, JUDGES).judge([PAGE])
        return round(said.relevance, 9), said.relevant

    assert verdict("charset") == (1.0, True)
    assert verdict("charset and script") == (0.6, True)
    assert verdict("charset and greek") == (0.0, False)
    assert verdict("script or greek") == (0.6, True)
    assert verdict("not script") == (0.4, False)
    assert verdict("charset and not (greek or script)") == (0.4, False)
    assert verdict("greek or charset and script") == (0.6, True)


def test_every_judge_keeps_its_reason() -> None:
    (verdict,) = CombinedJudge("charset and not greek", JUDGES).judge([PAGE])
    assert verdict.because == "charset: meta charset tis-620 means th; greek: 0% of 10 letters are greek"


def test_texts_are_read_only_when_a_judge_that_is_asked_reads_them() -> None:
    assert not CombinedJudge("charset", JUDGES).reads_content
    assert CombinedJudge("charset or script", JUDGES).reads_content


def test_a_name_that_no_judge_has_is_refused() -> None:
    with pytest.raises(UsageError, match=r"names 'topic'; known are charset, script, greek"):
        CombinedJudge("charset and topic", JUDGES)


@pytest.mark.parametrize(
    "text", ["", "a b", "a and", "a & b", "f(a)", "a == b", "1", "'a'", "a if b else c", "(" * 500]
)
def test_what_is_not_made_of_names_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not made of names, and, or, not and parentheses"):
        parse(text)


def test_a_requirement_of_endless_length_is_refused() -> None:
    with pytest.raises(UsageError, match="more than 1000"):
        parse("not " * 500 + "a")


def test_names_come_in_order_each_once() -> None:
    required = parse("b and not (a or b) or c")
    assert names(required) == ["b", "a", "c"]
    assert isinstance(required, Combined) and required.by == "or"


def test_what_is_denied_is_not_asked_for() -> None:
    assert asserted(parse("b and not (a or b) or c")) == ["b", "c"]


def test_together_judges_look_for_what_each_of_them_looks_for() -> None:
    topic = Truth("subject.Science.Biology", lambda url: True)
    assert prior_of(topic) == TargetPrior(words=("subject", "science", "biology"))
    assert prior_of(Truth("lang=ja", lambda url: True)) == TargetPrior("ja")
    judges: dict[str, Judge] = {"charset": Charset("th"), "topic": topic, "script": ScriptShare("thai")}
    assert prior_of(CombinedJudge("script and charset and topic", judges)) == TargetPrior("th", prior_of(topic).words)
    assert prior_of(CombinedJudge("topic and not charset", judges)) == prior_of(topic)


def test_texts_are_compared_by_the_judges_that_can_and_are_asked_for() -> None:
    judges: dict[str, Judge] = {
        "horses": Keywords(("horse",)),
        "ships": Keywords(("ship",)),
        "thai": ScriptShare("thai"),
    }
    both = CombinedJudge("(horses or ships) and thai", judges).nearest
    assert both is not None
    horse, ship, neither = both.similarities(["a horse", "a ship", "a tree"])
    assert horse > 0 and ship > 0 and neither == 0
    assert CombinedJudge("thai and not horses", judges).nearest is None


formulas = st.recursive(
    st.sampled_from("abc"),
    lambda inner: (
        st.builds("({} and {})".format, inner, inner)
        | st.builds("({} or {})".format, inner, inner)
        | st.builds("(not {})".format, inner)
    ),
    max_leaves=8,
)


@given(formulas, st.sets(st.sampled_from("abc")))
def test_agreement_is_what_logic_says(require: str, held: set[str]) -> None:
    judges = {name: Truth(name, lambda url, name=name: name in held) for name in "abc"}  # type: ignore[misc]
    (verdict,) = CombinedJudge(require, judges).judge([PAGE])
    assert verdict.relevant == eval(require, {name: name in held for name in "abc"})
    assert verdict.relevance == float(verdict.relevant)

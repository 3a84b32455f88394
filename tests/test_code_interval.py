"""The judge by code intervals: M-3 of the Mongolian paper, its presets, and its known defect."""

from __future__ import annotations

from pathlib import Path

import pytest

from spoor.errors import BadInput, UsageError
from spoor.judging.language_judges import CodeInterval
from spoor.records import Page, TargetPrior, Verdict
from spoor.registry import judge

WORD = "\ue2c1\ue27f\ue317\ue27e\ue2e8"
UNICODE = "ᠮᠣᠩᠭᠣᠯ"


def said(by: CodeInterval, text: str) -> Verdict:
    (verdict,) = by.judge([Page("http://a.test/", text=text)])
    return verdict


@pytest.mark.parametrize(
    ("text", "share"), [(WORD, 1.0), (f"{WORD} abcde", 0.5), (UNICODE, 0.0), ("\ue234\ue236", 0.0), ("", 0.0)]
)
def test_the_relevance_is_the_share_in_the_intervals(text: str, share: float) -> None:
    assert said(CodeInterval(), text).relevance == share


def test_as_in_the_paper_a_single_code_point_inside_is_enough() -> None:
    assert said(CodeInterval(), f"\ue264{'a' * 999}").relevant
    assert not said(CodeInterval(), "a" * 1000).relevant


def test_the_preset_ratio_wants_a_tenth() -> None:
    ratio = CodeInterval(preset="ratio")
    assert said(ratio, f"\ue264{'a' * 9}").relevant
    assert not said(ratio, f"\ue264{'a' * 10}").relevant


def test_mongolian_in_unicode_is_missed_unless_included() -> None:
    assert not said(CodeInterval(), UNICODE).relevant
    assert said(CodeInterval(include_unicode=True), UNICODE).relevance == 1.0


def test_the_reason_tells_the_share() -> None:
    assert (
        said(CodeInterval(), f"{WORD} abcde").because == "50.0% of the characters are in the code intervals of mn-Mong"
    )


def test_it_says_beforehand_which_language_it_looks_for() -> None:
    assert CodeInterval().target_prior == TargetPrior(language="mn-Mong")


def test_an_encoding_of_ones_own_is_judged_by_its_table(tmp_path: Path) -> None:
    table = tmp_path / "smith.toml"
    table.write_text('name = "smith"\nlanguage = "got"\nletters = ["F0000-F000F"]\n', "utf8")
    smith = CodeInterval(str(table), preset="ratio")
    assert said(smith, "\U000f0003 a").relevance == 0.5
    assert smith.target_prior == TargetPrior(language="got")


def test_it_is_asked_for_by_name() -> None:
    assert judge("code-interval:mn-Mong") == CodeInterval()
    asked = judge("code-interval:mn-Mong:preset=ratio:include_unicode=True")
    assert asked == CodeInterval(preset="ratio", include_unicode=True)


def test_what_it_does_not_know_is_refused_with_the_remedy() -> None:
    with pytest.raises(UsageError, match="no font encoding of 'th' is known, only of mn-Mong; describe it in a FILE"):
        CodeInterval("th")
    with pytest.raises(UsageError, match="unknown preset 'strict'; known are paper, ratio"):
        CodeInterval(preset="strict")
    with pytest.raises(BadInput, match=r"cannot read the encoding table absent\.toml"):
        CodeInterval("absent.toml")
    with pytest.raises(UsageError, match="include_unicode=maybe: 'maybe' is not True or False"):
        judge("code-interval:mn-Mong:include_unicode=maybe")

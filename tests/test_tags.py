"""Language tags: one spelling for each, what they accept, and what is known of a language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.errors import UsageError
from spoor.judging.language_tags import canonical_tag, language, languages, matches, read_tag


@pytest.mark.parametrize(
    ("said", "tag"),
    [
        ("ja", "ja"),
        ("JPN", "ja"),
        ("ger", "de"),
        ("deu", "de"),
        ("iw", "he"),
        ("mn-mong", "mn-Mong"),
        ("mn_Mong_CN", "mn-Mong"),
        (" en-US ", "en"),
        ("pt-BR", "pt"),
        ("en-GB-oxendict", "en"),
        ("gsw", "gsw"),
    ],
)
def test_a_tag_has_one_spelling(said: str, tag: str) -> None:
    assert canonical_tag(said) == tag


@pytest.mark.parametrize(("said", "tag"), [("zh-TW", "zh-Hant"), ("mn-CN", "mn-Mong"), ("uz-AF", "uz-Arab")])
def test_a_country_that_writes_differently_is_told_in_its_script(said: str, tag: str) -> None:
    assert canonical_tag(said) == tag


def test_a_code_may_imply_a_script() -> None:
    assert canonical_tag("sh") == "sr-Latn"


@pytest.mark.parametrize("said", ["", "x", "xx", "de_DE.UTF-8", "mn-Xxxx", "*", "日本語", "und", "x-default"])
def test_what_is_no_tag_of_a_known_language_is_not_understood(said: str) -> None:
    assert read_tag(said) is None
    with pytest.raises(UsageError, match="give a BCP-47 tag such as ja, mn-Mong or uz-Cyrl"):
        canonical_tag(said if said != "日本語" else "xx")


@pytest.mark.parametrize(("name", "tag"), [("Japanese", "ja"), ("deutsh", "de"), ("монгол", "mn")])
def test_who_gives_a_name_is_told_the_tag(name: str, tag: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean '{tag}'"):
        canonical_tag(name)


@given(st.text(max_size=20))
def test_any_text_is_a_tag_or_is_none(text: str) -> None:
    tag = read_tag(text)
    assert tag is None or canonical_tag(tag) == tag


@pytest.mark.parametrize(
    ("relevant", "found", "accepted"),
    [
        ("mn", "mn-Cyrl", True),
        ("mn", "mn-Mong", True),
        ("mn-Mong", "mn", False),
        ("mn-Cyrl", "mn", True),
        ("zh", "zh-Hant", True),
        ("zh-Hant", "zh", False),
        ("sr-Latn", "sr-Cyrl", False),
        ("ja", "zh", False),
        ("no", "nb", True),
        ("nn", "no", True),
        ("nb", "nn", False),
    ],
)
def test_a_language_accepts_every_script_and_a_script_only_itself(relevant: str, found: str, accepted: bool) -> None:
    assert matches(relevant, found) is accepted


def test_a_language_is_known_by_names_codes_script_and_countries() -> None:
    japanese = language("jpn")
    assert japanese.names == ("Japanese", "日本語")
    assert (japanese.tag, list(japanese.codes), japanese.script) == ("ja", ["jpn"], "Jpan")
    assert list(japanese.domains) == ["jp"]


def test_domains_that_are_sold_to_everybody_are_no_countries() -> None:
    domains = {domain for known in languages().values() for domain in known.domains}
    assert not domains & {"tv", "me", "io", "co", "to", "ly"}
    assert {"de", "at", "ch"} <= set(language("de").domains)


def test_a_country_where_a_language_is_official_in_parts_says_nothing() -> None:
    assert language("ca").domains["es"] == 0


def test_every_language_with_two_letters_has_a_name() -> None:
    assert all(known.names for tag, known in languages().items() if len(tag) == 2)

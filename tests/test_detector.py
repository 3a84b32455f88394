"""The judge that asks a library which language a page is in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.errors import UsageError
from spoor.judging.detector import _REFUSED_BY_CLD2, LIBRARIES, PIECE, Detector, excerpt, known_tags
from spoor.records import Page, TargetPrior, Verdict

ENGLISH = "The library opens in the morning and closes when the last reader has gone home."
GERMAN = "Die Bibliothek öffnet am Morgen und schließt, wenn der letzte Leser nach Hause gegangen ist."
HEBREW = "הספרייה נפתחת בבוקר ונסגרת כאשר אחרון הקוראים הולך הביתה."
SIMPLIFIED = "图书馆早上开门，最后一位读者回家以后才关门。这里有很多书。"
TRADITIONAL = "圖書館早上開門，最後一位讀者回家以後才關門。這裡有很多書。"


def said(detector: Detector, text: str) -> Verdict:
    (verdict,) = detector.judge([Page("http://a.test/", text=text)])
    return verdict


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("language", "text"), [("en", ENGLISH), ("de", GERMAN), ("he", HEBREW), ("zh", SIMPLIFIED)])
def test_both_libraries_find_the_language(library: str, language: str, text: str) -> None:
    verdict = said(Detector(language, library), text)
    assert verdict.relevant
    assert verdict.label == language


@pytest.mark.parametrize("library", LIBRARIES)
def test_another_language_is_not_relevant_and_is_named(library: str) -> None:
    verdict = said(Detector("de", library), ENGLISH)
    assert not verdict.relevant
    assert verdict.label == "en"


def test_the_reason_tells_what_was_found_and_what_was_wished_for() -> None:
    assert said(Detector("en"), ENGLISH).because == "cld2 finds 98% en"
    assert said(Detector("de"), ENGLISH).because == "cld2 finds 98% en, 0% de"
    assert said(Detector("de"), "").because == "cld2 finds no language it knows"


def test_cld2_tells_the_share_of_a_language_in_a_mixed_page() -> None:
    mixed = f"{ENGLISH} {GERMAN}"
    verdict = said(Detector("de"), mixed)
    assert 0.4 < verdict.relevance < 0.6
    assert said(Detector("de", least=0.4), mixed).relevant


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("text", ["", " \n ", "\ue264\ue270\ue2f1", "12345"])
def test_what_is_no_text_is_not_relevant(library: str, text: str) -> None:
    assert not said(Detector("en", library), text).relevant


def test_chinese_holds_both_scripts_and_traditional_only_one() -> None:
    assert said(Detector("zh"), TRADITIONAL).relevant
    assert said(Detector("zh-Hant"), TRADITIONAL).relevant
    assert not said(Detector("zh-Hant"), SIMPLIFIED).relevant


def test_of_a_long_page_the_beginning_the_middle_and_the_end_are_read() -> None:
    some = PIECE // len(ENGLISH) + 1
    assert said(Detector("de"), ENGLISH * some + GERMAN * 1000 + ENGLISH * some).label == "en"
    assert excerpt("b" * PIECE + "." * 5_000 + "m" * PIECE + "." * 5_000 + "e" * PIECE) == "\n".join(
        letter * PIECE for letter in "bme"
    )


@pytest.mark.parametrize("library", LIBRARIES)
@given(text=st.text(alphabet=st.characters(), max_size=60))
def test_any_text_can_be_judged(library: str, text: str) -> None:
    assert 0.0 <= said(Detector("en", library), text).relevance <= 1.0


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x85", "\ufffe", "\ud800", "\U0010ffff"])
def test_characters_that_cld2_refuses_do_no_harm(character: str) -> None:
    assert said(Detector("en"), f"{ENGLISH}{character}").label == "en"


def test_tags_are_those_of_bcp_47() -> None:
    assert {"he", "jv", "zh", "zh-Hant", "mn"} <= known_tags("cld2")
    assert {"he", "ki", "zh", "yue"} <= known_tags("py3langid")
    for library in LIBRARIES:
        assert not {"iw", "jw", "kik", "und", "zxx", "tlh"} & known_tags(library)


def test_it_says_beforehand_which_language_it_looks_for() -> None:
    assert Detector("zh-Hant").target_prior == TargetPrior(language="zh-Hant")


@pytest.mark.parametrize(
    ("language", "library", "told"),
    [
        ("pt-BR", "cld2", "cld2 does not know the language 'pt-BR'; it knows 'pt'"),
        ("yue", "cld2", "cld2 does not know the language 'yue'; py3langid does: library=py3langid"),
        ("evn", "cld2", "cld2 does not know the language 'evn'; train a profile of it with `spoor train language`"),
        ("en", "oracle", "unknown detector 'oracle'; known are cld2, py3langid"),
    ],
)
def test_a_language_that_a_library_cannot_tell_is_refused_with_the_remedy(
    language: str, library: str, told: str
) -> None:
    with pytest.raises(UsageError) as caught:
        Detector(language, library)
    assert str(caught.value) == told


def test_a_threshold_beyond_1_is_refused() -> None:
    with pytest.raises(UsageError, match="least=2"):
        Detector("en", least=2)


def test_nothing_that_can_be_printed_is_refused_by_cld2() -> None:
    """So a text of printable characters is not looked through for those that are."""
    assert not _REFUSED_BY_CLD2.search("".join(filter(str.isprintable, map(chr, range(0x110000)))))

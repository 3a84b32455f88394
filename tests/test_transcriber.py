"""Transcribing: terms of one language become those of another, and all else stays as it was."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.errors import UsageError
from spoor.judging.dictionary import Dictionary, Transcriber, read_dictionary, stemmer_for
from spoor.parse.words import STOP_WORDS, stemmer
from tests.shared_data import SHARED, needs_shared

HINDI = Dictionary(
    {
        ("कंप्यूटर", "विज्ञान"): "computer science",
        ("कंप्यूटर",): "computer",
        ("इंजीनियरिंग",): "engineering",
        ("अभियांत्रिकी",): "engineering",
        ("सूचना", "प्रौद्योगिकी"): "information technology",
        ("सूचना", "का", "अधिकार"): "right to information",
        ("है",): "is",
        ("M.Tech",): "not in the foreign script",
    }
)
STOP = frozenset(STOP_WORDS["hi"].split())


def transcribe(text: str) -> str:
    return Transcriber(HINDI, STOP).transcribe(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("कंप्यूटर विज्ञान और इंजीनियरिंग विभाग", "computer science engineering विभाग"),
        ("M.Tech में सूचना प्रौद्योगिकी", "M.Tech information technology"),
        ("Physics department", "Physics department"),
    ],
)
def test_check_c5_of_the_paper(text: str, meant: str) -> None:
    assert transcribe(text) == meant


def test_the_longest_term_is_taken() -> None:
    assert transcribe("सूचना का अधिकार कंप्यूटर विज्ञान") == "right to information computer science"


def test_stop_words_go_even_if_the_dictionary_has_them() -> None:
    assert transcribe("कंप्यूटर है।") == "computer"
    assert Transcriber(HINDI).transcribe("कंप्यूटर है।") == "computer is।"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("(कंप्यूटर विज्ञान),", "(computer science),"),
        ("इंजीनियरिंग। कंप्यूटर॥", "engineering। computer॥"),
        ("“कंप्यूटर”, विज्ञान", "“computer”, विज्ञान"),
        ("— कंप्यूटर …", "— computer …"),
    ],
)
def test_punctuation_stays_around_terms_and_keeps_them_apart(text: str, meant: str) -> None:
    assert transcribe(text) == meant


@pytest.mark.parametrize("spelling", ["कम्प्यूटर", "कँप्यूटर", "कं\u200dप्यूटर", "कंप्य\u200bूटर"])
def test_a_word_is_known_in_each_of_its_spellings(spelling: str) -> None:
    assert transcribe(f"{spelling} विज्ञान") == "computer science"


def test_words_with_and_without_the_dot_below_are_the_same() -> None:
    for written, searched in (("क़लम", "कलम"), ("कलम", "क़लम"), ("\u0958लम", "क\u093cलम")):
        assert Transcriber(Dictionary({(written,): "pen"})).transcribe(searched) == "pen"


def test_text_in_the_language_of_the_translations_comes_back_letter_by_letter() -> None:
    text = "  M.Tech\tand \n computer   science, café "
    assert transcribe(text) == text


def test_languages_of_one_script_are_looked_up_word_by_word() -> None:
    spanish = Transcriber(Dictionary({("agua",): "water", ("vino", "tinto"): "red wine"}), frozenset({"el", "de"}))
    assert spanish.transcribe("El Vino Tinto, Agua y table de café") == "red wine, water y table café"


def test_another_script_can_be_asked_for() -> None:
    both = Dictionary({("पानी",): "water", ("вода",): "water", ("agua",): "water"})
    assert Transcriber(both).transcribe("पानी вода agua") == "water water agua"
    assert Transcriber(both, script="cyrillic").transcribe("पानी вода agua") == "पानी water agua"
    with pytest.raises(UsageError, match="no term of the dictionary is in the script 'thai'; they are in devanagari"):
        Transcriber(HINDI, script="thai")


def test_terms_are_found_in_scripts_without_blanks() -> None:
    chinese = Dictionary({("计算机",): "computer", ("计算机科学",): "computer science", ("大学",): "university"})
    told = Transcriber(chinese, frozenset({"的"})).transcribe("北京大学的计算机科学系。IT计算机")
    assert told == "北京 university computer science 系。IT computer"


def test_no_letter_is_parted_from_its_marks() -> None:
    thai = Transcriber(Dictionary({("นำ",): "lead", ("น",): "n", ("น้ำ",): "water"}))
    assert thai.transcribe("น้ำนำน้") == "water lead น้"


def test_an_empty_dictionary_changes_nothing() -> None:
    assert Transcriber(Dictionary({})).transcribe("कंप्यूटर और") == "कंप्यूटर और"


@given(st.text(st.characters(codec="utf-8")))
def test_never_fails_and_keeps_every_unknown_word(text: str) -> None:
    known = Transcriber(Dictionary({("zzz",): "z"}))
    assert known.transcribe(text).split() == [token for token in text.split() if "zzz" not in token.casefold()]


@given(st.lists(st.sampled_from(["कंप्यूटर", "विज्ञान", "और", "M.Tech", "department", "सूचना,", "।"])))
def test_what_was_transcribed_is_transcribed_to_itself(words: list[str]) -> None:
    once = transcribe(" ".join(words))
    assert transcribe(once) == once


@needs_shared
def test_a_real_dictionary_makes_a_mixed_sentence_english() -> None:
    hindi = Transcriber(read_dictionary(SHARED / "texts" / "english-hindi.tsv"), STOP)
    assert hindi.transcribe("कंप्यूटर विज्ञान विभाग, University") == "computer science department, University"


BOOKS = Dictionary({("किताब",): "book", ("मशीन", "लर्निंग"): "machine learning", ("किताबी",): "bookish"})
needs_stemmers = pytest.mark.skipif(find_spec("snowballstemmer") is None, reason="needs the extra topics")


@needs_stemmers
@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("किताबें", "book"),
        ("किताबों, में", "book, में"),
        ("मशीनें लर्निंग", "machine learning"),
        ("किताबी", "bookish"),
    ],
)
def test_with_the_language_of_the_terms_inflected_forms_are_found(text: str, meant: str) -> None:
    assert Transcriber(BOOKS, language="hi").transcribe(text) == meant
    assert Transcriber(BOOKS).transcribe("किताबें") == "किताबें"


@needs_stemmers
def test_stop_words_are_left_out_before_their_stems_are_looked_up() -> None:
    spanish = Dictionary({("libro",): "book", ("vino", "tinto"): "red wine"})
    read = Transcriber(spanish, frozenset({"libros"}), language="es").transcribe("Libros, libro y vinos tintos")
    assert read == "book y red wine"


@pytest.mark.parametrize(
    ("language", "warning"),
    [
        (
            "hi",
            "words are looked up unchanged: stems need snowballstemmer; install it with: pip install 'spoor[topics]'",
        ),
        ("tlh", "there is no stemmer for tlh: words are looked up unchanged"),
    ],
)
def test_without_a_stemmer_words_are_looked_up_as_they_are_which_is_said_once(
    language: str, warning: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    for forgets in (stemmer, stemmer_for):
        forgets.cache_clear()
    try:
        for _ in range(2):
            known = Transcriber(BOOKS, language=language)
            assert known.transcribe("किताब किताबें") == "book किताबें"
        assert [record.getMessage() for record in caplog.records] == [warning]
    finally:
        stemmer_for.cache_clear()

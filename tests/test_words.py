"""Words of texts in any script."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.errors import MissingExtra, UsageError
from spoor.parse import words as module
from spoor.parse.words import STEMMERS, STOP_WORDS, Words, folded, word_count

needs_jieba = pytest.mark.skipif(importlib.util.find_spec("jieba") is None, reason="jieba is not installed")
needs_stemmers = pytest.mark.skipif(
    importlib.util.find_spec("snowballstemmer") is None, reason="snowballstemmer is not installed"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Horse's 2 hooves, re-shod", ["the", "horse", "s", "2", "hooves", "re", "shod"]),
        ("Straße, STRASSE and stra\xadße", ["strasse", "strasse", "and", "strasse"]),
        ("snake_case", ["snake", "case"]),
        ("Морь тал нутагт", ["морь", "тал", "нутагт"]),
        ("हिन्दी में किताबें", ["हिन्दी", "में", "किताबें"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("می‌خواهم", ["می‌خواهم"]),
        ("학교에서 배운다", ["학교에서", "배운다"]),
        ("", []),
        (" … !?", []),
    ],
)
def test_scripts_with_blanks_are_cut_there_and_marks_stay_with_their_letters(text: str, words: list[str]) -> None:
    assert Words().of(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("农业生产", ["农业", "业生", "生产"]),
        ("カタカナと漢字", ["カタ", "タカ", "カナ", "ナと", "と漢", "漢字"]),
        ("ไทย", ["ไท", "ทย"]),
        ("กินน้ำ", ["กิน", "นน้", "น้ำ"]),
        ("ខ្មែរ", ["ខ្មែ", "មែរ"]),
        ("马", ["马"]),
        ("iPhone手机ok", ["iphone", "手机", "ok"]),
    ],
)
def test_scripts_without_blanks_are_cut_into_pairs_of_letters(text: str, words: list[str]) -> None:
    assert Words().of(text) == words


def test_tibetan_is_cut_into_pairs_of_syllables() -> None:
    assert Words().of("བོད་ཡིག་གི་") == ["བོདཡིག", "ཡིགགི"]


def test_texts_that_share_a_word_share_its_pairs() -> None:
    assert set(Words().of("เกษตร")) < set(Words().of("กระทรวงเกษตรและสหกรณ์"))


@needs_jieba
def test_chinese_is_cut_by_a_dictionary_when_the_language_is_known() -> None:
    assert Words("zh").of("我来到北京清华大学") == ["来到", "北京", "清华大学"]
    assert Words("zh-Hans", stop_words=False).of("我来到北京") == ["我", "来到", "北京"]


@needs_stemmers
def test_stems_are_the_same_for_the_forms_of_a_word() -> None:
    assert Words("en", stem=True).of("the farmer's farming of farms") == ["farmer", "farm", "farm"]
    assert Words("ru", stem=True).of("лошади лошадь") == ["лошад", "лошад"]


def test_stop_words_are_left_out_if_the_language_is_known() -> None:
    assert Words("en").of("the horse and the steppe") == ["horse", "steppe"]
    assert Words("de-AT").of("das Pferd und die Steppe") == ["pferd", "steppe"]
    assert Words("en", stop_words=False).of("the horse") == ["the", "horse"]
    assert Words().of("the horse") == ["the", "horse"]


def test_stop_words_of_scripts_without_blanks_are_cut_as_texts_are() -> None:
    assert Words("ja").of("馬から") == ["馬か"]


def test_a_stemmer_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(
        UsageError, match=r"no stemmer for the language 'th'; leave stem out, or name one of ar, ca, cs"
    ):
        Words("th", stem=True)


@pytest.mark.parametrize(
    ("words", "text", "library"),
    [(Words("zh"), "农业", "jieba"), (Words("en", stem=True), "farms", "snowballstemmer")],
)
def test_a_library_that_is_missing_is_named_with_how_to_get_it(
    words: Words, text: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module._jieba.cache_clear()
    module.stemmer.cache_clear()
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=rf"need {library}; install it with: pip install 'spoor\[topics\]'"):
        words.of(text)


@needs_stemmers
def test_stems_do_not_depend_on_whether_pystemmer_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyStemmer 2, which snowballstemmer takes where it is installed, has no Polish and other stems in German."""
    stems = [Words(tag, stem=True).of("Koniach Lehrerinnen") for tag in ("pl", "de")]
    for name in [name for name in sys.modules if name.startswith("snowballstemmer")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "Stemmer", _Elsewhere("Stemmer"))
    module.stemmer.cache_clear()
    assert [Words(tag, stem=True).of("Koniach Lehrerinnen") for tag in ("pl", "de")] == stems


class _Elsewhere(ModuleType):
    """PyStemmer, with English alone."""

    def algorithms(self) -> list[str]:
        return ["english"]

    def Stemmer(self, language: str) -> None:
        raise KeyError(f"Stemming algorithm '{language}' not found")


@needs_stemmers
def test_every_language_with_stems_has_a_stemmer_and_stop_words() -> None:
    for tag in STEMMERS:
        assert Words(tag, stem=True).of("a1")
        assert tag in STOP_WORDS


def test_the_length_of_a_text_in_words_is_told_in_any_script() -> None:
    assert word_count("five words of plain English") == 5
    assert word_count("élan vital") == 2
    assert word_count("农业生产的发展") in range(2, 6)
    assert word_count("") == 0


@given(st.text())
def test_words_are_folded_never_empty_and_hold_no_blanks(text: str) -> None:
    for word in Words().of(text):
        assert word
        assert word == "".join(word.split())
        assert word == folded(word)

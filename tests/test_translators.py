"""Texts translated by a server of LibreTranslate's protocol, whatever that server does."""

from __future__ import annotations

import logging
import pickle
import time
from pathlib import Path

import pytest

from spoor import registry
from spoor.errors import UsageError
from spoor.fetch.translation import MOST_CHARACTERS, MOST_TEXTS, Endpoint
from spoor.judging.ontology_judge import OntologyTerms
from spoor.judging.translators import LONGEST_TEXT, PAUSE, ServerTranslator, translator_of
from spoor.records import Page
from spoor.server_settings import TranslateSettings
from spoor.store.translations import Translations
from tests.translation_server import TranslationServer, translating

WORDS = {"मशीन": "machine", "लर्निंग": "learning", "पुस्तक": "book"}
LEARNING = "मशीन लर्निंग"
NOBODY = "http://127.0.0.1:9"


def translator(server: TranslationServer, seconds: float = 5.0, kept: Translations | None = None) -> ServerTranslator:
    return ServerTranslator(Endpoint(server.url, seconds=seconds), kept)


def test_texts_are_sent_as_the_protocol_has_it_and_come_back_in_their_order() -> None:
    with translating(WORDS) as server:
        assert translator(server).translate([LEARNING, "पुस्तक", LEARNING]) == [
            "machine learning",
            "book",
            "machine learning",
        ]
        assert server.asked == [{"q": [LEARNING, "पुस्तक"], "source": "auto", "target": "en", "format": "text"}]


def test_lines_are_translated_apart_and_stay_lines() -> None:
    with translating(WORDS) as server:
        assert translator(server).translate([f"{LEARNING}\n\nपुस्तक"]) == ["machine learning\n\nbook"]
        assert server.texts == [LEARNING, "पुस्तक"]


def test_what_is_in_the_target_language_already_or_has_no_letters_is_not_sent() -> None:
    english = "This is a page about the history of the village and its people."
    with translating(WORDS) as server:
        assert translator(server).translate(["", "2026 – 17", english]) == ["", "2026 – 17", english]
        assert server.asked == []
        translator(server).translate([f"{english} पुस्तक"])
        assert server.texts == [f"{english} पुस्तक"]


def test_many_texts_are_sent_in_several_requests() -> None:
    texts = [f"पुस्तक {number}" for number in range(2 * MOST_TEXTS + 1)]
    with translating(WORDS) as server:
        assert translator(server).translate(texts) == [f"book {number}" for number in range(len(texts))]
        assert sorted(len(question["q"]) for question in server.asked) == [1, MOST_TEXTS, MOST_TEXTS]


def test_a_long_text_is_cut_between_words_and_what_is_too_long_stays() -> None:
    text = "पुस्तक " * (LONGEST_TEXT // 5)
    with translating(WORDS) as server:
        (read,) = translator(server).translate([text])
        assert max(sum(map(len, question["q"])) for question in server.asked) <= MOST_CHARACTERS
    assert read.count("book") + read.count("पुस्तक") == text.count("पुस्तक")
    assert read.count("book") > 2_000 and read.endswith(text[LONGEST_TEXT:])


def test_a_text_is_sent_once() -> None:
    with translating(WORDS) as server:
        one = translator(server)
        assert one.translate([LEARNING]) == one.translate([LEARNING]) == ["machine learning"]
        assert len(server.asked) == 1


def test_translations_in_the_folder_are_of_use_to_other_processes(tmp_path: Path) -> None:
    kept = Translations(tmp_path / "translations.db")
    with translating(WORDS) as server:
        one = translator(server, kept=kept)
        one.translate([LEARNING])
        other = pickle.loads(pickle.dumps(one))
        assert other.translate([LEARNING]) == ["machine learning"]
        assert len(server.asked) == 1
        ServerTranslator(Endpoint(server.url, target="fr"), kept).translate([LEARNING])
        assert len(server.asked) == 2


def test_of_many_translations_the_oldest_are_deleted(tmp_path: Path) -> None:
    kept = Translations(tmp_path / "translations.db", most=2)
    for number in range(5):
        kept.keep({bytes([number]): str(number)})
    assert kept.known([bytes([number]) for number in range(5)]) == {b"\x03": "3", b"\x04": "4"}


def test_a_damaged_file_of_translations_begins_anew(tmp_path: Path) -> None:
    kept = Translations(tmp_path / "translations.db")
    kept.path.write_bytes(b"no database " * 1_000)
    assert kept.known([b"a"]) == {}
    kept.keep({b"a": "b"})
    assert kept.known([b"a"]) == {b"a": "b"}


def test_a_folder_that_cannot_be_written_costs_nothing_but_requests(tmp_path: Path) -> None:
    kept = Translations(tmp_path / "missing" / "translations.db")
    with translating(WORDS) as server:
        assert translator(server, kept=kept).translate([LEARNING]) == ["machine learning"]


@pytest.mark.parametrize(
    ("mood", "reason"),
    [
        ("broken", "answers HTTP 500"),
        ("wrong JSON", "returns something else than translations"),
        ("too few", "returns something else than translations"),
        ("no texts", "returns something else than translations"),
        ("429", "answers HTTP 429: Slowdown"),
        ("hour", "answers HTTP 429"),
        ("huge", "sends a response that is too large"),
        ("elsewhere", "answers HTTP 302"),
        ("refuses", "answers HTTP 400: xx is not supported"),
        ("hangs up", "cannot be reached: connection lost"),
        ("slow", "does not answer within 1.5 s"),
        ("endless", "does not answer within 1.5 s"),
    ],
)
def test_whatever_the_server_does_texts_are_used_as_they_are_and_counted(
    mood: str, reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = Translations(tmp_path / "translations.db")
    with translating(WORDS, mood) as server:
        began = time.monotonic()
        assert translator(server, 1.5, kept).translate([LEARNING, "पुस्तक"]) == [LEARNING, "पुस्तक"]
        assert time.monotonic() - began < 3.0
        assert not any("/other" in str(question) for question in server.asked)
    assert kept.untranslated() == {reason: 2}
    assert [record.getMessage() for record in caplog.records] == [
        f"the translator {server.url} {reason}; texts are used untranslated"
    ]


def test_nobody_at_the_address_is_counted_too(tmp_path: Path) -> None:
    kept = Translations(tmp_path / "translations.db")
    assert ServerTranslator(Endpoint(NOBODY, seconds=3.0), kept).translate([LEARNING]) == [LEARNING]
    assert kept.untranslated() == {"cannot be reached: connection refused": 1}


def test_a_server_that_asks_to_wait_is_asked_again() -> None:
    with translating(WORDS, "429 once") as server:
        assert translator(server).translate([LEARNING]) == ["machine learning"]
        assert len(server.asked) == 2


def test_after_it_failed_a_server_is_left_alone_for_a_while() -> None:
    now = [0.0]
    with translating(WORDS, "refuses") as server:
        one = ServerTranslator(Endpoint(server.url), clock=lambda: now[0])
        one.translate([LEARNING])
        now[0] = PAUSE - 1.0
        one.translate(["पुस्तक"])
        assert len(server.asked) == 1
        server.mood, now[0] = "", PAUSE + 1.0
        assert one.translate([LEARNING, "पुस्तक"]) == ["machine learning", "book"]


def test_the_warning_is_given_once_however_many_texts_and_processes_there_are(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = Translations(tmp_path / "translations.db")
    with translating(WORDS, "refuses") as server:
        for _ in range(2):
            one = translator(server, kept=kept)
            one.translate([LEARNING])
            one.translate(["पुस्तक"])
    assert len(caplog.records) == 1
    assert kept.untranslated().total() == 4


def test_the_key_is_sent_and_is_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    kept = Translations(tmp_path / "translations.db")
    monkeypatch.setenv("TRANSLATE_KEY", "s3cret-wrong")
    with translating(WORDS, key="s3cret") as server:
        asked = TranslateSettings(server.url, key_variable="TRANSLATE_KEY")
        refused = translator_of(asked, kept)
        assert isinstance(refused, ServerTranslator)
        assert refused.translate([LEARNING]) == [LEARNING]
        monkeypatch.setenv("TRANSLATE_KEY", "s3cret")
        allowed = translator_of(asked, kept)
        assert isinstance(allowed, ServerTranslator)
        assert allowed.translate([LEARNING]) == ["machine learning"]
    assert kept.untranslated() == {"answers HTTP 403: Invalid API key …": 1}
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir()) + pickle.dumps(allowed)
    assert b"s3cret" not in written
    assert "s3cret" not in caplog.text + repr(allowed) + repr(asked)


def test_a_key_that_is_not_there_is_refused_beforehand() -> None:
    with pytest.raises(UsageError, match="the environment variable NO_SUCH_KEY is not set"):
        translator_of(TranslateSettings(NOBODY, key_variable="NO_SUCH_KEY"))


def test_a_text_that_is_not_unicode_is_no_reason_to_fail() -> None:
    with translating({"पुस्तक": "b\ud800k"}) as server:
        assert translator(server).translate(["पुस्तक", "\ud800 पुस्तक"])[0] == "b?k"


def test_a_judge_reads_a_page_as_it_reads_its_translation(tmp_path: Path) -> None:
    (tmp_path / "topic.csv").write_text("term,importance\nmachine learning,1\n")
    foreign, english = f"{LEARNING} पुस्तक", "machine learning book"
    with translating(WORDS) as server:
        (tmp_path / "translate.toml").write_text(f'[translate]\nendpoint = "{server.url}"\n')
        judge = registry.judge(f"ontology:{tmp_path}/topic.csv:translator={tmp_path}/translate.toml")
        assert isinstance(judge, OntologyTerms) and judge.waits
        pages = [Page("http://a.test/", title=said, text=said) for said in (foreign, english)]
        first, second = judge.judge(pages)
        assert first.relevant and first.relevance == second.relevance
        assert judge.similarities([LEARNING]) == judge.similarities(["machine learning"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[crawl]\n", "has no section .translate. with an endpoint or a dictionary"),
        ('[translate]\nendpoint = "http://a.test/"\ndictionary = "x.tsv"\n', "leave one of them out"),
        ('[translate]\nurl = "http://a.test/"\n', "unknown key 'url'"),
    ],
)
def test_a_file_that_names_no_translator_is_refused(text: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "topic.csv").write_text("term,importance\nmachine learning,1\n")
    (tmp_path / "translate.toml").write_text(text)
    with pytest.raises(UsageError, match=complaint):
        registry.judge(f"ontology:{tmp_path}/topic.csv:translator={tmp_path}/translate.toml")

"""What every translator promises."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spoor.fetch.translation import Endpoint
from spoor.judging.dictionary import Dictionary, Transcriber
from spoor.judging.translators import ServerTranslator
from spoor.roles import Translator
from tests.translation_server import translating

WORDS = {"पुस्तक": "book", "मशीन": "machine"}
TEXTS = ["पुस्तक", "", "मशीन और पुस्तक", "a book in English, as it is.", "पुस्तक", "1\n2", "ไทย"]


@pytest.fixture(scope="module", params=["dictionary", "stems", "server", "broken server", "nobody"])
def translator(request: pytest.FixtureRequest) -> Iterator[Translator]:
    dictionary = Dictionary({(word,): meant for word, meant in WORDS.items()})
    match request.param:
        case "dictionary":
            yield Transcriber(dictionary)
        case "stems":
            yield Transcriber(dictionary, language="hi")
        case "nobody":
            yield ServerTranslator(Endpoint("http://127.0.0.1:9", seconds=0.2))
        case mood:
            with translating(WORDS, "refuses" if mood == "broken server" else "") as server:
                yield ServerTranslator(Endpoint(server.url))


def test_gives_a_text_for_each_text_in_their_order(translator: Translator) -> None:
    read = translator.translate(TEXTS)
    assert len(read) == len(TEXTS)
    assert (read[0] in ("book", "पुस्तक"), read[1], read[4]) == (True, "", read[0])


def test_gives_nothing_for_nothing(translator: Translator) -> None:
    assert translator.translate([]) == []


def test_reads_a_text_the_same_alone_and_among_others(translator: Translator) -> None:
    assert translator.translate(TEXTS) == [translator.translate([text])[0] for text in TEXTS]


def test_leaves_texts_in_the_language_itself_as_they_are(translator: Translator) -> None:
    assert translator.translate([TEXTS[3]]) == [TEXTS[3]]


def test_says_whether_it_waits(translator: Translator) -> None:
    assert translator.waits is isinstance(translator, ServerTranslator)


def test_can_be_sent_to_another_process_and_says_the_same_there(translator: Translator) -> None:
    before = translator.translate(TEXTS)
    sent = pickle.loads(pickle.dumps(translator))
    assert sent.translate(TEXTS) == before
    assert repr(sent) == repr(translator)


@given(texts=st.lists(st.text(max_size=30), max_size=3))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_never_fails(translator: Translator, texts: list[str]) -> None:
    assert len(translator.translate(texts)) == len(texts)

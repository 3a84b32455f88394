"""The sections [translate] and [teacher] of crawl.toml: servers that translate pages, or label them."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.checks import above_0, at_least, endpoint, number, setting, share, text, variable

MOST_TOKENS = 100_000


@dataclass(frozen=True)
class TranslateSettings:
    """How texts are translated into the language of an ontology before they are searched for its terms."""

    endpoint: str = setting("", endpoint, "translation server with the API of LibreTranslate", permits="servers")
    dictionary: str = setting("", text, "dictionary file of terms and translations, instead of a server")
    from_language: str = setting("", text, "language of the texts, such as hi; without it a server detects it")
    into_language: str = setting("en", text, "language of the ontology, for a server")
    answer_seconds: float = setting(5.0, above_0, "how long the texts of a page may wait for a server")
    key_variable: str = setting("", variable, "environment variable that holds the key of the server", permits="keys")


NO_TRANSLATION = TranslateSettings()


@dataclass(frozen=True)
class TeacherSettings:
    """The source of labels from which the judge of `like` and `about` learns."""

    questions: int = setting(100, at_least(0), "largest number of pages to ask about, over all runs")
    precision: float | None = setting(
        None, share, "precision to reach: share of relevant pages among those judged relevant"
    )
    recall: float | None = setting(
        None, share, "recall to reach, instead of precision: share of the relevant pages that are judged so"
    )
    answers: str = setting("", text, "file of answers: URLs, and yes or no; CSV, TSV or JSON lines")
    url: str = setting("", endpoint, "language model server with the API of OpenAI", permits="servers")
    model: str = setting("", text, "name of the model on the server")
    prompt: str = setting("", text, "what must be true of a relevant page, for the model; without it, `about`")
    max_calls: int | None = setting(None, at_least(0), "largest number of questions to the model, over all runs")
    max_cost: float | None = setting(None, number, "largest cost of these questions, by the two prices")
    price_in: float = setting(0.0, number, "price of 1,000 tokens that are sent")
    price_out: float = setting(0.0, number, "price of 1,000 tokens of answers")
    model_seconds: float = setting(60.0, above_0, "time limit of an answer of the model, all tries included")
    model_tokens: int = setting(300, at_least(1, MOST_TOKENS), "largest number of tokens of an answer")
    key_env: str = setting("", variable, "environment variable that holds the key of the server", permits="keys")


NO_TEACHER = TeacherSettings()

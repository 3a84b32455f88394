"""The sections [translate] and [teacher] of crawl.toml: servers that translate pages, or say which are relevant."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.checks import above_0, at_least, endpoint, number, setting, share, text, variable

MOST_TOKENS = 100_000


@dataclass(frozen=True)
class TranslateSettings:
    """How texts are put into the language of an ontology before they are searched for its terms."""

    endpoint: str = setting("", endpoint, "server that translates by LibreTranslate's protocol")
    dictionary: str = setting("", text, "file of terms and what they mean, instead of a server")
    from_language: str = setting("", text, "language of the texts, such as hi; without it a server finds out by itself")
    into_language: str = setting("en", text, "language of the ontology, for a server")
    answer_seconds: float = setting(5.0, above_0, "how long the texts of a page may wait for a server at once")
    key_variable: str = setting("", variable, "environment variable that holds the key of the server")


NO_TRANSLATION = TranslateSettings()


@dataclass(frozen=True)
class TeacherSettings:
    """Who says of pages whether they are relevant while the judge by `like` and `about` learns."""

    questions: int = setting(100, at_least(0), "pages that are asked about at most, over all runs")
    precision: float | None = setting(None, share, "share of the pages taken for relevant that are to be so")
    recall: float | None = setting(
        None, share, "share of the relevant pages that are to be taken; instead of precision"
    )
    answers: str = setting("", text, "file of answers: URLs, and yes or no; CSV, TSV or JSON lines")
    url: str = setting("", endpoint, "server of a language model that speaks OpenAI's protocol")
    model: str = setting("", text, "name of the model, as the server knows it")
    prompt: str = setting("", text, "what must be true of a relevant page, for the model; without it, `about`")
    max_calls: int | None = setting(None, at_least(0), "questions to the model at most, over all runs")
    max_cost: float | None = setting(None, number, "what these may cost at most, by the two prices")
    price_in: float = setting(0.0, number, "price of 1,000 tokens that are sent")
    price_out: float = setting(0.0, number, "price of 1,000 tokens of answers")
    model_seconds: float = setting(60.0, above_0, "how long an answer of the model may take, all tries included")
    model_tokens: int = setting(300, at_least(1, MOST_TOKENS), "tokens of an answer at most")
    key_env: str = setting("", variable, "environment variable that holds the key of the server")


NO_TEACHER = TeacherSettings()

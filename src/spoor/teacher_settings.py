"""The section [teacher] of crawl.toml: who says of pages whether they are relevant, how often, at what price."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.checks import above_0, at_least, endpoint, number, setting, text, variable

MOST_TOKENS = 100_000


@dataclass(frozen=True)
class TeacherSettings:
    """Who says of pages whether they are relevant while the judge by `like` and `about` learns."""

    questions: int = setting(100, at_least(0), "pages that are asked about at most, over all runs")
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

"""Makes the teacher that `[teacher]` defines."""

from __future__ import annotations

import os
from pathlib import Path

from spoor.errors import UsageError
from spoor.fetch.chat import ChatModel
from spoor.roles import Teacher
from spoor.server_settings import NO_TEACHER, TeacherSettings
from spoor.store.model_calls import ModelCalls
from spoor.teaching.answer_file import FileTeacher, read_answers
from spoor.teaching.model_teacher import Budget, ModelTeacher
from spoor.teaching.taught_judge import TaughtJudge


def teacher_of(asked: TeacherSettings, about: str, calls: ModelCalls) -> Teacher | None:
    """None if no program is set, so that only persons answer. `about` is the sentence of the target."""
    if asked.answers and asked.url:
        raise UsageError("[teacher] names answers and the url of a model; leave one of them out")
    if asked.answers:
        return FileTeacher(read_answers(Path(asked.answers)))
    if not asked.url:
        return None
    _check(asked, about)
    model = ChatModel(asked.url, asked.model, asked.model_seconds, asked.model_tokens, asked.key_env)
    budget = Budget(asked.max_calls, asked.max_cost, asked.price_in, asked.price_out)
    return ModelTeacher(model, asked.prompt or f"the page is about {about}", calls, budget)


def _check(asked: TeacherSettings, about: str) -> None:
    if not asked.model:
        raise UsageError("[teacher] has a url but no model; name one of the server")
    if not (asked.prompt or about):
        raise UsageError("[teacher] does not say what is relevant; set prompt, or [target] about")
    if asked.max_cost is not None and not (asked.price_in or asked.price_out):
        raise UsageError("[teacher] max_cost needs price_in or price_out, the prices of 1,000 tokens")
    if asked.key_env and not os.environ.get(asked.key_env):
        raise UsageError(f"[teacher] key_env: the environment variable {asked.key_env} is not set")


def check_teacher(asked: TeacherSettings, about: str, judge: TaughtJudge | None) -> None:
    """Raises UsageError for wrong settings, before the crawl starts."""
    if judge is None and asked != NO_TEACHER:
        raise UsageError("[teacher] needs a target with like or about; set one of them")
    teacher_of(asked, about, ModelCalls(lambda: None))

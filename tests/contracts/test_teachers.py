"""What every teacher promises."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spoor.cli.answering import Person
from spoor.fetch.chat import ChatModel
from spoor.records import Failure, Question
from spoor.roles import Teacher
from spoor.store.model_calls import ModelCalls
from spoor.teaching.answer_file import FileTeacher
from spoor.teaching.model_teacher import ModelTeacher
from tests.chat_server import chatting, yes_to

YES = Question("http://a.test/yes", "Horses", "All about horses.", ("horses",), 0.4)
NO = Question("http://a.test/no", "Cars", "All about cars.", (), 0.6)


@pytest.fixture(scope="module", params=["file", "model", "broken model", "nobody", "person"])
def teacher(request: pytest.FixtureRequest) -> Iterator[Teacher]:
    calls = ModelCalls(lambda: None)
    match request.param:
        case "file":
            yield FileTeacher({YES.url: True, NO.url: False})
        case "person":
            said: list[str] = []
            yield Person(lambda _: "y" if "horses" in said[-1] else "n", said.append)
        case "nobody":
            yield ModelTeacher(ChatModel("http://127.0.0.1:9", "m", 0.2), "about horses", calls)
        case mood:
            with chatting(yes_to("horses"), "prose" if mood == "broken model" else "") as server:
                yield ModelTeacher(ChatModel(server.url, "m"), "about horses", calls)


def test_answers_yes_or_no_or_does_not_answer(teacher: Teacher) -> None:
    async def both() -> list[object]:
        return [await teacher.answer(YES), await teacher.answer(NO)]

    answers = asyncio.run(both())
    assert answers in ([True, False], [None, None]) or all(isinstance(answer, Failure) for answer in answers)


def test_may_know_what_it_has_answered(teacher: Teacher) -> None:
    if asyncio.run(teacher.answer(YES)) is True:
        assert teacher.may_know(YES.url)


def test_is_asked_no_more_where_it_could_not_say(teacher: Teacher) -> None:
    if asyncio.run(teacher.answer(YES)) is None:
        assert not teacher.may_know(YES.url)


def test_has_a_name_and_is_not_spent(teacher: Teacher) -> None:
    assert teacher.who.partition(":")[0] in ("person", "file", "model")
    assert teacher.spent == ""


@given(text=st.text(max_size=50))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_never_fails(teacher: Teacher, text: str) -> None:
    assert isinstance(asyncio.run(teacher.answer(Question(text, text, text))), bool | None | Failure)

"""Worker processes: everybody gets an answer, in time or with a reason."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass

import pytest

from spoor.errors import BadInput, BrokenContract, UsageError
from spoor.records import Failure, Outcome, Response, Visit
from spoor.workers import working


@dataclass(frozen=True)
class Echo:
    """Answers with the length of the body; dies, or makes a mistake, when the body says so."""

    def read_away(self, visit: Visit, response: Response) -> Outcome:
        if response.body == b"die":
            os._exit(9)
        if response.body == b"err":
            raise BrokenContract("a mistake of ours")
        return Failure(f"{visit.url} {len(response.body)}")


def asked(number: int, body: bytes) -> tuple[Visit, Response]:
    url = f"http://a.test/{number}"
    return Visit(url, "a.test", number, 0.0), Response(url, 200, {}, body, b"", b"", b"", "", 0.0, 0.0)


def read_all(bodies: list[bytes], count: int = 2) -> list[Outcome | BaseException]:
    async def run() -> list[Outcome | BaseException]:
        async with working(count, Echo()) as workers:
            reading = [workers.read(*asked(number, body)) for number, body in enumerate(bodies)]
            return await asyncio.gather(*reading, return_exceptions=True)

    return asyncio.run(run())


def test_each_gets_its_own_answer_whatever_its_size() -> None:
    sizes = [0, 3_000_000, 10, 200_000, 1, 65_536] * 3
    assert read_all([b"x" * size for size in sizes]) == [
        Failure(f"http://a.test/{number} {size}") for number, size in enumerate(sizes)
    ]


def test_a_mistake_in_a_process_is_heard_of_and_the_process_goes_on() -> None:
    first, second = read_all([b"err", b"x"], count=1)
    assert isinstance(first, BrokenContract) and second == Failure("http://a.test/1 1")


def test_a_process_that_dies_leaves_nobody_waiting() -> None:
    for outcome in read_all([b"die", b"x", b"x"], count=1):
        with pytest.raises(BadInput, match="run the same command again"):
            raise outcome if isinstance(outcome, BaseException) else AssertionError(outcome)


def test_who_asks_a_process_that_died_is_told() -> None:
    async def run() -> None:
        async with working(1, Echo()) as workers:
            for body in (b"die", b"x"):
                with pytest.raises(BadInput, match="run the same command again"):
                    await workers.read(*asked(0, body))

    asyncio.run(run())


def test_no_machine_is_filled_with_processes() -> None:
    with pytest.raises(UsageError, match=r"workers = 100000: 256 at most"):
        read_all([b"x"], count=100_000)

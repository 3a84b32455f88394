"""Processes that read: everybody gets an answer, in time or with a reason."""

from __future__ import annotations

import asyncio
import gzip
import os
import pickle
import resource
import signal
import time
from dataclasses import dataclass, replace

import pytest

from spoor.errors import BrokenContract, UsageError
from spoor.live.reading_processes import MOST_WAITING, ReadingLimits, reading, to_send
from spoor.origins import pack
from spoor.records import Failure, Outcome, Response, Visit

LIMITS = ReadingLimits(seconds=1.0, memory=200_000_000)


class Unsendable(Exception):
    """Can be pickled, but not be made from the pickle."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(one)


@dataclass(frozen=True)
class Echo:
    """Answers with the length of the body; or does what the body says. `loading` are seconds."""

    loading: float = 0.0

    def warm_up(self) -> None:
        time.sleep(self.loading)

    def read_in_worker(self, visit: Visit, response: Response) -> Outcome:
        match response.body:
            case b"die":
                os._exit(9)
            case b"crash":
                signal.raise_signal(signal.SIGSEGV)
            case b"err":
                raise UsageError("a mistake of the user")
            case b"odd":
                raise Unsendable("a mistake", "of ours")
            case b"hang":
                time.sleep(60)
            case b"spin":
                sum(range(10**12))  # in C, where no signal handler of Python would be called
            case b"eat":
                return Failure(str(len(bytes(2 * LIMITS.memory))))
        return Failure(f"{visit.url} {len(response.body)}")


def asked(number: int, body: bytes) -> tuple[Visit, Response]:
    url = f"http://a.test/{number}"
    return Visit(url, "a.test", number, 0.0), Response(url, 200, {}, body, b"", b"", b"", "", 0.0, 0.0)


def read_all(bodies: list[bytes], count: int = 2, reader: Echo | None = None) -> list[Outcome | BaseException]:
    async def run() -> list[Outcome | BaseException]:
        async with reading(count, pack(reader or Echo()), LIMITS) as processes:
            outcomes = [processes.read(*asked(number, body)) for number, body in enumerate(bodies)]
            return await asyncio.gather(*outcomes, return_exceptions=True)

    return asyncio.run(run())


def test_each_gets_its_own_answer_whatever_its_size() -> None:
    sizes = [0, 3_000_000, 10, 200_000, 1, 65_536] * 3
    assert read_all([b"x" * size for size in sizes]) == [
        Failure(f"http://a.test/{number} {size}") for number, size in enumerate(sizes)
    ]


def test_a_mistake_in_a_process_is_heard_of_and_the_process_goes_on() -> None:
    first, second, third = read_all([b"err", b"odd", b"x"], count=1)
    assert isinstance(first, UsageError) and isinstance(second, BrokenContract)
    assert str(second) == "Unsendable in a worker: a mistake" and "Traceback" in second.__notes__[0]
    assert third == Failure("http://a.test/2 1")


def test_a_process_dies_of_one_page_and_another_reads_the_others() -> None:
    reasons = [outcome.reason for outcome in read_all([b"x", b"die", b"x", b"crash", b"x"], count=1)]  # type: ignore[union-attr]
    assert reasons == [
        "http://a.test/0 1",
        "the reader crashed: exit code 9",
        "http://a.test/2 1",
        "the reader crashed: Segmentation fault",
        "http://a.test/4 1",
    ]


def test_a_page_that_takes_too_long_is_given_up() -> None:
    over = Failure("reading took over 1 s")
    assert read_all([b"hang", b"x", b"spin", b"x"], count=1) == [
        over,
        Failure("http://a.test/1 1"),
        over,
        Failure("http://a.test/3 1"),
    ]


def test_what_a_process_loads_before_it_reads_is_not_held_against_the_first_page() -> None:
    assert read_all([b"x"], count=1, reader=Echo(loading=1.5 * LIMITS.seconds)) == [Failure("http://a.test/0 1")]


def test_a_page_that_needs_too_much_memory_is_given_up() -> None:
    assert read_all([b"x", b"eat", b"x", b"eat"], count=1) == [
        Failure("http://a.test/0 1"),
        Failure("reading needed over 200 MB"),
        Failure("http://a.test/2 1"),
        Failure("reading needed over 200 MB"),
    ]


def test_who_asks_a_process_that_died_gets_another() -> None:
    async def run() -> list[Outcome]:
        async with reading(1, pack(Echo()), LIMITS) as processes:
            return [await processes.read(*asked(0, body)) for body in (b"die", b"x")]

    assert asyncio.run(run())[1] == Failure("http://a.test/0 1")


def test_nobody_waits_for_a_page_when_the_work_is_over() -> None:
    async def run() -> float:
        async with reading(1, pack(Echo()), ReadingLimits(seconds=60.0)) as processes:
            await processes.read(*asked(0, b"x"))
            hanging = processes.read(*asked(0, b"hang"))
            await asyncio.sleep(0.2)
            hanging.cancel()
            began = time.monotonic()
        return time.monotonic() - began

    assert asyncio.run(run()) < 10.0


def test_no_process_is_started_when_there_is_nothing_to_read() -> None:
    async def run() -> list[object]:
        async with reading(3, pack(Echo()), LIMITS) as processes:
            return [process._process for process in processes.processes]

    assert asyncio.run(run()) == [None] * 3


def test_pages_too_large_to_wait_together_wait_in_files() -> None:
    large = b"x" * (MOST_WAITING // 3)

    async def run() -> tuple[list[Outcome], int]:
        async with reading(1, pack(Echo()), LIMITS) as processes:
            outcomes = [processes.read(*asked(number, large)) for number in range(6)]
            held = sum(page.held for process in processes.processes for page in process.asked)
            return await asyncio.gather(*outcomes), held

    outcomes, held = asyncio.run(run())
    assert outcomes == [Failure(f"http://a.test/{number} {len(large)}") for number in range(6)]
    assert len(large) < held <= MOST_WAITING


def test_without_room_for_files_pages_wait_in_memory() -> None:
    large = b"x" * (MOST_WAITING // 3)

    async def run() -> list[Outcome]:
        async with reading(1, pack(Echo()), LIMITS) as processes:
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(large) // 2, hard))
            try:
                outcomes = [processes.read(*asked(number, large)) for number in range(6)]
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            return await asyncio.gather(*outcomes)

    assert asyncio.run(run()) == [Failure(f"http://a.test/{number} {len(large)}") for number in range(6)]


@pytest.mark.parametrize("cut, lines", [("", 1), ("", 2), ("disconnect", 1)])
def test_a_response_is_sent_with_its_payload_if_that_is_shorter_and_arrives_with_its_body(cut: str, lines: int) -> None:
    body = b"some words " * 5_000
    payload = gzip.compress(body, mtime=0)
    head = b"HTTP/1.1 200 OK\r\n" + b"Content-Encoding: gzip\r\n" * lines
    headers = {"content-encoding": "gzip"}
    response = Response("http://a.test/", 200, headers, body, payload, b"GET /", head, "127.0.0.1", 0.0, 0.0, cut)
    message = pickle.dumps(to_send(response), pickle.HIGHEST_PROTOCOL)
    assert pickle.loads(message) == replace(response, payload=b"", request=b"")
    assert (len(message) < len(body) / 10) == (lines == 1 and not cut)

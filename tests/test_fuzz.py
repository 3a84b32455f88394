"""What `make fuzz` feeds: a few inputs of each target hold here, and what it has found stays repaired."""

from __future__ import annotations

from pathlib import Path

import pytest

from spoor import settings as config
from spoor.errors import BadInput, UsageError
from spoor.judging.profiles import open_profiles
from spoor.lab.build.warc_source import parse_http_response
from tests.fuzz.mutation import LARGEST, Mutator
from tests.fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_inputs_of_each_target_hold(name: str) -> None:
    target = TARGETS[name]
    mutator = Mutator(0, target.corpus, target.signs)
    for given in (*target.corpus, *(mutator.input() for _ in range(100))):
        target.check(given)


def test_the_same_seed_makes_the_same_inputs_of_bounded_size() -> None:
    one, other, third = (Mutator(seed, [b"good input"], [b"<"]) for seed in (1, 1, 2))
    inputs = [one.input() for _ in range(200)]
    assert inputs == [other.input() for _ in range(200)] != [third.input() for _ in range(200)]
    assert max(map(len, inputs)) <= LARGEST


def test_numbers_of_thousands_of_digits_in_settings_are_refused_in_a_line() -> None:
    with pytest.raises(BadInput, match="cannot be read as TOML"):
        config.loads(f"[crawl]\nmax_pages = {'9' * 5_000}")
    with pytest.raises(UsageError, match="must be a number from 0 to"):
        config.loads(f"[politeness]\nrest = {'9' * 400}")


def test_absurd_lengths_in_recorded_responses_are_read_past() -> None:
    long = parse_http_response(b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\nbody")
    assert long is not None and (long.body, long.whole) == (b"body", False)
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    for size in (b"f" * 100, b"5" * 200_000):
        found = parse_http_response(chunked + size + b"\r\nbody")
        assert found is not None and found.body == b"body"
    unfinished = parse_http_response(chunked + b"5" * 200_000)
    assert unfinished is not None and len(unfinished.body) == 200_000


def test_a_model_whose_parts_are_endless_is_damaged(tmp_path: Path) -> None:
    file = tmp_path / "model.spoor"
    file.write_bytes(b'spoor language profiles 1\n[{"bytes": 1e999}]\n')
    with pytest.raises(BadInput, match="the list of its parts is damaged"):
        open_profiles(file)

"""The rules of real hosts: where they cannot be reached, nothing may be fetched."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest

from spoor.fetch.http import HttpFetcher
from spoor.fetch.limits import FetchLimits
from spoor.judge.script_share import ScriptShare
from spoor.live import LiveLooker, Reader
from spoor.parse.html import USUAL
from spoor.records import Failure, Outcome, RobotsRules, Visit
from tests.chaos import chaos

SHORT = FetchLimits(connect=1.0, idle=0.4, whole=0.8)


def rules(path: str) -> Outcome:
    """What is made of a robots.txt that behaves as this path does."""

    async def ask() -> Outcome:
        async with chaos() as server, HttpFetcher("spoor", SHORT, time.time, allow_private=True) as fetcher:
            looker = LiveLooker(fetcher, None, Reader(ScriptShare("thai"), None, False, USUAL, False))
            return await looker.look(Visit(server.url(path), server.host, 0, 0.0, "robots"))

    return asyncio.run(ask())


def nobody_listens() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/robots.txt"


def test_rules_that_lie_elsewhere_are_for_the_host_that_was_asked() -> None:
    assert rules("/redirect-to?to=/robots.txt") == RobotsRules("User-agent: *\nDisallow: /private\n", "127.0.0.1")


@pytest.mark.parametrize(
    "elsewhere", ["http://a..b/robots.txt", "http://no-such-host.invalid/robots.txt", "https://127.0.0.1:1/", ""]
)
def test_rules_that_lie_where_nobody_can_read_them_keep_the_host_closed(elsewhere: str) -> None:
    elsewhere = elsewhere or nobody_listens()
    answer = rules(f"/redirect-to?to={elsewhere}")
    assert isinstance(answer, Failure) and answer.again_after is not None
    assert answer.reason.startswith(f"robots.txt leads to {elsewhere}: ")


def test_rules_that_cannot_be_had_after_a_redirect_keep_the_host_closed() -> None:
    for path in ("/unavailable", "/stall-before-head", "/half-a-body"):
        answer = rules(f"/redirect-to?to={path}")
        assert isinstance(answer, Failure) and answer.again_after is not None


def test_rules_that_are_not_there_after_a_redirect_forbid_nothing() -> None:
    assert rules("/redirect-to?to=/no-such-page") == RobotsRules("", "127.0.0.1")


def test_redirects_without_end_are_rules_that_are_not_there() -> None:
    assert rules("/redirect-loop") == RobotsRules()

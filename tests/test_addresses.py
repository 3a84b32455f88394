"""Addresses inside of somebody's network are refused, however they are written or looked up."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from spoor.fetch.addresses import PublicResolver, RefusedAddress, kind_of, literal_of
from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http import HttpFetcher
from spoor.fetch.proxies import Proxies
from spoor.records import Failure, Response
from spoor.urls import normalise
from tests.chaos import chaos


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("127.0.0.1", "a loopback"),
        ("127.255.0.9", "a loopback"),
        ("::1", "a loopback"),
        ("0.0.0.0", "an unspecified"),
        ("0.1.2.3", "an unspecified"),
        ("::", "an unspecified"),
        ("10.1.2.3", "a private"),
        ("172.16.0.1", "a private"),
        ("172.31.255.255", "a private"),
        ("192.168.1.1", "a private"),
        ("fd12:3456::1", "a private"),
        ("fec0::1", "a private"),
        ("169.254.1.1", "a link-local"),
        ("fe80::1", "a link-local"),
        ("fe80::1%eth0", "a link-local"),
        ("100.64.0.1", "a carrier-grade NAT"),
        ("100.127.255.255", "a carrier-grade NAT"),
        ("169.254.169.254", "a cloud metadata"),
        ("100.100.100.200", "a cloud metadata"),
        ("168.63.129.16", "a cloud metadata"),
        ("fd00:ec2::254", "a cloud metadata"),
        ("224.0.0.1", "a multicast"),
        ("ff02::1", "a multicast"),
        ("255.255.255.255", "a reserved"),
        ("240.0.0.1", "a reserved"),
        ("192.0.2.1", "a reserved"),
        ("198.18.0.1", "a reserved"),
        ("2001:db8::1", "a reserved"),
        ("2001::1", "a reserved"),
        ("100::1", "a reserved"),
        ("::127.0.0.1", "a reserved"),
        ("::ffff:127.0.0.1", "a loopback"),
        ("::ffff:10.0.0.1", "a private"),
        ("64:ff9b::7f00:1", "a loopback"),
        ("64:ff9b::169.254.169.254", "a cloud metadata"),
        ("64:ff9b:1::a00:1", "a private"),
        ("2002:7f00:1::", "a loopback"),
        ("2002:c0a8:101::1", "a private"),
    ],
)
def test_addresses_that_are_not_public(address: str, kind: str) -> None:
    assert kind_of(address) == kind


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "172.15.0.1",
        "172.32.0.1",
        "100.63.0.1",
        "100.128.0.1",
        "192.0.1.1",
        "223.255.255.255",
        "2606:4700::1111",
        "::ffff:1.1.1.1",
        "64:ff9b::101:101",
        "2002:101:101::1",
        "2a00:1450::1",
    ],
)
def test_addresses_that_are_public(address: str) -> None:
    assert kind_of(address) == ""


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1:8080/", "127.0.0.1"),
        ("http://2130706433/", "127.0.0.1"),
        ("http://0x7f000001/", "127.0.0.1"),
        ("http://0177.0.0.1/", "127.0.0.1"),
        ("http://127.1/", "127.0.0.1"),
        ("http://%31%32%37.0.0.1/", "127.0.0.1"),
        ("http://１２７.0.0.1/", "127.0.0.1"),
        ("http://user:word@[::1]:80/", "::1"),
        ("http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1"),
        ("http://example.org/", ""),
        ("http://127.0.0.1.example.org/", ""),
    ],
)
def test_every_spelling_of_an_address_is_the_address(url: str, address: str) -> None:
    normalised = normalise(url)
    assert normalised is not None
    assert literal_of(normalised) == address


class Names(AbstractResolver):
    """Every name leads to the given addresses."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in self.addresses
        ]

    async def close(self) -> None: ...


def resolved(*addresses: str) -> list[str]:
    resolver = PublicResolver(Names(*addresses))
    return [result["host"] for result in asyncio.run(resolver.resolve("a.test", 80))]


def test_a_name_leads_only_to_its_public_addresses() -> None:
    assert resolved("10.0.0.1", "1.1.1.1", "::1") == ["1.1.1.1"]


def test_a_name_with_only_private_addresses_is_refused() -> None:
    with pytest.raises(RefusedAddress, match=r"10\.0\.0\.1 is a private address; allow it with --allow-private"):
        resolved("10.0.0.1", "::1")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_nothing_is_sent_to_a_refused_address(host: str) -> None:
    async def run() -> tuple[list[bytes], Response | Failure]:
        async with chaos() as server, HttpFetcher("spoor/0.1", FetchLimits(whole=2), time.time) as client:
            answer = await client.fetch(f"http://{host}:{server.port}/")
            return server.requests, answer

    requests, answer = asyncio.run(run())
    assert requests == []
    assert isinstance(answer, Failure) and answer.again_after is None
    assert "is a loopback address; allow it with --allow-private" in answer.reason
    assert answer.reason.startswith("refused: ")


def test_a_proxy_may_be_anywhere_but_is_not_sent_to_private_addresses() -> None:
    async def run() -> tuple[list[str], list[Response | Failure]]:
        async with (
            chaos() as server,
            HttpFetcher("spoor/0.1", FetchLimits(), time.time, proxies=Proxies.to(server.url(""))) as client,
        ):
            answers = [await client.fetch(url) for url in ("http://10.0.0.1/", "http://a.test/")]
            return server.paths, answers

    paths, answers = asyncio.run(run())
    assert paths == ["http://a.test/"]
    assert isinstance(answers[0], Failure) and isinstance(answers[1], Response)

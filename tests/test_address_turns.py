"""Hosts of several shards at one IP address: one shard at a time asks there, and its delay holds across all."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

from spoor.crawling.share import BUCKETS, Share, bucket_of
from spoor.events import Event
from spoor.frontier.addresses import Addresses, AddressGrant
from spoor.frontier.entry import Host, HostRules
from spoor.live.address_turns import ROUNDS, AddressReport, AddressTurns
from spoor.live.from_settings import AGENT, host_rules
from spoor.live.shards import Coordinator, Shard
from spoor.report.politeness import PolitenessReport, PolitenessRules, conduct
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.sharded_folder import GrantedVisits, ShardedFolder
from tests.linked_hosts import LinkedHosts, serving
from tests.test_politeness_report import PROMISE, hows, journal_of, opened, visited

A, QUIET = "192.0.2.1", AddressReport()


def awaits(*addresses: str) -> AddressReport:
    return AddressReport(awaited=addresses)


def held_by_0() -> AddressTurns:
    turns = AddressTurns(2)
    assert turns.round({0: awaits(A), 1: QUIET})[0] == AddressGrant([A], [])
    return turns


def test_an_address_is_asked_back_after_some_rounds_and_goes_to_whoever_waits() -> None:
    turns = held_by_0()
    for _ in range(ROUNDS - 1):
        assert turns.round({0: QUIET, 1: awaits(A)}) == {0: AddressGrant([], []), 1: AddressGrant([], [])}
    for _ in range(2):
        assert turns.round({0: QUIET, 1: awaits(A)})[0] == AddressGrant([], [A])
    back = AddressReport(awaited=[A], given_back=[A])
    assert turns.round({0: back, 1: awaits(A)}) == {0: AddressGrant([], []), 1: AddressGrant([A], [])}


def test_a_grant_that_did_not_arrive_is_made_again() -> None:
    assert held_by_0().round({0: awaits(A), 1: QUIET})[0] == AddressGrant([A], [])


def test_a_shard_that_cannot_be_asked_keeps_what_it_has() -> None:
    turns = held_by_0()
    for _ in range(2 * ROUNDS):
        assert turns.round({1: awaits(A)}) == {1: AddressGrant([], [])}


def test_nobody_has_an_address_before_all_shards_were_heard() -> None:
    turns = AddressTurns(2)
    assert turns.round({0: awaits(A)})[0] == AddressGrant([], [])
    assert turns.round({0: awaits(A), 1: QUIET})[0] == AddressGrant([A], [])


def test_an_address_is_given_back_when_visits_there_are_over_and_its_delay() -> None:
    host, shown = Host("a.test", 1.0, address=A), list[str]()
    addresses = Addresses(HostRules(1.0, 0.25, shared_addresses=True), [host], shown.append)
    assert not addresses.is_turn_of(host) and addresses.awaited(9) == [A]
    addresses.heed(AddressGrant([A]))
    assert shown == ["a.test"] and addresses.is_turn_of(host)
    host.visiting = 1
    addresses.heed(AddressGrant(asked_back=[A]))
    assert not addresses.is_turn_of(host) and addresses.given_back(1.0) == []
    host.visiting = 0
    addresses.delay(A, 1.0)
    assert addresses.given_back(1.2) == []
    assert addresses.given_back(1.25) == [A] and addresses.awaited(9) == [A]


# What is said of a crawl of several shards.


def of_shards(tmp_path: Path, *shards: tuple[Event, ...]) -> PolitenessReport:
    folder = ShardedFolder(tmp_path)
    folder.table(len(shards))
    for number, events in enumerate(shards):
        journal_of(folder.shard(number), events)
    return conduct(CrawlFolder(tmp_path), PROMISE)


def test_the_delay_of_an_address_counts_across_shards(tmp_path: Path) -> None:
    said = of_shards(
        tmp_path, (opened(0, 1), visited(20, 21)), (opened(10, 11, "b.test"), visited(21.125, 22, "b.test"))
    )
    assert hows(said) == ["after 0.125 s at its IP address, with a delay of 0.25 s"]
    assert (said.hosts, said.visits) == (2, 4)


def test_a_shard_does_not_know_by_which_visit_another_found_an_address(tmp_path: Path) -> None:
    first = (opened(0, 1), visited(21.125, 22))
    assert of_shards(tmp_path, first, (opened(20, 21, "b.test"),)).breaches == ()


# Over real sockets.


HOSTS, PAGES = 6, 25


async def crawled(path: Path) -> Config:
    """By two shards, each of which has every other host."""
    folder = ShardedFolder(path)
    folder.table(2)
    async with serving(LinkedHosts(PAGES), ["127.0.0.1"], HOSTS) as linked:
        asked = Config(
            Target(pattern="x"),
            Crawling(seeds=tuple(linked.pages), connections=8, strategy="breadth-first", allow_private=True),
            politeness=Politeness(host_delay=0.05),
        )
        table = [0] * BUCKETS
        for number, host in enumerate(linked.hosts):
            table[bucket_of(host)] = number % 2
        shards = [Shard(folder.shard(number), Share(number, tuple(table)), asked) for number in range(2)]
        for shard in shards:
            shard.peers = shards
        with closing(GrantedVisits(folder.coordinator)) as granted:
            assert await Coordinator(shards, granted).run(lambda totals: None) == "nothing is waiting"
        assert {url for url in linked.requests if not url.endswith("/robots.txt")} == set(linked.pages)
    return asked


def test_two_shards_keep_the_delay_of_the_address_of_all_their_hosts(tmp_path: Path) -> None:
    asked = asyncio.run(crawled(tmp_path))
    said = conduct(CrawlFolder(tmp_path), PolitenessRules(host_rules(asked), AGENT))
    assert said.breaches == ()
    assert said.hosts == HOSTS and said.visits >= HOSTS + PAGES

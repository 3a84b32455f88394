"""Shards as actors of Ray, which are killed, frozen and lose their nodes while they crawl. Without Ray this is skipped;
`make soak` kills more often, and takes nodes and the head away."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from spoor.live.from_settings import AGENT, host_rules
from spoor.live.ray_cluster import connected, crawl_in_actors
from spoor.live.shards import Coordinator
from spoor.report.politeness import PolitenessRules, conduct
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.copies import CopyName, CopyPlace, Origin
from spoor.store.crawl_folder import CrawlFolder, is_crawled_into
from spoor.store.sharded_folder import ShardedFolder
from tests.linked_hosts import LinkedHosts, serving
from tests.thread_server import in_thread

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'spoor[ray]'")

SHARDS, CONNECTIONS = 2, 8
ADDRESSES = [f"127.0.60.{number}" for number in range(1, 5)]
KILLS = int(os.environ.get("SPOOR_ACTOR_KILLS", "2"))
long = pytest.mark.skipif(KILLS <= 2, reason="takes minutes: make soak")
PATIENCE = 600.0
"""Seconds in which what is waited for happens, on a machine that is busy."""
POLITE = Politeness(host_delay=0.1)


def web() -> AbstractContextManager[LinkedHosts]:
    """It grows until somebody says that it shall not."""
    return in_thread(serving(LinkedHosts(), ADDRESSES, 4))


def wait_for(what: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.2)


def holder(folder: ShardedFolder, shard: int) -> int:
    """The process that has the folder of a shard, or had it last; 0: none ever had."""
    with suppress(OSError, ValueError):
        return int((folder.shard(shard) / "lock").read_text())
    return 0


def rows(folder: ShardedFolder, query: str) -> Iterator[tuple[Any, ...]]:
    """Each with the number of its shard first."""
    for number in range(SHARDS):
        with closing(sqlite3.connect(folder.shard(number) / "crawl.db")) as db:
            yield from ((number, *row) for row in db.execute(query))


def check(folder: ShardedFolder, linked: LinkedHosts, deaths: int) -> None:
    """Every page came, and once; of those under way at a death some were asked for twice. All letters arrived, none
    waits, no delay was broken, and each page is in an archive that is whole."""
    fetched = Counter(url for _, url in rows(folder, "SELECT url FROM pages"))
    assert fetched == Counter(dict.fromkeys(linked.pages, 1))
    asked_for = Counter({url: count for url, count in linked.requests.items() if not url.endswith("/robots.txt")})
    assert set(asked_for) == set(linked.pages)
    assert asked_for.total() <= len(linked.pages) + deaths * CONNECTIONS // SHARDS
    assert not list(rows(folder, "SELECT 1 FROM outbox UNION ALL SELECT 1 FROM links WHERE state < 4 AND state <> 2"))
    sent = {(sender, receiver, number) for sender, receiver, number in rows(folder, "SELECT * FROM sent")}
    assert sent == {(sender, receiver, number) for receiver, sender, number in rows(folder, "SELECT * FROM inbox")}
    asked = Config(Target(pattern="x"), Crawling(seeds=("http://a.test/",)), politeness=POLITE)
    assert conduct(CrawlFolder(folder.path), PolitenessRules(host_rules(asked), AGENT)).breaches == ()
    assert set(archived(folder)) == set(linked.pages)


def archived(folder: ShardedFolder) -> Iterator[str]:
    for path in folder.path.glob("shards/*/warc/*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()
                url = record.rec_headers.get_header("WARC-Target-URI") or ""
                if record.rec_type == "response" and not url.endswith("/robots.txt"):
                    yield url


# Actors that are killed.


class Killer:
    """Kills one shard after another in a thread, at any moment, by Ray or by the kernel; then the web stops to grow."""

    def __init__(self, folder: ShardedFolder, linked: LinkedHosts, kills: int) -> None:
        self.done = 0
        self._folder, self._linked, self._kills = folder, linked, kills
        self._rng = random.Random(kills)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self, coordinator: Coordinator) -> None:
        self._thread.start()

    def _run(self) -> None:
        killed = {0}
        wait_for(lambda: len(self._linked.links) > 20)
        while self.done < self._kills:
            shard, pages = self._rng.randrange(SHARDS), len(self._linked.links)
            wait_for(lambda shard=shard: holder(self._folder, shard) not in killed)  # type: ignore[misc]
            killed.add(holder(self._folder, shard))
            time.sleep(self._rng.random() * 3.0)
            self._kill(shard)
            self.done += 1
            wait_for(lambda pages=pages: len(self._linked.links) > pages)  # type: ignore[misc]
        self._linked.most = 0

    def _kill(self, shard: int) -> None:
        if self._rng.random() < 0.5:
            os.kill(holder(self._folder, shard), signal.SIGKILL)
        else:
            (actor,) = [at for at in ray.util.list_named_actors(all_namespaces=True) if at["name"] == f"shard {shard}"]
            ray.kill(ray.get_actor(**actor), no_restart=False)


def test_shards_on_this_machine_run_at_the_priority_of_the_command() -> None:
    def priority() -> int:
        return os.getpriority(os.PRIO_PROCESS, 0)

    with connected(1):
        assert ray.get(ray.remote(priority).remote()) == priority()


@pytest.mark.parametrize("use_uvloop", ["0", "1"])
def test_shards_find_everything_with_and_without_uvloop(
    use_uvloop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray uses uvloop for its actors wherever it can be imported."""
    if use_uvloop == "1":
        pytest.importorskip("uvloop")
    monkeypatch.setenv("RAY_USE_UVLOOP", use_uvloop)
    folder = ShardedFolder(tmp_path)
    with in_thread(serving(LinkedHosts(most=30), ADDRESSES, 4)) as linked, connected(SHARDS):
        crawling = Crawling(
            seeds=tuple(linked.pages), connections=CONNECTIONS, strategy="breadth-first", allow_private=True
        )
        asked = Config(Target(pattern="x"), crawling, politeness=POLITE)
        ended = asyncio.run(crawl_in_actors(folder, asked, SHARDS, lambda totals: None, lambda coordinator: None))
        assert ended == "nothing is waiting"
        check(folder, linked, 0)


def test_killed_actors_come_back_and_nothing_is_lost_or_fetched_twice(tmp_path: Path) -> None:
    folder = ShardedFolder(tmp_path)
    with web() as linked, connected(SHARDS):
        killer = Killer(folder, linked, KILLS)
        crawling = Crawling(
            seeds=tuple(linked.pages), connections=CONNECTIONS, strategy="breadth-first", allow_private=True
        )
        asked = Config(Target(pattern="x"), crawling, politeness=POLITE)
        ended = asyncio.run(crawl_in_actors(folder, asked, SHARDS, lambda totals: None, killer.begin))
        assert ended == "nothing is waiting" and killer.done == KILLS
        check(folder, linked, KILLS)


# Nodes that go away, are frozen, or had the head. They are several on this machine, at addresses of their own.


def disks(folder: Path) -> list[Path]:
    """Of each node, that of the head first."""
    return [folder / f"disk{number}" for number in (2, 3, 4)]


@contextmanager
def cluster(folder: Path) -> Iterator[Any]:
    """Three nodes, one more than there are shards, each with room for one. Who is dead is noticed soon."""
    from ray.cluster_utils import Cluster

    checks = {"health_check_period_ms": 1000, "health_check_timeout_ms": 2000, "health_check_failure_threshold": 3}
    soon = {**checks, "gcs_rpc_server_reconnect_timeout_s": 15}
    nodes = Cluster()
    try:
        head, *others = ({"SPOOR_DISK": str(disk)} for disk in disks(folder))
        nodes.add_node(
            node_ip_address="127.0.0.2", num_cpus=1, include_dashboard=False, _system_config=soon, env_vars=head
        )
        for number, disk in enumerate(others, 3):
            nodes.add_node(node_ip_address=f"127.0.0.{number}", num_cpus=1, env_vars=disk)
        yield nodes
    finally:
        nodes.shutdown()


class Command:
    """`spoor crawl` as a process; the same command resumes."""

    def __init__(self, folder: Path, linked: LinkedHosts) -> None:
        self.folder = ShardedFolder(folder / "crawl")
        self._log = folder / "log"
        options = ["--keywords", "x", "--strategy", "breadth-first", "--allow-private", "--host-delay", "0.1"]
        counts = ["--connections", str(CONNECTIONS), "--shards", str(SHARDS), "--out", str(self.folder.path)]
        self._words = [sys.executable, "-m", "spoor", "crawl", "--seed", linked.pages[0], *options, *counts]
        self._linked = linked

    @contextmanager
    def running(self, nodes: Any) -> Iterator[subprocess.Popen[bytes]]:
        """Begun and, if it still runs, killed. Pages come."""
        with self._log.open("ab") as log:
            command = subprocess.Popen([*self._words, "--cluster", nodes.address], stdout=log, stderr=log)
        try:
            self.wait_for_pages()
            yield command
        finally:
            command.kill()
            command.wait()

    def wait_for_pages(self) -> None:
        pages = len(self._linked.links)
        wait_for(lambda: len(self._linked.links) > pages + 40)

    def end(self, command: subprocess.Popen[bytes]) -> None:
        self._linked.most = 0
        assert command.wait(PATIENCE) == 0, self._log.read_text()


def processes_of(node: Any) -> list[int]:
    """The raylet of a node, and all its workers."""
    (raylet,) = [info.process.pid for info in node.all_processes["raylet"]]
    workers = Path(f"/proc/{raylet}/task/{raylet}/children").read_text().split()
    return [raylet, *map(int, workers)]


def lost_shard(folder: ShardedFolder, nodes: Any) -> tuple[int, int, Any]:
    """A shard that is not on the head, its process, and its node."""
    for shard in range(SHARDS):
        for node in nodes.worker_nodes:
            if (process := holder(folder, shard)) in processes_of(node):
                return shard, process, node
    raise AssertionError("all shards are on the head")


@long
def test_the_shard_of_a_node_that_goes_away_comes_back_on_another(tmp_path: Path) -> None:
    with web() as linked, cluster(tmp_path) as nodes:
        crawl = Command(tmp_path, linked)
        with crawl.running(nodes) as command:
            shard, process, node = lost_shard(crawl.folder, nodes)
            nodes.remove_node(node, allow_graceful=False)
            wait_for(lambda: holder(crawl.folder, shard) != process)
            crawl.wait_for_pages()
            crawl.end(command)
        check(crawl.folder, linked, 1)


@contextmanager
def frozen(processes: Sequence[int]) -> Iterator[None]:
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


def actors(nodes: Any, besides: Any) -> set[int]:
    """The processes of shards on all other nodes."""
    there = [pid for node in nodes.list_all_nodes() if node is not besides for pid in processes_of(node)]
    titles = {pid: Path(f"/proc/{pid}/cmdline") for pid in there}
    return {pid for pid, path in titles.items() if path.exists() and "ShardActor" in path.read_text()}


@long
def test_the_lock_of_the_folder_keeps_others_out_while_a_node_is_frozen(tmp_path: Path) -> None:
    with web() as linked, cluster(tmp_path) as nodes:
        crawl = Command(tmp_path, linked)
        with crawl.running(nodes) as command:
            shard, process, node = lost_shard(crawl.folder, nodes)
            known = actors(nodes, besides=node)
            with frozen(processes_of(node)):
                fetched = pages_of(crawl.folder, shard)
                wait_for(lambda: actors(nodes, besides=node) - known)
                time.sleep(10.0)  # It asks for the lock every second.
                assert holder(crawl.folder, shard) == process and pages_of(crawl.folder, shard) == fetched
            wait_for(lambda: holder(crawl.folder, shard) != process)
            crawl.wait_for_pages()
            crawl.end(command)
        check(crawl.folder, linked, 1)


def pages_of(folder: ShardedFolder, shard: int) -> int:
    return sum(number == shard for number, _ in rows(folder, "SELECT url FROM pages"))


@long
def test_the_same_command_resumes_after_the_head_was_lost(tmp_path: Path) -> None:
    with web() as linked:
        crawl = Command(tmp_path, linked)
        with cluster(tmp_path) as nodes, crawl.running(nodes) as command:
            nodes.head_node.kill_all_processes(check_alive=False, allow_graceful=False)
            assert command.wait(PATIENCE) != 0
        with cluster(tmp_path) as nodes, crawl.running(nodes) as command:
            crawl.end(command)
        check(crawl.folder, linked, SHARDS)


# Shards on disks of their nodes, which are copied.


class LocalCommand(Command):
    """Every node has a disk of its own."""

    def __init__(self, folder: Path, linked: LinkedHosts) -> None:
        super().__init__(folder, linked)
        self._words += ["--local", "$SPOOR_DISK", "--copy-minutes", "0.05"]

    def place(self, shard: int) -> CopyPlace:
        return CopyPlace(self.folder.shard(shard))

    def wait_for_copies(self) -> None:
        """Two of the generation at work, of every shard: then letters are deleted, too."""
        for place in map(self.place, range(SHARDS)):
            wait_for(lambda place=place: {copy.generation for copy in newest(place)} == {place.generation()})  # type: ignore[misc]


def newest(place: CopyPlace) -> list[CopyName]:
    return list(place.candidates(place.generation() + 1))[:2]


def holder_on(disk: Path) -> tuple[int, int]:
    """A shard that works on a disk, and its process."""
    (lock,) = disk.glob("*/*/lock")
    return int(lock.parent.name), int(lock.read_text())


@contextmanager
def crawl_on_disks(folder: Path, deaths: int) -> Iterator[tuple[LocalCommand, Any, Path]]:
    """A crawl of which there are copies, its nodes, and a disk that is not of the head and on which a shard works. What
    it has after `deaths` of shards is checked at the end."""
    with web() as linked, cluster(folder) as nodes:
        crawl = LocalCommand(folder, linked)
        with crawl.running(nodes) as command:
            crawl.wait_for_copies()
            yield crawl, nodes, next(disk for disk in disks(folder)[1:] if list(disk.glob("*/*/lock")))
            crawl.end(command)
        check_copied(crawl, linked, deaths)


@long
def test_a_shard_whose_node_is_lost_with_its_disk_goes_on_from_a_copy_on_another(tmp_path: Path) -> None:
    with crawl_on_disks(tmp_path, deaths=2) as (crawl, nodes, disk):
        shard, process = holder_on(disk)
        os.kill(process, signal.SIGKILL)
        wait_for(lambda: crawl.place(shard).generation() == 2)
        assert crawl.place(shard).origin(2) == Origin(1), "what is on the disk is newer than any copy"
        crawl.wait_for_copies()
        _, process = holder_on(disk)
        nodes.remove_node(node_of(process, nodes), allow_graceful=False)
        shutil.rmtree(disk)
        wait_for(lambda: crawl.place(shard).generation() == 3)
        assert crawl.place(shard).origin(3).copy is not None
        crawl.wait_for_copies()


@long
def test_a_process_on_a_frozen_node_is_replaced_and_does_not_go_on(tmp_path: Path) -> None:
    with crawl_on_disks(tmp_path, deaths=1) as (crawl, nodes, disk):
        shard, process = holder_on(disk)
        with frozen(processes_of(node_of(process, nodes))):
            wait_for(lambda: crawl.place(shard).generation() == 2)
            crawl.wait_for_copies()
        (lock,) = disk.glob("*/*/lock")
        wait_for(lambda: not is_crawled_into(CrawlFolder(lock.parent)))
        crawl.wait_for_pages()


def node_of(process: int, nodes: Any) -> Any:
    (node,) = [node for node in nodes.worker_nodes if process in processes_of(node)]
    return node


def check_copied(crawl: LocalCommand, linked: LinkedHosts, deaths: int) -> None:
    """Every page came, and once as far as the folder knows, or was taken for a trap: while one shard is away, the other
    finds little that is new."""
    parked = {url for _, url in rows(crawl.folder, "SELECT url FROM links WHERE state = 2")}
    fetched = Counter(url for _, url in rows(crawl.folder, "SELECT url FROM pages"))
    assert fetched == Counter(dict.fromkeys(set(linked.pages) - parked, 1))
    assert not list(rows(crawl.folder, "SELECT 1 FROM links WHERE state < 4 AND state <> 2"))
    assert set(archived(crawl.folder)) == set(fetched)
    asked = Config(Target(pattern="x"), Crawling(seeds=("http://a.test/",)), politeness=POLITE)
    assert conduct(CrawlFolder(crawl.folder.path), PolitenessRules(host_rules(asked), AGENT)).breaches == ()
    assert max(linked.requests[url] for url in fetched) <= 1 + deaths

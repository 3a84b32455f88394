"""Figures for Prometheus, as its own parser reads them: of a folder, and of a crawl that runs."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from spoor import open_crawl
from spoor.actions import Pause
from spoor.errors import UsageError
from spoor.live.measuring import metrics_of
from spoor.live.session import open_session
from spoor.metrics import CrawlCounts, FolderMetrics, exposition, registry_of, serving
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.steering.submitting import submit
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from tests.kept_crawl import kept_crawl
from tests.test_steering import endless

ROOT = Path(__file__).parents[1]


def samples(text: str) -> dict[str, float]:
    """By name and what distinguishes it: `spoor_requests_total page`."""
    families = text_string_to_metric_families(text)
    found = ((sample.name, sample.labels, sample.value) for family in families for sample in family.samples)
    told_apart = ("outcome", "state", "le")
    return {" ".join([name, *(labels[key] for key in told_apart if key in labels)]): v for name, labels, v in found}


@dataclass(frozen=True)
class KnownCounts:
    """A crawl with these figures."""

    crawl: str
    known: CrawlCounts = field(default_factory=CrawlCounts)

    def counts(self) -> CrawlCounts:
        return self.known


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    return kept_crawl(tmp_path_factory.mktemp("metrics") / "ended", pages=12)


def test_a_folder_that_nobody_crawls_into_has_figures(folder: CrawlFolder) -> None:
    registry, pages = registry_of(FolderMetrics(folder)), list(open_crawl(folder.path).verdicts())
    found = samples(exposition(registry).decode())
    assert found["spoor_requests_total page"] == len(pages) > 9
    assert found["spoor_request_seconds_count"] == found["spoor_request_seconds_bucket +Inf"] == len(pages)
    assert found["spoor_relevant_pages_total"] == sum(page.relevant for page in pages) > 2
    assert found["spoor_running"] == found["spoor_paused"] == 0
    assert found["spoor_links settled"] >= len(pages)
    assert found["process_resident_memory_bytes"] > 1e6
    submit(folder, Pause())
    again = samples(exposition(registry).decode())
    assert again["spoor_paused"] == 1
    assert again["spoor_requests_total page"] == len(pages)


def test_several_crawls_are_told_apart_by_their_names(folder: CrawlFolder) -> None:
    other = KnownCounts("other")
    families = list(text_string_to_metric_families(exposition(registry_of(FolderMetrics(folder), other)).decode()))
    names = [family.name for family in families]
    assert len(names) == len(set(names))
    (running,) = (family for family in families if family.name == "spoor_running")
    assert {sample.labels["crawl"]: sample.value for sample in running.samples} == {"ended": 0.0, "other": 1.0}


def test_a_crawl_whose_name_is_strange_is_escaped() -> None:
    metrics = KnownCounts('a"\n\\{}')
    (family, *_) = text_string_to_metric_families(exposition(registry_of(metrics)).decode())
    assert family.samples[0].labels["crawl"] == 'a"\n\\{}'


def test_a_port_that_is_taken_is_refused_in_one_line() -> None:
    async def twice() -> None:
        registry = registry_of()
        async with serving(registry, 0) as address:
            port = int(address.rpartition(":")[2].partition("/")[0])
            with pytest.raises(UsageError, match=f"cannot serve metrics at port {port}: .*; give --metrics another"):
                async with serving(registry, port):
                    pass

    asyncio.run(twice())


async def watched(path: Path) -> tuple[str, str, int]:
    """What a running crawl serves in the end: figures, health, and the status for another name."""
    async with endless() as site:
        crawling = Crawling((f"http://{site.host(1)}/",), strategy="breadth-first", allow_private=True, max_pages=30)
        asked = Config(Target(pattern="127"), crawling, politeness=Politeness(host_delay=0.0))
        with open_for_crawling(path) as folder:
            async with open_session(folder, asked) as session, aiohttp.ClientSession() as client:
                metrics = metrics_of(session)
                async with serving(registry_of(metrics), 0) as address:
                    async for _ in session.run():
                        pass
                    async with client.get(address) as came, client.get(address.replace("metrics", "healthz")) as well:
                        text, health = await came.text(), await well.text()
                    async with client.get(address, headers={"Host": "evil.test"}) as other:
                        return text, health, other.status


def test_a_running_crawl_serves_its_figures(tmp_path: Path) -> None:
    text, health, other = asyncio.run(asyncio.wait_for(watched(tmp_path / "crawl"), 120))
    found = samples(text)
    assert found["spoor_requests_total page"] == found["spoor_relevant_pages_total"] == 30
    assert found["spoor_requests_total robots.txt"] == 2
    assert found["spoor_requests_in_flight"] == 0 and found["spoor_running"] == 1
    assert found["spoor_frontier_seconds_total"] > 0 and found["spoor_judge_seconds_total"] > 0
    assert found["spoor_links waiting"] > 0
    assert (health, other) == ("ok\n", 403)


def test_the_grafana_dashboard_asks_for_figures_that_exist() -> None:
    everything = CrawlCounts(in_flight=0, hosts_delayed=0, frontier_seconds=0.0, judge_seconds=0.0)
    metrics = KnownCounts("x", everything)
    there = {name.partition(" ")[0] for name in samples(exposition(registry_of(metrics)).decode())}
    content = json.loads((ROOT / "examples" / "grafana-dashboard.json").read_text("utf8"))
    asked = {
        name
        for panel in content["panels"]
        for target in panel["targets"]
        for name in re.findall(r"\b(?:spoor|process)_\w+", target["expr"])
    }
    assert len(asked) > 10
    assert asked - there - {"spoor_links"} == set()

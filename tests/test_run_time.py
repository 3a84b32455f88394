"""How long a crawl ran: its runs, without the time between them, whatever the clock said."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from pathlib import Path

import pytest
from aiohttp import web
from prometheus_client.parser import text_string_to_metric_families

from spoor.api.folders import open_crawl
from spoor.cli.main import main
from spoor.metrics import FolderMetrics, exposition, registry_of
from spoor.report.figures import figures
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.run_time import RunTime, Timeline, runs_of, seconds_of_runs
from tests.html_site import html
from tests.served_dashboard import served_dashboard
from tests.sharded_crawl import small_crawl as sharded_crawl
from tests.thread_server import served_in_thread
from tests.two_runs import NOON, crawled_in_two_runs

MONTH = 30 * 86_400.0


def seconds_in(metrics: bytes) -> float:
    families = text_string_to_metric_families(metrics.decode())
    return next(sample.value for family in families for sample in family.samples if "run_seconds" in sample.name)


@pytest.mark.parametrize("clocks", [(0.0, MONTH), (7200.0, 60.0)])
def test_everything_says_the_time_of_both_runs(tmp_path: Path, clocks: tuple[float, float]) -> None:
    folder = crawled_in_two_runs(tmp_path / "crawl", clocks)
    with contextlib.closing(sqlite3.connect(folder.database)) as db:
        first, second = runs_of(db)
    ran = first.seconds + second.seconds
    assert 4.0 < ran < 7.0
    assert figures(folder).totals.seconds == open_crawl(folder.path).seconds == ran
    assert seconds_in(exposition(registry_of(FolderMetrics(folder)))) == ran
    with served_dashboard(folder) as served:
        overview = served.read("crawls/1")
    assert overview["seconds"] == ran
    assert overview["per_second"] == overview["visits"] / ran


@pytest.mark.parametrize("clocks", [(0.0, MONTH), (7200.0, 60.0)])
def test_a_crawl_is_over_when_its_last_run_is(tmp_path: Path, clocks: tuple[float, float]) -> None:
    found = figures(crawled_in_two_runs(tmp_path / "crawl", clocks))
    assert [stop.because for stop in found.stops] == ["the budget of 4 visits is spent", "nothing is waiting"]
    assert not found.going_on


def test_a_run_that_is_killed_ends_at_its_last_commit() -> None:
    now = 100.0
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        run = RunTime.create(db, lambda: now)
        run.write(db)
        assert runs_of(db) == [], "it has not begun"
        run.begin(after=7)
        now = 105.0
        run.write(db)
        now = 190.0
        assert (run.seconds, seconds_of_runs(db)) == (90.0, 5.0)
        resumed = RunTime.create(db, lambda: now)
        assert (resumed.seconds, resumed.total) == (0.0, 5.0)
        resumed.begin(after=9)
        now = 191.0
        resumed.end()
        now = 200.0
        resumed.write(db)
        assert resumed.total == seconds_of_runs(db) == 6.0


def test_the_second_at_which_something_happened_is_counted_from_the_start_of_its_run(tmp_path: Path) -> None:
    folder = crawled_in_two_runs(tmp_path / "crawl", (7200.0, 60.0))
    with contextlib.closing(sqlite3.connect(folder.database)) as db:
        first, second = runs_of(db)
        times = Timeline([first, second])
        assert times.ran(first.after + 1, NOON + 7201.0) == 1.0
        assert times.ran(second.after, NOON + 7200.0 + 500.0) == first.seconds
        assert times.ran(second.after + 1, NOON + 61.0) == first.seconds + 1.0


async def three_pages(request: web.BaseRequest) -> web.Response:
    return html("<a href=/a>a</a> <a href=/b>b</a>" if request.path == "/" else "the end")


def test_the_last_line_and_the_report_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a crawl that was resumed, the last line says the time of all runs."""
    out, said = tmp_path / "crawl", list[float]()
    with served_in_thread(three_pages) as site:
        for visits in ("2", "3"):
            words = ["--seed", site, "--script", "thai", "--host-delay", "0", "--allow-private", "--max-pages", visits]
            assert main(["crawl", "--out", str(out), *words, "--json"]) == 0
            said.append(json.loads(capsys.readouterr().out)["seconds"])
    assert main(["report", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["seconds"] == said[1] > said[0]


def test_a_crawl_of_two_shards_took_as_long_as_the_crawl_and_not_as_its_shards(tmp_path: Path) -> None:
    heard = list[float]()
    asyncio.run(sharded_crawl(tmp_path / "crawl", tell=lambda totals: heard.append(totals.seconds)))
    assert heard == sorted(heard)
    assert figures(CrawlFolder(tmp_path / "crawl")).totals.seconds == heard[-1] > 0.0
    asyncio.run(sharded_crawl(tmp_path / "crawl", tell=lambda totals: heard.append(totals.seconds)))
    assert figures(CrawlFolder(tmp_path / "crawl")).totals.seconds == heard[-1] > heard[0]

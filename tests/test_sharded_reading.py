"""A crawl of several shards is read as one: report, why, export, check, a web of it, a warm start."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import spoor
from spoor.cli.main import main
from spoor.errors import BadInput
from spoor.report.figures import figures
from spoor.store.crawl_folder import CrawlFolder, open_for_reading
from spoor.store.crawl_parts import lessons_in_order, open_parts
from spoor.store.sharded_folder import ShardedFolder
from tests.sharded_crawl import PAGES, small_crawl

COPIES = {"http://one.test/copy", "http://six.test/copy"}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shards") / "small"
    assert asyncio.run(small_crawl(folder)) == "nothing is waiting"
    return folder


def test_the_report_of_a_sharded_crawl_counts_all_shards(crawl: Path) -> None:
    found = figures(open_for_reading(crawl))
    totals = found.totals
    assert (found.name, totals.pages, totals.hosts, totals.hosts_with_pages) == ("small", 7, 4, 4)
    assert found.links["settled"] == 7
    assert found.curve[-1][:2] == (7, totals.relevant)
    assert [visits for visits, _, _ in found.curve] == sorted({visits for visits, _, _ in found.curve})
    assert [stop.because for stop in found.stops] == ["nothing is waiting"]
    assert not found.going_on
    assert sum(kind.pages for kind in found.hosts) == 7


def test_copies_on_different_shards_are_duplicates_in_report_and_pages(crawl: Path) -> None:
    found = figures(open_for_reading(crawl))
    pages = {page.url: page for page in spoor.open_crawl(crawl).pages()}
    assert found.totals.duplicates == 1
    assert pages.keys() == PAGES.keys()
    (first, later) = sorted(COPIES, key=lambda url: pages[url].fetched_at)
    assert (pages[first].duplicate_of, pages[later].duplicate_of) == ("", first)
    assert {find.url for find in found.finds} & COPIES == {first}
    assert all("กรุงเทพ" in pages[url].text for url in COPIES)


def test_pages_that_scripts_made_of_one_payload_are_no_duplicates(crawl: Path, tmp_path: Path) -> None:
    shutil.copytree(crawl, tmp_path / "scripted")
    for shard in open_for_reading(tmp_path / "scripted").parts:
        with closing(sqlite3.connect(shard.database)) as db:
            columns = "INSERT INTO renders (url, host, number, fetched, seconds, how, rendered, gained) "
            db.execute(
                columns + "SELECT url, host, number, 0.0, 1.0, 'settled', 1, 1 FROM pages WHERE url LIKE '%/copy'"
            )
            db.commit()
    assert figures(open_for_reading(tmp_path / "scripted")).totals.duplicates == 0
    assert all(page.duplicate_of == "" for page in spoor.open_crawl(tmp_path / "scripted").pages(texts=False))


def test_pages_links_and_hosts_are_those_of_all_shards(crawl: Path) -> None:
    opened = spoor.open_crawl(crawl)
    came = [page.fetched_at for page in opened.pages(texts=False)]
    assert came == sorted(came)
    assert sorted(link.url for link in opened.links()) == sorted(PAGES)
    assert {host.name: host.pages for host in opened.hosts()} == {
        "one.test": 3,
        "two.test": 2,
        "six.test": 1,
        "four.test": 1,
    }


def test_why_asks_the_shard_of_the_host_and_names_the_one_that_handed_the_link_over(crawl: Path) -> None:
    known = dict(spoor.open_crawl(crawl).why("http://six.test/copy").lines)
    assert known["state"] == "visited"
    assert known["shard"] == "000"
    assert known["found on"] == "http://two.test/"
    handed = dict(spoor.open_crawl(crawl).why("http://one.test/last").lines)
    assert handed["shard"] == "001"
    assert handed["found on"] == "http://two.test/more, sent by shard 000"
    assert handed["via"] in ("http://two.test/", "http://one.test/ (a seed)")
    assert "in all, when its turn came" in handed["log odds"]


def test_commands_take_the_folder_of_a_sharded_crawl(
    crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "texts.jsonl"
    assert main(["--quiet", "report", str(crawl)]) == 0
    assert (crawl / "report.html").exists()
    assert main(["--quiet", "report", str(crawl), "--politeness"]) == 0
    assert main(["--quiet", "export", str(crawl), "--format", "jsonl", "--out", str(out)]) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["url"] for row in rows} >= COPIES
    assert sum(bool(row["duplicate_of"]) for row in rows if row["url"] in COPIES) == 1
    assert main(["--quiet", "web", "build", str(crawl), "--out", str(tmp_path / "web"), "--workers", "1"]) == 0
    assert main(["check", str(crawl)]) == 0
    assert "all is well" in capsys.readouterr().out


def test_a_crawl_learns_from_all_shards_of_an_earlier_one(crawl: Path) -> None:
    with open_parts(CrawlFolder(crawl)) as parts:
        lessons = list(lessons_in_order([part.db for part in parts]))
    assert sorted(lesson.visit.url for lesson in lessons) == sorted(PAGES)
    assert [lesson.visit.at for lesson in lessons] == sorted(lesson.visit.at for lesson in lessons)


def test_a_sharded_crawl_that_has_not_begun_says_so(tmp_path: Path) -> None:
    ShardedFolder(tmp_path).table(2)
    with pytest.raises(BadInput, match="none of which has started yet"):
        open_for_reading(tmp_path)

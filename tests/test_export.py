"""`spoor export`: the texts of a crawl, in three formats, read back from the archive."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import sys
import unicodedata
from contextlib import closing
from dataclasses import asdict
from datetime import date
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from spoor.cli import folders as command
from spoor.cli.main import parser
from spoor.errors import BadInput, MissingExtra, UsageError
from spoor.events import Visited
from spoor.records import Response, Verdict, Visit
from spoor.report.export import Document, Selection, export, main_text, write_jsonl, write_text
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling, open_for_reading
from spoor.store.duplicates import Duplicates
from spoor.store.journal import Journal, PageFacts
from spoor.store.warc import WarcWriter
from spoor.store.warc_records import digest_of
from tests.kept_responses import HTML_HEAD, NOON, response

STORY = "Морьтой хүмүүс өргөн тал нутгаар олон хоног явсны эцэст голын эрэгт хүрч ирэв. " * 4


def page(story: str) -> str:
    menu = "".join(f'<li><a href="/{n}">Цэс {n}</a></li>' for n in range(9))
    body = f"<nav><ul>{menu}</ul></nav><article><h1>Гарчиг</h1><p>{story}</p></article>"
    return f"<html><head><title>т</title></head><body>{body}"


class Writer:
    """Writes a crawl as the live driver does: archive first, then the journal."""

    def __init__(self, folder: CrawlFolder) -> None:
        self.db = sqlite3.connect(folder.database, isolation_level=None)
        self.journal, self.seen = Journal(), Duplicates(self.db)
        self.journal.create(self.db)
        self.seen.create(self.db)

    def keep(self, warc: WarcWriter, response: Response, relevant: bool = True) -> None:
        digest = digest_of(response.payload)
        earlier = self.seen.same(digest)
        kept = warc.keep(response, digest, earlier)
        self.seen.remember(kept)
        same = earlier.url if earlier else ""
        facts = PageFacts("Гарчиг", "mn", kept.digest, None, same, kept.file, kept.offset)
        self.journal.tell(response.url, facts)
        self.note(response.url, relevant)

    def note(self, url: str, relevant: bool = True) -> None:
        visit = Visit(url, "a.test", 0, NOON)
        self.journal.note([Visited(visit, NOON + 1, 200, 10, Verdict(0.75, relevant, "Mongolian"), 0, 0, (), 1)])
        self.journal.write(self.db)
        self.seen.write(self.db)


@pytest.fixture
def crawl(tmp_path: Path) -> CrawlFolder:
    """Plain, compressed, seen before, in an old charset, not relevant, plain text, and one that was not kept."""
    packed = gzip.compress(page("Хоёр. " + STORY).encode())
    old = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=windows-1251\r\n\r\n"
    text = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
    with open_for_crawling(tmp_path / "crawl") as folder, WarcWriter(folder.warcs, {}) as warc:
        writer = Writer(folder)
        writer.keep(warc, response("http://a.test/plain", page(STORY).encode()))
        writer.keep(warc, response("http://a.test/gzip", packed, HTML_HEAD + b"Content-Encoding: gzip\r\n\r\n"))
        writer.keep(warc, response("http://a.test/again", page(STORY).encode()))
        writer.keep(warc, response("http://a.test/old", page("Гурав. ").encode("cp1251"), old))
        writer.keep(warc, response("http://a.test/irrelevant", page("Дөрөв. " + STORY).encode()), relevant=False)
        writer.keep(warc, response("http://a.test/text", "Тав.\fБэлэн".encode(), text))
        writer.note("http://a.test/lost")
        writer.db.close()
    return open_for_reading(tmp_path / "crawl")


def names(urls: list[str]) -> str:
    return " ".join(url.removeprefix("http://a.test/") for url in urls)


@pytest.mark.parametrize("workers", [1, 2])
def test_jsonl_holds_a_page_a_line(crawl: CrawlFolder, tmp_path: Path, workers: int) -> None:
    out = tmp_path / "deep" / "pages.jsonl"
    done: list[int] = []
    report = export(crawl, Selection("jsonl", workers=workers), out, done.append)
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert names([one["url"] for one in found]) == "plain gzip again old text"
    assert dict(report) == {
        "exported": 5,
        "duplicates": 1,
        "without main text": 0,
        "not in the archive": 1,
        "need scripts": 0,
    }
    assert sum(done) == 6
    first = found[0]
    assert STORY.strip() in first.pop("text")
    assert first == {
        "url": "http://a.test/plain",
        "title": "Гарчиг",
        "language": "mn",
        "relevance": 0.75,
        "relevant": True,
        "because": "Mongolian",
        "published": "",
        "time": "2026-11-15T12:00:01Z",
        "duplicate_of": "",
        "version": 0,
        "confirmed_by": "",
        "judge_relevance": 0.75,
        "judge_relevant": True,
    }
    assert "Хоёр." in found[1]["text"] and "Цэс" not in found[1]["text"]
    assert STORY.strip() in found[2]["text"] and found[2]["duplicate_of"] == "http://a.test/plain"
    assert "Гурав." in found[3]["text"]
    assert not list(out.parent.glob(".*"))


def test_a_page_is_exported_with_the_day_on_which_it_says_it_was_published() -> None:
    message = HTML_HEAD + b"\r\n" + page(STORY).encode()
    assert main_text("http://a.test/2026/11/14/riders", message, date(2026, 11, 15)).published == "2026-11-14"


def test_every_page_when_asked(crawl: CrawlFolder, tmp_path: Path) -> None:
    assert export(crawl, Selection("jsonl", every=True), tmp_path / "all")["exported"] == 6
    assert '"relevant": false' in (tmp_path / "all").read_text()


def test_parquet_holds_the_same(crawl: CrawlFolder, tmp_path: Path) -> None:
    export(crawl, Selection("jsonl"), tmp_path / "pages.jsonl")
    export(crawl, Selection("parquet"), tmp_path / "pages.parquet")
    lines = (tmp_path / "pages.jsonl").read_text().splitlines()
    assert pq.read_table(tmp_path / "pages.parquet").to_pylist() == [json.loads(line) for line in lines]


def test_text_ends_every_page_with_a_form_feed(crawl: CrawlFolder, tmp_path: Path) -> None:
    export(crawl, Selection("text"), tmp_path / "corpus.txt")
    *found, end = (tmp_path / "corpus.txt").read_text().split("\f\n")
    assert end == "" and names([one.splitlines()[0] for one in found]) == "plain gzip again old text"
    assert found[-1] == "http://a.test/text\nГарчиг\n\nТав. Бэлэн\n"


HOSTILE = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]))


def test_no_text_can_command_a_terminal() -> None:
    """Whichever control characters a page holds, where the text of a page begins and ends stays clear."""
    document = Document(f"http://a.test/{HOSTILE}", f"T{HOSTILE}t", f"a{HOSTILE}b\tc\nd", "", 1.0, True, "", "", "", "")
    file = io.BytesIO()
    write_text([document, document], file)
    written = file.getvalue().decode()
    one, other, end = written.split("\f\n")
    assert one == other and end == "" and written.count("\f") == 2
    url, title, blank, *text = one.split("\n")
    assert url.startswith("http://a.test/") and title == "T t" and blank == ""
    assert "b\tc" in text and "d" in text
    assert not {character for character in one if unicodedata.category(character) == "Cc"} - {"\n", "\t"}


def test_json_keeps_control_characters_but_writes_none() -> None:
    document = Document("http://a.test/", HOSTILE, HOSTILE, "", 1.0, True, "", "", "", "")
    file = io.BytesIO()
    write_jsonl([document], file)
    written = file.getvalue().decode()
    assert json.loads(written) == asdict(document)
    assert not {character for character in written if unicodedata.category(character) in ("Cc", "Zl", "Zp")} - {"\n"}


def test_a_lost_archive_is_told(crawl: CrawlFolder, tmp_path: Path) -> None:
    for file in crawl.warcs.iterdir():
        file.unlink()
    assert export(crawl, Selection("jsonl"), tmp_path / "none")["not in the archive"] == 6


def test_refusals_leave_no_file(crawl: CrawlFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="there is no format 'xml'; there are jsonl, parquet, text"):
        export(crawl, Selection("xml"), tmp_path / "out")
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match=r"cannot write .*file/out"):
        export(crawl, Selection("jsonl"), tmp_path / "file" / "out")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'spoor\[parquet\]'"):
        export(crawl, Selection("parquet"), tmp_path / "out")
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    with pytest.raises(MissingExtra, match=r"pip install 'spoor\[text\]'"):
        export(crawl, Selection("jsonl"), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl", "file"]


def run(*words: object) -> int:
    return command.run_export(parser().parse_args(["export", *map(str, words)]))


def test_the_command_says_what_it_wrote(crawl: CrawlFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(crawl.path, "--format", "text", "--out", tmp_path / "c.txt", "--workers", 1) == 0
    assert capsys.readouterr().out.endswith("c.txt: 5 pages, 1 duplicate, 1 not in the archive\n")


def test_the_command_refuses_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not a crawl folder"):
        run(tmp_path, "--format", "text", "--out", tmp_path / "c.txt")
    with pytest.raises(UsageError, match="--format"):
        run(tmp_path, "--format", "xml", "--out", tmp_path / "c.txt")


def test_a_page_that_asks_not_to_be_indexed_is_exported_only_with_all(crawl: CrawlFolder, tmp_path: Path) -> None:
    with closing(sqlite3.connect(crawl.database)) as db:
        db.execute("UPDATE pages SET noindex = 1 WHERE url = 'http://a.test/gzip'")
        db.commit()
    report = export(crawl, Selection("jsonl"), tmp_path / "some.jsonl", lambda pages: None)
    assert report["exported"] == 4 and report["noindex"] == 1
    assert export(crawl, Selection("jsonl", every=True), tmp_path / "all.jsonl", lambda pages: None)["exported"] == 6


def test_json_counts_what_was_written(crawl: CrawlFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(crawl.path, "--format", "text", "--out", tmp_path / "c.txt", "--workers", 1, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["exported"], told["not_in_the_archive"], told["without_main_text"]) == (5, 1, 0)

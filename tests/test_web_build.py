"""Building webs: from WARC files and from crawl logs, whole or broken."""

from __future__ import annotations

import gzip
import json
import lzma
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import pytest

from spoor.cli.main import main
from spoor.errors import BadInput
from spoor.lab.build.builder import BuildOptions, build_web
from spoor.lab.build.gather import BuildReport
from spoor.lab.build.log_source import read_logs
from spoor.lab.build.warc_source import read_warcs, warc_files
from spoor.lab.web import FORMAT, Web
from spoor.lab.worlds import RecordedWorld
from spoor.records import Page, Visit
from tests.shared_data import SHARED, needs_shared
from tests.warcs import page, record, response

A, B, C = "http://a.test/", "http://a.test/b", "http://c.test/"


def build(folder: Path, *records: bytes, truth: str | None = None, exact: bool = False) -> Web:
    """A web from these records, in the folder `web`."""
    warc = folder / "crawl.warc"
    warc.write_bytes(b"".join(records))
    if truth is not None:
        (folder / "truth.tsv").write_text(truth)
    making = BuildOptions("tiny", "here", folder / "truth.tsv" if truth is not None else None, exact)
    report = BuildReport()
    return build_web(folder / "web", read_warcs([warc], report, workers=1), making, report)


def links(web: Web, url: str) -> list[str]:
    number = web.urls.find(url)
    assert number is not None
    return [web.urls[target] for target in web.targets(number)]


def report(web: Web) -> dict[str, int]:
    return {what: count for what, count in web.about["report"].items() if count}


def logged(folder: Path, **tables: str) -> Web:
    """A web from these CSV tables, in the folder `web`."""
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text)
    counts = BuildReport()
    files = [folder / f"{name}.csv" for name in tables]
    return build_web(folder / "web", read_logs(files, counts), BuildOptions("tiny", "here"), counts)


# What a web holds


def test_pages_come_first_in_the_order_of_recording_then_urls_that_are_only_linked_to(tmp_path: Path) -> None:
    web = build(tmp_path, page(A, "/x", "/b"), page(B, A, C))
    assert [web.urls[number] for number in range(len(web.urls))] == [A, B, "http://a.test/x", C]
    assert (web.pages, web.about["unrecorded"], web.about["links"], web.about["hosts"]) == (2, 2, 4, 1)


def test_links_keep_the_order_of_the_page(tmp_path: Path) -> None:
    web = build(tmp_path, page(A, "/x", "/b", "/y"), page(B))
    assert links(web, A) == ["http://a.test/x", B, "http://a.test/y"]


def test_attributes_are_those_of_the_response(tmp_path: Path) -> None:
    body = "<meta charset=koi8-r><p>жук".encode("koi8-r")
    web = build(tmp_path, response(A, body, content_type="text/html; charset=cp1251"))
    stored = web.page(0)
    assert (stored.status, stored.content_type, stored.size) == (200, "text/html", len(body))
    assert (stored.header_charset, stored.meta_charset) == ("windows-1251", "koi8-r")


def test_texts_and_contexts_are_kept(tmp_path: Path) -> None:
    web = build(tmp_path, response(A, "<title>T</title><h1>H</h1>left <a href=/b rel=nofollow>anchor</a> right"))
    assert web.texts[0] == ["T", "H\nleft anchor right", {"title": "T", "h1": "H"}, "H\nleft anchor right", ""]
    assert web.contexts[0] == [["anchor", "H left", "right", "H", True, "", "nofollow", "html/body"]]


def test_claims_of_languages_are_kept(tmp_path: Path) -> None:
    web = build(
        tmp_path, response(A, "<html lang=de-AT><a href=/b hreflang=ja>b</a><a href=/c>c</a>"), page(B), page(C)
    )
    world = RecordedWorld(web, np.zeros(web.pages, np.bool_), with_content=True, open_ended=True)
    home, _ = world.fetch(Visit(A, "a.test", 0, 0.0))
    assert isinstance(home, Page)
    assert (home.language, [link.hreflang for link in home.links]) == ("de-AT", ["ja", ""])
    assert [web.page(number).language for number in range(web.pages)] == ["de-AT", "", ""]


def test_a_web_of_an_older_format_is_refused_with_the_remedy(tmp_path: Path) -> None:
    build(tmp_path, page(A))
    about = tmp_path / "web" / "web.json"
    about.write_text(about.read_text("utf8").replace(f'"format": {FORMAT}', '"format": 1'), "utf8")
    with pytest.raises(BadInput, match=f"has web format 1, this spoor reads {FORMAT}; build it again"):
        Web.open(about.parent)


def test_hosts_are_numbered_as_they_appear(tmp_path: Path) -> None:
    web = build(tmp_path, page(C), page(A), page(B), page("http://c.test:81/"))
    assert web.array("page_host").tolist() == [0, 1, 1, 2]


def test_a_redirect_is_a_page_that_leads_elsewhere(tmp_path: Path) -> None:
    web = build(
        tmp_path, response(A, "<a href=/x>x</a>", 301, location="/b"), page(B), response(C, "", 302, location="/away")
    )
    assert web.redirects is not None
    assert [web.urls[to] if to >= 0 else None for to in web.redirects.tolist()] == [B, None, "http://c.test/away"]
    assert (links(web, A), web.page(0).status) == ([], 301)
    assert report(web) == {"redirects": 2}


def test_a_redirect_to_nowhere_is_an_error(tmp_path: Path) -> None:
    web = build(
        tmp_path, response(A, "", 301, location="mailto:x@y.z"), response(B, "", 301), response(C, "", 301, location=C)
    )
    assert web.redirects is None
    assert report(web) == {"errors": 3}


def test_errors_and_other_media_are_kept_without_links(tmp_path: Path) -> None:
    gone, text = response(A, "<a href=/x>x</a>", 404), response(B, "<a href=/x>x</a>", content_type="text/plain")
    web = build(tmp_path, gone, text)
    assert (web.about["links"], web.page(0).status, web.page(1).content_type) == (0, 404, "text/plain")
    assert report(web) == {"errors": 1, "non-HTML": 1}


# The same URL twice


def test_the_first_record_of_a_url_counts(tmp_path: Path) -> None:
    web = build(tmp_path, page(A, "/first"), page("HTTP://A.test:80/#x", "/second"))
    assert links(web, A) == ["http://a.test/first"]
    assert report(web) == {"duplicates": 1}


def test_a_good_record_replaces_a_bad_one_and_takes_its_place(tmp_path: Path) -> None:
    web = build(tmp_path, response(A, "", 503), page(B), page(A, "/x"))
    assert (web.urls[0], web.page(0).status, links(web, A)) == (A, 200, ["http://a.test/x"])
    assert web.texts[0] is not None and report(web) == {"duplicates": 1}


def test_a_good_record_is_not_replaced_by_a_bad_one(tmp_path: Path) -> None:
    assert build(tmp_path, page(A, "/x"), response(A, "", 301, location="/y")).redirects is None


def test_what_only_a_replaced_record_linked_to_is_forgotten(tmp_path: Path) -> None:
    web = build(tmp_path, response(A, "", 301, location="/y"), page(A, "/x"))
    assert web.urls.find("http://a.test/y") is None


def test_a_revisit_is_a_duplicate(tmp_path: Path) -> None:
    web = build(tmp_path, page(A), record("revisit", A, b"HTTP/1.1 200 OK\r\n\r\n"))
    assert (web.pages, report(web)) == (1, {"duplicates": 1})


# Near misses


@pytest.mark.parametrize(
    ("linked", "recorded", "kind"),
    [
        ("http://a.test/x", "http://a.test/x/", "ending"),
        ("http://a.test/x/", "http://a.test/x/index.html", "ending"),
        ("http://a.test/x/home.html", "http://a.test/x/", "ending"),
        ("https://a.test/x", "http://a.test/x", "scheme"),
        ("http://www.a.test/x", "http://a.test/x", "www"),
        ("https://a.test/x", "http://www.a.test/x/", "ending and scheme and www"),
    ],
)
def test_a_link_finds_a_page_by_a_near_miss(tmp_path: Path, linked: str, recorded: str, kind: str) -> None:
    web = build(tmp_path, page(C, linked), page(recorded))
    assert links(web, C) == [recorded]
    assert report(web) == {f"near-miss links: other {kind}": 1}


def test_the_very_url_is_preferred_to_a_near_miss(tmp_path: Path) -> None:
    assert links(build(tmp_path, page("http://a.test/b/"), page(B), page(C, B)), C) == [B]


def test_an_exact_web_knows_no_near_misses(tmp_path: Path) -> None:
    assert links(build(tmp_path, page(C, "http://a.test/b/"), page(B), exact=True), C) == ["http://a.test/b/"]


def test_links_that_turn_out_the_same_are_one_with_the_context_of_the_first(tmp_path: Path) -> None:
    web = build(tmp_path, page(C, "/1", B + "/", "/2", B, "https://c.test/", "/3"), page(B))
    assert links(web, C) == ["http://c.test/1", B, "http://c.test/2", "http://c.test/3"]
    assert [context[0] for context in web.contexts[0]] == ["/1", B + "/", "/2", "/3"]


def test_a_redirect_finds_its_target_by_a_near_miss_but_never_itself(tmp_path: Path) -> None:
    web = build(
        tmp_path, response(A, "", 301, location="/b/"), page(B), response(C, "", 301, location="https://c.test/")
    )
    assert web.redirects is not None and web.redirects.tolist() == [1, -1, -1]


# Labels


def test_labels_come_from_a_truth_file(tmp_path: Path) -> None:
    truth = f"url\tlabels\nHTTP://A.test\tlang=ja kind=hub\n{B}\tlang=ja\nhttp://nowhere.test/\tlang=ja\n{C}\t\n"
    web = build(tmp_path, page(A), page(B), page(C), truth=truth)
    assert web.labels == ["kind=hub", "lang=ja"]
    assert (web.labelled("lang=ja").tolist(), web.labelled("kind=hub").tolist()) == (
        [True, True, False],
        [True, False, False],
    )
    assert report(web) == {"labelled URLs not in the web": 1}


@pytest.mark.parametrize("truth", ["", "url\n", "URL\tLABEL\n", "url,labels\n"])
def test_a_truth_file_without_its_columns_is_refused(tmp_path: Path, truth: str) -> None:
    with pytest.raises(BadInput, match="no column"):
        build(tmp_path, page(A), truth=truth)
    assert not (tmp_path / "web").exists()


# Reading WARC files


@pytest.mark.parametrize(
    ("name", "pack"), [("w.warc", bytes), ("w.warc.gz", gzip.compress), ("w.warc.xz", lzma.compress)]
)
def test_a_warc_may_be_plain_or_compressed(tmp_path: Path, name: str, pack: type[bytes]) -> None:
    (tmp_path / name).write_bytes(pack(page(A, B)) + pack(page(B)))
    assert [packed.page.url for packed in read_warcs([tmp_path / name], BuildReport(), workers=1)] == [A, B]


def test_a_crawl_folder_is_read_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "warc").mkdir()
    (tmp_path / "warc" / "2.warc").write_bytes(page(B))
    (tmp_path / "warc" / "1.warc.gz").write_bytes(gzip.compress(page(A)))
    assert [packed.page.url for packed in read_warcs(warc_files(tmp_path), BuildReport(), 1)] == [A, B]


def chunked(body: bytes) -> bytes:
    return b"%x;ext\r\n%s\r\n0\r\n\r\n" % (len(body), body)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (gzip.compress(b"<p>text", mtime=0), {"content_encoding": "gzip"}),
        (zlib.compress(b"<p>text"), {"content_encoding": "deflate"}),
        (zlib.compress(b"<p>text")[2:-4], {"content_encoding": "deflate"}),
        (chunked(b"<p>text"), {"transfer_encoding": "chunked"}),
        (chunked(gzip.compress(b"<p>text", mtime=0)), {"transfer_encoding": "chunked", "content_encoding": "gzip"}),
        (b"\x0b\x03\x80<p>text\x03", {"content_encoding": "br"}),
        (b"<p>text", {"content_encoding": "gzip", "transfer_encoding": "chunked"}),
        (gzip.compress(b"<p>text" + b" " * 999, mtime=0)[:-9], {"content_encoding": "gzip"}),
    ],
)
def test_transfer_and_content_encodings_are_undone_where_they_are_true(
    tmp_path: Path, body: bytes, headers: dict[str, str]
) -> None:
    web = build(tmp_path, response(A, body, 200, **headers))
    assert web.texts[0][1] == "text"


def test_the_web_is_the_same_for_any_number_of_workers(tmp_path: Path) -> None:
    records = [page(f"http://h{i % 7}.test/{i}", *(f"/{(i * k) % 500}" for k in range(1, 9))) for i in range(500)]
    (tmp_path / "w.warc").write_bytes(b"".join(records))
    for workers in (1, 3):
        counts = BuildReport()
        build_web(
            tmp_path / str(workers), read_warcs([tmp_path / "w.warc"], counts, workers), BuildOptions("w", ""), counts
        )
    for file in (tmp_path / "1").iterdir():
        assert file.read_bytes() == (tmp_path / "3" / file.name).read_bytes(), file.name


# Broken WARC files


def test_what_can_be_read_before_the_damage_is_kept(tmp_path: Path) -> None:
    web = build(tmp_path, page(A), page(B), b"garbage\r\n" * 9, page(C))
    assert (web.pages, report(web)) == (2, {"broken": 1})


def test_a_record_that_ends_early_is_kept_and_counted(tmp_path: Path) -> None:
    cut = page(B, "/x", "/y")[:-40]
    assert report(build(tmp_path, page(A), cut))["truncated"] == 1


@pytest.mark.parametrize(
    "cut",
    [
        record("response", A, b"HTTP/1.1 200 OK\r\n\r\nx", extra="WARC-Truncated: length\r\n"),
        response(A, "short", content_length="999"),
    ],
)
def test_a_response_that_says_it_is_longer_is_counted_as_truncated(tmp_path: Path, cut: bytes) -> None:
    assert report(build(tmp_path, page(B), cut))["truncated"] == 1


def test_a_whole_response_is_preferred_to_a_truncated_one(tmp_path: Path) -> None:
    web = build(tmp_path, response(A, "<p>cut", content_length="999"), response(A, "<p>whole"))
    assert web.texts[0][1] == "whole"


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_compressed_file_that_ends_early_is_read_as_far_as_it_goes(tmp_path: Path, pack: type[bytes]) -> None:
    noise = "".join(chr(0x4E00 + (i * i * 31 + i) % 20000) for i in range(20000))
    packed = pack(page(A, B) + response(B, f"<p>{noise}"))
    counts = BuildReport()
    (tmp_path / "w").write_bytes(packed[: len(packed) * 2 // 3])
    assert [packed.page.url for packed in read_warcs([tmp_path / "w"], counts, 1)] == [A, B]
    assert (counts["broken"], counts["truncated"]) == (1, 1)


def test_records_that_are_no_http_response_or_have_no_url_are_counted(tmp_path: Path) -> None:
    odd = (record("response", "dns:a.test", b"1.2.3.4"), response("what", "x"), record("response", A, b""))
    web = build(tmp_path, page(A), *odd)
    assert report(web) == {"not HTTP": 2, "bad URLs": 1}


@pytest.mark.parametrize("content", [b"", b"hello\n" * 100, b"\x1f\x8b\x08junk", b"\xfd7zXZ\x00junk", b"PK\x03\x04zip"])
def test_what_is_not_a_warc_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(BadInput, match="is not a WARC file"):
        build(tmp_path, content)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl.warc"]


def test_a_warc_without_any_response_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no HTTP response"):
        build(tmp_path, record("warcinfo", "", b"software: x"), record("request", A, b"GET / HTTP/1.1\r\n\r\n"))


# Crawl logs

LOG = f"""url,status,content_type,charset,language,label,bytes,seconds
{A},200,text/html,x-sjis,JA,good hub,12,0.5
{B},,,,,,,
"""
LINKS = f"source,target,anchor\n{A},{C},see C\n{B},{A},\n{A},{B},\n{A},{C},again\n{A},{A},me\n"


def test_a_log_and_its_links_are_a_web(tmp_path: Path) -> None:
    web = logged(tmp_path, log=LOG, links=LINKS)
    assert (web.pages, links(web, A), links(web, B)) == (2, [C, B], [A])
    assert (web.labels, web.page(0).meta_charset, web.page(0).size) == (["good", "hub", "lang=ja"], "shift_jis", 12)
    assert (web.page(1).status, web.page(1).content_type) == (200, "text/html")


def test_the_tables_may_come_in_any_order(tmp_path: Path) -> None:
    assert links(logged(tmp_path, links=LINKS, log=LOG), A) == [C, B]


def test_anchors_of_a_log_are_contexts(tmp_path: Path) -> None:
    web = logged(tmp_path, log=LOG, links=LINKS)
    assert (web.contexts[0], web.texts[0]) == ([["see C", "", "", "", False], ["", "", "", "", False]], None)


def test_a_log_without_anchors_has_no_content(tmp_path: Path) -> None:
    assert not logged(tmp_path, log=f"url\n{A}\n", links=f"source,target\n{A},{B}\n").has_content


def test_urls_are_log_enough(tmp_path: Path) -> None:
    assert logged(tmp_path, log=f"url\n{A}\n{B}\n").pages == 2


def test_the_link_of_a_logged_redirect_is_where_it_leads(tmp_path: Path) -> None:
    web = logged(tmp_path, log=f"url,status\n{A},302\n{B},404\n", links=f"source,target\n{A},{B}\n{B},{C}\n")
    assert web.redirects is not None and web.redirects.tolist() == [1, -1]
    assert web.about["links"] == 0


def test_unknown_seconds_are_the_mean_of_the_known(tmp_path: Path) -> None:
    web = logged(tmp_path, log=f"url,seconds\n{A},1\n{B},3\n{C},\n")
    assert web.seconds is not None and web.seconds.tolist() == [1, 3, 2]


@pytest.mark.parametrize(
    "row", ["nonsense,200,1,1", f"{C},OK,1,1", f"{C},200,many,1", f"{C},200,1,soon", f"{C},99999,1,1", f"{C},,,-1"]
)
def test_a_row_that_makes_no_sense_is_counted(tmp_path: Path, row: str) -> None:
    web = logged(tmp_path, log=f"url,status,bytes,seconds\n{A},200,1,1\n{row}\n")
    assert (web.pages, report(web)) == (1, {"bad rows": 1})


def test_links_from_pages_that_were_not_logged_are_counted(tmp_path: Path) -> None:
    web = logged(tmp_path, log=f"url\n{A}\n", links=f"source,target\n{A},{B}\n{C},{A}\n{C},{B}\nbad,{A}\n")
    assert report(web) == {"links from pages that the log lacks": 2, "bad rows": 1}


@pytest.mark.parametrize(
    ("header", "column"), [("address,status", "url"), ("source,to", "target"), ("from,target", "source"), ("", "url")]
)
def test_a_table_without_a_needed_column_is_refused_by_name(tmp_path: Path, header: str, column: str) -> None:
    with pytest.raises(BadInput, match=rf"log\.csv has no column '{column}' \(found: "):
        logged(tmp_path, log=f"{header}\n")


def test_links_alone_are_no_log(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no log"):
        logged(tmp_path, links=LINKS)


def test_a_log_without_a_single_url_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no row with a URL"):
        logged(tmp_path, log="url\nnonsense\n")


def test_a_log_may_be_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="needs the extra `parquet`")
    from pyarrow import parquet

    columns = {"url": [A, B], "status": [200, None], "label": [["x", "y"], None], "seconds": [0.5, None]}
    parquet.write_table(arrow.table(columns), tmp_path / "log.parquet")
    (tmp_path / "links.csv").write_text(f"source,target\n{A},{B}\n")
    counts = BuildReport()
    records = read_logs([tmp_path / "links.csv", tmp_path / "log.parquet"], counts)
    web = build_web(tmp_path / "web", records, BuildOptions("tiny", ""), counts)
    assert (web.pages, links(web, A), web.labels, report(web)) == (2, [B], ["x", "y"], {})


# The command


def test_the_command_builds_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "w.warc").write_bytes(page(A, "/b/") + page(B) + page(B))
    assert main(["web", "build", str(tmp_path / "w.warc"), "--out", str(tmp_path / "mine"), "--workers", "1"]) == 0
    told = dict(line.rsplit(maxsplit=1) for line in capsys.readouterr().out.splitlines()[1:])
    assert (told["pages"], told["duplicates"], told["near-miss links: other ending"]) == ("2", "1", "1")
    about = json.loads((tmp_path / "mine" / "web.json").read_text())
    assert (about["name"], about["made_from"]) == ("mine", str(tmp_path / "w.warc"))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["missing.warc"], "there is no file or folder missing.warc"),
        (["empty"], "empty is a folder without warc/"),
        (["bad.warc"], "bad.warc is not a WARC file"),
        (["good.warc", "--truth", "missing.tsv", "--workers", "1"], "cannot read the truth file missing.tsv"),
        (["good.warc", "log.csv"], "not both"),
        (["good.warc", "--workers", "0"], "argument --workers: 0: at least one is needed"),
        (["bad.parquet"], "bad.parquet is not a Parquet file"),
        (["good.warc", "--out", "good.warc"], "good.warc already exists"),
        (["good.warc", "--out", "good.warc/web"], "cannot write good.warc/web"),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_line_and_leaves_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.warc").write_text("hello")
    (tmp_path / "bad.parquet").write_text("hello")
    (tmp_path / "log.csv").write_text("url\n")
    (tmp_path / "good.warc").write_bytes(page(A))
    before = sorted(tmp_path.rglob("*"))
    out = [] if "--out" in arguments else ["--out", "web"]
    assert main(["web", "build", *out, *arguments]) in (1, 2)
    told = capsys.readouterr().err
    assert complaint in told and told.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "big.warc").write_bytes(b"".join(page(f"{A}{i}", *map(str, range(200))) for i in range(10_000)))
    command = [sys.executable, "-m", "spoor", "web", "build", "big.warc", "--out", "web", "--workers", "2"]
    building = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob(".web-*")):
        time.sleep(0.05)
    time.sleep(0.3)
    building.send_signal(signal.SIGINT)
    assert building.communicate(timeout=120)[1] == "spoor: interrupted\n"
    assert [path.name for path in tmp_path.iterdir()] == ["big.warc"]


# Real data


@needs_shared
def test_no_real_warc_breaks_the_reader(tmp_path: Path) -> None:
    for warc in sorted((SHARED / "data" / "warc").iterdir()):
        counts = BuildReport()
        try:
            build_web(tmp_path / warc.name, read_warcs([warc], counts, 1), BuildOptions(warc.name, ""), counts)
        except BadInput as refusal:
            assert "no HTTP response" in str(refusal)


@needs_shared
def test_a_real_web_is_read_as_it_was_recorded(tmp_path: Path) -> None:
    recorded, counts = SHARED / "webs" / "webkb", BuildReport()
    making = BuildOptions("webkb", "", recorded / "truth.tsv")
    web = build_web(tmp_path / "web", read_warcs([recorded / "web.warc.xz"], counts, 1), making, counts)
    assert (web.pages + counts["duplicates"], int(web.labelled("class=course").sum())) == (5774, 766)
    assert web.has_content and web.about["links"] > 70_000

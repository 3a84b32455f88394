"""Logs, indexes and extracts as other tools write them, after their public descriptions; whole and broken."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spoor.cli.main import main
from spoor.judging.language_judges import Charset
from spoor.lab.web import Web
from spoor.zstd import zstd
from tests.warcs import page, record

A, B, C = "http://a.test/", "http://a.test/b", "http://c.test/"


def build(folder: Path, *files: str) -> Web:
    words = [*(str(folder / file) for file in files), "--out", str(folder / "web"), "--workers", "1"]
    assert main(["web", "build", *words]) == 0
    return Web.open(folder / "web")


def links(web: Web, url: str) -> list[str]:
    number = web.urls.find(url)
    assert number is not None
    return [web.urls[target] for target in web.targets(number)]


def statuses(web: Web) -> dict[str, int]:
    return {web.urls[number]: web.page(number).status for number in range(web.pages)}


def report(web: Web) -> dict[str, int]:
    return {what: count for what, count in web.about["report"].items() if count}


# Tables


def test_a_log_tells_charsets_by_where_they_were_said(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(
        f"url,meta_charset,header_charset,detected_charset\n{A},tis-620,utf-8,windows-1252\n{B},,,tis-620\n"
    )
    web = build(tmp_path, "log.csv")
    pages = [web.page(0), web.page(1)]
    assert (pages[0].meta_charset, pages[0].header_charset) == ("windows-874", "utf-8")
    by = {source: [v.relevant for v in Charset("th", (source,)).judge(pages)] for source in ("meta", "detected")}
    assert by == {"meta": [True, False], "detected": [False, True]}


def test_the_charset_of_a_content_type_is_that_of_the_header(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(f"url,content_type\n{A},text/html; charset=TIS-620\n")
    first = build(tmp_path, "log.csv").page(0)
    assert (first.content_type, first.header_charset) == ("text/html", "windows-874")


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress, zstd.compress])
def test_a_table_may_be_compressed_and_its_name_need_not_say_so(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "pages").write_bytes(pack(f"url\tstatus\n{A}\t200\n{B}\t404\n".encode()))
    (tmp_path / "edges").write_bytes(pack(f"source;target\n{A};{B}\n".encode()))
    web = build(tmp_path, "edges", "pages")
    assert (statuses(web), links(web, A)) == ({A: 200, B: 404}, [B])


def test_errors_and_other_media_are_pages_without_links(tmp_path: Path) -> None:
    rows = f"{A},200,text/html\n{B},404,text/html\n{C},200,image/png\n"
    (tmp_path / "log.csv").write_text(f"url,status,content_type\n{rows}")
    (tmp_path / "links.csv").write_text(f"source,target\n{A},{B}\n{A},{C}\n{B},{A}\n{C},{A}\n")
    web = build(tmp_path, "log.csv", "links.csv")
    assert (links(web, A), links(web, B), links(web, C)) == ([B, C], [], [])
    assert report(web) == {"errors": 1, "non-HTML": 1, "links from errors and non-HTML": 2}


def columnar(folder: Path, name: str) -> None:
    """The columns of Common Crawl's index that say something about a page, and one that does not."""
    arrow = pytest.importorskip("pyarrow", reason="needs the extra `parquet`")
    from pyarrow import parquet

    columns = {
        "url_surtkey": ["test,a)/", "test,a)/b", "test,c)/"],
        "url": [A, B, C],
        "fetch_status": [200, 301, 404],
        "fetch_redirect": [None, A, None],
        "content_mime_type": ["text/html", None, "text/html"],
        "content_mime_detected": ["application/xhtml+xml", None, None],
        "content_charset": ["TIS-620", None, None],
        "content_languages": ["tha,eng", None, None],
        "warc_filename": ["x.warc.gz"] * 3,
        "warc_record_length": [1234, 10, 20],
    }
    parquet.write_table(arrow.table(columns), folder / name)


def test_the_columnar_index_is_a_log(tmp_path: Path) -> None:
    columnar(tmp_path, "part-00000.c000.gz.parquet")
    web = build(tmp_path, "part-00000.c000.gz.parquet")
    first = web.page(0)
    assert (first.content_type, first.detected_charset, first.size) == ("application/xhtml+xml", "windows-874", 1234)
    assert (web.labels, statuses(web)) == (["lang=th"], {A: 200, B: 301, C: 404})
    assert web.redirects is not None and web.redirects.tolist() == [-1, 0, -1]


def test_a_parquet_file_is_known_by_its_content(tmp_path: Path) -> None:
    columnar(tmp_path, "index")
    assert build(tmp_path, "index").pages == 3


# Heritrix

CRAWL_LOG = f"""\
2011-06-23T17:12:08.802Z     1         53 dns:a.test P {A} text/dns #014 20110623171208574+25 sha1:YI - -
2011-06-23T17:12:08.902Z   200       1299 {A}robots.txt P {A} text/plain #014 20110623171208574+225 sha1:YI - -
2011-06-23T17:12:09.591Z   200      15829 {A} - - text/html #025 20110623171208546+922 sha1:7A {A} -
2011-06-23T17:12:10.591Z   301          0 {B} L {A} text/html #025 20110623171208546+100 sha1:7A {A} -
2011-06-23T17:12:11.591Z   200       5000 {C} LR {B} text/html #025 20110623171208546+100 sha1:7A {A} 2t
2011-06-23T17:12:12.591Z    -2          - {C}x LRL {C} unknown #025 - - {A} le:IOException@HTTP,3t {{"x": 1}}
2011-06-23T17:12:13.591Z   404        512 {C}y.png LRE {C} image/png #025 20110623171208546+5 sha1:7A {A} -
"""


def test_a_heritrix_log_is_a_web_whose_links_come_from_via(tmp_path: Path) -> None:
    (tmp_path / "crawl.log").write_text(CRAWL_LOG)
    web = build(tmp_path, "crawl.log")
    assert statuses(web) == {f"{A}robots.txt": 200, A: 200, B: 301, C: 200, f"{C}x": 0, f"{C}y.png": 404}
    assert (links(web, A), links(web, C)) == ([B], [f"{C}x", f"{C}y.png"])
    assert web.redirects is not None and web.redirects.tolist() == [-1, -1, 3, -1, -1, -1]
    assert web.seconds is not None and round(float(web.seconds[1]), 3) == 0.922
    assert report(web) == {"errors": 2, "non-HTML": 1, "redirects": 1, "not HTTP": 1}


def test_a_heritrix_log_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "log-of-june").write_bytes(gzip.compress(CRAWL_LOG.encode()))
    assert build(tmp_path, "log-of-june").pages == 6


# CDX and CDXJ

ELEVEN = f"""\
 CDX N b a m s k r M S V g
test,a)/ 20150914222034 {A} text/html 200 ZMSA - - 83848 117273 w.warc.gz
test,a)/ 20150914222035 {A} warc/revisit - ZMSA - - 300 217273 w.warc.gz
test,a)/b 20150914222034 {B} text/html 302 ZMSA {C} - 83848 117273 w.warc.gz
dns:a.test 20150914222034 dns:a.test text/dns - ZMSA - - 83 117273 w.warc.gz
test,c)/ 20150914222034 c.test:80/ - 404 ZMSA - - 9 117273 w.warc.gz
"""


def test_a_cdx_file_is_a_log(tmp_path: Path) -> None:
    (tmp_path / "index.cdx").write_text(ELEVEN)
    web = build(tmp_path, "index.cdx")
    assert (statuses(web), web.page(0).size) == ({A: 200, B: 302, C: 404}, 83848)
    assert web.redirects is not None and web.redirects.tolist() == [-1, 2, -1]
    assert report(web) == {"duplicates": 1, "not HTTP": 1, "redirects": 1, "errors": 1}


@pytest.mark.parametrize(
    "lines",
    [
        f" CDX N b a m s k r V g\ntest,a)/ 20150914222034 {A} text/html 200 ZMSA - 117273 w.warc.gz\n",
        f"\tCDX\ta\ts\n{A}\t200\n",
        f"test,a)/ 20150914222034 {A} text/html 200 ZMSA - - 83848 117273 w.warc.gz\n",
        f"test,a)/ 20150914222034 {A} text/html 200 ZMSA - 117273 w.warc.gz\n",
        f"test,a)/ 20150914222034 {A} text/html 200 ZMSA 83848\n",
    ],
)
def test_a_cdx_file_may_have_other_fields_or_no_legend(tmp_path: Path, lines: str) -> None:
    (tmp_path / "index").write_text(lines)
    assert statuses(build(tmp_path, "index")) == {A: 200}


def cdxj(url: str, **fields: str) -> str:
    return f"test,a)/ 20240518015810 {json.dumps({'url': url, 'mime': 'text/html', 'status': '200', **fields})}\n"


def test_a_cdxj_file_is_a_log(tmp_path: Path) -> None:
    known = {"mime-detected": "application/xhtml+xml", "charset": "TIS-620", "languages": "tha", "length": "77"}
    odd = cdxj(B, mime="warc/revisit") + cdxj(C, status="301", redirect=A)
    (tmp_path / "index").write_text(f"!OpenWayback-CDXJ 1.0\n{cdxj(A, **known)}{odd}")
    web = build(tmp_path, "index")
    first = web.page(0)
    assert (first.content_type, first.detected_charset, first.size) == ("application/xhtml+xml", "windows-874", 77)
    assert (statuses(web), web.labels) == ({A: 200, C: 301}, ["lang=th"])
    assert report(web) == {"duplicates": 1, "redirects": 1}


def test_the_answer_of_an_index_server_is_a_log(tmp_path: Path) -> None:
    (tmp_path / "answer").write_text(f'{{"urlkey": "test,a)/", "timestamp": "2024", "url": "{A}", "status": "200"}}\n')
    assert statuses(build(tmp_path, "answer")) == {A: 200}


# WAT and WET


def wat(url: str, **about: Any) -> bytes:
    """The record about a response, `about` being its HTTP-Response-Metadata."""
    return _wat(url, "response", {"HTTP-Response-Metadata": about})


def _wat(url: str, kind: str, payload: dict[str, Any]) -> bytes:
    header = {"WARC-Type": kind, "WARC-Target-URI": url}
    envelope = {"Format": "WARC/1.0", "WARC-Header-Metadata": header, "Payload-Metadata": payload}
    return extract("metadata", url, "application/json", json.dumps({"Container": {}, "Envelope": envelope}).encode())


def extract(kind: str, url: str, content_type: str, block: bytes, extra: str = "") -> bytes:
    made = record(kind, url, block, extra)
    return made.replace(b"application/http; msgtype=response", content_type.encode(), 1)


def wet(url: str, text: str, language: str = "") -> bytes:
    extra = f"WARC-Identified-Content-Language: {language}\r\n" if language else ""
    return extract("conversion", url, "text/plain", text.encode(), extra)


NOTES = {
    "Metadata-Records": [
        {"Name": "fetchTimeMs", "Value": "688"},
        {"Name": "charset-detected", "Value": "TIS-620"},
        {"Name": "languages-cld2", "Value": '{"languages":[{"code":"th","code-iso-639-3":"tha","text-covered":0.9}]}'},
    ]
}
HTML = {
    "Head": {
        "Title": "A  title",
        "Base": "http://a.test/x/",
        "Metas": [
            {"http-equiv": "Content-Type", "content": "text/html; charset=windows-874"},
            {"name": "Description", "content": "about"},
        ],
    },
    "Links": [
        {"path": "IMG@/src", "url": "/i.png"},
        {"path": "A@/href", "url": "../b"},
        {"path": "A@/href", "url": "/b", "text": "to  b"},
        {"path": "A@/href", "url": C, "text": "c", "rel": "nofollow", "hreflang": "th"},
        {"path": "A@/href", "url": "mailto:x@y.z"},
        {"path": "A@/href", "url": A, "text": "itself"},
        "nonsense",
    ],
}
OK = {"Status": "200", "Version": "HTTP/1.1", "Reason": "OK"}
PAGE = {
    "Response-Message": OK,
    "Headers": {"Content-Type": "text/html; charset=iso-8859-1"},
    "Entity-Length": "24390",
    "HTML-Metadata": HTML,
}


def wat_file(*records: bytes) -> bytes:
    return b"".join(gzip.compress(each) for each in (record("warcinfo", "", b"format: WARC File Format 1.0"), *records))


def test_a_wat_file_gives_links_and_all_three_charsets(tmp_path: Path) -> None:
    request = _wat(A, "request", {"HTTP-Request-Metadata": {"Headers": {}}})
    notes = _wat(A, "metadata", {"WARC-Metadata-Metadata": NOTES})
    (tmp_path / "x.warc.wat.gz").write_bytes(wat_file(request, wat(A, **PAGE), notes))
    web = build(tmp_path, "x.warc.wat.gz")
    found = web.page(0)
    assert (web.pages, links(web, A), found.size) == (1, [B, C], 24390)
    charsets = (found.header_charset, found.meta_charset, found.detected_charset)
    assert charsets == ("windows-1252", "windows-874", "windows-874")
    assert [(context[0], context[4]) for context in web.contexts[0]] == [("to b", False), ("c", True)]
    assert web.texts[0][:3] == ["A title", "", {"title": "A title", "description": "about"}]
    assert web.seconds is not None and round(float(web.seconds[0]), 3) == 0.688
    assert (web.labels, report(web)) == (["lang=th"], {})


def test_errors_redirects_and_other_media_of_a_wat_file_are_pages(tmp_path: Path) -> None:
    gone = wat(A, **{**PAGE, "Response-Message": {"Status": "404"}})
    moved = wat(B, **{"Response-Message": {"Status": "301"}, "Headers": {"location": "/"}})
    image = wat(C, **{"Response-Message": OK, "Headers": {"Content-Type": "image/png"}})
    (tmp_path / "w").write_bytes(wat_file(gone, moved, image))
    web = build(tmp_path, "w")
    assert (statuses(web), web.about["links"]) == ({A: 404, B: 301, C: 200}, 0)
    assert report(web) == {"errors": 1, "redirects": 1, "non-HTML": 1}


@pytest.mark.parametrize("about", [{}, {"Response-Message": 3}, {"Response-Message": {"Status": "x"}, "Headers": []}])
def test_a_wat_record_that_makes_no_sense_is_passed_over(tmp_path: Path, about: dict[str, Any]) -> None:
    (tmp_path / "w").write_bytes(wat_file(wat(A, **about), wat(B, **PAGE)))
    assert statuses(build(tmp_path, "w")) == {B: 200}


def test_a_wet_file_gives_texts(tmp_path: Path) -> None:
    (tmp_path / "x.warc.wet").write_bytes(wet(A, "The title\nThe text\nof it\n", "tha,eng") + wet(B, "B\nb"))
    web = build(tmp_path, "x.warc.wet")
    assert (web.texts[0][:2], web.texts[1][:2]) == (["The title", "The text\nof it"], ["B", "b"])
    assert (web.labels, web.labelled("lang=th").tolist(), report(web)) == (["lang=th"], [True, False], {})


@pytest.mark.parametrize("order", [("w.wat", "w.wet"), ("w.wet", "w.wat")])
def test_wat_and_wet_together_are_pages_with_links_and_texts(tmp_path: Path, order: tuple[str, str]) -> None:
    gone = {"Response-Message": {"Status": "404"}, "Headers": {}}
    (tmp_path / "w.wat").write_bytes(wat_file(wat(A, **PAGE), wat(B, **gone)))
    (tmp_path / "w.wet").write_bytes(wet(A, "T\ntext of A", "tha") + wet(C, "C\ntext of C") + wet(A, "again"))
    web = build(tmp_path, *order)
    assert (links(web, A), links(web, C)) == ([B, C], [])
    texts = {web.urls[number]: (web.texts[number] or ["", ""])[1] for number in range(web.pages)}
    assert texts == {A: "text of A", B: "", C: "text of C"}
    assert (web.labels, report(web)) == (["lang=th"], {"duplicates": 1, "errors": 1})


# Broken files

LONG = "".join(f"http://a.test/{number * number % 99991},200\n" for number in range(20_000))


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("log.csv", f"url,status\n{A},200\n{B}\n".encode(), "log.csv, line 3: 1 cells, but the first line names 2"),
        ("log.csv", f"url,status\n{A},200,x\n".encode(), "log.csv, line 2: 3 cells, but the first line names 2"),
        ("log.csv", b"url\nhttp://a.test/\nhttp://a.test/\xe1\n", "log.csv, line 3: byte 15, 0xe1, is not UTF-8"),
        ("log.csv", f'url\n"{A}\n{LONG}'.encode(), "log.csv, line 2: not a row of a table: field larger"),
        ("log.gz", gzip.compress(b"url,status\n" + LONG.encode())[:20_000], "the file is truncated or damaged here"),
        ("log.zst", zstd.compress(b"url,status\n" + LONG.encode())[:20_000], "the file is truncated or damaged here"),
        ("log.xz", lzma.compress(b"url,status\n" + LONG.encode())[:9_000], "the file is truncated or damaged here"),
        ("log.parquet", b"PAR1 and no more", "log.parquet is not a Parquet file, or truncated"),
        ("crawl.log", f"{CRAWL_LOG}2011-06-23T17:12:13Z 200\n".encode(), "crawl.log, line 8: 2 fields, but a line of"),
        ("crawl.log", f"cut off\n{CRAWL_LOG}".encode(), "crawl.log, line 1: 2 fields, but a line of a Heritrix"),
        ("index.cdx", f"{ELEVEN}test,a)/ 2015\n".encode(), "index.cdx, line 7: 2 fields, but the first line has 11"),
        ("index.cdx", b" CDX N b m\n", "index.cdx, line 1: no field is marked a"),
        ("index", f"{cdxj(A)}test,a)/ 2024 {{\n".encode(), "index, line 2: the JSON is broken at character 16"),
        ("index", f"{cdxj(A)}test,a)/ 2024 {{}}\n".encode(), "index, line 2: the JSON has no url"),
        ("w.wat.gz", wat_file(wat(A, **PAGE))[:-30], "w.wat.gz, record "),
        ("w.wat", wat(A, **PAGE)[:-90], "w.wat, record 1: "),
        ("w.wat", wat(A, **PAGE).replace(b"{", b"[", 1), "w.wat, record 1: the JSON is broken at character"),
        ("w.wet", wet(A, "T\ntext")[:-6], "w.wet, record 1: "),
    ],
)
def test_a_broken_file_is_refused_in_one_line_and_leaves_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: bytes,
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    assert main(["web", "build", name, "--out", "web", "--workers", "1"]) == 1
    said = capsys.readouterr().err
    assert complaint in said and said.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_web_of_a_warc_and_its_wet_has_the_texts_of_the_warc(tmp_path: Path) -> None:
    (tmp_path / "w.warc").write_bytes(page(A, B))
    (tmp_path / "w.wet").write_bytes(wet(A, "T\nanother text"))
    web = build(tmp_path, "w.warc", "w.wet")
    assert (web.texts[0][1], report(web)) == (B, {"duplicates": 1})

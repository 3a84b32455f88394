"""The archive: readable by others, whole whatever happens to the process, and complete."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import resource
import signal
import subprocess
import sys
import tempfile
import uuid
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import brotli
import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from hypothesis import given, settings
from hypothesis import strategies as st

from spoor.errors import BadInput, NotWritten
from spoor.lab.build.gather import BuildReport
from spoor.lab.build.warc_source import read_warcs
from spoor.records import Verdict, Visit
from spoor.store.warc import Kept, WarcWriter, judgement
from spoor.store.warc_records import digest_of, digest_text, members, new_id, unpacked
from tests.effort import times
from tests.kept_responses import HTML_HEAD, NOON, passes_warcio_check, records_of, response, warcs_in

ABOUT = {"software": "spoor/0.1.0", "robots": "obeyed", "strategy": "soft-focused"}


def keeper(folder: Path, largest: int = 1 << 30) -> WarcWriter:
    return WarcWriter(folder, ABOUT, largest)


def visit(url: str) -> Visit:
    return Visit(url, "a.test", 3, NOON, key=(0.5, 2.0), found_on="http://a.test/")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A response, one without chunks any more, one that was cut, one seen before, and what was thought of the first."""
    chunked = b"HTTP/1.1 200 OK\r\nContent-type: text/plain\r\nTransfer-Encoding:\r\n chunked\r\nX-Last: yes\r\n\r\n"
    with keeper(tmp_path) as warc:
        first = warc.keep(response("http://a.test/1"))
        warc.keep(response("http://a.test/2", b"text", chunked))
        warc.keep(
            response("http://a.test/3", b"<p>ha", cut="length", head=b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n")
        )
        warc.keep(response("http://a.test/4", at=NOON + 9), earlier=first)
        thought = judgement(visit("http://a.test/1"), Verdict(0.25, False, "1 of 4\nwords", "news"), "mn")
        warc.note(first, NOON + 1, thought)
    return tmp_path


def test_every_file_passes_the_checker_of_warcio(archive: Path) -> None:
    assert passes_warcio_check(*warcs_in(archive))


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\nContent-Type : text/html\nContent-Length: 8\n\n",
        b"HTTP/1.1  200\r\nno colon\r\nContent-Type: text/html\r\nX: a\r\n b\r\nX:\xe9\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Type:text/html\r\nContent-Length: 3\r\nContent-Length: 3\r\n\n",
    ],
)
def test_a_head_is_kept_as_it_came_and_others_find_the_payload(head: bytes, tmp_path: Path) -> None:
    with keeper(tmp_path) as warc:
        warc.keep(response("http://a.test/", head=head))
    assert passes_warcio_check(*warcs_in(tmp_path))
    (file,) = warcs_in(tmp_path)
    assert head + b"<p>hello" in gzip.decompress(file.read_bytes())
    assert [record.payload for record in records_of(file) if record.kind == "response"] == [b"<p>hello"]
    (page,) = [packed.page for packed in read_warcs([file], BuildReport(), workers=1)]
    assert (page.url, page.status, page.content_type) == ("http://a.test/", 200, "text/html")


def test_fastwarc_finds_every_digest_right(archive: Path) -> None:
    (file,) = warcs_in(archive)
    kinds = []
    stream = io.BytesIO(file.read_bytes())
    for record in ArchiveIterator(stream, record_types=WarcRecordType.any_type, parse_http=False):
        record.freeze()
        assert record.verify_block_digest()
        if record.record_type == WarcRecordType.response:
            record.parse_http()
            assert record.verify_payload_digest()
        kinds.append(record.headers["WARC-Type"])
    assert kinds == ["warcinfo", *["request", "response"] * 3, "request", "revisit", "metadata"]


def test_a_web_can_be_built_from_it(archive: Path) -> None:
    report = BuildReport()
    pages = [packed.page for packed in read_warcs(warcs_in(archive), report, workers=1)]
    assert [page.url for page in pages] == [f"http://a.test/{name}" for name in "123"]
    assert (report["truncated"], report["duplicates"], report["broken"]) == (1, 1, 0)


def test_a_file_begins_with_what_made_it(archive: Path) -> None:
    info = records_of(*warcs_in(archive))[0]
    assert info.kind == "warcinfo" and info.headers["WARC-Filename"] == warcs_in(archive)[0].name
    assert info.payload.startswith(b"software: spoor/0.1.0\r\nrobots: obeyed\r\nstrategy: soft-focused\r\nformat: WARC")


def test_a_request_stands_beside_its_response(archive: Path) -> None:
    _, request, answer, *_ = records_of(*warcs_in(archive))
    assert request.headers["WARC-Concurrent-To"] == answer.headers["WARC-Record-ID"]
    assert request.http.startswith(b"GET / HTTP/1.1\r\nHost: a.test\r\n")
    assert answer.headers["WARC-IP-Address"] == "192.0.2.7"
    assert answer.headers["WARC-Date"] == "2026-11-15T12:00:00Z"
    assert answer.headers["WARC-Payload-Digest"] == digest_of(b"<p>hello")
    assert answer.payload == b"<p>hello"


def test_chunks_that_are_gone_are_not_announced(archive: Path) -> None:
    answer = records_of(*warcs_in(archive))[4]
    relevant = b"HTTP/1.1 200 OK\r\nContent-type: text/plain\r\nX-Last: yes\r\nContent-Length: 4\r\n\r\n"
    assert (answer.http, answer.payload) == (relevant, b"text")


def test_a_cut_body_is_marked(archive: Path) -> None:
    assert records_of(*warcs_in(archive))[6].headers["WARC-Truncated"] == "length"


def test_a_payload_that_is_there_already_is_not_kept_twice(archive: Path) -> None:
    records = records_of(*warcs_in(archive))
    first, again = records[2], records[8]
    assert (again.kind, again.payload) == ("revisit", b"")
    assert again.headers["WARC-Refers-To"] == first.headers["WARC-Record-ID"]
    assert again.headers["WARC-Refers-To-Target-URI"] == "http://a.test/1"
    assert again.headers["WARC-Refers-To-Date"] == first.headers["WARC-Date"]
    assert again.headers["WARC-Profile"].endswith("/revisit/identical-payload-digest")
    assert again.headers["WARC-Payload-Digest"] == first.headers["WARC-Payload-Digest"]


def test_a_judgement_refers_to_the_page_it_is_about(archive: Path) -> None:
    *_, thought = records_of(*warcs_in(archive))
    assert thought.headers["WARC-Refers-To"] == records_of(*warcs_in(archive))[2].headers["WARC-Record-ID"]
    assert thought.payload.decode().splitlines() == [
        "verdict: not relevant",
        "relevance: 0.25",
        "because: 1 of 4 words",
        "label: news",
        "language: mn",
        "found-on: http://a.test/",
        "key: 0.5 2",
    ]


def test_a_place_leads_back_to_the_record(tmp_path: Path) -> None:
    with keeper(tmp_path) as warc:
        places = [warc.keep(response(f"http://a.test/{n}", b"x" * n)) for n in range(20)]
        for n, kept in enumerate(places):
            found = unpacked(tmp_path / kept.file, kept.offset)
            assert found is not None and found.endswith(b"\r\n\r\n" + b"x" * n + b"\r\n\r\n")


@pytest.mark.parametrize("pack", [gzip.compress, brotli.compress, zlib.compress])
def test_a_compressed_payload_is_read_back_by_others(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    bodies = [b"".join(b"word %d " % (n * n % 1009) for n in range(size)) for size in (100, 3_000, 100_000)]
    packed = list(map(pack, bodies))
    with keeper(tmp_path) as warc:
        for n, body in enumerate(bodies):
            warc.keep(replace(response(f"http://a.test/{n}", packed[n]), body=body))
    assert passes_warcio_check(*warcs_in(tmp_path))
    answers = [record for record in records_of(*warcs_in(tmp_path)) if record.kind == "response"]
    assert [answer.payload for answer in answers] == packed
    (file,) = warcs_in(tmp_path)
    for found in ArchiveIterator(io.BytesIO(file.read_bytes()), record_types=WarcRecordType.response, parse_http=False):
        found.freeze()
        assert found.verify_block_digest()
        found.parse_http()
        assert found.verify_payload_digest()
    assert all(pack(body)[16:60_000] in file.read_bytes() for body in bodies)


def test_an_uncompressed_payload_is_compressed(tmp_path: Path) -> None:
    """Also one that its server calls compressed, although it is not."""
    body = b"<p>hello" * 1000
    with keeper(tmp_path) as warc:
        warc.keep(response("http://a.test/1", body, HTML_HEAD + b"Content-Encoding: gzip\r\n\r\n"))
    assert sum(file.stat().st_size for file in warcs_in(tmp_path)) < 1500


def test_ids_are_random_uuids_and_digests_are_base_32() -> None:
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    for made in ids:
        number = uuid.UUID(made.removeprefix("<").removesuffix(">"))
        assert (number.version, number.variant, f"<{number.urn}>") == (4, uuid.RFC_4122, made)
    for n in range(300):
        sha1 = hashlib.sha1(b"%d" % n).digest() if n else bytes(20)
        assert digest_text(sha1) == "sha1:" + base64.b32encode(sha1).decode()


def test_a_full_file_is_followed_by_the_next(tmp_path: Path) -> None:
    with keeper(tmp_path, largest=10_000) as warc:
        for n in range(12):
            warc.keep(response(f"http://a.test/{n}", os.urandom(4000)))
    files = warcs_in(tmp_path)
    assert [file.name for file in files] == [f"spoor-0000{n}-20261115120000.warc.gz" for n in (1, 2, 3, 4)]
    assert all(10_000 <= file.stat().st_size < 16_000 for file in files)
    assert passes_warcio_check(*files)
    assert [next(members(file)).record.head.count(b"warcinfo") for file in files] == [1, 1, 1, 1]


def test_every_record_is_with_the_operating_system_at_once(tmp_path: Path) -> None:
    """The process is killed right after `keep`, without a chance to write anything more."""
    script = (
        "import os, sys, signal; from pathlib import Path\n"
        "from spoor.store.warc import WarcWriter; from tests.kept_responses import response\n"
        "warc = WarcWriter(Path(sys.argv[1]), {}).__enter__()\n"
        "warc.keep(response('http://a.test/1')); warc.keep(response('http://a.test/2'))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, str(tmp_path)], cwd=Path(__file__).parent.parent
    )
    assert ended.returncode == -signal.SIGKILL
    assert [record.kind for record in records_of(*warcs_in(tmp_path))] == ["warcinfo", *["request", "response"] * 2]
    with keeper(tmp_path) as warc:
        warc.keep(response("http://a.test/3"))
    assert passes_warcio_check(*warcs_in(tmp_path)) and len(warcs_in(tmp_path)) == 2


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of some records, one of them large enough to be unpacked in pieces."""
    folder = tmp_path_factory.mktemp("whole")
    with keeper(folder) as warc:
        for n in range(4):
            kept = warc.keep(response(f"http://a.test/{n}", f"page {n} ".encode() * 50))
            warc.note(kept, NOON, {"verdict": "relevant"})
        warc.keep(response("http://a.test/large", b"0123456789" * 100_000))
    return warcs_in(folder)[0]


@settings(max_examples=times(50), deadline=None)
@given(st.data())
def test_of_a_torn_file_all_whole_records_stay_and_no_byte_is_lost(whole: Path, data: st.DataObject) -> None:
    content = whole.read_bytes()
    cut = data.draw(st.integers(0, len(content)))
    left = content[:cut] + data.draw(st.sampled_from([b"", b"\0" * 512, b"\x1f\x8b\x08\0torn"]))
    # Noise may be the very bytes that were cut off.
    intact = next((n for n, (one, other) in enumerate(zip(content, left, strict=False)) if one != other), len(left))
    ends = [end for member in members(whole) if (end := member.offset + member.length) <= intact]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        torn = folder / "spoor-00007-20261115000000.warc.gz"
        torn.write_bytes(left)
        with keeper(folder) as warc:
            warc.keep(response("http://a.test/next"))
        kept = torn.read_bytes() if torn.exists() else b""
        # A record that lacks only part of what gzip writes after it is whole all the same.
        assert kept in (content[: max(ends, default=0)], *(content[: member.end] for member in members(whole)))
        assert len(kept) >= max(ends, default=0)
        assert passes_warcio_check(*warcs_in(folder))
        aside = [file.read_bytes() for file in sorted((folder / "damaged").glob("*"))]
        assert aside in ([left], [left.removeprefix(kept)]) or left == kept


def test_no_whole_record_is_cut(whole: Path, tmp_path: Path) -> None:
    found = list(members(whole))
    content = whole.read_bytes()
    assert len(found) == 1 + 4 * 3 + 2 and found[-1].offset + found[-1].length == len(content)
    for place, member in enumerate(found):
        torn = tmp_path / "torn.warc.gz"
        torn.write_bytes(content[: member.offset + member.length - 1])
        assert sum(1 for _ in members(torn)) == place


def test_a_full_disk_leaves_whole_records(tmp_path: Path) -> None:
    """The limit of the size of a file fails in the middle of a record, as a full disk does."""
    kept: list[Kept] = []
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with keeper(tmp_path) as warc:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
        try:
            with pytest.raises(
                NotWritten, match=r"cannot write .*spoor-00001.*: File too large; raise the limit of the size of a file"
            ):
                while True:
                    kept.append(warc.keep(response(f"http://a.test/{len(kept)}", os.urandom(6000))))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert len(records_of(*warcs_in(tmp_path))) == 1 + 2 * len(kept)
        kept.append(warc.keep(response("http://a.test/after", b"now there is room")))
    assert passes_warcio_check(*warcs_in(tmp_path))
    assert len(records_of(*warcs_in(tmp_path))) == 1 + 2 * len(kept)


def test_a_disk_that_is_full_from_the_start_leaves_nothing(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with keeper(tmp_path) as warc:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
        try:
            for _ in range(2):
                with pytest.raises(BadInput, match="cannot write"):
                    warc.keep(response("http://a.test/"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_a_file_into_which_nothing_was_written_is_removed_without_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "spoor-00001-20261115000000.warc.gz").touch()
    with keeper(tmp_path):
        assert list(tmp_path.iterdir()) == [] and caplog.messages == []

"""The index of the archive: sorted, and leading to the right bytes."""

from __future__ import annotations

import io
import json
import random
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from spoor.store.cdxj import index, index_of
from spoor.store.warc import WarcWriter
from tests.kept_responses import response, warcs_in


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    with WarcWriter(tmp_path, {"software": "spoor"}) as warc:
        first = warc.keep(response("http://b.test/ä?q=1"))
        warc.keep(response("http://a.test/"), earlier=first)
        warc.keep(response("http://a.test/gone", b"", b"HTTP/1.1 404 Not Found\r\n\r\n"))
    return tmp_path


def test_a_closed_file_has_its_index_beside_it(archive: Path) -> None:
    (file,) = warcs_in(archive)
    lines = index_of(file).read_text().splitlines()
    assert lines == sorted(lines)
    assert [line.split()[:2] for line in lines] == [
        ["test,a)/", "20261115120000"],
        ["test,a)/gone", "20261115120000"],
        ["test,b)/%c3%a4?q=1", "20261115120000"],
    ]
    told = [json.loads(line.split(" ", 2)[2]) for line in lines]
    assert [one.get("mime") for one in told] == ["warc/revisit", None, "text/html"]
    assert [one["status"] for one in told] == ["200", "404", "200"]
    assert {one["filename"] for one in told} == {file.name}
    assert sorted(path.suffix for path in archive.iterdir()) == [".cdxj", ".gz"]


def test_a_line_leads_to_its_record(archive: Path) -> None:
    (file,) = warcs_in(archive)
    for line in index_of(file).read_text().splitlines():
        told = json.loads(line.split(" ", 2)[2])
        start, length = int(told["offset"]), int(told["length"])
        (record,) = ArchiveIterator(io.BytesIO(file.read_bytes()[start : start + length]))
        assert record.rec_headers.get_header("WARC-Target-URI") == told["url"]
        assert record.rec_headers.get_header("WARC-Payload-Digest") == told["digest"]


def test_an_index_made_by_reading_is_the_one_made_by_writing(archive: Path) -> None:
    (file,) = warcs_in(archive)
    written = index_of(file).read_bytes()
    index_of(file).unlink()
    assert index(archive) == [index_of(file)]
    assert index_of(file).read_bytes() == written


def test_an_index_made_by_reading_lacks_nothing_wherever_reads_of_the_file_end(tmp_path: Path) -> None:
    """Thousands of records of all sizes, so that many lie across the end of a piece that is read."""
    chance = random.Random(11)
    with WarcWriter(tmp_path, {"software": "spoor"}) as warc:
        for number in range(2500):
            size = chance.choice([0, 10, 300, 1500])
            warc.keep(response(f"http://a.test/{chance.randrange(10**9)}?n={number}", chance.randbytes(size)))
    (file,) = warcs_in(tmp_path)
    written = index_of(file).read_text().splitlines()
    index_of(file).unlink()
    index(tmp_path)
    made = index_of(file).read_text().splitlines()
    assert len(written) == 2500
    assert made == written


lines = st.binary(max_size=30).map(lambda line: re.sub(rb"[\r\n]", b" ", line))
types = st.sampled_from([b"", b"text/html", b" TEXT/HTML ; charset=x", b"t\xe9xt/\xd7\x90", b"a\x0bb\x85", b";"])
names = st.sampled_from([b"Content-Type", b"content-type ", b"X-Content-Type", b"Content-Type\t"])


@given(
    st.integers(100, 999), st.lists(st.one_of(lines, st.builds(lambda n, t: n + b":" + t, names, types)), max_size=6)
)
def test_an_index_made_by_reading_is_the_one_made_by_writing_whatever_servers_say(
    status: int, headers: list[bytes]
) -> None:
    head = b"\r\n".join([b"HTTP/1.1 %d Whatever" % status, *headers]) + b"\r\n\r\n"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with WarcWriter(folder, {"software": "spoor"}) as warc:
            warc.keep(response("http://a.test/", b"x", head))
        (file,) = warcs_in(folder)
        written = index_of(file).read_bytes()
        index_of(file).unlink()
        index(folder)
        assert index_of(file).read_bytes() == written

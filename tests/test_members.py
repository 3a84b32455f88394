"""Gzip members: found whole wherever reads begin and end, and on both sides of damage."""

from __future__ import annotations

import gzip
import random
import tempfile
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.store.warc_records import (
    BLANK,
    HEADER,
    LARGEST,
    Gap,
    Member,
    digest_of,
    members,
    packed,
    packed_around,
    pieces,
    record,
    record_head,
    unpacked,
)


def a_record(number: int, size: int, seed: int = 1) -> bytes:
    block = b"HTTP/1.1 200 OK\r\n\r\n" + random.Random(seed + number).randbytes(size)
    headers = {"WARC-Record-ID": f"<urn:uuid:{number}>", "WARC-Target-URI": f"http://a.test/{number}"}
    headers |= {"WARC-Payload-Digest": digest_of(block[19:])}
    return record("response", 0.0, headers, block)


def written(folder: Path, content: bytes) -> Path:
    file = folder / "x.warc.gz"
    file.write_bytes(content)
    return file


@pytest.mark.parametrize("short_of", range(40))
def test_a_record_whose_head_crosses_the_end_of_a_read_is_known_whole(tmp_path: Path, short_of: int) -> None:
    """The first read of a member is of 4 KiB, later ones are of 64 KiB; a file is buffered by the mebibyte."""
    for size in (1 << 12, 1 << 16, 1 << 20):
        before = packed(a_record(0, size - 400 - short_of))
        file = written(tmp_path, before + packed(a_record(1, 500)) + packed(a_record(2, 500)))
        urls = [member.record.headers["warc-target-uri"] for member in members(file)]
        assert urls == ["http://a.test/0", "http://a.test/1", "http://a.test/2"]


@given(st.lists(st.integers(0, 5000), max_size=8))
def test_pieces_make_up_the_file(sizes: list[int]) -> None:
    with tempfile.TemporaryDirectory() as name:
        parts = [packed(a_record(number, size)) for number, size in enumerate(sizes)]
        file = written(Path(name), b"".join(parts))
        found = list(pieces(file))
        assert [piece.length for piece in found] == list(map(len, parts))
        assert all(isinstance(piece, Member) and piece.record.is_record for piece in found)


@given(st.data())
def test_whatever_happens_to_some_bytes_all_members_without_them_are_found(data: st.DataObject) -> None:
    """Bytes are changed, zeroed or cut out, at up to three places."""
    parts = [packed(a_record(number, size)) for number, size in enumerate([300, 0, 2000, 50, 900, 70_000, 10])]
    starts = [sum(map(len, parts[:number])) for number in range(len(parts))]
    content, hit = bytearray(b"".join(parts)), set[int]()
    for _ in range(data.draw(st.integers(1, 3))):
        place, length = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(1, 600))
        noise = random.Random(place).randbytes(length) if data.draw(st.booleans()) else bytes(length)
        content[place : place + length] = noise[: len(content) - place]
        hit |= {n for n, start in enumerate(starts) if start < place + length and place < start + len(parts[n])}
    with tempfile.TemporaryDirectory() as name:
        found = list(pieces(written(Path(name), bytes(content))))
    assert found[0].offset == 0 and sum(piece.length for piece in found) == len(content)
    whole = {piece.offset for piece in found if isinstance(piece, Member)}
    assert {starts[n] for n in range(len(parts)) if n not in hit} <= whole


def test_a_payload_that_looks_like_a_member_is_none(tmp_path: Path) -> None:
    inside = packed(a_record(7, 100))
    outer = record("response", 0.0, {}, b"HTTP/1.1 200 OK\r\n\r\n" + inside)
    found = list(pieces(written(tmp_path, packed(outer) + packed(a_record(1, 10)))))
    assert [piece.offset for piece in found] == [0, len(packed(outer))]


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 9_000, 65_530, 65_531, 65_547, 65_548, 200_000])
def test_a_payload_that_came_compressed_is_stored_as_it_is(tmp_path: Path, size: int) -> None:
    payload = random.Random(size).randbytes(size)
    member = packed_around(b"WARC/1.1\r\nContent-Length: %d\r\n\r\n" % size, payload)
    file = written(tmp_path, member + packed(a_record(1, 10)))
    found = list(pieces(file))
    assert [piece.length for piece in found] == [len(member), len(packed(a_record(1, 10)))]
    assert all(isinstance(piece, Member) and piece.record.is_record for piece in found)
    assert unpacked(file, 0) == b"WARC/1.1\r\nContent-Length: %d\r\n\r\n" % size + payload + BLANK
    assert gzip.decompress(member) == unpacked(file, 0)
    assert payload[16:65_000] in member and len(member) < size + 150


def forging(content: bytes) -> bytes:
    """A stored response with a payload that consists of a member, or has one, and is damaged in its head."""
    http = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
    member = bytearray(packed_around(record_head("response", 0.0, {}, http + content) + http, content))
    member[len(HEADER) + 20] ^= 8
    return bytes(member)


@pytest.mark.parametrize(
    "before", [b"", gzip.compress(b"a page", mtime=0), bytes(70_000)], ids=["nothing", "a gzip member", "zeros"]
)
def test_a_member_inside_a_payload_is_not_found_even_if_its_record_is_damaged(tmp_path: Path, before: bytes) -> None:
    damaged = forging(before + packed(a_record(7, 3000)))
    found = list(pieces(written(tmp_path, damaged + packed(a_record(1, 10)))))
    assert [(type(piece), piece.offset) for piece in found] == [(Gap, 0), (Member, len(damaged))]


@pytest.mark.parametrize("place", range(len(HEADER)))
def test_a_damaged_header_does_not_cost_the_record(tmp_path: Path, place: int) -> None:
    first, second = packed(a_record(0, 600)), packed(a_record(1, 600))
    for bit in range(8):
        content = bytearray(first + second)
        content[len(first) + place] ^= 1 << bit
        found = list(pieces(written(tmp_path, bytes(content))))
        assert [piece.length for piece in found] == [len(first), len(second)]
        assert all(isinstance(piece, Member) and piece.record.is_record for piece in found)


def test_the_end_that_a_killed_process_leaves_is_told_from_damage(tmp_path: Path) -> None:
    first, second = packed(a_record(0, 600)), packed(a_record(1, 600))
    for length in range(1, len(second), 3):
        *_, end = pieces(written(tmp_path, first + second[:length]))
        assert end == Gap(len(first), length, torn=True)
    *_, end = pieces(written(tmp_path, first + bytes(700)))
    assert end == Gap(len(first), 700, torn=True)
    damaged = bytearray(first + second)
    damaged[len(first) + 200] ^= 4
    *_, end = pieces(written(tmp_path, bytes(damaged)))
    assert end == Gap(len(first), len(second), torn=False)


def test_a_few_bytes_that_stand_for_gigabytes_take_no_memory(tmp_path: Path) -> None:
    squeezed = zlib.compressobj(1, wbits=31)
    bomb = b"".join(squeezed.compress(bytes(1 << 24)) for _ in range((LARGEST >> 24) + 1)) + squeezed.flush()
    file = written(tmp_path, bomb + packed(a_record(1, 10)))
    tracemalloc.start()
    try:
        assert max(member.record.size for member in members(file)) > LARGEST
        assert tracemalloc.get_traced_memory()[1] < 1 << 25
    finally:
        tracemalloc.stop()
    assert unpacked(file, 0) is None
    assert unpacked(file, len(bomb)) == a_record(1, 10)

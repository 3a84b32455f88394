"""Evidence on disk: numbers without names."""

from __future__ import annotations

import contextlib
import pickle
import sqlite3
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.frontier.evidence import EvidenceNames, PackedEvidence

VALUES = st.floats(allow_nan=False)
EVIDENCE = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)


@given(st.lists(EVIDENCE, max_size=8))
def test_what_was_packed_is_read_by_whoever_has_the_names_of_the_file(found: list[dict[str, float]]) -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE evidence_names (id INTEGER PRIMARY KEY, names TEXT NOT NULL)")
        names = EvidenceNames.of(db)
        packed = [names.pack(one) for one in found]
        names.write(db)
        assert [EvidenceNames.of(db).unpack(one) for one in packed] == found
        assert [names.pack(one) for one in found] == packed


@given(EVIDENCE)
def test_evidence_that_was_read_is_a_mapping_equal_to_the_one_written(written: dict[str, float]) -> None:
    names = EvidenceNames()
    read = names.unpack(names.pack(written))
    assert read == written and written == read and dict(read) == written and list(read) == list(written)
    assert len(read) == len(written) and all(name in read for name in written) and "no such name" not in read
    assert pickle.loads(pickle.dumps(read)) == written and repr(read) == repr(written)
    assert names.pack(read) == names.pack(written)


def test_evidence_is_compared_by_its_numbers() -> None:
    zero, negative = (PackedEvidence(("a",), struct.pack("<d", number)) for number in (0.0, -0.0))
    assert zero == negative == {"a": 0.0} and zero != PackedEvidence(("b",), zero.numbers) and zero != {"a": 1.0}


def test_names_are_written_once() -> None:
    names = EvidenceNames()
    first, second = names.pack({"hub": 1.0, "depth": 2.0}), names.pack({"hub": 3.0, "depth": 4.0})
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE evidence_names (id INTEGER PRIMARY KEY, names TEXT NOT NULL)")
        names.write(db)
        names.write(db)
        assert db.execute("SELECT names FROM evidence_names").fetchall() == [('["hub", "depth"]',)]
    assert first[:2] == second[:2] and b"hub" not in first


@pytest.mark.parametrize("strange", [b"\x01", b"\x01\x00", b"\x09\x00" + bytes(8), b"\x01\x00" + bytes(16), 7, None])
def test_what_no_crawl_wrote_is_no_evidence(strange: object) -> None:
    names = EvidenceNames([(1, '["e"]'), (2, "{"), (3, "[7]")])
    with pytest.raises(ValueError, match="not evidence"):
        names.unpack(strange)

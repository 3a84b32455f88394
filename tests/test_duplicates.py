"""Duplicates: the same payload, nearly the same text, and neither."""

from __future__ import annotations

import random
import sqlite3
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.parse.simhash import text_fingerprint
from spoor.store.duplicates import FARTHEST, Duplicates
from spoor.store.warc import Kept
from spoor.store.warc_records import digest_of

SENTENCE = "horse steppe river of the and morning winter they rode across an old wide far valley people who came"


def article(seed: int, words: int = 600) -> str:
    chance = random.Random(seed)
    made = ["".join(chance.choices("abcdefghijklmnoprstuv", k=chance.randint(3, 9))) for _ in range(200)]
    return " ".join(chance.choices(SENTENCE.split() + made, k=words))


def fingerprint(text: str) -> int | None:
    return text_fingerprint(text).fingerprint


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:", isolation_level=None)
    Duplicates.create(db)
    yield db
    db.close()


def test_fingerprints_stay_the_same_because_they_are_stored() -> None:
    text = " ".join(f"word{n % 7} and การเดินทาง {n % 11}" for n in range(40))
    found = text_fingerprint(text)
    assert found.fingerprint == -6629606713781593269
    assert (len(found.passages), zlib.crc32(found.passages)) == (56, 440877961)
    assert (fingerprint("x" * 47), fingerprint("x" * 48)) == (None, 1346172575041588410)


def test_a_like_text_is_found_before_and_after_it_was_written(db: sqlite3.Connection) -> None:
    seen = Duplicates(db)
    text = article(1)
    assert seen.alike("http://a.test/1", fingerprint(text)) == ""
    for _ in range(2):
        assert seen.alike("http://a.test/2", fingerprint(text.replace("winter", "autumn", 1))) == "http://a.test/1"
        assert seen.alike("http://a.test/1", fingerprint(text)) == ""
        seen.write(db)
    assert seen.alike("http://a.test/3", fingerprint(article(2))) == ""
    assert Duplicates(db).alike("http://a.test/4", fingerprint(text)) == "http://a.test/1"
    assert db.execute("SELECT count(*) FROM fingerprints").fetchone() == (1,)


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.sets(st.integers(0, 63), max_size=6))
def test_every_fingerprint_near_enough_is_found(fingerprint: int, flipped: set[int]) -> None:
    db = sqlite3.connect(":memory:", isolation_level=None)
    Duplicates.create(db)
    seen = Duplicates(db)
    seen.alike("first", fingerprint)
    seen.write(db)
    other = (fingerprint & (1 << 64) - 1) ^ sum(1 << bit for bit in flipped)
    assert seen.alike("second", signed(other)) == ("first" if len(flipped) <= FARTHEST else "")
    db.close()


@given(
    st.integers(0, (1 << 64) - 1),
    st.lists(st.tuples(st.sets(st.integers(0, 63), max_size=3), st.sampled_from("abcdef"), st.booleans()), max_size=12),
)
def test_what_is_found_is_what_a_search_of_all_fingerprints_finds(
    middle: int, pages: list[tuple[set[int], str, bool]]
) -> None:
    """Those written earlier come first."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    Duplicates.create(db)
    seen = Duplicates(db)
    batches: list[list[tuple[int, str]]] = [[]]
    for flipped, url, is_last_of_batch in pages:
        bits = middle ^ sum(1 << bit for bit in flipped)
        near = [[other for known, other in batch if (known ^ bits).bit_count() <= FARTHEST] for batch in batches]
        first = next((others for batch in near if (others := set(batch) - {url})), {""})
        assert seen.alike(url, signed(bits)) in first
        if not any(near):
            batches[-1].append((bits, url))
        if is_last_of_batch:
            seen.write(db)
            batches.append([])
    db.close()


def signed(bits: int) -> int:
    return bits - (1 << 64) if bits >> 63 else bits


def test_a_band_of_an_unknown_fingerprint_is_like_nothing(db: sqlite3.Connection) -> None:
    seen = Duplicates(db)
    seen.alike("first", 7)
    seen.write(db)
    db.execute("DELETE FROM fingerprints")
    assert seen.alike("second", 7) == ""


def test_texts_too_short_to_tell_are_like_nothing(db: sqlite3.Connection) -> None:
    seen = Duplicates(db)
    assert fingerprint("Loading…") is None
    assert seen.alike("a", None) == seen.alike("b", None) == ""


def test_the_first_of_equal_payloads_is_remembered(db: sqlite3.Connection) -> None:
    seen = Duplicates(db)
    first = Kept("http://a.test/1", 5.0, "sha1:A", "<urn:uuid:1>", "w.warc.gz", 17)
    assert seen.same("sha1:A") is None
    seen.remember(first)
    seen.remember(Kept("http://a.test/2", 6.0, "sha1:A", "<urn:uuid:2>", "w.warc.gz", 99))
    assert seen.same("sha1:A") == first
    seen.write(db)
    seen.remember(Kept("http://a.test/3", 7.0, "sha1:A", "<urn:uuid:3>", "w.warc.gz", 999))
    seen.write(db)
    assert Duplicates(db).same("sha1:A") == first


def test_empty_payloads_are_no_duplicates(db: sqlite3.Connection) -> None:
    seen = Duplicates(db)
    seen.remember(Kept("http://a.test/1", 5.0, digest_of(b""), "<urn:uuid:1>", "w.warc.gz", 17))
    seen.write(db)
    assert seen.same(digest_of(b"")) is None

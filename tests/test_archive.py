"""What a live crawl stores of a page besides the frontier: responses, facts and verdicts."""

from __future__ import annotations

import gzip
import os
import random
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spoor.events import Visited
from spoor.live.archive import Archive, ResponseArchive
from spoor.records import Judged, Page, TextFingerprint, Verdict, Visit
from spoor.store.duplicates import Duplicates
from spoor.store.incidents import SavedTroubles
from spoor.store.journal import Journal
from spoor.store.warc import WarcWriter
from tests.kept_responses import NOON, passes_warcio_check, records_of, response, warcs_in

VERDICT = Verdict(0.5, True, "a word")


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    db = sqlite3.connect(":memory:", isolation_level=None)
    Duplicates.create(db)
    with WarcWriter(tmp_path, {}) as keeper:
        known = Duplicates(db)
        yield Archive(ResponseArchive(keeper, known), Journal(), known, SavedTroubles(tmp_path / "trouble"))
    db.close()


def visit(number: int) -> Visit:
    return Visit(f"http://a.test/{number}", "a.test", number, NOON)


def stored(archive: Archive, number: int, body: bytes, verdict: Verdict = VERDICT) -> tuple[Judged, Judged]:
    """The outcome before and after it is described."""
    came = replace(response(visit(number).url, gzip.compress(body, mtime=0)), body=body)
    kept = archive.responses.keep(came)
    page = Page(visit(number).url, text_fingerprint=TextFingerprint(random.Random(number).getrandbits(63), b""))
    outcome = Judged(page, verdict, "en", 0.0)
    return outcome, archive.describe(outcome, kept)


def event(number: int, verdict: Verdict = VERDICT) -> Visited:
    return Visited(visit(number), NOON + number, 200, 9, verdict, 0, 0, (), 1)


def test_a_page_without_a_duplicate_stays_as_it_is(archive: Archive) -> None:
    for number in range(1, 4):
        before, after = stored(archive, number, b"page %d" % number * 9)
        assert after is before


def test_a_duplicate_names_the_first(archive: Archive) -> None:
    stored(archive, 1, b"the same page " * 9)
    before, after = stored(archive, 2, b"the same page " * 9)
    assert after == replace(before, page=replace(before.page, duplicate_of=visit(1).url))


def test_the_verdicts_of_a_batch_are_one_write(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        stored(archive, number, b"page %d" % number * 9)
    writes: list[int] = []
    write = os.write

    def counted(file: int, data: Any) -> int:
        writes.append(write(file, data))
        return writes[-1]

    monkeypatch.setattr(os, "write", counted)
    archive.note([event(number) for number in range(20)])
    assert len(writes) == 1
    written = records_of(*warcs_in(tmp_path))[-20:]
    assert [record.headers["WARC-Target-URI"] for record in written] == [visit(number).url for number in range(20)]
    assert {record.kind for record in written} == {"metadata"} and passes_warcio_check(*warcs_in(tmp_path))
    archive.note([event(number) for number in range(20)])
    assert len(writes) == 1


def test_a_verdict_that_cannot_be_written_costs_only_itself(archive: Archive, tmp_path: Path) -> None:
    strange = replace(VERDICT, relevance="much")  # type: ignore[arg-type]  # as a plug-in might return
    for number in range(3):
        stored(archive, number, b"page %d" % number * 9)
    archive.note([event(0), event(1, strange), event(2)])
    noted = [record for record in records_of(*warcs_in(tmp_path)) if record.kind == "metadata"]
    assert [record.headers["WARC-Target-URI"] for record in noted] == [visit(0).url, visit(2).url]
    assert len(list((tmp_path / "trouble").iterdir())) >= 1

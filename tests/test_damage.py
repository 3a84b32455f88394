"""Bits that flip: nothing that can still be read is lost, what was damaged is kept, and each flip that matters is told.

60 places each of a WARC file, of the database and of an index, always the same ones.
"""

from __future__ import annotations

import contextlib
import logging
import random
import shutil
import sqlite3
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from spoor.store.cdxj import index_of
from spoor.store.crawl_folder import CrawlFolder, message_of, open_for_crawling
from spoor.store.database_check import check_database
from spoor.store.database_repair import known_rows, rebuild
from spoor.store.folder_check import check, repair_folder
from spoor.store.incidents import Finding
from spoor.store.journal import open_to_read, pages
from spoor.store.sqlite_files import sums_of
from spoor.store.tables import shapes
from spoor.store.warc_records import members, unpacked
from spoor.store.warc_repair import repair
from tests.effort import times
from tests.kept_crawl import kept_crawl
from tests.kept_responses import passes_warcio_check

FLIPS = times(60)
KEYS = {
    "links": "url",
    "hosts": "name",
    "pages": "url",
    "events": "id",
    "dropped": "url",
    "digests": "digest",
    "robots": "url",
}
PAGE = 4096


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    folder = kept_crawl(tmp_path_factory.mktemp("kept") / "crawl")
    assert check(folder).found == []
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    """All in one WARC file."""
    return kept_crawl(tmp_path_factory.mktemp("small") / "crawl", pages=15, largest=1 << 30)


def flips(file: Path, seed: int) -> Iterator[tuple[int, int]]:
    chance = random.Random(seed)
    return ((chance.randrange(file.stat().st_size), chance.randrange(8)) for _ in range(FLIPS))


def copy_with_flip(crawl: CrawlFolder, out: Path, name: str, place: int, bit: int) -> CrawlFolder:
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(crawl.path, out)
    flip(out / name, place, bit)
    return CrawlFolder(out)


def flip(file: Path, place: int, bit: int) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= 1 << bit
    file.write_bytes(content)


def records(file: Path) -> dict[int, bytes | None]:
    return {member.offset: unpacked(file, member.offset) for member in members(file)}


class TestAWarcFile:
    def test_keeps_every_record_but_the_one_that_was_hit(self, small: CrawlFolder, tmp_path: Path) -> None:
        (whole,) = small.warcs.glob("*.warc.gz")
        before, ends = records(whole), {member.offset: member.end for member in members(whole)}
        lost_in_all, harmless = 0, 0
        for place, bit in flips(whole, 1):
            shutil.rmtree(tmp_path / "damaged", ignore_errors=True)
            file = Path(shutil.copy(whole, tmp_path / whole.name))
            flip(file, place, bit)
            damaged = file.read_bytes()
            done = repair(file)
            after = records(file)
            lost = [offset for offset, record in before.items() if after.get(offset) != record]
            assert lost in ([], [offset for offset, end in ends.items() if offset <= place < end])
            if done is None:
                # Bytes of gzip that mean nothing: the time, the system, what fills up the last byte.
                assert file.read_bytes() == damaged and lost == []
                harmless += 1
            else:
                (aside,) = [one.read_bytes() for one in (tmp_path / "damaged").iterdir()]
                assert aside == damaged or file.read_bytes() + aside == damaged
            lost_in_all += len(lost)
        assert lost_in_all <= FLIPS and harmless < FLIPS / 10

    @pytest.mark.parametrize("finished", [True, False], ids=["checked and repaired", "left by a killed crawl"])
    def test_that_was_damaged_leaves_a_folder_in_which_all_agrees(
        self, small: CrawlFolder, tmp_path: Path, finished: bool
    ) -> None:
        (whole,) = small.warcs.glob("*.warc.gz")
        for place, bit in list(flips(whole, 1))[: times(10)]:
            crawl = copy_with_flip(small, tmp_path / "crawl", f"warc/{whole.name}", place, bit)
            if finished:
                found = check(crawl)
                assert found.damage == bool(repair_folder(crawl, found))
            else:
                index_of(crawl.warcs / whole.name).unlink()
                with open_for_crawling(crawl.path):
                    pass
            assert check(crawl).found == []

    def test_that_was_repaired_is_one_that_others_can_read(self, small: CrawlFolder, tmp_path: Path) -> None:
        (whole,) = small.warcs.glob("*.warc.gz")
        for place, bit in list(flips(whole, 1))[: times(8)]:
            crawl = copy_with_flip(small, tmp_path / "crawl", f"warc/{whole.name}", place, bit)
            repair_folder(crawl, check(crawl))
            assert passes_warcio_check(crawl.warcs / whole.name)

    def test_says_in_one_line_what_was_lost_and_where_the_rest_is(
        self, small: CrawlFolder, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        (whole,) = small.warcs.glob("*.warc.gz")
        crawl = copy_with_flip(small, tmp_path / "crawl", f"warc/{whole.name}", whole.stat().st_size // 2, 3)
        index_of(crawl.warcs / whole.name).unlink()
        with caplog.at_level(logging.WARNING), open_for_crawling(crawl.path):
            pass
        (told,) = caplog.messages
        kept = len(records(whole)) - 1
        assert "was damaged" in told and f"all {kept} readable records are kept" in told and "\n" not in told
        assert f"damaged/{whole.name}" in told

    def test_that_lost_a_payload_lets_it_be_kept_again(self, small: CrawlFolder, tmp_path: Path) -> None:
        """Pages stay in the journal, the others find their records, and the payload is forgotten."""
        (whole,) = small.warcs.glob("*.warc.gz")
        with contextlib.closing(open_to_read(small.database)) as db:
            hit = next(page for page in pages(db) if not page.duplicate_of)
        assert hit.warc_offset is not None
        crawl = copy_with_flip(small, tmp_path / "crawl", f"warc/{whole.name}", hit.warc_offset + 300, 1)
        index_of(crawl.warcs / whole.name).unlink()
        with open_for_crawling(crawl.path):
            pass
        with contextlib.closing(open_to_read(crawl.database)) as db:
            messages = {page.url: message_of(crawl, db, page) for page in pages(db)}
            digests = {digest for (digest,) in db.execute("SELECT digest FROM digests")}
        assert len(messages) > 10
        assert [url for url, message in messages.items() if message is None] == [hit.url]
        assert hit.digest not in digests

    def test_that_is_hit_in_many_places_keeps_what_lies_between(self, small: CrawlFolder, tmp_path: Path) -> None:
        (whole,) = small.warcs.glob("*.warc.gz")
        before, ends = records(whole), {member.offset: member.end for member in members(whole)}
        for seed in range(10):
            crawl = copy_with_flip(small, tmp_path / "crawl", f"warc/{whole.name}", 0, 1)
            file, chance = crawl.warcs / whole.name, random.Random(seed)
            places = [chance.randrange(file.stat().st_size) for _ in range(5)]
            for place in places:
                flip(file, place, 2)
            repair_folder(crawl, check(crawl))
            hit = {offset for offset, end in ends.items() if any(offset <= place < end for place in (0, *places))}
            kept = records(file)
            assert all(kept.get(offset) == record for offset, record in before.items() if offset not in hit)
            assert not check(crawl).damage


class TestADatabase:
    def test_keeps_every_row_outside_the_page_that_was_hit(self, crawl: CrawlFolder, tmp_path: Path) -> None:
        before, lost_in_all = keys_in(crawl.database), 0
        elsewhere = cache(lambda page: keys_without(crawl.database, page))
        for place, bit in flips(crawl.database, 2):
            database = copy_of_database(crawl, tmp_path / "crawl")
            flip(database, place, bit)
            assert damage_of(database), f"bit {bit} of byte {place} was not noticed"
            assert rebuild(database) is not None
            assert damage_of(database) == []
            kept = keys_in(database)
            assert all(there <= kept[table] for table, there in elsewhere(place // PAGE).items())
            lost_in_all += sum(len(there - kept[table]) for table, there in before.items())
            assert (database.parent / "damaged" / "crawl.db").exists()
        assert lost_in_all < FLIPS / 2

    def test_that_was_damaged_leaves_a_folder_in_which_all_agrees(self, crawl: CrawlFolder, tmp_path: Path) -> None:
        for place, bit in list(flips(crawl.database, 2))[: times(10)]:
            copied = copy_with_flip(crawl, tmp_path / "crawl", "crawl.db", place, bit)
            repair_folder(copied, check(copied))
            assert check(copied).found == []

    def test_that_is_whole_is_rebuilt_as_it_was(self, crawl: CrawlFolder, tmp_path: Path) -> None:
        copied = CrawlFolder(shutil.copytree(crawl.path, tmp_path / "crawl"))
        assert rebuild(copied.database) is not None
        for table in (*KEYS, "counters", "fingerprints", "bands"):
            assert rows(copied.database, table) == rows(crawl.database, table)

    @pytest.mark.parametrize("first", [0, 16, 24, 40, 100])
    def test_without_its_beginning_is_still_read(self, crawl: CrawlFolder, tmp_path: Path, first: int) -> None:
        copied = CrawlFolder(shutil.copytree(crawl.path, tmp_path / "crawl"))
        content = bytearray(copied.database.read_bytes())
        content[first : first + 60] = bytes(60)
        copied.database.write_bytes(content)
        found = check(copied)
        assert found.damage
        repair_folder(copied, found)
        assert keys_in(copied.database) == keys_in(crawl.database)
        assert not check(copied).damage

    def test_of_a_killed_crawl_keeps_what_was_still_in_its_log(self, crawl: CrawlFolder, tmp_path: Path) -> None:
        copied = CrawlFolder(shutil.copytree(crawl.path, tmp_path / "crawl"))
        sums_of(copied.database).unlink()
        with contextlib.closing(sqlite3.connect(copied.database, isolation_level=None)) as db:
            db.execute("UPDATE counters SET value = 5 WHERE name = 'settled'")
            db.execute("UPDATE pages SET title = 'changed last'")
            shutil.copytree(copied.path, tmp_path / "killed")
        killed = CrawlFolder(tmp_path / "killed")
        assert (tmp_path / "killed" / "crawl.db-wal").stat().st_size
        found = check(killed)
        assert [str(one) for one in found.found] == ["crawl.db: 40 links settled, but the counter says 5"]
        repair_folder(killed, found)
        assert not check(killed).damage
        assert {title for (_, title) in rows(killed.database, "pages", "url, title")} == {"changed last"}
        assert not (tmp_path / "killed" / "crawl.db-wal").exists() or not check(killed).found

    def test_of_a_killed_crawl_loses_nothing_to_a_damaged_log(self, crawl: CrawlFolder, tmp_path: Path) -> None:
        """SQLite would drop all commits after the damage, without a word."""
        database = copy_of_database(crawl, tmp_path / "whole")
        sums_of(database).unlink()
        with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as db:
            for number in range(1, 12):
                place = "(SELECT id FROM pages ORDER BY id LIMIT 1 OFFSET ?)"
                db.execute(f"UPDATE pages SET title = ? WHERE id = {place}", (f"title {number}", number - 1))
                columns = "number, started, at, kind, url, host, detail, result"
                again = "number, started, at, 'held', url, host, detail, ''"
                db.execute(f"INSERT INTO events ({columns}) SELECT {again} FROM events LIMIT 20")
            shutil.copytree(database.parent, tmp_path / "killed")
        log = tmp_path / "killed" / "crawl.db-wal"
        assert damage_of(tmp_path / "killed" / "crawl.db") == []
        chance, committed = random.Random(5), rows(database, "events", "id")
        for _ in range(times(10)):
            copied = Path(shutil.copytree(tmp_path / "killed", tmp_path / "damaged")) / "crawl.db"
            flip(copied.with_name("crawl.db-wal"), chance.randrange(32, log.stat().st_size), chance.randrange(8))
            assert any("crawl.db-wal is damaged" in str(one) for one in damage_of(copied))
            rebuild(copied)
            assert damage_of(copied) == []
            kept = rows(copied, "events", "id")
            assert len(committed - kept) <= 20
            assert sum(str(title).startswith("title ") for (title,) in rows(copied, "pages", "title")) >= 10
            assert copied.with_name("damaged").joinpath("crawl.db-wal").exists()
            shutil.rmtree(copied.parent)

    def test_a_crawl_goes_on_with_what_was_repaired(self, crawl: CrawlFolder, tmp_path: Path) -> None:
        """What came is not fetched again, though its link was lost; hosts are numbered as the frontier expects."""
        copied = CrawlFolder(shutil.copytree(crawl.path, tmp_path / "crawl"))
        with contextlib.closing(sqlite3.connect(copied.database, isolation_level=None)) as db:
            db.execute("DELETE FROM links WHERE id % 3 = 0")
            db.execute("DELETE FROM hosts WHERE id = 2")
        repair_folder(copied, check(copied))
        assert not check(copied).damage
        with contextlib.closing(sqlite3.connect(copied.database)) as db:
            numbers = [number for (number,) in db.execute("SELECT id FROM hosts ORDER BY id")]
            settled = {url for (url,) in db.execute("SELECT url FROM links WHERE state = 4")}
            came = {url for (url,) in db.execute("SELECT url FROM pages")}
        assert numbers == list(range(1, len(numbers) + 1))
        assert came <= settled

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ("UPDATE counters SET value = value + 1 WHERE name = 'waiting'", "links waiting, but the counter says"),
            ("UPDATE counters SET value = 0 WHERE name = 'visits'", "the counter visits says 0"),
            ("UPDATE links SET state = 9 WHERE id = 3", "links in an unknown state: 1"),
            ("UPDATE links SET hash = hash + 1 WHERE id = 3", "links with another hash than their URL: 1"),
            ("UPDATE links SET host = 77 WHERE id = 3", "links of another host than their URL: 1"),
            ("UPDATE links SET evidence = x'ff' WHERE id = 3", "links with evidence or a trail that cannot be read: 1"),
            ("UPDATE links SET trail = '{' WHERE id = 3", "links with evidence or a trail that cannot be read: 1"),
            ("UPDATE evidence_names SET names = '{'", "lists of names that are not JSON: 1"),
            ("UPDATE links SET url = x'ff' WHERE id = 3", "rows of links with values of another type: 1"),
            ("UPDATE pages SET relevance = 7 WHERE id = 3", "pages with an impossible relevance, status or time: 1"),
            ("UPDATE pages SET ended = 9e300 WHERE id = 3", "pages with an impossible relevance, status or time: 1"),
            (
                "DELETE FROM links WHERE url = (SELECT url FROM pages)",
                "fetched pages whose link is not settled",
            ),
            ("UPDATE events SET detail = 'x' WHERE id = 1", "events with details that are not JSON: 1"),
            ("DELETE FROM bands WHERE fingerprint = 2", "fingerprints without their bands: 1"),
            ("UPDATE bands SET simhash = ~simhash WHERE fingerprint = 2", "fingerprints without their bands: 1"),
            ("UPDATE bands SET band = band + 1 WHERE fingerprint = 2", "fingerprints without their bands: 1"),
            ("INSERT INTO bands VALUES (1, 999, 1)", "bands without their fingerprint: 1"),
            ("DROP TABLE dropped", "the table dropped is missing"),
            ("CREATE TRIGGER t AFTER INSERT ON links BEGIN DELETE FROM links; END", "holds the trigger t"),
            ("UPDATE pages SET warc_offset = warc_offset + 1 WHERE id = 3", "1 page of crawl.db not where it says"),
            ("UPDATE pages SET warc_file = 'x.warc.gz' WHERE id = 3", "is missing, but crawl.db has 1 page in it"),
            (
                "UPDATE digests SET warc_offset = 1 WHERE url = (SELECT url FROM pages)",
                "1 payload of crawl.db not where",
            ),
        ],
    )
    def test_that_disagrees_with_itself_or_the_archive_is_told_and_repaired(
        self, crawl: CrawlFolder, tmp_path: Path, change: str, told: str
    ) -> None:
        copied = CrawlFolder(shutil.copytree(crawl.path, tmp_path / "crawl"))
        with contextlib.closing(sqlite3.connect(copied.database, isolation_level=None)) as db:
            changed = db.execute(change)
            assert changed.rowcount != 0
        sums_of(copied.database).unlink()
        found = check(copied)
        assert any(told in str(one) for one in found.found), found.found
        repair_folder(copied, found)
        assert check(copied).found == []
        if "url = x'ff'" not in change:
            urls = {url for (url,) in rows(copied.database, "links", "url")}
            assert urls == {url for (url,) in rows(crawl.database, "links", "url")}

    def test_of_which_nothing_can_be_read_stays_as_it_is(self, crawl: CrawlFolder, tmp_path: Path) -> None:
        copied = CrawlFolder(shutil.copytree(crawl.path, tmp_path / "crawl"))
        copied.database.write_bytes(random.Random(1).randbytes(100_000))
        found = check(copied)
        assert any("cannot be read: file is not a database" in str(one) for one in found.found)
        repair_folder(copied, found)
        assert copied.database.read_bytes() == random.Random(1).randbytes(100_000)

    def test_any_bytes_are_told_of_in_words(self, tmp_path: Path) -> None:
        """Never an exception, whatever the file holds."""
        header = b"SQLite format 3\0\x10\0\x02\x02\0\x40\x20\x20"
        for seed in range(60):
            chance = random.Random(seed)
            content = chance.randbytes(chance.choice([0, 1, 99, 512, 5000, 40_000]))
            (tmp_path / "crawl.db").write_bytes(header * (seed % 2) + content)
            assert damage_of(tmp_path / "crawl.db") or not content

    def test_has_no_two_tables_whose_rows_could_be_taken_for_one_another(self) -> None:
        """Rows of a damaged file are told by their values. What two tables alike would need, `database_repair` says."""
        told_by_more = {"counters"}
        some = (None, 1, 0.5, "text", b"bytes")
        for one, other in combinations([shape for name, shape in shapes().items() if name not in told_by_more], 2):
            if one.has_numbers == other.has_numbers and len(one.columns) == len(other.columns):
                pairs = zip(one.columns, other.columns, strict=True)
                alike = all(any(x.takes(value) and y.takes(value) for value in some) for x, y in pairs)
                assert not alike, f"{one.name} and {other.name}"


class TestAnIndex:
    def test_is_written_anew_exactly(self, small: CrawlFolder, tmp_path: Path) -> None:
        (whole,) = small.warcs.glob("*.cdxj")
        for place, bit in flips(whole, 3):
            copied = copy_with_flip(small, tmp_path / "crawl", f"warc/{whole.name}", place, bit)
            found = check(copied)
            assert found.damage, f"bit {bit} of byte {place} was not noticed"
            repair_folder(copied, found)
            assert (copied.warcs / whole.name).read_bytes() == whole.read_bytes()
            assert check(copied).found == []

    def test_that_lacks_a_line_has_one_too_many_or_is_out_of_order_is_told(
        self, crawl: CrawlFolder, tmp_path: Path
    ) -> None:
        copied = CrawlFolder(shutil.copytree(crawl.path, tmp_path / "crawl"))
        index = sorted(copied.warcs.glob("*.cdxj"))[0]
        lines = index.read_text().splitlines(keepends=True)
        for wrong, told in (
            (lines[1:], "0 lines that lead to no such record, 1 record that it lacks"),
            ([*lines, "a b {}\n"], f"1 line that lead to no such record (first {len(lines) + 1}), 0 records"),
            (lines[::-1], "unsorted"),
        ):
            index.write_text("".join(wrong))
            (found,) = check(copied).found
            assert told in found.what
        index.unlink()
        (found,) = check(copied).found
        assert not found.damage and "is missing, because the crawl was killed" in found.what


def copy_of_database(crawl: CrawlFolder, out: Path) -> Path:
    """With its checksums, alone."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    shutil.copy(sums_of(crawl.database), out)
    return Path(shutil.copy(crawl.database, out))


def damage_of(database: Path) -> list[Finding]:
    found = list[Finding]()
    check_database(database, True, found.append)
    return found


def rows(database: Path, table: str, columns: str = "*") -> set[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(database)) as db:
        return set(db.execute(f"SELECT {columns} FROM {table}"))


def keys_in(database: Path) -> dict[str, set[object]]:
    return {table: {key for (key,) in rows(database, table, column)} for table, column in KEYS.items()}


def keys_without(database: Path, page: int) -> dict[str, set[object]]:
    """What can be read of a database when one of its pages is lost altogether."""
    copied = database.with_name("without.db")
    content = bytearray(database.read_bytes())
    content[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    copied.write_bytes(content)
    found: dict[str, set[object]] = {table: set() for table in KEYS}
    for shape, row in known_rows(copied):
        if shape.name in KEYS:
            names = [column.name for column in shape.columns]
            found[shape.name].add(dict(zip(names, shape.values(row), strict=True))[KEYS[shape.name]])
    copied.unlink()
    return found

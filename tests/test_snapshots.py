"""Snapshots of what was learned: when they are used, and when a crawl does without."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.cli.main import main
from spoor.errors import BadInput
from spoor.files import State
from spoor.judging.combined import Truth
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.web import Web
from spoor.live.from_settings import strategy_of
from spoor.live.relearning import ROWS, SECONDS, SnapshotWriter, relearn_all, snapshot_of
from spoor.ordering.admissions import AllOf
from spoor.ordering.learned.learned import Learned
from spoor.ordering.scope import Scope
from spoor.ordering.traps import Traps
from spoor.registry import strategy
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.journal import Journal, Place, count_lessons, open_to_read, place_at
from spoor.store.snapshots import Snapshot, Snapshots, named_parts, read_snapshot, write_snapshot
from spoor.strategy import Strategy
from tests.test_live import crawl_live, settings
from tests.test_resume_exact import drawn, first
from tests.written_crawl import crawl_into

WORLD = drawn(4)
SETTINGS = '[target]\nkeywords = ["horse"]\n[crawl]\nseeds = ["http://a.test/"]\nstrategy = "learned"\n'


def learning(pages_per_host: int | None = 20) -> Strategy:
    made = strategy("learned", Truth("wanted", WORLD.truth))
    return replace(made, admission=AllOf((Scope(pages_per_host=pages_per_host), Traps())))


def place_of(folder: CrawlFolder, number: int) -> Place:
    with contextlib.closing(open_to_read(folder.database)) as db:
        place = place_at(db, number)
    assert place is not None
    return place


def rows(folder: CrawlFolder) -> int:
    with contextlib.closing(sqlite3.connect(folder.database)) as db:
        return count_lessons(db)


@pytest.fixture
def crawl(tmp_path: Path) -> CrawlFolder:
    """With a snapshot of its end, and one that stands for row 20."""
    used = learning()
    folder = crawl_into(tmp_path / "crawl", WORLD, used, [first(WORLD)])
    folder.write_settings(SETTINGS)
    early, place = learning(), place_of(folder, 20)
    with contextlib.closing(sqlite3.connect(folder.database)) as db:
        relearn_until(early, db, 20)
    folder.snapshots.write(snapshot_of(early, place, ""))
    folder.snapshots.write(snapshot_of(used, place_of(folder, rows(folder)), ""))
    return folder


def relearn_until(strategy: Strategy, db: sqlite3.Connection, number: int) -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as copy:
        db.backup(copy)
        copy.execute("DELETE FROM pages WHERE id > ?", (number,))
        copy.execute("DELETE FROM events WHERE id > ?", (number,))
        relearn_all(strategy, copy)


def relearned(folder: CrawlFolder, strategy: Strategy) -> int:
    """Visits that were learned from again."""
    learned = 0

    def advance(visits: int) -> None:
        nonlocal learned
        learned += visits

    with contextlib.closing(sqlite3.connect(folder.database)) as db:
        relearn_all(strategy, db, None, advance, folder.snapshots)
    return learned


def known(strategy: Strategy) -> dict[str, object]:
    """To the last bit, but for what no visit in the journal teaches."""
    states = {name: part.state() for name, part in named_parts(strategy.learners()).items()}
    return {name: _flat(state) for name, state in states.items() if not name.startswith("Traps")}


def _flat(state: State) -> object:
    return {
        name: value.tobytes() if isinstance(value, np.ndarray) else _flat(value) if isinstance(value, dict) else value
        for name, value in state.items()
        if name != "gave"
    }


def replayed(folder: CrawlFolder) -> dict[str, object]:
    fresh = learning()
    with contextlib.closing(sqlite3.connect(folder.database)) as db:
        relearn_all(fresh, db)
    return known(fresh)


def test_with_a_snapshot_of_the_end_nothing_is_learned_again(crawl: CrawlFolder) -> None:
    fresh = learning()
    assert relearned(crawl, fresh) == 0
    assert known(fresh) == replayed(crawl)


def test_what_came_after_the_snapshot_is_learned_again(crawl: CrawlFolder) -> None:
    crawl.snapshots.files()[0].unlink()
    fresh = learning()
    assert 0 < relearned(crawl, fresh) <= rows(crawl) - 20
    assert known(fresh) == replayed(crawl)


Harm = Callable[[Path], object]
HARMS: dict[str, Harm] = {
    "torn": lambda file: file.write_bytes(file.read_bytes()[:-100]),
    "empty": lambda file: file.write_bytes(b""),
    "flipped": lambda file: file.write_bytes(flipped(file.read_bytes())),
    "of another version": lambda file: file.write_bytes(file.read_bytes().replace(b"learned 1\n", b"learned 2\n", 1)),
    "something else": lambda file: file.write_text("a diary"),
    "of another number": lambda file: file.write_bytes(file.with_name("00000020.snapshot").read_bytes()),
}


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 8]) + content[middle + 1 :]


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS.keys())
def test_one_that_is_damaged_gives_way_to_the_one_before_with_a_line_in_the_log(
    harm: Harm, crawl: CrawlFolder, caplog: pytest.LogCaptureFixture
) -> None:
    newest = crawl.snapshots.files()[0]
    harm(newest)
    fresh = learning()
    assert 0 < relearned(crawl, fresh) <= rows(crawl) - 20
    assert known(fresh) == replayed(crawl)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING and f"{newest} is not used: " in record.getMessage()


def test_with_every_snapshot_damaged_everything_is_learned_again(crawl: CrawlFolder) -> None:
    for file in crawl.snapshots.files():
        HARMS["flipped"](file)
    fresh = learning()
    assert relearned(crawl, fresh) > rows(crawl) // 2
    assert known(fresh) == replayed(crawl)


def test_one_of_another_crawl_or_of_rows_that_were_lost_is_not_used(
    crawl: CrawlFolder, caplog: pytest.LogCaptureFixture
) -> None:
    """The journal lost its end when the power failed, and went on otherwise."""
    with contextlib.closing(sqlite3.connect(crawl.database)) as db:
        db.execute("UPDATE events SET at = at + 1 WHERE id = ?", (rows(crawl),))
        db.commit()
    relearned(crawl, learning())
    assert f"row {rows(crawl)} of the journal is not the one that it belongs to" in caplog.text


def test_one_that_was_warmed_by_another_crawl_is_not_used(crawl: CrawlFolder, caplog: pytest.LogCaptureFixture) -> None:
    for file in crawl.snapshots.files():
        file.unlink()
    crawl.snapshots.write(snapshot_of(learning(), place_of(crawl, 20), "/somewhere"))
    fresh = learning()
    relearned(crawl, fresh)
    assert "it learned from /somewhere" in caplog.text and known(fresh) == replayed(crawl)


def test_a_part_with_other_parameters_learns_again_and_the_others_do_not(crawl: CrawlFolder) -> None:
    changed, same = learning(pages_per_host=3), learning()
    assert relearned(crawl, changed) > 0 == relearned(crawl, same)
    ours, theirs = known(changed), known(same)
    assert ours.pop("Scope(include=(), exclude=(), hosts=(), domains=(), max_depth=None, pages_per_host=3)")
    assert ours == {name: state for name, state in theirs.items() if name in ours} and len(ours) == len(theirs) - 1


def test_states_as_a_stranger_might_make_them_are_refused(crawl: CrawlFolder) -> None:
    """Compiled code trusts what was restored."""
    whole = Learned().state()
    for inner, name, value in (
        ("logistic", "ids", np.full((4096, 64), 1 << 18, np.int32)),
        ("logistic", "ids", np.zeros((4096, 63), np.int32)),
        ("logistic", "counts", np.full(4096, 65, np.int32)),
        ("logistic", "weights", np.full(10, np.nan)),
        ("logistic", "words", np.full(1 << 18, 1e300)),
        ("logistic", "word steps", np.full(1 << 18, -1.0)),
        ("logistic", "seen", -1),
        ("yields", "tries", np.full(1 << 20, -1, np.float32)),
        ("yields", "tries", np.zeros(1 << 20, np.float64)),
        ("yields", "owed slots", np.array([1 << 20])),
        ("yields", "found", 7),
        ("behind", "sizes", np.array([3])),
        ("behind", "urls", 3),
    ):
        state = {**whole, inner: {**whole[inner], name: value}}  # type: ignore[dict-item]
        with pytest.raises(BadInput):
            Learned().restore(state)


def test_the_two_newest_are_kept_and_none_that_is_ahead(crawl: CrawlFolder) -> None:
    snapshots, used = crawl.snapshots, learning()
    for number in (21, 22, 23):
        snapshots.write(snapshot_of(used, place_of(crawl, number), ""))
    assert [file.name for file in snapshots.files()] == ["00000023.snapshot", "00000022.snapshot"]
    assert sorted(file.name for file in snapshots.folder.iterdir()) == ["00000022.snapshot", "00000023.snapshot"]


numbers = st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)
arrays = st.builds(
    lambda kind, values: np.array(values).astype(kind),
    st.sampled_from(["f4", "f8", "i4", "i8", "u8"]),
    st.lists(st.integers(0, 1000), max_size=5),
)
leaves = numbers | arrays | st.lists(st.text(st.characters(exclude_categories=())), max_size=4)
names = st.text("abc ", min_size=1, max_size=3)
saved = st.dictionaries(names, leaves | st.dictionaries(names, leaves, min_size=1, max_size=3), max_size=4)


@given(st.dictionaries(st.sampled_from(["A()", "B(x=1)"]), saved), st.text(st.characters(codec="utf8")))
def test_any_state_is_read_as_it_was_written(states: dict[str, State], warm: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "00000007.snapshot"
        write_snapshot(file, Snapshot(Place(7, "http://a.test/", 0.1), warm, states))
        read = read_snapshot(file)
    assert (read.place, read.warm) == (Place(7, "http://a.test/", 0.1), warm)
    assert all(_flat(read.state(name)) == _flat(state) for name, state in states.items())


def test_check_finds_a_damaged_snapshot_and_repair_removes_it(
    crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(crawl.path)]) == 0
    assert "2 snapshots checked; all is well" in capsys.readouterr().out
    newest, before = crawl.snapshots.files()
    HARMS["flipped"](newest)
    assert main(["check", str(crawl.path)]) == 1
    assert f"learned/{newest.name}: is damaged: its checksum is wrong" in capsys.readouterr().out
    assert main(["check", str(crawl.path), "--repair"]) == 1
    assert "all damage was repaired" in capsys.readouterr().out
    assert crawl.snapshots.files() == [before] and main(["check", str(crawl.path)]) == 0


async def told(crawl: CrawlFolder, snapshots: Snapshots, known: int, *times: float) -> list[int]:
    """The numbers of the snapshots there are after each of these times was told."""
    numbers: list[int] = []
    with contextlib.closing(sqlite3.connect(crawl.database)) as db:
        writer = SnapshotWriter(learning(), db, Journal.create(db), snapshots, "", known, 0.0)
        for now in times:
            writer.committed(now)
            if writer._writing is not None:
                await writer._writing
            numbers.append(len(snapshots.files()))
        await writer.finish(times[-1])
    return [*numbers, len(snapshots.files())]


def test_one_is_written_after_a_while_and_at_the_end_if_anything_happened(crawl: CrawlFolder, tmp_path: Path) -> None:
    last = rows(crawl)
    assert asyncio.run(told(crawl, Snapshots(tmp_path / "a"), last - 1, SECONDS - 1, SECONDS)) == [0, 1, 1]
    assert asyncio.run(told(crawl, Snapshots(tmp_path / "b"), last - ROWS, 1.0)) == [1, 1]
    assert asyncio.run(told(crawl, Snapshots(tmp_path / "c"), last - 1, 1.0)) == [0, 1]
    assert asyncio.run(told(crawl, Snapshots(tmp_path / "d"), last, SECONDS)) == [0, 0]


def test_a_crawl_goes_on_where_none_can_be_written(
    crawl: CrawlFolder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert asyncio.run(told(crawl, Snapshots(tmp_path / "file"), 0, SECONDS)) == [0, 0]
    assert f"what was learned could not be written to {tmp_path / 'file'}: " in caplog.text


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    folder = tmp_path_factory.mktemp("webs") / "thai"
    generate(Request("thai", 200, 5, text=True), folder, lambda pages: None)
    return Web.open(folder)


def test_a_live_crawl_leaves_one_and_is_resumed_from_it(web: Web, tmp_path: Path) -> None:
    asked = settings(web, strategy="learned", max_pages=30)
    asyncio.run(crawl_live(web, tmp_path / "crawl", asked))
    folder = CrawlFolder(tmp_path / "crawl")
    (file,) = folder.snapshots.files()
    assert file.name == f"{rows(folder):08}.snapshot"
    fresh = strategy_of(asked)
    assert relearned(folder, fresh) == 0 and traps_of(fresh) != traps_of(strategy_of(asked))
    asyncio.run(crawl_live(web, tmp_path / "crawl", replace(asked, crawl=replace(asked.crawl, max_pages=40))))
    assert len(folder.snapshots.files()) == 2


def traps_of(strategy: Strategy) -> object:
    """What was read so far."""
    return _flat(next(part for part in named_parts(strategy.learners()).values() if isinstance(part, Traps)).state())

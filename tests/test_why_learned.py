"""`spoor why` for a crawl by `learned`: which evidence and which words moved a link, and by how much."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from pathlib import Path

import pytest

from spoor import settings as config
from spoor.api.explaining import learned_lines as moved
from spoor.api.explaining import lines
from spoor.crawling.revision import relearn
from spoor.lab.worlds import WrittenWorld
from spoor.live.from_settings import strategy_of
from spoor.live.page_reader import with_canonical_links
from spoor.live.relearning import snapshot_of
from spoor.parse.html import read_page
from spoor.pricing import Limits
from spoor.records import Response
from spoor.report.why import account
from spoor.roles import Relearner
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.journal import count_lessons, numbered_lessons, place_at
from spoor.store.warc import WarcWriter
from spoor.store.warc_records import digest_of
from tests.written_crawl import crawl_into, small_crawl

HOME = "http://home.test/"
SETTINGS = f'[target]\nkeywords = ["saddle"]\n[crawl]\nseeds = ["{HOME}"]\nstrategy = "learned"\n'
STABLES = [f"http://stable{n}.test/" for n in range(6)]
SHOPS = [f"http://shop{n}.test/" for n in range(6)]
HTML = {
    HOME: "<title>Places</title>"
    + "".join(
        f"<p><a href={stable}>riding lessons</a><p><a href={shop}>buy here</a>"
        for stable, shop in zip(STABLES, SHOPS, strict=True)
    ),
    **{
        url: f"<title>Saddle</title><p>A saddle for every horse, and a horse for every saddle. {url}" for url in STABLES
    },
    **{url: f"<p>Tea, rice and cups. {url}" for url in SHOPS},
}


def learned_crawl(path: Path, visits: int) -> CrawlFolder:
    """In the archive is the home page, as a live crawl would have kept it."""
    read = {url: read_page(url, html.encode(), "text/html; charset=utf-8") for url, html in HTML.items()}
    world = WrittenWorld({url: with_canonical_links(page) for url, page in read.items()})
    strategy = strategy_of(config.loads(SETTINGS))
    folder = crawl_into(path, world, strategy, [HOME], limits=Limits(visits))
    folder.write_settings(SETTINGS)
    keep(folder, HOME, HTML[HOME].encode())
    return folder


def keep(folder: CrawlFolder, url: str, body: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    with WarcWriter(folder.warcs, {}) as keeper:
        kept = keeper.keep(Response(url, 200, {}, body, body, b"GET / HTTP/1.1\r\n\r\n", head, "", 0.0, 0.0))
    with contextlib.closing(sqlite3.connect(folder.database)) as db, db:
        place = (kept.file, kept.offset, digest_of(body), url)
        db.execute("UPDATE pages SET warc_file = ?, warc_offset = ?, digest = ? WHERE url = ?", place)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    return learned_crawl(tmp_path_factory.mktemp("why") / "crawl", visits=8)


def told(folder: CrawlFolder, url: str) -> dict[str, str]:
    return dict(moved(folder, account(folder, url, "spoor")))


def in_state(folder: CrawlFolder, kind: str, state: int) -> str:
    """The last page of its kind that was visited (4) or waits (0)."""
    with contextlib.closing(sqlite3.connect(folder.database)) as db, db:
        query = "SELECT url FROM links WHERE url LIKE ? AND state = ? ORDER BY arrival DESC"
        (url,) = db.execute(query, (f"%{kind}%", state)).fetchone()
    return str(url)


def shares(text: str) -> dict[str, float]:
    found = re.findall(r"([^,;]+?) ([+−][0-9.]+)", text.partition(";")[0])
    return {name.strip(): float(share.replace("−", "-")) for name, share in found}


def test_a_visited_link_is_told_what_moved_it_when_its_turn_came(crawl: CrawlFolder) -> None:
    url = in_state(crawl, "stable", 4)
    entry = account(crawl, url, "spoor").entry
    said = told(crawl, url)["log odds"]
    parts = shares(said)
    assert said.endswith(" in all, when its turn came") and entry is not None
    assert sum(parts.values()) == pytest.approx(entry.key[0], abs=0.55)
    assert parts["its words"] > 0 > parts["bias"]
    assert [*map(abs, parts.values())] == sorted(map(abs, parts.values()), reverse=True)


def test_a_waiting_link_is_told_what_is_thought_of_it_now(crawl: CrawlFolder) -> None:
    said = told(crawl, in_state(crawl, "shop", 0))
    assert said["log odds"].endswith(" in all, by the current model")
    assert shares(said["its words"])["anchor “buy”"] < 0


def test_words_are_called_by_their_names(crawl: CrawlFolder) -> None:
    url = in_state(crawl, "stable", 4)
    said = told(crawl, url)
    words = shares(said["its words"])
    assert words["anchor “riding”"] > 0 and words["anchor “lessons”"] > 0 and words["host “stable0”"] > 0
    assert sum(words.values()) == pytest.approx(shares(said["log odds"])["its words"], abs=0.1)
    assert "feature" not in said["its words"]


def test_what_moved_a_link_stands_beside_its_evidence(crawl: CrawlFolder) -> None:
    about = account(crawl, in_state(crawl, "stable", 4), "spoor")
    names = [name for name, _ in lines(about, 0.0, moved(crawl, about))]
    assert names.index("evidence") < names.index("log odds") < names.index("its words") < names.index("visited")


def test_without_the_archive_words_have_numbers_instead_of_names(tmp_path: Path) -> None:
    folder = learned_crawl(tmp_path / "crawl", visits=8)
    for file in folder.warcs.glob("*.warc.gz"):
        file.unlink()
    said = told(folder, in_state(folder, "stable", 4))
    assert said["its words"].endswith(f"(no names: {HOME} is not in the archive, or no longer readable)")
    assert all(name.startswith("feature ") for name in shares(said["its words"].partition(" (")[0]))
    assert said["log odds"].endswith("when its turn came")


def test_a_page_that_does_not_hold_the_link_gives_no_names(tmp_path: Path) -> None:
    folder = learned_crawl(tmp_path / "crawl", visits=8)
    keep(folder, HOME, b"<p>Nothing here any more.")
    assert f"{HOME} as archived has no such link" in told(folder, in_state(folder, "stable", 4))["its words"]


def test_a_seed_was_moved_by_nothing(crawl: CrawlFolder) -> None:
    assert told(crawl, HOME) == {} == told(crawl, "http://never-met.test/")


def test_other_strategies_have_nothing_to_add(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    assert told(folder, "http://a.test/plain") == {}


def test_what_cannot_be_learned_again_is_said_in_one_line(tmp_path: Path) -> None:
    folder = learned_crawl(tmp_path / "crawl", visits=4)
    folder.write_settings(SETTINGS.replace('keywords = ["saddle"]', 'topic = "lost.spoor"'))
    (said,) = told(folder, in_state(folder, "stable", 4)).values()
    assert said.startswith("unknown, because relearning failed: ") and "lost.spoor" in said


def relevance_turned(folder: CrawlFolder, until: int) -> None:
    """So that whoever learned from these rows again would think the opposite."""
    with contextlib.closing(sqlite3.connect(folder.database)) as db, db:
        db.execute("UPDATE pages SET relevant = 1 - relevant WHERE id <= ?", (until,))


def write_snapshot(folder: CrawlFolder, until: int) -> None:
    """Of what was known when so many rows were in the journal."""
    scorer = strategy_of(config.loads(SETTINGS))
    with contextlib.closing(sqlite3.connect(folder.database)) as db:
        for number, lesson in numbered_lessons(db, 0):
            for part in scorer.learners() if number <= until else ():
                if isinstance(part, Relearner):
                    relearn(part, lesson)
        place = place_at(db, until)
    assert place is not None
    folder.snapshots.write(snapshot_of(scorer, place, ""))


def test_what_is_thought_of_a_waiting_link_is_read_from_a_snapshot(tmp_path: Path) -> None:
    folder = learned_crawl(tmp_path / "crawl", visits=8)
    waits, visited = in_state(folder, "shop", 0), in_state(folder, "stable", 4)
    before = told(folder, waits), told(folder, visited)
    with contextlib.closing(sqlite3.connect(folder.database)) as db:
        last = count_lessons(db)
    write_snapshot(folder, last)
    relevance_turned(folder, last)
    assert told(folder, waits) == before[0]
    assert told(folder, visited) != before[1], "the snapshot knows more than was known then"


def test_what_was_thought_of_a_visited_link_is_read_from_a_snapshot_of_before(tmp_path: Path) -> None:
    folder = learned_crawl(tmp_path / "crawl", visits=8)
    visited = in_state(folder, "stable", 4)
    with contextlib.closing(sqlite3.connect(folder.database)) as db, db:  # one page a second; here all came at once
        db.execute("UPDATE pages SET started = id - 0.5, ended = id")
    before = told(folder, visited)
    with contextlib.closing(sqlite3.connect(folder.database)) as db:
        (started,) = db.execute("SELECT started FROM pages WHERE url = ?", (visited,)).fetchone()
        (until,) = db.execute("SELECT max(id) FROM pages WHERE ended < ?", (started,)).fetchone()
    write_snapshot(folder, until)
    relevance_turned(folder, until)
    assert told(folder, visited) == before
    folder.snapshots.files()[0].unlink()
    assert told(folder, visited) != before

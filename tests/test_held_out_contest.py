"""Train/test splits of webs, and a contest of strategies that learn on train and crawl test."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from spoor.cli.main import main
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.held_out_contest import TrainTestSplit, is_train, seeds, train_test_split, write_split
from spoor.lab.link_graph import write_part
from spoor.lab.web import Web
from spoor.lab.worlds import RecordedWorld
from spoor.records import Page, Visit
from tests.warcs import response


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    folder = tmp_path_factory.mktemp("webs") / "topical"
    generate(Request("topical", 600, 4), folder, lambda pages: None)
    return Web.open(folder)


def look(web: Web, url: str) -> Page:
    world = RecordedWorld(web, web.labelled("relevant"), with_content=True, open_ended=True)
    outcome, _ = world.fetch(Visit(url, "", 0, 0.0))
    assert isinstance(outcome, Page)
    return outcome


# Parts


def test_a_part_of_a_web_shows_the_same_pages_with_the_same_links(web: Web, tmp_path: Path) -> None:
    kept = np.arange(web.pages) % 3 == 0
    part = write_part(web, kept, "third", tmp_path / "third")
    assert (part.name, part.pages, len(part.urls)) == ("third", 200, len(web.urls))
    for number in range(0, web.pages, 30):
        assert look(part, web.urls[number]) == look(web, web.urls[number])
        assert part.body(part.urls.find(web.urls[number]) or 0) == web.body(number)


def test_what_is_not_in_a_part_was_only_linked_to(web: Web, tmp_path: Path) -> None:
    part = write_part(web, np.arange(web.pages) % 2 == 0, "half", tmp_path / "half")
    number = part.urls.find(web.urls[1])
    assert number is not None and number >= part.pages


def test_labels_stay_with_their_pages(web: Web, tmp_path: Path) -> None:
    kept = np.arange(web.pages) < 300
    part = write_part(web, kept, "first", tmp_path / "first")
    for label in web.labels:
        there = {web.urls[int(number)] for number in np.flatnonzero(web.labelled(label) & kept)}
        assert {part.urls[int(number)] for number in np.flatnonzero(part.labelled(label))} == there


def test_redirects_lead_to_the_same_page_from_a_part(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("url,status\nhttp://a.test/,200\nhttp://b.test/,301\nhttp://c.test/,200\n")
    (tmp_path / "links.csv").write_text("source,target,anchor\nhttp://b.test/,http://c.test/,\n")
    files = [str(tmp_path / name) for name in ("log.csv", "links.csv")]
    assert main(["web", "build", *files, "--out", str(tmp_path / "web")]) == 0
    part = write_part(Web.open(tmp_path / "web"), np.array([False, True, True]), "part", tmp_path / "part")
    assert part.redirects is not None
    assert part.urls[int(part.redirects[0])] == "http://c.test/"


# Train/test splits


def test_train_and_test_share_no_site_and_make_the_whole(tmp_path: Path) -> None:
    lines = [f"http://{host}.site{n}.test/{page}" for n in range(40) for host in ("a", "b") for page in range(3)]
    (tmp_path / "log.csv").write_text("\n".join(["url,label", *(f"{url},wanted" for url in lines), ""]))
    assert main(["web", "build", str(tmp_path / "log.csv"), "--out", str(tmp_path / "web")]) == 0
    split = train_test_split(tmp_path / "web", "wanted")
    assert split.how == "sites"
    write_split(split, tmp_path)
    parts = [Web.open(tmp_path / name) for name in (split.train, split.test)]
    urls = [{part.urls[number] for number in range(part.pages)} for part in parts]
    sites = [{url.split("/")[2].split(".")[1] for url in part} for part in urls]
    assert urls[0] | urls[1] == set(lines) and not sites[0] & sites[1]


def test_a_web_of_one_site_is_split_by_pages(web: Web) -> None:
    """All its hosts are below topical.test."""
    assert train_test_split(web.folder, "relevant").how == "pages"
    assert 0.4 < is_train(web, "pages").mean() < 0.6


def test_seeds_are_hubs_that_are_not_wanted_or_wanted_pages_and_always_the_same(web: Web) -> None:
    relevant = web.labelled("relevant")
    for start, is_wanted in (("hub", False), ("relevant", True)):
        drawn = seeds(web, "relevant", start)
        numbers = [web.urls.find(url) for url in drawn]
        assert len(set(drawn)) == 3 and drawn == seeds(web, "relevant", start)
        assert all(number is not None and bool(relevant[number]) == is_wanted for number in numbers)


def test_the_names_of_train_and_test_say_how_the_web_was_split() -> None:
    split = TrainTestSplit(Path("webs/webkb"), "sites")
    assert (split.train, split.test) == ("webkb-by-sites-to-learn", "webkb-by-sites-to-crawl")


# The contest


@pytest.fixture
def data(tmp_path: Path, web: Web) -> Path:
    """A contest of one row that can be run and one that cannot, on a recorded copy of a generated web."""
    folder, contest = tmp_path / "webs" / "topical", tmp_path / "contest"
    folder.mkdir(parents=True)
    contest.mkdir()
    pages = [look(web, web.urls[number]) for number in range(web.pages)]
    records = [response(page.url, html(page)) for page in pages]
    (folder / "web.warc.xz").write_bytes(lzma.compress(b"".join(records), preset=0))
    relevant = web.labelled("relevant")
    labels = [f"{page.url}\t{'relevant' if relevant[number] else 'other'}" for number, page in enumerate(pages)]
    labels[0] += " rare"
    (folder / "truth.tsv").write_text("\n".join(["url\tlabels", *labels, ""]))
    (contest / "seeds.txt").write_text(f"{pages[0].url}\n")
    rows = ["web\ttarget\tstart\tseeds", "topical\trelevant\thub\tseeds.txt", "topical\trare\thub\tseeds.txt"]
    (contest / "contest.tsv").write_text("\n".join([*rows, ""]))
    return tmp_path


def html(page: Page) -> str:
    anchors = "".join(f'<a href="{link.url}">{link.anchor}</a>' for link in page.links)
    return f"<html><head><title>{page.title}</title></head><body><p>{page.text}</p>{anchors}</body></html>"


def held_out(data: Path, *words: str) -> int:
    return main(["contest", "--held-out", "--data", str(data), "--out", str(data / "out"), "--workers", "1", *words])


def test_trained_strategies_run_on_the_half_that_they_have_not_seen(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert held_out(data) == 0
    assert "left out topical/rare/hub: 0 relevant pages can be reached" in capsys.readouterr().err
    title, _, row, mean = (data / "out" / "held-out.md").read_text().splitlines()
    assert title.startswith("| normalised area | parted by | breadth-first |")
    assert all(f"| {name} |" in title for name in ("tunnelling", "context-graph", "hmm", "ahmm", "hmm, 10 clusters"))
    assert row.startswith("| topical relevant hub | pages |") and mean.startswith("| mean |")
    (told,) = json.loads((data / "out" / "held-out.json").read_text())
    assert told["web"].endswith("topical-by-pages-to-crawl") and told["parted_by"] == "pages"


def test_when_no_row_can_be_run_that_is_said(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert held_out(data, "--rows", "topical/rare") == 1
    assert "no row is left to run" in capsys.readouterr().err


def test_options_of_the_other_tables_are_refused(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert held_out(data, "--strategies", "breadth-first") == 2
    assert "--held-out has its own table; leave --strategies out" in capsys.readouterr().err

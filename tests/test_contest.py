"""The contest on two small webs: rows, judges, caps, what is kept, the page, and how it refuses."""

from __future__ import annotations

import json
import lzma
import random
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spoor.cli.main import main
from spoor.lab.comparison import Comparison
from spoor.lab.contest import ABOVE, ContestFolder, ContestRun, Result, Row, View
from spoor.lab.leaderboard import Leaderboard
from spoor.lab.measures import OrderScore, Score, Yardstick
from spoor.lab.task import PreparedTask, Task
from tests.warcs import response

pytest.importorskip("matplotlib", reason="the page has plots, which need the extra plot")

GERMAN = "Alle Menschen sind frei und gleich an Würde und Rechten geboren und sollen einander im Geist begegnen. "
ENGLISH = "All human beings are born free and equal in dignity and rights and should act towards one another so. "
HORSES = ("horse", "mare", "foal", "stable", "saddle", "steppe", "rider")
SHIPS = ("ship", "sail", "mast", "harbour", "anchor", "deck", "wave")
HOSTS, PAGES_OF_A_HOST = 6, 12
PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
PAGE = """Before.

<!-- contest: lab-leaders -->
old
<!-- end -->

Between.

<!-- contest: lab-means -->
<!-- end -->
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder, and in `out` the webs, built once."""
    data = tmp_path_factory.mktemp("contest")
    (data / "contest").mkdir()
    write_web(data / "webs" / "languages", languages())
    write_web(data / "webs" / "stables", stables())
    (data / "contest" / "languages.txt").write_text("http://start.test/\n")
    (data / "contest" / "stables.txt").write_text("http://h0.test/0\n")
    (data / "contest" / "contest.tsv").write_text(
        "web\ttarget\tstart\tseeds\n"
        "languages\tlang=de\thub\tlanguages.txt\n"
        "stables\tclass=horse\thub\tstables.txt\n"
        "stables\tclass=ship\thub\tstables.txt\n"
    )
    assert contest(data, "--strategies", "breadth-first", "--judge", "truth") == 0
    return data


@pytest.fixture
def data(built: Path, tmp_path: Path) -> Path:
    """A copy that a test may change, without what was run before."""
    copy = tmp_path / "data"
    shutil.copytree(built, copy, ignore=shutil.ignore_patterns("runs", "results.json", "report.md"))
    return copy


Told = tuple[str, str, list[str], str]
"""A page: URL, text, links and labels."""


def languages() -> Iterator[Told]:
    """A start, two German pages and two English ones, each on a host of its own."""
    de, de2, en, en2 = (f"http://{name}.test/" for name in ("de", "de2", "en", "en2"))
    yield "http://start.test/", 5 * ENGLISH, [de, en], "class=hub"
    yield de, 5 * GERMAN, [de2], "lang=de"
    yield de2, 5 * GERMAN, [], "lang=de"
    yield en, 5 * ENGLISH, [en2], "lang=en"
    yield en2, 5 * ENGLISH, [], "lang=en"


def stables() -> Iterator[Told]:
    """On each host a chain of pages about horses, then one about ships; its first page links the first of all hosts."""
    chance = random.Random(1)
    for host in range(HOSTS):
        for number in range(PAGES_OF_A_HOST):
            horse = number < PAGES_OF_A_HOST // 2
            words = " ".join(chance.choices(HORSES if horse else SHIPS, k=30))
            links = [f"http://h{host}.test/{number + 1}"] if number + 1 < PAGES_OF_A_HOST else []
            links += [f"http://h{other}.test/0" for other in range(HOSTS) if other != host] if number == 0 else []
            yield f"http://h{host}.test/{number}", words, links, "class=horse" if horse else "class=ship"


def write_web(folder: Path, pages: Iterator[Told]) -> None:
    folder.mkdir(parents=True)
    told = list(pages)
    records = [response(url, body(text, links)) for url, text, links, _ in told]
    (folder / "web.warc.xz").write_bytes(lzma.compress(b"".join(records)))
    lines = [f"{url}\t{labels}" for url, _, _, labels in told]
    (folder / "truth.tsv").write_text("\n".join(["url\tlabels", *lines, ""]))


def body(text: str, links: list[str]) -> str:
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return f"<html><meta charset=utf-8><body><p>{text}</p>{anchors}</body></html>"


def contest(data: Path, *words: str) -> int:
    """In the lab and from one order, unless the words say otherwise."""
    usual = {"--workers": "1", "--conditions": "lab", "--orders": "1"}
    others = [word for name, value in usual.items() if name not in words for word in (name, value)]
    return main(["contest", "--data", str(data), "--out", str(data / "out"), *others, *words])


def told(data: Path) -> list[dict[str, Any]]:
    """What results.json holds."""
    results: list[dict[str, Any]] = json.loads((data / "out" / "results.json").read_text())
    return results


def table(data: Path, section: str) -> list[list[str]]:
    """The lines of a table of report.md, heading and rule included, as cells."""
    text = (data / "out" / "report.md").read_text().partition(f"## {section}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]


def refused(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that says why."""
    said = capsys.readouterr().err.strip().splitlines()
    assert said and said[-1].startswith("spoor: ") and "Traceback" not in "".join(said)
    return said[-1]


class TestRows:
    def test_a_strategy_that_needs_a_language_is_told_with_the_rows_it_took(self, data: Path) -> None:
        assert contest(data, "--judge", "truth", "--strategies", "breadth-first,n-crawl") == 0
        rows = {line[0]: line[1] for line in table(data, "lab-leaders")[2:]}
        assert rows == {"oracle": "3", "breadth-first": "3", "n-crawl": "1"}

    def test_rows_are_chosen_by_web_target_and_start(self, data: Path) -> None:
        for rows, count in [("stables", 2), ("stables/class=ship", 1), ("stables/class=ship/hub,languages", 2)]:
            assert contest(data, "--judge", "truth", "--strategies", "breadth-first", "--rows", rows) == 0
            assert len(told(data)) == count

    def test_a_row_that_is_not_there_is_refused_with_the_nearest(
        self, data: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert contest(data, "--rows", "stables/class=shop") == 2
        assert "--rows stables/class=shop: there is no such row; the nearest is 'stables/class=ship/hub'" in refused(
            capsys
        )
        assert contest(data, "--rows", "stable") == 2

    @pytest.mark.parametrize(
        ("content", "why"),
        [
            ("", "lacks the column 'web'"),
            ("web\ttarget\tstart\tseeds\n", "has no rows"),
            ("web\ttarget\tstart\nstables\tclass=ship\thub\n", "lacks the column 'seeds'"),
            ("web\ttarget\tstart\tseeds\nstables\tclass=ship\n", "line 2: a cell is empty"),
            ("web\ttarget\tstart\tseeds\nstables\tclass=ship\thub\tnone.txt\n", "none.txt"),
            ("web\ttarget\tstart\tseeds\nnowhere\tclass=ship\thub\tstables.txt\n", "nowhere"),
            ("web\ttarget\tstart\tseeds\nstables\tclass=shop\thub\tstables.txt\n", "no label 'class=shop'"),
            ("web\ttarget\tstart\tseeds\nstables\tclass=ship\thub\tlanguages.txt\n", "none of the 1 seeds"),
        ],
    )
    def test_a_table_that_is_not_one_is_refused(
        self, data: Path, capsys: pytest.CaptureFixture[str], content: str, why: str
    ) -> None:
        (data / "contest" / "contest.tsv").write_text(content)
        assert contest(data, "--strategies", "breadth-first") == 1
        assert why in refused(capsys)


class TestStrategies:
    def test_one_that_takes_no_row_is_refused_when_it_was_asked_for(
        self, data: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert contest(data, "--judge", "truth", "--strategies", "g-crawl:language=de") == 2
        assert "none is known for 'de'" in refused(capsys)

    def test_one_that_takes_no_row_is_left_out_of_all_and_says_why(
        self, data: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert contest(data, "--judge", "truth", "--rows", "languages") == 0
        assert "left out g-crawl: g-crawl looks for the code intervals" in capsys.readouterr().err
        names = {score["strategy"] for score in told(data)[0]["results"]}
        assert {"breadth-first", "n-crawl", "oracle"} < names and "g-crawl" not in names

    def test_an_unknown_one_is_refused_before_anything_is_run(
        self, data: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert contest(data, "--strategies", "breadth-first,soft-focussed") == 2
        assert "did you mean 'soft-focused'" in refused(capsys)

    def test_an_ablation_sets_a_strategy_beside_itself_without_each_kind_of_evidence(self, data: Path) -> None:
        words = ("--judge", "truth", "--rows", "languages", "--strategies", "breadth-first,server-language:patience=9")
        assert contest(data, *words, "--ablate", "server-language:patience=9") == 0
        first, *others = table(data, "lab-ablations")[2:]
        assert first[0] == "everything"
        assert {"… without url", "… without server"} < {line[0] for line in others}
        assert not any("without" in line[0] for line in table(data, "lab-leaders")), "ablations are told apart"

    @pytest.mark.parametrize("ablate", ["soft-focused", "server-language", "nothing"])
    def test_an_ablation_of_what_has_no_parts_or_does_not_run_is_refused(
        self, data: Path, capsys: pytest.CaptureFixture[str], ablate: str
    ) -> None:
        assert contest(data, "--strategies", "soft-focused", "--ablate", ablate) == 2
        assert ablate in refused(capsys)


class TestRealJudges:
    def test_a_row_about_a_language_has_the_judge_of_the_language(self, data: Path) -> None:
        assert contest(data, "--judge", "real", "--rows", "languages", "--strategies", "breadth-first") == 0
        (row,) = told(data)
        assert row["judge"] == "language:de" and row["accuracy"] == {"precision": 1.0, "recall": 1.0}

    def test_another_row_has_a_judge_trained_on_half_of_the_web_and_tried_on_the_other(self, data: Path) -> None:
        assert contest(data, "--judge", "real", "--rows", "stables/class=horse", "--strategies", "breadth-first") == 0
        (row,) = told(data)
        assert row["judge"].startswith("examples:") and row["accuracy"] == {"precision": 1.0, "recall": 1.0}
        assert table(data, "judges")[2] == ["stables/class=horse/hub", "examples", "1.000", "1.000"]

    def test_verdicts_that_are_kept_change_nothing(self, data: Path) -> None:
        assert contest(data, "--judge", "real", "--rows", "stables/class=horse", "--strategies", "content-bf") == 0
        (row,) = told(data)
        seeds, compared = data / "contest" / "stables.txt", data / "compared.json"
        words = ("--target", "class=horse", "--seeds", str(seeds), "--judge", row["judge"], "--json", str(compared))
        assert main(["compare", row["web"], "--strategies", "content-bf", "--workers", "1", *words]) == 0
        assert without_seconds(json.loads(compared.read_text())["results"]) == without_seconds(row["results"])

    def test_both_judges_are_run_unless_one_is_named(self, data: Path) -> None:
        assert contest(data, "--rows", "languages", "--strategies", "breadth-first") == 0
        assert [row["judge"] for row in told(data)] == ["truth", "language:de"]

    def test_too_few_pages_to_train_from_are_told_with_the_remedy(
        self, data: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = "web\ttarget\tstart\tseeds\nlanguages\tclass=hub\thub\tlanguages.txt\n"
        (data / "contest" / "contest.tsv").write_text(rows)
        assert contest(data, "--strategies", "breadth-first") == 1
        said = refused(capsys)
        assert "no judge of class=hub in languages can be trained: too few positive pages" in said
        assert "use --judge truth" in said


def without_seconds(scores: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in score.items() if name != "seconds"} for score in scores]


class TestCaps:
    def test_wanted_pages_beyond_the_cap_of_their_host_do_not_count(self, built: Path) -> None:
        prepared_task = PreparedTask(task(built, per_host=4))
        assert prepared_task.yardstick.relevant == HOSTS * 4 and prepared_task.yardstick.relevant_hosts == HOSTS
        assert prepared_task.yardstick.budget == HOSTS * 4, "no more pages may be visited"

    def test_seeds_are_visited_whatever_the_cap(self, built: Path) -> None:
        seeds = tuple(f"http://h0.test/{number}" for number in range(3))
        assert PreparedTask(task(built, seeds, per_host=2)).yardstick.relevant == 3 + (HOSTS - 1) * 2

    def test_no_strategy_visits_more_of_a_host(self, data: Path) -> None:
        words = ("--judge", "truth", "--rows", "stables", "--strategies", "breadth-first,depth-first")
        assert contest(data, *words, "--per-host", "2") == 0
        capped = [row for row in told(data) if row["per_host"] == 2]
        assert [row["target"] for row in capped] == ["class=horse", "class=ship"]
        assert all(score["visits"] <= HOSTS * 2 for row in capped for score in row["results"])
        found = {score["strategy"]: score["found"] for score in capped[0]["results"]}
        assert found == {"breadth-first": 12, "depth-first": 12, "oracle": 12}, "two pages of each host are horses"

    def test_a_row_on_which_even_the_oracle_finds_nothing_has_no_part(self, data: Path) -> None:
        """The ships of a host come after its horses, and two pages of a host are not enough to get there."""
        words = ("--judge", "truth", "--rows", "stables", "--strategies", "breadth-first")
        assert contest(data, *words, "--per-host", "2") == 0
        assert [score["normalised"] for score in told(data)[3]["results"]] == [None, None]
        assert [line[1] for line in table(data, "lab-caps")[2:]] == ["1", "1"]

    def test_rows_whose_wanted_pages_lie_on_one_host_have_no_part(self, data: Path) -> None:
        """As it is in languages when only one German page can be reached."""
        (data / "contest" / "languages.txt").write_text("http://de2.test/\n")
        assert contest(data, "--judge", "truth", "--strategies", "breadth-first", "--per-host", "2,3") == 0
        assert [row["per_host"] for row in told(data)] == [None, None, 2, 3, None, 2, 3]
        assert table(data, "lab-caps")[0][:5] == ["strategy", "rows", "no cap", "2 a host", "3 a host"]

    @pytest.mark.parametrize("cap", ["0", "-1", "ten", "10,x"])
    def test_a_cap_that_is_none_is_refused(self, data: Path, capsys: pytest.CaptureFixture[str], cap: str) -> None:
        assert contest(data, f"--per-host={cap}") == 2
        assert "not a number of pages" in refused(capsys)

    def test_compare_takes_one_too(self, built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        web, seeds = str(built / "out" / "webs" / "stables"), str(built / "contest" / "stables.txt")
        words = ["compare", web, "--target", "class=horse", "--seeds", seeds, "--strategies", "breadth-first"]
        assert main([*words, "--per-host", "3", "--workers", "1", "--json", str(tmp_path / "r.json")]) == 0
        told = json.loads((tmp_path / "r.json").read_text())
        assert (told["per_host"], told["relevant"], told["relevant_hosts"]) == (3, HOSTS * 3, HOSTS)
        assert told["results"][0]["relevant_hosts"] == HOSTS
        assert main([*words, "--per-host", "0"]) == 2
        assert "--per-host 0" in refused(capsys)


def task(data: Path, seeds: tuple[str, ...] = ("http://h0.test/0",), per_host: int | None = None) -> Task:
    return Task(data / "out" / "webs" / "stables", "class=horse", seeds, per_host=per_host)


class TestConditions:
    WORDS = ("--judge", "truth", "--rows", "stables", "--strategies", "breadth-first,soft-focused")

    def test_the_field_comes_first_and_the_lab_second_unless_one_is_named(self, data: Path) -> None:
        words = ["contest", "--data", str(data), "--out", str(data / "out"), "--workers", "1", "--orders", "1"]
        assert main([*words, *self.WORDS]) == 0
        assert [row["conditions"] is None for row in told(data)] == [False, False, True, True]
        assert contest(data, *self.WORDS, "--conditions", "lab,field") == 0
        assert [row["conditions"] is None for row in told(data)] == [True, True, False, False]

    def test_a_row_is_run_in_the_field_as_compare_runs_it(self, data: Path) -> None:
        (data / "contest" / "stables.txt").write_text("http://h0.test/0\nhttp://h1.test/0\nhttp://h2.test/0\n")
        words = ("--conditions", "field", "--orders", "3")
        assert contest(data, *self.WORDS, *words) == 0
        row, _ = told(data)
        task = ("--target", "class=horse", "--seeds", str(data / "contest" / "stables.txt"), "--workers", "1")
        asked = (row["web"], "--strategies", "breadth-first,soft-focused", "--json", str(data / "r.json"))
        assert main(["compare", *asked, *task, *words]) == 0
        assert without_seconds(json.loads((data / "r.json").read_text())["results"]) == without_seconds(row["results"])
        assert [len(score["orders"]) for score in row["results"]] == [3, 3, 3]

    def test_the_table_of_the_field_tells_the_price_in_time_and_requests(self, data: Path) -> None:
        assert contest(data, *self.WORDS, "--conditions", "field,lab") == 0
        columns, _, *lines = table(data, "field-leaders")
        of_oracle = dict(zip(columns, lines[0], strict=True))
        shown = [of_oracle[name] for name in ("strategy", "rows", "mean", "by time", "half found")]
        assert shown == ["oracle", "2", "1.000", "1.000", "1.000"]
        assert float(of_oracle["requests"]) > 1.0 and float(of_oracle["half, s"]) > 1.0
        assert "idle" in columns and "failed" in columns and columns[-1] == "difference"
        assert "by time" not in table(data, "lab-leaders")[0]

    def test_ablations_and_caps_are_run_under_all_conditions(self, data: Path) -> None:
        words = ("--judge", "truth", "--rows", "languages", "--strategies", "server-language", "--per-host", "1")
        assert contest(data, *words, "--ablate", "server-language", "--conditions", "field,lab") == 0
        for conditions in ("field", "lab"):
            assert table(data, f"{conditions}-ablations")[2][0] == "everything"
            assert table(data, f"{conditions}-caps")[0][:4] == ["strategy", "rows", "no cap", "1 a host"]

    def test_real_judges_work_in_the_field_too(self, data: Path) -> None:
        words = ("--judge", "both", "--rows", "languages", "--strategies", "breadth-first", "--conditions", "field")
        assert contest(data, *words) == 0
        assert [row["judge"] for row in told(data)] == ["truth", "language:de"]
        assert len(table(data, "field-leaders-real")) == len(table(data, "field-leaders")) == 4

    def test_each_order_of_the_seeds_is_kept_by_itself(self, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (data / "contest" / "languages.txt").write_text("http://start.test/\nhttp://en.test/\n")
        words = ("--judge", "truth", "--rows", "languages", "--strategies", "breadth-first", "--conditions", "field")
        assert contest(data, *words, "--orders", "1") == 0
        assert contest(data, *words, "--orders", "9") == 0
        said = capsys.readouterr().err
        assert "runs        4, 2 of them from earlier" in said, "two seeds have two orders"

    @pytest.mark.parametrize(
        ("words", "why"),
        [
            (("--conditions", "moon"), "--conditions moon: 'moon' is unknown; known are field and lab"),
            (("--conditions", "field,"), "'' is unknown"),
            (("--orders", "0"), "argument --orders: 0: at least one is needed"),
            (("--held-out", "--conditions", "field"), "--held-out has its own table; leave --conditions out"),
        ],
    )
    def test_conditions_and_orders_that_are_none_are_refused(
        self, data: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], why: str
    ) -> None:
        assert contest(data, *words) == 2
        assert why in refused(capsys)


class TestWhatIsKept:
    WORDS = ("--judge", "both", "--rows", "stables/class=horse", "--strategies", "breadth-first,soft-focused")

    def test_a_second_contest_runs_nothing_again(self, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert contest(data, *self.WORDS) == 0
        first = told(data)
        assert contest(data, *self.WORDS) == 0
        assert "runs        6, 6 of them from earlier" in capsys.readouterr().err
        assert told(data) == first

    def test_what_is_missing_is_run(self, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert contest(data, *self.WORDS) == 0
        next((data / "out" / "runs").glob("*soft-focused*")).unlink()
        assert contest(data, *self.WORDS) == 0
        assert "runs        6, 5 of them from earlier" in capsys.readouterr().err

    def test_fresh_forgets_everything_but_the_webs(self, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert contest(data, *self.WORDS) == 0
        assert contest(data, *self.WORDS, "--fresh") == 0
        assert "runs        6, 0 of them from earlier" in capsys.readouterr().err.splitlines()

    def test_other_code_other_seeds_and_another_web_have_other_files(
        self, data: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = ContestFolder(data / "out")
        web = folder.web("stables")
        files = [
            folder.file("runs/x.json", web, "http://h0.test/0"),
            folder.file("runs/x.json", web, "http://h1.test/0"),
        ]
        (web / "web.json").write_text((web / "web.json").read_text() + "\n")
        files.append(folder.file("runs/x.json", web, "http://h0.test/0"))
        monkeypatch.setattr("spoor.lab.contest.code", lambda: "other code")
        files.append(folder.file("runs/x.json", web, "http://h0.test/0"))
        assert len(set(files)) == 4

    def test_only_code_that_no_run_can_depend_on_may_change(self) -> None:
        layers = tomllib.loads(PYPROJECT.read_text("utf8"))["tool"]["importlinter"]["contracts"][0]["layers"]
        above = " | ".join(layers[: layers.index("lab")])
        assert set(ABOVE) == set(above.split(" | "))


class TestPage:
    def test_tables_are_put_into_their_places_and_the_rest_stays(self, data: Path) -> None:
        page = data / "docs" / "page.md"
        page.parent.mkdir()
        page.write_text(PAGE)
        words = ("--judge", "truth", "--strategies", "breadth-first", "--rows", "languages", "--page", str(page))
        assert contest(data, *words) == 0
        text = page.read_text()
        assert text.startswith("Before.\n\n<!-- contest: lab-leaders -->\n\n| strategy | rows |") and "old" not in text
        assert "<!-- end -->\n\nBetween.\n\n<!-- contest: lab-means -->\n\n![Mean normalised areas](images/" in text
        for drawing in ("contest-lab-curves.svg", "contest-lab-means.svg"):
            assert (page.parent / "images" / drawing).read_text().startswith("<?xml")
        assert contest(data, *words) == 0
        assert page.read_text() == text, "the same contest makes the same page"

    def test_the_plots_of_the_field_show_visits_and_time(self, data: Path) -> None:
        places = [f"<!-- contest: field-{name} -->\n<!-- end -->\n" for name in ("curves", "times", "rows")]
        (data / "page.md").write_text("\n".join([*places, "<!-- contest: lab-curves -->\n<!-- end -->\n"]))
        words = ("--judge", "truth", "--strategies", "breadth-first", "--rows", "languages", "--conditions", "field")
        assert contest(data, *words, "--page", str(data / "page.md")) == 0
        drawn = {path.name for path in (data / "images").iterdir()}
        assert drawn == {f"contest-field-{name}.svg" for name in ("curves", "times", "means")}
        text = (data / "page.md").read_text()
        assert "(images/contest-field-times.svg)" in text and "| row | relevant | budget |" in text
        assert text.endswith("<!-- contest: lab-curves -->\n\n*Not part of the last run.*\n\n<!-- end -->\n")

    @pytest.mark.parametrize(
        ("content", "why"),
        [
            (None, "cannot read"),
            ("no markers\n", "has no place for a table"),
            ("<!-- contest: lab-leaders -->\nnever ends\n", "has no place for a table"),
            (PAGE.replace("leaders", "winners"), "has a place for 'lab-winners', but there is no such table"),
        ],
    )
    def test_a_page_that_cannot_be_filled_is_refused_before_anything_is_run(
        self, data: Path, capsys: pytest.CaptureFixture[str], content: str | None, why: str
    ) -> None:
        if content is not None:
            (data / "page.md").write_text(content)
        assert contest(data, "--strategies", "breadth-first", "--page", str(data / "page.md")) == 1
        assert why in refused(capsys)
        assert not (data / "out" / "runs").exists()


def ranking(**areas: str) -> Leaderboard:
    """`board(a="9 5", b="4 -")`: tenths of the oracle's area row by row, `-` where a strategy did not take the row."""
    rows = [
        {name: int(cell) / 10 for name, cells in areas.items() if (cell := cells.split()[row]) != "-"}
        for row in range(len(next(iter(areas.values())).split()))
    ]
    return Leaderboard(tuple(result(f"row{number}", row) for number, row in enumerate(rows)), tuple(areas))


def result(name: str, areas: dict[str, float]) -> Result:
    contest_run = ContestRun(
        Row(Path("w"), name, "hub", Path("seeds")), View("lab", "truth"), Task(Path("w"), name, ())
    )
    scores = tuple(
        Score(of, 9, 2, area, area, 0.5, None, 0.5, 1, 1.0, (), 1, orders=(of_order(area),))
        for of, area in areas.items()
    )
    return Result(contest_run, Comparison(contest_run.task, 9, Yardstick(4, 9, 2), scores))


def of_order(area: float) -> OrderScore:
    return OrderScore(area, None, found=2, visits=9, failed=0.0, elapsed=None, half_time=None)


def in_two_orders(of: Result) -> Result:
    """The first strategy is once better and once worse than the second."""
    first, second = of.comparison.scores
    varied = replace(first, orders=(of_order(0.3), of_order(0.7)))
    level = replace(second, orders=(of_order(0.5), of_order(0.5)))
    return replace(of, comparison=replace(of.comparison, scores=(varied, level)))


class TestBoard:
    def test_the_largest_mean_leads_and_who_did_not_take_all_rows_comes_after(self) -> None:
        entries = ranking(a="4 4", b="6 4", c="9 -").entries()
        assert [(one.strategy, one.rows, one.mean) for one in entries] == [
            ("b", 2, 0.5),
            ("a", 2, 0.4),
            ("c", 1, 0.9),
        ]
        assert (entries[0].worst, entries[0].worst_row, entries[0].hosts) == (0.4, "w/row1/hub", 0.5)

    def test_others_are_compared_with_learned_where_it_is_else_with_the_best_that_is_no_oracle(self) -> None:
        assert ranking(a="9 9", learned="1 1").reference == "learned"
        assert ranking(oracle="10 10", a="3 3", b="4 4").reference == "b"

    def test_strategies_are_compared_on_the_rows_that_both_took(self) -> None:
        pair = ranking(a="9 5 1", b="4 5 -").against("a", "b")
        assert pair is not None
        assert (pair.wins, pair.losses, pair.ties, pair.difference) == (1, 0, 1, 0.25)
        assert ranking(a="9 -", b="- 5").against("a", "b") is None

    def test_the_interval_of_a_difference_counts_the_orders_of_the_seeds(self) -> None:
        alike = ranking(a="5 5", b="5 5")
        pair = alike.against("a", "b")
        assert pair is not None and (pair.low, pair.high) == (0.0, 0.0)
        pair = Leaderboard(tuple(map(in_two_orders, alike.results)), alike.strategies).against("a", "b")
        assert pair is not None and pair.low < pair.difference < pair.high

    def test_rows_on_which_another_is_clearly_better_are_found(self) -> None:
        rows = ranking(oracle="10 10", learned="5 5", a="7 5", b="6 4").beaten("learned", by=0.05)
        assert rows == [("w/row0/hub", "a", 0.7, 0.5)]

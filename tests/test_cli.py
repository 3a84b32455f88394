"""The command line: what it prints and writes, and how it refuses."""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from spoor.cli import logs
from spoor.cli.main import command, main, parser
from spoor.cli.options import crawl_folders, simulations, web_actions
from spoor.lab.comparison import Objective
from spoor.lab.generate import CATALOGUE
from spoor.lab.papers import ahmm, core, correlation, language_specific, mongolian
from spoor.lab.worlds import NAMED
from spoor.report.export import FORMATS
from tests.handmade_web import write_web

LINKS = [[1, 2, 3], [4, 5], [0, 6], [7], [], [6], [8, 9], [], [], [0]]
RELEVANT = [0, 2, 6, 8, 9]


@pytest.fixture
def web(tmp_path: Path) -> Path:
    folder = write_web(tmp_path / "web", LINKS, {"relevant": RELEVANT, "lang=th": [1]})
    (tmp_path / "seeds.txt").write_text("# where to start\n\nhttp://h0.test/\nhttp://elsewhere.test/\n")
    return folder


def spoor(*words: object) -> int:
    return main([str(word) for word in words])


def task(web: Path, **changed: object) -> list[object]:
    options = {"target": "relevant", "seeds": web.parent / "seeds.txt"} | changed
    return [web, *[word for name, value in options.items() for word in (f"--{name}", value)]]


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that says why."""
    said = capsys.readouterr().err.strip()
    assert said.startswith("spoor: ") and "\n" not in said
    return said


def test_compare_writes_the_json_that_scripts_rely_on(web: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "result.json"
    words = ("--strategies", "breadth-first,soft-focused", "--json", out, "--workers", 1)
    assert spoor("compare", *task(web), *words) == 0
    told = json.loads(out.read_text())
    assert (told["target"], told["judge"], told["reachable"], told["relevant"], told["budget"]) == (
        "relevant",
        "truth",
        10,
        5,
        10,
    )
    assert told["seeds"] == ["http://h0.test/", "http://elsewhere.test/"]
    assert [result["strategy"] for result in told["results"]] == ["breadth-first", "soft-focused", "oracle"]
    fields = "strategy visits found area normalised r_precision n90 coverage max_queue seconds curve relevant_hosts"
    costs = "failed requests requests_per_relevant spread spread_time orders"
    times = "normalised_time horizon elapsed idle half_time n90_time curve_time"
    assert set(told["results"][0]) == set(f"{fields} {costs} {times}".split())
    assert all(told["results"][0][name] is None for name in times.split()), "nothing takes time in the lab"
    assert told["results"][2]["normalised"] == 1.0


def test_compare_prints_a_table_and_draws_the_curves(
    web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--strategies", "random:seed=3", "--workers", "1", "--plot", tmp_path / "curves.svg"]
    assert spoor("compare", *task(web), *words) == 0
    assert "5 of 10 reachable pages are relevant, budget 10 visits" in capsys.readouterr().out
    assert (tmp_path / "curves.svg").read_text().count("<svg") == 1


def test_simulate_gives_the_same_figures_as_compare(web: Path, tmp_path: Path) -> None:
    words = ["--strategies", "in-links", "--workers", "1", "--json", tmp_path / "c.json"]
    assert spoor("compare", *task(web), *words) == 0
    assert spoor("simulate", *task(web), "--strategy", "in-links", "--json", tmp_path / "s.json") == 0
    compared = json.loads((tmp_path / "c.json").read_text())["results"][0]
    simulated = json.loads((tmp_path / "s.json").read_text())
    assert simulated.pop("information")
    assert compared | {"seconds": 0} == simulated | {"seconds": 0}


def test_simulate_tells_how_much_was_collected_and_how_much_of_it_is_right(web: Path, tmp_path: Path) -> None:
    assert spoor("simulate", *task(web, budget=4), "--strategy", "breadth-first", "--json", tmp_path / "s.json") == 0
    told = json.loads((tmp_path / "s.json").read_text())["information"]
    assert told == {
        "is": 0.004,
        "ais": 0.002,
        "fis": 0.002,
        "ar": 0.5,
        "stored": 2,
        "is_stored": 0.002,
        "ar_stored": 1.0,
        "cs": None,
    }


def test_the_speed_of_collecting_is_told_under_a_clock(web: Path, tmp_path: Path) -> None:
    words = ["--strategy", "breadth-first", "--clock", "--json", tmp_path / "s.json"]
    assert spoor("simulate", *task(web), *words) == 0
    told = json.loads((tmp_path / "s.json").read_text())
    assert told["information"]["cs"] == pytest.approx(told["information"]["ais"] / told["clock"]["elapsed"] * 3600)


def test_a_virtual_clock_tells_the_time_and_that_every_host_was_left_in_peace(web: Path, tmp_path: Path) -> None:
    clock = ["--clock", "--connections", "4", "--rest", "2", "--failures", "0.3", "--json", tmp_path / "s.json"]
    assert spoor("simulate", *task(web), "--strategy", "breadth-first", *clock) == 0
    told = json.loads((tmp_path / "s.json").read_text())["clock"]
    assert told["violations"] == 0 and told["tightest"] >= 1.0
    assert told["elapsed"] > 2.0 * 8


FIELD = ("--conditions", "field")


@pytest.fixture
def blogs(tmp_path: Path) -> Path:
    """Thirty blogs of three pages each, every second about the subject, with links to hosts that were not recorded."""
    log, links = ["url,label"], ["source,target"]
    for blog in range(30):
        home = f"http://blog{blog}.test/"
        label = "relevant" if blog % 2 == 0 else ""
        log += [f"{home},{label}", f"{home}1,{label}", f"{home}2,{label}"]
        links += [f"{home},{home}1", f"{home}1,{home}2", f"{home},http://gone{blog}.test/"]
        links += [f"{home},http://blog{2 * blog + child}.test/" for child in (1, 2) if 2 * blog + child < 30]
    (tmp_path / "log.csv").write_text("\n".join([*log, ""]))
    (tmp_path / "links.csv").write_text("\n".join([*links, ""]))
    (tmp_path / "seeds.txt").write_text("http://blog0.test/\nhttp://blog1.test/\nhttp://blog2.test/\n")
    assert spoor("web", "build", tmp_path / "log.csv", tmp_path / "links.csv", "--out", tmp_path / "blogs") == 0
    return tmp_path / "blogs"


def test_field_conditions_charge_for_links_out_of_the_web_and_take_time(blogs: Path, tmp_path: Path) -> None:
    words = [*task(blogs), "--strategies", "breadth-first", "--workers", "1", "--json", tmp_path / "r.json"]
    told = {}
    for conditions in ("lab", "field"):
        assert spoor("compare", *words, "--conditions", conditions) == 0
        told[conditions] = json.loads((tmp_path / "r.json").read_text())
    (lab, _), (field, oracle) = (told[conditions]["results"] for conditions in ("lab", "field"))
    assert lab["failed"] == 0.0 and lab["elapsed"] is None and told["lab"]["conditions"] is None
    assert field["failed"] > 0.1 and field["elapsed"] > 1.0 and 0.0 < field["idle"] < 1.0
    assert field["requests"] > field["visits"] == lab["visits"], "robots rules are asked for too"
    assert 0.0 < field["normalised_time"] <= 1.0 and oracle["normalised_time"] == oracle["normalised"] == 1.0
    assert told["field"]["conditions"]["connections"] == 64 and told["field"]["conditions"]["failures"] == 0.02


def test_an_option_of_the_clock_changes_one_value_of_the_field(blogs: Path, tmp_path: Path) -> None:
    words = ["--strategies", "breadth-first", "--workers", "1", "--json", tmp_path / "r.json", *FIELD]
    assert spoor("compare", *task(blogs), *words, "--rest", "0", "--unrecorded", "skip") == 0
    told = json.loads((tmp_path / "r.json").read_text())
    usual = {"latency": 0.2, "bandwidth": 500_000.0, "seed": 0, "connections": 64, "failures": 0.02, "retry_after": 60}
    assert told["conditions"] == usual | {"rest": 0.0, "open_web": False}


def test_a_clock_alone_is_a_closed_web_with_sixteen_connections(blogs: Path, tmp_path: Path) -> None:
    words = ["--strategies", "breadth-first", "--workers", "1", "--json", tmp_path / "r.json", "--clock"]
    assert spoor("compare", *task(blogs), *words) == 0
    conditions = json.loads((tmp_path / "r.json").read_text())["conditions"]
    assert (conditions["connections"], conditions["failures"], conditions["open_web"]) == (16, 0.0, False)


def test_simulate_gives_the_same_figures_as_compare_in_the_field(blogs: Path, tmp_path: Path) -> None:
    words = [*task(blogs), *FIELD, "--orders", "3", "--json"]
    assert spoor("compare", *words, tmp_path / "c.json", "--strategies", "soft-focused", "--workers", "1") == 0
    assert spoor("simulate", *words, tmp_path / "s.json", "--strategy", "soft-focused") == 0
    compared = json.loads((tmp_path / "c.json").read_text())["results"][0]
    simulated = json.loads((tmp_path / "s.json").read_text())
    assert simulated.pop("information") and simulated.pop("clock")["violations"] == 0
    assert compared | {"seconds": 0} == simulated | {"seconds": 0}
    assert len(simulated["orders"]) == 3


def test_the_curves_of_the_field_are_drawn_over_time_too(blogs: Path, tmp_path: Path) -> None:
    words = [*task(blogs), "--strategies", "breadth-first", "--workers", "1", "--plot", tmp_path / "curves.svg"]
    drawn = {}
    for conditions in ("lab", "field"):
        assert spoor("compare", *words, "--conditions", conditions) == 0
        drawn[conditions] = (tmp_path / "curves.svg").read_text().count('id="axes_')
    assert drawn == {"lab": 3, "field": 4}


def test_the_oracle_of_visits_keeps_the_order_of_the_lab_and_that_of_time_finds_everything_sooner(
    blogs: Path, tmp_path: Path
) -> None:
    words = [*task(blogs), "--strategy", "oracle", "--json", tmp_path / "s.json"]
    assert spoor("simulate", *words) == 0
    lab = json.loads((tmp_path / "s.json").read_text())
    assert spoor("simulate", *words, *FIELD, "--failures", "0") == 0
    field = json.loads((tmp_path / "s.json").read_text())
    assert field["area"] == lab["area"] and field["n90"] == lab["n90"]
    assert field["clock"]["elapsed"] > field["elapsed"], "one connection is slower than 64"


def test_scores_from_several_orders_of_the_seeds_have_means_and_a_spread(
    blogs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--strategies", "depth-first", "--workers", "1", "--json", tmp_path / "r.json", "--orders", "9"]
    assert spoor("compare", *task(blogs), *words) == 0
    result = json.loads((tmp_path / "r.json").read_text())["results"][0]
    assert len(result["orders"]) == 6, "three seeds have six orders"
    areas = [order["normalised"] for order in result["orders"]]
    assert result["normalised"] == pytest.approx(sum(areas) / 6) and result["spread"] > 0.0
    assert "spread" in capsys.readouterr().out


@pytest.mark.parametrize("options", [("--conditions", "moon"), ("--orders", "0"), (*FIELD, "--driver", "compiled")])
def test_conditions_that_are_none_are_refused(
    web: Path, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert spoor("compare", *task(web), "--strategies", "breadth-first", *options) == 2
    assert options[1] in refusal(capsys)
    assert spoor("simulate", *task(web), "--strategy", "breadth-first", *options) == 2


def test_the_catalogues_name_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert spoor("strategies") == spoor("judges") == 0
    said = capsys.readouterr().out
    assert "limited-distance:n=2" in said and "charset:SUBJECT:sources=meta+header+detected" in said


def test_a_visit_to_an_unrecorded_page_can_be_charged(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("url,label\nhttp://a.test/,relevant\nhttp://a.test/2,relevant\n")
    (tmp_path / "links.csv").write_text(
        "source,target\nhttp://a.test/,http://gone.test/\nhttp://a.test/,http://a.test/2\n"
    )
    (tmp_path / "seeds.txt").write_text("http://a.test/\n")
    assert spoor("web", "build", tmp_path / "log.csv", tmp_path / "links.csv", "--out", tmp_path / "web") == 0
    found = {}
    for choice in ("skip", "fail"):
        words = task(tmp_path / "web", unrecorded=choice, budget=10)
        assert spoor("simulate", *words, "--strategy", "breadth-first", "--json", tmp_path / "s.json") == 0
        found[choice] = json.loads((tmp_path / "s.json").read_text())["visits"]
    assert found == {"skip": 2, "fail": 3}


REFUSALS = [
    ({"target": "relevent"}, 1, "has no label 'relevent'; the nearest it has is 'relevant'"),
    ({"seeds": "nowhere.txt"}, 1, "cannot read the seeds file nowhere.txt: No such file or directory"),
    ({"budget": 0}, 2, "--budget 0: at least one visit is needed"),
    ({"strategies": "breadth-frist"}, 2, "unknown strategy 'breadth-frist'; did you mean 'breadth-first'?"),
    ({"strategies": "limited-distance:k=2"}, 2, "has no parameter 'k'; it has n=2"),
    ({"strategies": "limited-distance:n=two"}, 2, "limited-distance:n=two: 'two' is not a whole number"),
    ({"judge": "charset:xx"}, 2, "the charset judge knows el, he, ja"),
    ({"judge": "script"}, 2, "judge 'script' needs a subject, as in script:tibetan"),
    ({"judge": "oracle"}, 2, "unknown judge 'oracle'"),
    ({"judge": "script:thai"}, 1, "reads texts, the web has none; build it from WARC files"),
    ({"judge": "script:thai:least=nan"}, 2, "least=nan is not a share between 0 and 1"),
    ({"strategies": "limited-distance:n=-1"}, 2, "limited distance needs n of 0 or more, not -1"),
    ({"strategies": ","}, 2, "names no strategy"),
    ({"driver": "compiled", "strategies": "random"}, 2, "it does not know random; use --driver simulated"),
]


@pytest.mark.parametrize(("changed", "code", "reason"), REFUSALS)
def test_bad_input_gets_one_clear_line(
    web: Path, changed: dict[str, object], code: int, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = task(web, **({"strategies": "breadth-first"} | changed))
    assert spoor("compare", *words, "--workers", "1") == code
    assert reason in refusal(capsys)


def test_a_seeds_file_without_a_page_of_the_web_is_refused(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (web.parent / "seeds.txt").write_text("http://elsewhere.test/\n")
    assert spoor("simulate", *task(web), "--strategy", "breadth-first") == 1
    assert "none of the 1 seeds is a page of the web web" in refusal(capsys)


def test_a_clock_and_the_compiled_driver_exclude_one_another(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert spoor("simulate", *task(web, driver="compiled"), "--strategy", "breadth-first", "--clock") == 2
    assert "--clock needs the simulated driver" in refusal(capsys)


def test_no_workers_are_refused(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert spoor("compare", *task(web), "--strategies", "breadth-first", "--workers", "0") == 2
    assert "argument --workers: 0: at least one is needed; see `spoor compare --help`" in refusal(capsys)


def test_a_missing_option_is_refused(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert spoor("compare", web) == 2
    assert "the following arguments are required: --target" in refusal(capsys)


def test_an_empty_seeds_file_is_refused(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (web.parent / "seeds.txt").write_text("# nothing yet\n")
    assert spoor("simulate", *task(web), "--strategy", "breadth-first") == 1
    assert "holds no URL" in refusal(capsys)


def test_a_folder_that_is_no_web_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "seeds.txt").write_text("http://h0.test/\n")
    assert spoor("simulate", *task(tmp_path / "nothing"), "--strategy", "random") == 1
    assert "is not a web (web.json is missing)" in refusal(capsys)


def test_a_target_that_cannot_be_reached_is_refused(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (web.parent / "seeds.txt").write_text("http://h0.test/3\n")
    assert spoor("simulate", *task(web, target="lang=th"), "--strategy", "breadth-first") == 1
    assert "no page labelled lang=th can be reached" in refusal(capsys)


def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    words = ["--strategies", "breadth-first", "--json", tmp_path / "file" / "r.json"]
    assert spoor("compare", *task(web), *words) == 1
    assert "cannot write" in refusal(capsys)


@pytest.mark.parametrize("option", ["--connections=0", "--latency=0", "--bandwidth=-1", "--rest=-1", "--failures=1"])
def test_a_clock_that_cannot_be_is_refused(web: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert spoor("simulate", *task(web), "--strategy", "breadth-first", "--clock", option) == 2
    assert f"{option.replace('=', ' ')}" in refusal(capsys).replace(".0", "")


def test_the_contest_says_when_its_data_is_absent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert spoor("contest", "--data", tmp_path, "--out", tmp_path / "out") == 1
    assert "there is no contest data" in refusal(capsys)


def test_a_plot_is_an_svg_file(web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--strategies", "breadth-first", "--plot", tmp_path / "r.png"]
    assert spoor("compare", *task(web), *words) == 2
    assert "r.png: plots are written as SVG; give a file name that ends in .svg" in refusal(capsys)


@pytest.mark.parametrize(
    ("option", "values"), [("--language", "th mn"), ("--keywords", "a,b c"), ("--max-pages", "5 6")], ids=str
)
def test_an_option_with_two_values_is_refused(option: str, values: str, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = values.split()
    assert spoor("crawl", "--out", "out", option, first, option, second, "--seed", "http://a.test/") == 2
    assert f"argument {option}: given twice, as {first} and {second}; give it once" in refusal(capsys)


@pytest.mark.parametrize("option", ["--language", "--charset"])
def test_the_name_of_a_language_is_refused_with_its_tag(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert spoor("crawl", "--out", "out", option, "thai", "--seed", "http://a.test/") == 2
    assert "did you mean 'th' (thai)?" in refusal(capsys)


def test_a_judge_is_named_as_it_was_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.txt").write_text("one two three")
    assert spoor("judge", "keywords:one", tmp_path / "page.txt") == 0
    assert capsys.readouterr().out.startswith("judge      keywords:one\n")


def test_no_command_takes_more_processes_than_a_machine_has_use_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert spoor("export", tmp_path, "--format", "text", "--out", out, "--workers", 100_000) == 2
    assert "100000: 256 at most" in refusal(capsys)


def commands(of: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Those that can be run."""
    if of.get_default("run"):
        yield of
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from commands(below)


COMMANDS = list(commands(parser()))


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["crawl", "--help"], ["simulate", "--help"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    heavy = ["numpy", "scipy", "numba", "aiohttp", "selectolax", "lxml", "rich", "tldextract"]
    asked = f"""
import sys
from spoor.cli.main import main
try:
    main({words!r})
except SystemExit:
    pass
print([name for name in {heavy!r} if name in sys.modules])
"""
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("of", COMMANDS, ids=lambda of: of.prog)
def test_what_carries_a_command_out_is_there(of: argparse.ArgumentParser) -> None:
    assert callable(command(of.get_default("run")))


def test_choices_of_options_are_those_of_the_code() -> None:
    assert set(crawl_folders.EXPORT_FORMATS) == set(FORMATS)
    assert set(web_actions.GENERATORS) == set(CATALOGUE)
    assert list(simulations.CONDITIONS) == list(NAMED)
    assert list(simulations.OBJECTIVES) == list(get_args(Objective))


def test_papers_are_run_by_default_on_their_own_seeds_and_pages() -> None:
    modules = (language_specific, mongolian, correlation, ahmm, core)
    own = [(f"{paper.SEEDS[0]}-{paper.SEEDS[-1]}", paper.PAGES) for paper in modules]
    assert list(simulations.SEEDS_AND_PAGES.values()) == own


@pytest.mark.parametrize("of", COMMANDS, ids=lambda of: of.prog)
def test_every_command_can_be_quiet_and_logged(of: argparse.ArgumentParser) -> None:
    options = {option for action in of._actions for option in action.option_strings}
    assert {"--quiet", "--log-file", "--log-level"} <= options


@pytest.mark.parametrize(
    "words",
    [
        ["--quiet", "--log-file", "log", "why", "F", "U"],
        ["why", "--quiet", "F", "U", "--log-file", "log"],
        ["--quiet", "why", "F", "U", "--log-file", "log"],
    ],
)
def test_options_of_every_command_stand_before_or_after_its_name(words: list[str]) -> None:
    given = parser().parse_args(words)
    assert (given.quiet, given.log_file, given.log_level) == (True, Path("log"), None)


def test_options_of_a_command_are_not_taken_for_abbreviations() -> None:
    given = parser().parse_args(["web", "serve", "W", "--log", "requests.tsv"])
    assert (given.log, given.log_file) == (Path("requests.tsv"), None)
    assert parser().parse_args(["crawl", "--max-p", "5", "--out", "F"]).max_pages == 5


def test_quiet_leaves_results_and_errors(web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        spoor("--quiet", "web", "generate", "--like", "thai", "--pages", 50, "--seed", 1, "--out", tmp_path / "w") == 0
    )
    said = capsys.readouterr()
    assert said.out == said.err == ""
    assert spoor("compare", *task(web), "--strategies", "breadth-first", "--workers", "1", "--quiet") == 0
    assert "breadth-first" in capsys.readouterr().out
    assert spoor("--quiet", "web", "info", tmp_path / "nothing") == 1
    assert "is not a web" in refusal(capsys)


def test_json_is_printed_instead_of_the_table(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert spoor("compare", *task(web), "--strategies", "breadth-first", "--workers", "1", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [result["strategy"] for result in told["results"]] == ["breadth-first", "oracle"]
    assert spoor("simulate", *task(web), "--strategy", "breadth-first", "--json") == 0
    assert json.loads(capsys.readouterr().out)["strategy"] == "breadth-first"


def test_strategies_and_judges_are_listed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert spoor("strategies", "--json") == 0
    listed = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert listed["limited-distance"]["parameters"].keys() == {"n"}
    assert spoor("judges", "--json") == 0
    assert {"language", "charset"} <= {entry["name"] for entry in json.loads(capsys.readouterr().out)}


def test_a_log_file_tells_why_a_command_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "logs" / "spoor.log"
    assert spoor("web", "info", tmp_path, "--log-file", log) == 1
    assert refusal(capsys)
    assert " ERROR spoor.cli.logs: " in log.read_text() and "is not a web" in log.read_text()


def test_warnings_go_to_standard_error_and_to_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with logs.logged(tmp_path / "log", None):
        logging.getLogger("spoor.store").warning("%s is full", "the disk")
        logging.getLogger("spoor.store").info("a page")
        logging.getLogger("spoor.store").debug("a link")
    assert capsys.readouterr().err == "spoor: warning: the disk is full\n"
    assert [line.split(" ", 2)[2] for line in (tmp_path / "log").read_text().splitlines()] == [
        "WARNING spoor.store: the disk is full",
        "INFO spoor.store: a page",
    ]


def test_a_level_without_a_file_is_for_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with logs.logged(None, "debug"):
        logging.getLogger("spoor.store").debug("a link")
    logging.getLogger("spoor.store").debug("another")
    assert capsys.readouterr().err == "spoor: debug: a link\n"


def test_a_log_file_that_is_full_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "LARGEST_FILE", 1000)
    with logs.logged(tmp_path / "log", None):
        for number in range(500):
            logging.getLogger("spoor.store").info("page %s", number)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log", *(f"log.{number}" for number in range(1, 6))]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab")
    assert spoor("completion", shell) == 0
    script = capsys.readouterr().out
    for word in ("crawl", "max-pages", "language-specific", "parquet"):
        assert word in script


def test_completion_without_its_extra_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert spoor("completion", "bash") == 1
    assert "pip install 'spoor[completion]'" in refusal(capsys)


def test_shards_have_no_workers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["crawl", "--language", "en", "--seed", "http://a.test/", "--out", str(tmp_path / "crawl")]
    assert main([*words, "--shards", "2", "--workers", "2"]) == 2
    said = capsys.readouterr().err
    assert "--shards 2: workers = 2, but a shard fetches and reads pages itself; set workers = 0" in said
    assert not (tmp_path / "crawl").exists()

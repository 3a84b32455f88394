"""The package as people get it: the wheel is whole, its core needs no extra, and what needs one says which."""

from __future__ import annotations

import argparse
import re
import subprocess
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from spoor import __version__
from spoor.cli.acting import ACTIONS
from spoor.cli.main import parser
from tests.installed import ROOT, alone, ask_spoor, build, closure, install, project, run
from tests.test_docs import commands

TASK = "web --target relevant --seeds web/seeds.txt"
SMALL = "--seeds 1-1 --pages 1000 --workers 1"
RUN = (
    "web generate --like thai --pages 400 --seed 1 --text --out web",
    "web generate --like courses --pages 200 --seed 1 --out courses",
    "web info web --target relevant",
    f"simulate {TASK} --strategy soft-focused",
    f"compare {TASK} --strategies breadth-first,learned --judge language:th --workers 1",
    f"tune {TASK} --strategy prioritised-limited-distance --vary n=0,1 --workers 1",
    "train language --name gsw language.txt",
    "train topic --name horses pages",
    "train taxonomy --name horses --good positive pages",
    "train context web --target relevant --out context.spoor --workers 1",
    "train rules courses --target class=IT --out rules.spoor",
    "judge gsw.spoor language.txt",
    "judge keywords:horse pages/positive/1.html",
    "seeds --query horses --source file:results.txt --out seeds.txt",
    "strategies",
    "judges",
    "doctor",
    "demo --max-pages 60 --out demo",
    "report demo/learned",
    "why demo/learned http://127.20.2.1/",
    "pause demo/learned",
    "trust demo/learned --list",
    "check demo/learned",
    "compact demo/learned",
    "web build demo/learned --out built --workers 1",
)
"""One after the other, in one folder. The web that is served and crawled has a test of its own."""
EXPERIMENT = f"reproduce mongolian {SMALL}"
"""Stands for those that need no extra; each of them takes a quarter of a minute. On a web as small as this a claim of
the paper may fail; then the exit code is 1."""
ALIKE = {"spoor reproduce ahmm", "spoor reproduce language-specific", "spoor ask"}
ALIKE |= {f"spoor {name}" for name in ACTIONS if name != "pause"}
"""Those that need nothing that another one does not need."""
NEEDS = {
    "export demo/learned --format jsonl --out pages.jsonl": "text",
    "web build log.parquet links.csv --out logged": "parquet",
    f"compare {TASK} --strategies breadth-first --plot curves.svg --workers 1": "plot",
    "judge ontology:terms.tsv pages/positive/1.html": "ontology",
    f"reproduce correlation {SMALL}": "topics",
    f"reproduce core {SMALL}": "ontology",
    "judge script:thai page.pdf": "documents",
    "completion bash": "completion",
    "crawl --language th --seed http://a.test/ --shards 2 --out sharded": "ray",
}
"""Commands, and the extra that each asks for."""

Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def bin_folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(wheel, tmp_path_factory.mktemp("environment"))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands read."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "language.txt").write_text("Grüezi mitenand, das isch en Täxt uf Schwiizerdütsch. " * 30)
    (folder / "results.txt").write_text("http://a.test/\n")
    (folder / "terms.tsv").write_text("term\timportance\tforms\nhorse\t1\t\n")
    (folder / "log.parquet").write_bytes(b"PAR1")
    (folder / "page.pdf").write_bytes(b"%PDF-1.7")
    (folder / "links.csv").write_text("from,to\n")
    for kind, said in (("positive", "the horse runs over the meadow"), ("negative", "the bank lends money to people")):
        (folder / "pages" / kind).mkdir(parents=True)
        for number in range(12):
            (folder / "pages" / kind / f"{number}.html").write_text(f"<title>{kind}</title><p>{said}, number {number}")
    return folder


@pytest.fixture(scope="module")
def done(bin_folder: Path, desk: Path) -> dict[str, Done]:
    """What came of every command, those that need an extra last: some read what others have made."""
    return ask_spoor([*RUN, EXPERIMENT, *NEEDS], bin_folder, desk)


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    sources = (path for path in (ROOT / "src" / "spoor").rglob("*") if path.is_file())
    inside = {str(path.relative_to(ROOT / "src")) for path in sources if "__pycache__" not in path.parts}
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == inside
    assert {Path(name).suffix for name in packed} == {
        *(".py", ".spoor", ".toml", ".tsv", ".typed", ".xz"),
        *(".css", ".html", ".js", ".svg"),
    }


def test_the_environment_holds_the_core_and_no_extra(bin_folder: Path, tmp_path: Path) -> None:
    code = "from importlib.metadata import distributions; print(*sorted(d.name for d in distributions()))"
    core = [needed.name for needed in closure(project()["dependencies"])]
    assert run([bin_folder / "python", "-c", code], tmp_path).split() == sorted([*core, "spoor"])
    assert not {"trafilatura", "pyarrow", "matplotlib", "rdflib", "scikit-learn"} & set(core)


def test_it_knows_its_version(bin_folder: Path, tmp_path: Path) -> None:
    assert run([bin_folder / "spoor", "--version"], tmp_path) == f"spoor {__version__}\n"
    assert project()["version"] == __version__


def test_what_a_crawl_needs_is_imported_without_a_warning(bin_folder: Path, tmp_path: Path) -> None:
    assert run([bin_folder / "python", "-W", "error", "-c", "import spoor; spoor.crawl"], tmp_path) == ""


@pytest.mark.parametrize("line", RUN)
def test_a_command_that_needs_no_extra_runs(line: str, done: dict[str, Done]) -> None:
    assert done[line].returncode == 0, done[line].stderr
    assert done[line].stdout


def test_an_experiment_runs_to_its_claims(done: dict[str, Done]) -> None:
    assert re.search(r"^  (yes|no|undecided) ", done[EXPERIMENT].stdout, re.M), done[EXPERIMENT].stderr


def test_a_web_served_on_this_machine_is_crawled(bin_folder: Path, desk: Path, done: dict[str, Done]) -> None:
    assert done[RUN[0]].returncode == 0
    with served(bin_folder, desk, "web serve web --port 0") as proxy:
        target = "--language th --seeds web/seeds.txt --rest 0.05 --max-pages 20 --out crawl"
        said = run([bin_folder / "spoor", "crawl", *target.split(), "--proxy", proxy], desk)
    assert "the budget of 20 visits is spent" in said
    assert (desk / "crawl" / "crawl.db").exists()


def test_the_dashboard_of_a_crawl_is_served_with_its_page(bin_folder: Path, desk: Path, done: dict[str, Done]) -> None:
    with served(bin_folder, desk, "dashboard demo/learned --port 0") as link:
        for path in ("", "static/app.js", "static/report.css", "api/v1/crawls/1"):
            with urllib.request.urlopen(f"{link}/{path}", timeout=60) as answer:
                assert answer.read()


@contextmanager
def served(bin_folder: Path, desk: Path, line: str) -> Iterator[str]:
    """The address that a command serves at: of the proxy that answers for the generated web, or of a dashboard."""
    command: list[str | Path] = [bin_folder / "spoor", *line.split()]
    with subprocess.Popen(command, cwd=desk, env=alone(), stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            (address,) = re.findall(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
            yield address
        finally:
            server.terminate()


@pytest.mark.parametrize("line", NEEDS)
def test_a_command_that_needs_an_extra_says_which(line: str, done: dict[str, Done]) -> None:
    refused = done[line]
    assert refused.returncode == 1
    assert refused.stderr.startswith("spoor: ") and refused.stderr.count("\n") == 1
    assert f"pip install 'spoor[{NEEDS[line]}]'" in refused.stderr


def test_every_command_is_tried() -> None:
    lines = [*RUN, EXPERIMENT, *NEEDS, "web serve", "crawl", "dashboard", "contest"]
    for command in commands(parser()):
        if not has_commands(command) and command.prog not in ALIKE:
            assert any(f"spoor {line} ".startswith(f"{command.prog} ") for line in lines), command.prog


def has_commands(of: argparse.ArgumentParser) -> bool:
    return any(isinstance(action, argparse._SubParsersAction) for action in of._actions)


def test_every_extra_is_asked_for_by_some_command() -> None:
    assert set(NEEDS.values()) == set(project()["optional-dependencies"]) - {"dev"}


def test_the_page_of_dependencies_lists_those_of_the_project() -> None:
    groups = {"Core": project()["dependencies"]}
    groups |= {f"Extra {name}": needed for name, needed in project()["optional-dependencies"].items()}
    assert {title: set(listed(body)) for title, body in sections().items() if listed(body)} == {
        title: {Requirement(line).name for line in needed} for title, needed in groups.items()
    }


def test_the_page_of_dependencies_names_modules_that_import_them() -> None:
    top_levels = packages_distributions()
    assert sections()
    for body in sections().values():
        for name, where in re.findall(r"^\| `([\w.-]+)` \| [^|]+ \| ([^|]*) \| [\d.]+ \|", body, re.M):
            imported = [top for top, owners in top_levels.items() if name.lower() in map(str.lower, owners)]
            for module in re.findall(r"`([\w/]+\.py)`", where):
                source = (ROOT / "src" / "spoor" / module).read_text("utf8")
                assert re.search(rf"^\s*(import|from) ({'|'.join(imported)})\b", source, re.M), f"{module}: {name}"


def sections() -> dict[str, str]:
    page = (ROOT / "docs" / "dependencies.md").read_text("utf8")
    return dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", page, re.M | re.S))


def listed(body: str) -> list[str]:
    return re.findall(r"^\| `([\w.-]+)` \|", body, re.M)

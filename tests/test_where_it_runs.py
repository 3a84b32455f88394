"""The page of Pythons, machines and extras says what the packaging does."""

from __future__ import annotations

import re

from packaging.specifiers import SpecifierSet
from scripts import plain

from spoor.open_files import OpenFiles
from spoor.settings import Config
from spoor.store.sqlite_version import LEAST_SQLITE
from tests.installed import ROOT, project

PAGE = (ROOT / "docs" / "where-it-runs.md").read_text("utf8")


def rows(title: str) -> list[list[str]]:
    """The cells of the tables of a section, without backquotes."""
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    lines = [line.strip("| ").replace("`", "").split(" | ") for line in section.splitlines() if line.startswith("|")]
    return lines[2:]


def test_the_page_names_the_pythons_of_the_classifiers() -> None:
    (named,) = re.findall(r"^CPython (.*?)\.\s", PAGE, re.M)
    assert re.findall(r"3\.\d+", named) == plain.pythons()


def test_the_lowest_python_is_the_one_that_is_required() -> None:
    required = SpecifierSet(project()["requires-python"])
    lowest = plain.pythons()[0]
    assert lowest in required
    assert f"3.{int(lowest.partition('.')[2]) - 1}" not in required


def test_the_page_names_the_machines_that_wheels_are_looked_for() -> None:
    assert re.findall(r"^- (.*)$", PAGE, re.M) == list(plain.MACHINES)


def test_the_page_lists_what_has_no_wheel() -> None:
    listed = {package: tuple(where.split(", ")) for package, _, where, _ in rows("Systems")}
    assert listed == plain.NO_WHEEL
    known = {"every Python", *plain.MACHINES, *(f"Python {python}" for python in plain.pythons())}
    assert set().union(*listed.values()) <= known


def least(of: str) -> str:
    (number,) = [number for name, number, _ in rows("What a machine needs") if name == of]
    return number


def test_the_page_names_the_sqlite_that_is_required() -> None:
    assert tuple(map(int, least("SQLite").split("."))) == LEAST_SQLITE[:2]


def test_the_page_says_how_many_files_the_usual_crawl_opens() -> None:
    assert least("open files") == f"{OpenFiles.needed(Config().crawl.connections)}"


def test_the_page_says_what_every_extra_needs() -> None:
    assert [extra for extra, _ in rows("What the extras need")] == plain.extras()


def test_the_lock_has_every_extra_but_ray() -> None:
    (locked,) = re.findall(r"^LOCKED := (.*)$", (ROOT / "Makefile").read_text("utf8"), re.M)
    assert set(locked.split()) == set(project()["optional-dependencies"]) - {"ray"}


def test_a_plain_installation_is_the_one_that_the_readme_begins_with() -> None:
    assert f"pip install '.[{plain.EXTRA}]'" in (ROOT / "README.md").read_text("utf8")


def test_ci_looks_for_the_pythons_of_the_classifiers() -> None:
    (looked_for,) = re.findall(r"for version in ([\d. ]+);", (ROOT / ".ci" / "run").read_text("utf8"))
    assert sorted(looked_for.split()) == plain.pythons()

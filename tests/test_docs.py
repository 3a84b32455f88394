"""The documentation is held to the code: what exists is documented, and what is documented runs."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import io
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from spoor import events, registry, roles
from spoor import settings as config
from spoor.cli.main import parser
from spoor.frontier.sqlite import SqliteStore
from spoor.judging.language_judges import CHARSETS, SCRIPTS
from spoor.lab import web as folder
from spoor.lab.comparison import Comparison
from spoor.lab.generate import CATALOGUE, generate
from spoor.lab.generate.chance import Request
from spoor.lab.measures import OrderScore, Score, Yardstick
from spoor.lab.task import Task
from spoor.live import from_settings
from spoor.settings import SETTINGS, Config, Setting
from spoor.store.duplicates import Duplicates
from spoor.store.journal import Journal
from spoor.store.marks import Marks
from spoor.store.renders import Renders
from spoor.store.steered import SteeredActions

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
MACHINE_PATHS = re.compile(r"(?<![\w.~:/-])/(?:work|tmp)/")
"""A path that begins with one of these, not a longer one that goes through it."""


def page(name: str) -> str:
    return (DOCS / name).read_text("utf8")


def has_word(text: str, word: str) -> bool:
    """The word itself, not a longer one that holds it."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def commands(of: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A parser and all parsers below it."""
    yield of
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from commands(below)


@pytest.mark.parametrize("command", list(commands(parser())), ids=lambda command: command.prog)
def test_every_command_and_every_option_is_documented(command: argparse.ArgumentParser) -> None:
    text = page("commands.md")
    assert has_word(text, command.prog)
    for option in [name for action in command._actions for name in action.option_strings]:
        assert has_word(text, option), f"{command.prog} {option}"


def test_a_table_of_options_holds_none_that_the_command_lacks() -> None:
    known = {command.prog: command.format_help() for command in commands(parser())}
    for title, body in re.findall(r"^## (spoor [\w -]+?)\n(.*?)(?=^## |\Z)", page("commands.md"), re.M | re.S):
        for option in re.findall(r"^\|.*?`(--[\w-]+)`", body, re.M):
            assert has_word(known[title], option), f"{title} {option}"


@pytest.mark.parametrize("name", registry.STRATEGIES)
def test_every_strategy_has_its_section_with_parameters_and_defaults(name: str) -> None:
    section = re.search(rf"^### {re.escape(name)}\n(.*?)(?=^##|\Z)", page("strategies.md"), re.M | re.S)
    assert section, f"docs/strategies.md has no section {name}"
    for parameter, default in registry.STRATEGIES[name].parameters().items():
        assert f"`{parameter}={default}`" in section[1]


@pytest.mark.parametrize("name", registry.JUDGES)
def test_every_judge_has_its_section_with_parameters_and_defaults(name: str) -> None:
    section = re.search(rf"^## {re.escape(name)}\n(.*?)(?=^## |\Z)", page("judges.md"), re.M | re.S)
    assert section, f"docs/judges.md has no section {name}"
    for parameter, default in registry.JUDGES[name].parameters().items():
        assert f"`{parameter}={default}`" in section[1]


def test_every_charset_and_script_is_listed() -> None:
    encodings = [name for charsets in CHARSETS.values() for name in charsets]
    for word in [*CHARSETS, *encodings, *SCRIPTS]:
        assert has_word(page("judges.md"), word), word


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_generator_is_documented(name: str) -> None:
    assert f"| `{name}` |" in page("webs.md")


def test_every_field_of_the_json_is_documented() -> None:
    task = Task(Path("web"), "relevant", ("http://a.test/",))
    comparison = Comparison(task, 1, Yardstick(1, 1), ()).as_json()
    result = Score("", 0, 0, 0.0, None, 0.0, None, 0.0, 0, 0.0, ()).as_json()
    of_order = [field.name for field in fields(OrderScore)]
    for name in [*comparison, *result, *of_order]:
        assert f"`{name}`" in page("measures.md"), name


def test_every_role_is_explained() -> None:
    text = page("write-a-strategy.md") + page("how-a-crawl-works.md")
    for name, role in inspect.getmembers(roles, inspect.isclass):
        if role.__module__ == roles.__name__:
            assert has_word(text, name), name


def test_every_event_is_explained() -> None:
    for event in get_args(events.Event):
        assert f"`{event.__name__}`" in page("how-a-crawl-works.md"), event


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_every_setting_is_documented_with_its_default_and_meaning(setting: Setting) -> None:
    section = re.search(rf"^## \[{setting.section}\]\n(.*?)(?=^## |\Z)", page("settings.md"), re.M | re.S)
    assert section, f"docs/settings.md has no section [{setting.section}]"
    assert f"| `{setting.name}` | {default(setting)} | {setting.meaning}" in section[1]


def default(setting: Setting) -> str:
    """As crawl.toml writes it."""
    section = config.dumps(Config()).partition(f"[{setting.section}]\n")[2].partition("\n[")[0]
    value = re.search(rf"^{setting.name} = (.+)$", section, re.M)
    return f"`{value[1]}`" if value else "not set"


def test_the_example_of_settings_is_a_crawl_that_can_be_run() -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```", page("settings.md"), re.M | re.S)
    assert from_settings.strategy_of(config.loads(example)).judge


def test_every_table_and_column_of_the_database_is_documented(tmp_path: Path) -> None:
    tables = tables_of(tmp_path / "crawl.db")
    assert {"links", "pages", "events", "dropped", "digests"} < set(tables)
    for table, columns in tables.items():
        section = re.search(rf"^### {table}\n(.*?)(?=^##|\Z)", page("on-disk.md"), re.M | re.S)
        assert section, f"docs/on-disk.md has no section {table}"
        told = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", section[1], re.M)))
        assert set(columns) <= set(told), f"{table}: {set(columns) - set(told)}"


def tables_of(file: Path) -> dict[str, list[str]]:
    """The columns of each table of a new crawl."""
    with contextlib.closing(SqliteStore(file)) as store:
        Journal.create(store.connection)
        Duplicates.create(store.connection)
        Marks.create(store.connection)
        SteeredActions.create(store.connection)
        Renders.create(store.connection)
    with contextlib.closing(sqlite3.connect(file)) as db:
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in names}


def test_a_generated_web_holds_the_files_that_the_format_names(tmp_path: Path) -> None:
    """Listed webs have files that generated ones lack, and the other way round; some are absent when not needed."""
    generate(Request("topical", 20, 1), tmp_path / "web", lambda pages: None)
    assert folder.__doc__ is not None
    named = set(re.findall(r"\b(\w+\.(?:npy|bin|json|txt))", folder.__doc__))
    also_charsets = re.search(r"likewise (\w+), (\w+)", folder.__doc__)
    assert also_charsets
    named |= {f"{name}.npy" for name in also_charsets.groups()}
    optional = {
        "seconds.npy",
        "redirect.npy",
        "language.npy",
        "needs_scripts.npy",
        "sitemaps.bin",
        "sitemaps_offsets.npy",
    }
    listed = {"urls.bin", "url_offsets.npy", "url_hashes.npy", "url_hash_ids.npy"}
    assert {file.name for file in (tmp_path / "web").iterdir()} == named - optional - listed


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text("utf8")):
        if "://" not in target:
            file, _, heading = target.partition("#")
            aim = path.parent / file if file else path
            assert aim.exists(), target
            assert not heading or heading in headings(aim), target


def headings(path: Path) -> set[str]:
    """As they are written in links: small letters, blanks as hyphens, no punctuation."""
    titles = re.findall(r"^#+ (.+)$", path.read_text("utf8"), re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text("utf8")
    for path in DOCS.rglob("*.md"):
        assert path.name == "README.md" or f"({path.relative_to(DOCS)})" in index, path


def test_the_examples_of_write_a_strategy_run_and_print_what_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry.STRATEGIES, "_plug_ins", {})  # what the page registers is for itself alone
    blocks = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", page("write-a-strategy.md"), re.S)
    assert blocks
    names: dict[str, object] = {"__name__": "write_a_strategy"}
    for code, told in blocks:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, "write-a-strategy.md", "exec", dont_inherit=True), names)
        assert said.getvalue() == told


def test_the_readme_begins_with_two_commands() -> None:
    text = (ROOT / "README.md").read_text("utf8")
    assert "make demo" in text
    assert "make test" in text


def test_every_target_of_the_makefile_is_told_to_contributors() -> None:
    targets = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text("utf8"), re.M)
    for target in targets:
        assert target == "help" or f"make {target}" in (ROOT / "CONTRIBUTING.md").read_text("utf8"), target


def test_the_map_names_modules_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf8")
    (chart,) = re.findall(r"^```mermaid\n(.*?)^```", text, re.M | re.S)
    modules = re.findall(r"[\w/]+\.py\b", chart)
    assert len(modules) >= 12
    for module in modules:
        assert (ROOT / "src" / "spoor" / module).is_file(), module


def test_every_room_is_on_the_map_of_layers_and_says_what_lives_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf8")
    (layers,) = re.findall(r"^## Where things live\n.*?```\n(.*?)^```", text, re.M | re.S)
    for room in (ROOT / "src" / "spoor").glob("*/__init__.py"):
        assert has_word(layers, room.parent.name), room.parent.name
        assert re.match(r'"""[A-Z].{40,}"""\n', room.read_text("utf8")), room


def test_no_file_tells_where_it_was_written() -> None:
    for path in text_files():
        assert not MACHINE_PATHS.search(path.read_text("utf8", "replace")), path


def text_files() -> list[Path]:
    """What is or will be tracked."""
    asked = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [file for file in files if file.is_file() and file.suffix not in (".png", ".gz", ".xz")]

"""The glossary is held to the code: its modules exist, and what the code shows to users is in it."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from spoor.actions import Pause
from spoor.cli.main import parser
from spoor.events import Steered
from spoor.ordering.learned.scores import EVIDENCE
from spoor.report.figures import figures
from spoor.report.page import html_of
from spoor.report.summary import Incident, Kind, Pace, Reason
from spoor.settings import SECTIONS
from tests.written_crawl import small_crawl

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "glossary.md").read_text("utf8")
ENTRIES = re.findall(r"^\| \*\*(.+?)\*\* \|(.+)\|$", TEXT, re.M)
"""Words with the rest of their rows."""


@pytest.mark.parametrize(("word", "row"), ENTRIES, ids=[word for word, _ in ENTRIES])
def test_a_word_is_explained_and_leads_to_code_and_docs(word: str, row: str) -> None:
    meaning, code, docs = (cell.strip() for cell in row.strip().split(" | "))
    modules = re.findall(r"\[`([\w/]+\.py)`\]\(\.\./src/spoor/([\w/]+\.py)\)", code)
    assert meaning.endswith(".")
    assert modules
    for named, linked in modules:
        assert named == linked
        assert (ROOT / "src" / "spoor" / linked).is_file(), linked
    assert re.search(r"\]\([\w-]+\.md(#[\w-]+)?\)", docs)


def test_forty_words_or_more_are_explained_each_once() -> None:
    assert len(ENTRIES) >= 40
    assert [word for word, times in Counter(word for word, _ in ENTRIES).items() if times > 1] == []


@pytest.mark.parametrize("name", EVIDENCE)
def test_every_evidence_of_learned_is_explained(name: str) -> None:
    assert f"\n| `{name}` |" in TEXT


@pytest.mark.parametrize("name", SECTIONS)
def test_every_section_of_the_settings_is_explained(name: str) -> None:
    assert f"`[{name}]`" in TEXT


def test_every_command_is_explained() -> None:
    (commands,) = (action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    assert [name for name in commands.choices if f"\n| `spoor {name}` |" not in TEXT] == []


def test_every_label_of_the_report_is_explained(tmp_path: Path) -> None:
    """Titles, heads of columns, and what stands below a figure up to its first comma or colon: each stands as it is in
    the section on labels."""
    page = report_with_every_table(tmp_path)
    titles, columns = re.findall(r"<h2>(.+?)</h2>", page), re.findall(r"<th>(.+?)</th>", page)
    tiles = re.findall(r'<div class="tile"><b>.*?</b><span>([^,:<]+)', page)
    assert len(titles) >= 12
    assert len(tiles) >= 9
    explained = TEXT.partition("## Labels of report.html")[2]
    assert [label for label in [*titles, *columns, *tiles] if not has_words(explained, label)] == []


def report_with_every_table(folder: Path) -> str:
    kinds, reasons = (Kind("name", 1, 1),), (Reason("reason", 1, 1),)
    full = replace(
        figures(small_crawl(folder / "small")),
        hosts=kinds,
        statuses=kinds,
        languages=kinds,
        labels=kinds,
        failures=reasons,
        refusals=reasons,
        redirects=reasons,
        slowest=(Pace("host", 1.0, 1),),
        incidents=(Incident("what", 1, 1.0),),
        steered=(Steered(1.0, "1", "anna", Pause()),),
    )
    return html_of(full)


def has_words(text: str, words: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(words)}(?![\w-])", text, re.IGNORECASE) is not None

"""The files that a crawl refers to are copied into its folder: it moves as a whole, and is not changed from outside."""

from __future__ import annotations

import hashlib
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import spoor
from spoor.cli.main import main
from spoor.errors import BadInput
from spoor.judging.classifiers import write_topic
from spoor.judging.train_topic import topic_from
from spoor.store import inputs
from tests.html_site import site
from tests.thread_server import in_thread

HORSES = "<title>horses</title><p>horses and riders on the steppe, a mare and her foal <a href='/{}'>horses</a>"
PAGES = {"/": HORSES.format("one"), "/one": HORSES.format("two"), "/two": HORSES.format("three")}


@pytest.fixture
def seed() -> Iterator[str]:
    with in_thread(site(PAGES)) as address:
        yield f"{address}/"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A model, an ontology, a dictionary, an example and a translator, as a person may have them somewhere."""
    folder = tmp_path / "files"
    for side, text in (("positive", "horses and riders, a mare"), ("negative", "engines, wheels and motors")):
        (folder / "pages" / side).mkdir(parents=True)
        for number in range(10):
            (folder / "pages" / side / f"{number}.html").write_text(f"<p>{text} {number}</p>")
    write_topic(folder / "my.spoor", topic_from(folder / "pages"))
    (folder / "terms.csv").write_text("term,importance\nhorses,1\n")
    (folder / "words.tsv").write_text("cheval\thorses\n")
    (folder / "best.html").write_text(HORSES)
    (folder / "translator.toml").write_text('[translate]\ndictionary = "words.tsv"\nfrom_language = "fr"\n')
    return folder


TARGETS = {
    "topic": ["--topic", "my.spoor"],
    "judge": ["--judge", "my.spoor", "--judge", "gold:best.html", "--require", "my and gold"],
    "ontology": ["--ontology", "terms.csv"],
    "translator": ["--judge", "ontology:terms.csv:translator=translator.toml"],
    "examples": ["--judge", "examples:pages"],
    "strategy": ["--keywords", "horses", "--strategy", "core:ontology=terms.csv"],
}


@pytest.mark.parametrize("target", TARGETS)
def test_a_moved_crawl_goes_on_without_the_files_that_it_was_begun_with(
    target: str, seed: str, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    folder, moved = tmp_path / "crawl", tmp_path / "elsewhere" / "moved"
    words = [*TARGETS[target], "--seed", seed, "--host-delay", "0", "--allow-private", "--max-pages", "1"]
    assert main(["crawl", *words, "--out", str(folder)]) == 0
    shutil.copytree(folder, moved)
    for gone in (files, folder):
        shutil.rmtree(gone)
    monkeypatch.chdir(tmp_path)
    assert main(["crawl", "--out", str(moved), "--max-pages", "3"]) == 0
    pages = list(spoor.open_crawl(moved).pages())
    assert len(pages) == 3 and all(page.verdict.relevant for page in pages)
    assert str(tmp_path) not in (moved / "crawl.toml").read_text()
    why = spoor.open_crawl(moved).why(f"{seed}one")
    assert "unknown" not in str(why)


def test_a_copy_is_named_by_its_digest(seed: str, files: Path, tmp_path: Path) -> None:
    list(spoor.crawl(tmp_path / "crawl", topic=files / "my.spoor", seeds=[seed], allow_private=True, max_pages=1))
    digest = hashlib.sha256((files / "my.spoor").read_bytes()).hexdigest()
    settings = tomllib.loads((tmp_path / "crawl" / "crawl.toml").read_text())
    assert settings["target"]["topic"] == f"inputs/{digest}/my.spoor"
    assert (tmp_path / "crawl" / settings["target"]["topic"]).read_bytes() == (files / "my.spoor").read_bytes()


def test_a_file_that_changes_elsewhere_changes_nothing_and_a_changed_copy_is_told(
    seed: str, files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, terms = tmp_path / "crawl", files / "terms.csv"
    words = ["--ontology", str(terms), "--seed", seed, "--host-delay", "0", "--allow-private", "--max-pages", "1"]
    assert main(["crawl", *words, "--out", str(folder)]) == 0
    terms.write_text("term,importance\nengines,1\n")
    assert main(["crawl", "--out", str(folder), "--max-pages", "2"]) == 0
    assert all(page.verdict.relevant for page in spoor.open_crawl(folder).pages())
    (copy,) = folder.glob("inputs/*/terms.csv")
    copy.write_text(terms.read_text())
    capsys.readouterr()
    assert main(["crawl", "--out", str(folder), "--max-pages", "3"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{copy} was changed since the crawl began" in line
    with pytest.raises(BadInput, match="was changed since the crawl began"):
        spoor.crawl(folder, max_pages=3)


def test_files_that_are_too_large_together_are_refused_by_name_before_there_is_a_folder(
    seed: str, files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "MAX_INPUT_BYTES", 50)
    terms = files / "terms.csv"
    terms.write_text("term,importance\n" + "horses,1\n" * 9)
    assert main(["crawl", "--ontology", str(terms), "--seed", seed, "--out", str(tmp_path / "crawl")]) == 2
    assert f"{terms} has 97 bytes: files that a crawl refers to are copied" in capsys.readouterr().err
    assert not (tmp_path / "crawl").exists()


def test_a_folder_with_a_colon_is_refused_where_a_name_would_hold_a_file_in_it(
    seed: str, files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "crawl at 10:30"
    judge = f"gold:{files / 'best.html'}:terms=9"
    assert main(["crawl", "--judge", judge, "--seed", seed, "--out", str(out)]) == 2
    assert "has a colon" in capsys.readouterr().err and not out.exists()

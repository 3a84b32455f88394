"""`spoor train context`: from a web, from an earlier crawl, and what is refused."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

import spoor
from spoor.cli.main import main
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.web import Web
from spoor.ordering.path_model import open_paths
from spoor.settings import Config, Crawling, Politeness, Target
from tests.test_live import crawl_live


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("webs") / "topical"
    generate(Request("topical", 250, 5), folder, lambda pages: None)
    return folder


def train(source: Path, out: Path, *words: str) -> int:
    return main(["train", "context", str(source), "--out", str(out), "--workers", "1", *words])


def test_a_web_teaches_layers_clusters_and_words(web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(web, tmp_path / "m.spoor", "--target", "relevant", "--clusters", "4") == 0
    model = open_paths(tmp_path / "m.spoor")
    assert (model.target, model.trained_on, model.layers, model.path.symbols) == ("relevant", "topical", 3, 4)
    relevant = int(Web.open(web).labelled("relevant").sum())
    said = capsys.readouterr().out
    assert f"layer 0     {relevant} pages, {relevant} of them read" in said
    assert "clusters    4 asked for" in said and "% of links of layer 1 lead to layer 0" in said
    assert f"ahmm:model={tmp_path / 'm.spoor'}" in said


def test_python_makes_the_model_of_the_command(web: Path, tmp_path: Path) -> None:
    made, by_command = tmp_path / "made.spoor", tmp_path / "by-command.spoor"
    paths = spoor.train_context(web, "relevant", made, layers=2)
    assert train(web, by_command, "--target", "relevant", "--layers", "2") == 0
    assert (paths.model.target, made.read_bytes()) == ("relevant", by_command.read_bytes())


def test_more_layers_can_be_asked_for(web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        train(web, tmp_path / "m.spoor", "--target", "relevant", "--layers", "5", "--clusters", "auto", "--refine", "1")
        == 0
    )
    assert open_paths(tmp_path / "m.spoor").path.states == 6
    assert "found, which explain" in capsys.readouterr().out


def test_a_crawl_teaches_by_what_it_judged_relevant(
    web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = tuple((web / "seeds.txt").read_text().split())
    asked = Crawling(seeds=seeds, connections=1, strategy="breadth-first", max_pages=80)
    target = Target(keywords=("telescope", "galaxy", "orbit", "planet"))
    config = Config(target, asked, politeness=Politeness(host_delay=0.0))
    asyncio.run(crawl_live(Web.open(web), tmp_path / "crawl", config))
    assert train(tmp_path / "crawl", tmp_path / "m.spoor") == 0
    model = open_paths(tmp_path / "m.spoor")
    assert (model.target, model.trained_on) == ("judged relevant", "crawl")
    assert "planet" in model.words
    assert train(tmp_path / "crawl", tmp_path / "m.spoor", "--target", "relevant") == 2
    assert "--target relevant: a crawl has no labels; leave --target out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--target", "relevent"], 1, "has no label 'relevent'; the nearest it has is 'relevant'"),
        ([], 2, "--target is missing"),
        (["--target", "relevant", "--layers", "0"], 2, "--layers 0: a path model has from 1 to 20 layers"),
        (["--target", "relevant", "--clusters", "1"], 2, "--clusters 1: give auto, or a number from 2"),
        (["--target", "relevant", "--clusters", "few"], 2, "'few' is neither auto nor a number"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(
    web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, told: str
) -> None:
    assert train(web, tmp_path / "m.spoor", *words) == code
    said = capsys.readouterr().err
    assert told in said and said.count("\n") == 1
    assert not (tmp_path / "m.spoor").exists()


def test_a_folder_that_is_neither_web_nor_crawl_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path, tmp_path / "m.spoor", "--target", "relevant") == 1
    assert "is neither a web nor the folder of a crawl" in capsys.readouterr().err


def test_a_web_without_texts_teaches_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generate(Request("thai", 300, 1), tmp_path / "thai", lambda pages: None)
    assert train(tmp_path / "thai", tmp_path / "m.spoor", "--target", "relevant") == 1
    assert "has no texts; build it from WARC files" in capsys.readouterr().err


def test_the_name_of_a_model_ends_in_spoor(web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(web, tmp_path / "m.bin", "--target", "relevant") == 2
    assert "ends in .spoor" in capsys.readouterr().err


def test_json_has_the_layers_and_clusters(web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(web, tmp_path / "m.spoor", "--target", "relevant", "--clusters", "4", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["target"], len(told["layers"]), told["clusters"]) == ("relevant", 5, 4)

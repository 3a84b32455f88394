"""`spoor train topic` and `spoor train taxonomy`: what they print, what they write, and how they refuse."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import random
import tarfile
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from spoor import registry
from spoor import settings as config
from spoor.cli.main import main
from spoor.errors import BadInput
from spoor.judging.classifiers import open_topic
from spoor.judging.held_out import f1
from spoor.judging.train_topic import topic_from, train_topic
from spoor.judging.training_pages import Example, read_examples, sides, usable
from spoor.live.inputs import with_kept_inputs
from spoor.records import Page
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.inputs import digest_of
from tests.shared_data import SHARED

COMMON = [
    "the",
    "and",
    "of",
    "with",
    "people",
    "said",
    "new",
    "year",
    "day",
    "time",
    "world",
    "city",
    "house",
    "work",
    "life",
]
HORSES = ["horse", "mare", "foal", "stable", "saddle", "steppe", "rider", "gallop"]
SHIPS = ["ship", "sail", "mast", "harbour", "anchor", "deck", "captain", "wave"]


def spoor(*words: object) -> int:
    return main([str(word) for word in words])


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that says why."""
    said = capsys.readouterr().err.strip()
    assert said.startswith("spoor: ") and "\n" not in said
    return said


def pages(folder: Path, words: list[str], count: int = 20) -> Path:
    """Texts of a topic, most of their words about nothing."""
    folder.mkdir(parents=True)
    chance = random.Random(str(folder))
    for number in range(count):
        said = chance.choices(COMMON, k=60) + chance.choices(words, k=12)
        chance.shuffle(said)
        (folder / f"{number}.html").write_text(f"<title>{said[0]}</title><p>{' '.join(said)}</p>", "utf8")
    return folder


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    pages(tmp_path / "pages" / "positive", HORSES)
    pages(tmp_path / "pages" / "negative", SHIPS)
    return Path("pages")


class TestTrainingATopic:
    def test_tells_what_was_learned_and_how_well(self, examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
        given = ("--positive", examples / "positive", "--negative", examples / "negative")
        assert spoor("train", "topic", "--name", "horses", *given) == 0
        told = capsys.readouterr().out.splitlines()
        said = {line[:12].strip(): line[12:] for line in told}
        assert said["trained"] == "horses on positive, negative"
        assert said["pages"] == "20 positive, 20 negative"
        assert said["held out"].endswith("precision 1.000, recall 1.000, F1 1.000")
        assert set(said["for it"].split(", ")[:5]) <= set(HORSES)
        assert set(said["against it"].split(", ")[:5]) <= set(SHIPS)
        assert said["threshold"].startswith("0.")
        assert said["written"].startswith("horses.spoor; ")

    def test_tells_the_same_as_json(self, examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "topic", "--name", "horses", examples, "--json") == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["positive"], told["negative"], told["precision"], told["recall"]) == (20, 20, 1.0, 1.0)
        assert 0.0 < told["threshold"] < 1.0 and set(told["words"][:5]) <= set(HORSES)

    def test_makes_a_judge(self, examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "topic", "--name", "horses", examples) == 0
        Path("page.txt").write_text("A rider came to the stable and put a saddle on the mare.")
        capsys.readouterr()
        assert spoor("judge", "horses.spoor", "page.txt") == 0
        assert "relevant yes, relevance " in capsys.readouterr().out

    def test_takes_an_archive_as_it_takes_a_folder(self, examples: Path) -> None:
        with tarfile.open("pages.tar.gz", "w:gz") as archive:
            archive.add(examples)
        assert spoor("train", "topic", "--name", "a", examples) == 0
        assert spoor("train", "topic", "--name", "a", "pages.tar.gz", "--out", "b.spoor") == 0
        one, other = open_topic(Path("a.spoor")), open_topic(Path("b.spoor"))
        assert (one.words, one.bias, one.threshold) == (other.words, other.bias, other.threshold)

    def test_leaves_out_what_is_empty_or_no_text_or_there_twice(
        self, examples: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        positive = examples / "positive"
        (positive / "copy.html").write_bytes((positive / "0.html").read_bytes())
        (positive / "empty.html").write_text("<p> </p>")
        (positive / "image.png").write_bytes(bytes(range(256)) * 20)
        (positive / ".hidden").write_text("not looked at")
        assert spoor("train", "topic", "--name", "horses", examples) == 0
        assert "20 (1 empty, 1 not text, 1 duplicates left out) positive, 20 negative" in capsys.readouterr().out

    def test_refuses_one_class_only(self, examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "topic", "--name", "horses", "--positive", examples / "positive") == 2
        assert "no other pages are given; name some with --negative" in refusal(capsys)
        assert spoor("train", "topic", "--name", "horses", "--negative", examples / "negative") == 2
        assert "no relevant pages are given; name them with --positive" in refusal(capsys)

    def test_refuses_a_folder_without_both_sides(self, capsys: pytest.CaptureFixture[str]) -> None:
        pages(Path("half/positive"), HORSES)
        assert spoor("train", "topic", "--name", "horses", "half") == 1
        assert "half has no pages in a folder negative; both are needed, positive and negative" in refusal(capsys)

    def test_refuses_pages_on_neither_side(self, examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (examples / "stray.html").write_text("<p>horse</p>")
        assert spoor("train", "topic", "--name", "horses", examples) == 1
        assert "stray.html is neither in positive nor in negative" in refusal(capsys)

    def test_refuses_too_few_pages_and_says_how_few(self, examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
        pages(Path("few"), HORSES, 3)
        (Path("few") / "empty.html").write_text("")
        assert spoor("train", "topic", "--name", "h", "--positive", "few", "--negative", examples / "negative") == 1
        assert "too few positive pages: 3 (1 empty left out); 10 are needed of each kind" in refusal(capsys)

    def test_refuses_an_empty_folder(self, examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("none").mkdir()
        assert spoor("train", "topic", "--name", "h", "--positive", "none", "--negative", examples / "negative") == 1
        assert "none holds no pages; put some there, HTML or plain text, one per file" in refusal(capsys)

    def test_refuses_what_is_not_there_or_no_archive(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "topic", "--name", "h", "absent") == 1
        assert "cannot read absent: No such file or directory" in refusal(capsys)
        Path("broken.tar.xz").write_bytes(b"no archive")
        assert spoor("train", "topic", "--name", "h", "broken.tar.xz") == 1
        assert "cannot read the archive broken.tar.xz: file could not be opened successfully" in refusal(capsys)

    def test_refuses_an_archive_that_was_cut(self, examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for name, mode in (("a.tar.xz", "w:xz"), ("a.tar.gz", "w:gz")):
            with tarfile.open(name, mode) as archive:  # type: ignore[call-overload]
                archive.add(examples)
            whole = Path(name).read_bytes()
            Path(name).write_bytes(whole[: len(whole) // 2])
            assert spoor("train", "topic", "--name", "h", name) == 1
            assert f"cannot read the archive {name}: " in refusal(capsys)

    def test_refuses_a_page_that_is_on_both_sides(self, examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (examples / "negative" / "same.html").write_bytes((examples / "positive" / "3.html").read_bytes())
        assert spoor("train", "topic", "--name", "h", examples) == 1
        assert "positive/3.html is positive and, as negative/same.html, negative too" in refusal(capsys)

    def test_refuses_pages_that_nothing_tells_apart(self) -> None:
        said = [Example(f"{n}", Page("http://a.test/", text=f"the same words in every page w{n}")) for n in range(40)]
        with pytest.raises(BadInput, match="no words distinguish the positive pages from the negative ones"):
            train_topic("none", usable(said[::2]), usable(said[1::2]), "")

    def test_refuses_a_name_that_is_no_model(self, examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "topic", "--name", "h", examples, "--out", "model") == 2
        assert "--out model: the name of a model ends in .spoor" in refusal(capsys)


class TestATarget:
    def test_takes_a_model_as_topic_looked_for_beside_the_settings(self, examples: Path) -> None:
        assert spoor("train", "topic", "--name", "horses", examples) == 0
        table = {"target": {"topic": "../horses.spoor"}, "crawl": {"seeds": ["http://a.test/"]}}
        target = config.checked(table, Path("pages")).target
        assert target.topic == str(Path("horses.spoor").resolve())
        assert registry.judge_of(target).judge([Page("http://a.test/", text="mare and foal")])[0].relevant

    def test_takes_a_folder_of_examples_and_keeps_what_was_trained(self, examples: Path, tmp_path: Path) -> None:
        table = {"target": {"examples": "pages"}, "crawl": {"seeds": ["http://a.test/"]}}
        settings = config.checked(table, tmp_path)
        kept = with_kept_inputs(settings, CrawlFolder(tmp_path)).target.examples
        assert kept == str(tmp_path / "inputs" / digest_of(Path(kept)) / "examples.spoor")
        assert open_topic(Path(kept)).words == topic_from((tmp_path / "pages").resolve()).words
        assert with_kept_inputs(settings, CrawlFolder(tmp_path)).target.examples == kept


class TestTrainingATaxonomy:
    @pytest.fixture
    def classes(self, tmp_path: Path) -> Path:
        pages(tmp_path / "classes" / "animals" / "horses", HORSES)
        pages(tmp_path / "classes" / "animals" / "dogs", ["dog", "puppy", "bark", "leash"])
        pages(tmp_path / "classes" / "ships", SHIPS)
        return Path("classes")

    def test_tells_the_classes_and_how_well_they_are_told_apart(
        self, classes: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert spoor("train", "taxonomy", "--name", "animals", "--relevant", "animals", classes) == 0
        said = capsys.readouterr().out
        assert "class       animals/dogs, 20 pages" in said
        assert "100% of pages in their own class" in said
        assert "relevant or not: precision 1.000, recall 1.000, F1 1.000" in said

    def test_tells_the_same_as_json(self, classes: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "taxonomy", "--name", "animals", "--good", "animals", classes, "--json") == 0
        told = json.loads(capsys.readouterr().out)
        assert told["classes"]["animals/dogs"] == 20 and told["relevant"] == ["animals"] and told["in_own_class"] == 1.0

    def test_makes_a_judge(self, classes: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "taxonomy", "--name", "animals", "--relevant", "animals", classes) == 0
        (verdict,) = registry.judge("animals.spoor").judge([Page("http://a.test/", text="a puppy on a leash")])
        assert verdict.relevant and verdict.label == "animals/dogs"

    def test_refuses_a_class_that_is_not_there(self, classes: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "taxonomy", "--name", "a", "--relevant", "plants", classes) == 2
        assert "--relevant plants: there is no such class; there are animals/dogs, animals/horses, ships" in refusal(
            capsys
        )

    def test_refuses_to_take_every_class_as_relevant(self, classes: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "taxonomy", "--name", "a", "--relevant", "animals", "--relevant", "ships", classes) == 2
        assert "--relevant animals ships includes every class" in refusal(capsys)

    def test_refuses_one_class_only(self, classes: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "taxonomy", "--name", "a", "--relevant", "horses", classes / "animals") == 0
        pages(Path("single/one"), HORSES)
        capsys.readouterr()
        assert spoor("train", "taxonomy", "--name", "a", "--relevant", "one", "single") == 1
        assert "one class only, one; give a folder for each of several classes" in refusal(capsys)

    def test_refuses_too_few_pages_and_pages_without_a_class(
        self, classes: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pages(classes / "few", HORSES, 2)
        assert spoor("train", "taxonomy", "--name", "a", "--relevant", "ships", classes) == 1
        assert "too few pages of class few: 2; 5 are needed of each class" in refusal(capsys)
        (classes / "stray.html").write_text("<p>horse</p>")
        assert spoor("train", "taxonomy", "--name", "a", "--relevant", "ships", classes) == 1
        assert "stray.html is not in the folder of a class" in refusal(capsys)


def test_archives_that_hold_links_and_devices_give_their_files_only(tmp_path: Path) -> None:
    with tarfile.open("odd.tar", "w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "../../elsewhere"
        archive.addfile(link)
        file = tarfile.TarInfo("a/page.txt")
        file.size = 5
        archive.addfile(file, io.BytesIO(b"horse"))
    assert [(example.name, example.text) for example in read_examples(Path("odd.tar"))] == [("page.txt", "horse")]


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason=f"no example pages at {SHARED}")
def test_pages_about_ebola_are_told_from_pages_about_other_diseases() -> None:
    archive = SHARED / "data" / "example-pages" / "ebola.tar.xz"
    positive, negative = sides(archive, read_examples(archive))
    trial = train_topic("ebola", usable(positive), usable(negative), archive.name).trial
    assert f1(trial.accuracy) > 0.96
    assert trial.astray < 0.03


@contextlib.contextmanager
def served(folder: Path, first: int) -> Iterator[list[str]]:
    """Every page of a folder at an address of its own, so that no host has a delay."""
    handler = functools.partial(Quiet, directory=str(folder))
    files = sorted(path.name for path in folder.iterdir())
    servers = [ThreadingHTTPServer((f"127.0.3.{first + n}", 0), handler) for n in range(len(files))]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield [f"http://{s.server_address[0]!s}:{s.server_port}/{file}" for s, file in zip(servers, files, strict=True)]
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *values: object) -> None:
        pass


class TestTrainingFromUrls:
    def test_asks_for_the_pages(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        relevant, others = pages(tmp_path / "horses", HORSES, 12), pages(tmp_path / "ships", SHIPS, 12)
        with served(relevant, 1) as good, served(others, 101) as bad:
            Path("good.txt").write_text("\n".join(["# horses", *good, good[0].rpartition("/")[0] + "/gone.html"]))
            Path("bad.txt").write_text("\n".join(bad))
            given = ("--positive", "good.txt", "--negative", "bad.txt", "--allow-private")
            assert spoor("train", "topic", "--name", "horses", *given) == 0
        said = capsys.readouterr()
        assert "12 positive, 12 negative" in said.out
        assert "/gone.html: HTTP 404" in said.err

    def test_refuses_servers_inside_unless_told_otherwise(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("good.txt").write_text("http://127.0.0.1:9/a\n")
        given = ("--positive", "good.txt", "--negative", pages(tmp_path / "ships", SHIPS))
        assert spoor("train", "topic", "--name", "horses", *given) == 1
        warning, error = capsys.readouterr().err.splitlines()
        assert warning.startswith("spoor: warning: left out http://127.0.0.1:9/a: refused: 127.0.0.1 is a loopback")
        assert "none of the 1 URLs in good.txt gave a page" in error

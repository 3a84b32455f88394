"""`spoor train rules`: from labels of a web or from folders of pages to classes and the rules between them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import spoor as api
from spoor.cli.main import main
from spoor.errors import BadInput, UsageError
from spoor.judging.page_rules import labelled_examples, open_rules, siblings, trained_on_web
from spoor.lab.web import Web
from tests.handmade_web import write_web
from tests.warcs import response

SAID = {"course": "lecture exam homework", "student": "hobby thesis guitar", "staff": "office phone fax"}
EACH = 6
PAGES = [(kind, number) for kind in SAID for number in range(EACH)]


def url(kind: str, number: int) -> str:
    return f"http://{kind}{number % EACH}.test/"


def html(kind: str, number: int) -> str:
    """A course links to two students, a student to a course and to a page without a label, staff to nothing."""
    leads = {
        "course": [url("student", number), url("student", number + 1)],
        "student": [url("course", number), "http://nobody.test/"],
        "staff": [],
    }[kind]
    links = " ".join(f"<a href={there}>there</a>" for there in leads)
    return f"<title>{kind} {number}</title><p>{SAID[kind]} {'abcdef'[number] * 3} {links}"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half of the pages are labelled odd. The page without a class speaks like a student."""
    folder = tmp_path_factory.mktemp("rules")
    pages = {url(*page): html(*page) for page in PAGES} | {"http://nobody.test/": "<p>guitar and hobby"}
    (folder / "web.warc").write_bytes(b"".join(response(address, body) for address, body in pages.items()))
    labels = "".join(f"{url(kind, n)}\tclass={kind}{' odd' * (n % 2)}\n" for kind, n in PAGES)
    (folder / "truth.tsv").write_text("url\tlabels\n" + labels)
    made = ("web", "build", folder / "web.warc", "--truth", folder / "truth.tsv", "--out", folder / "web")
    assert spoor(*made, "--workers", 1) == 0
    return folder / "web"


def spoor(*words: object) -> int:
    return main([str(word) for word in words])


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr().err.strip()
    assert said.startswith("spoor: ") and "\n" not in said
    return said


class TestFromTheLabelsOfAWeb:
    def test_python_makes_the_model_of_the_command(self, web: Path, tmp_path: Path) -> None:
        made, by_command = tmp_path / "made.spoor", tmp_path / "by-command.spoor"
        model = api.train_rules(web, "class=course", made)
        assert spoor("train", "rules", web, "--target", "class=course", "--out", by_command) == 0
        assert (model.relevant, made.read_bytes()) == (("class=course",), by_command.read_bytes())
        with pytest.raises(UsageError, match="the target is every class"):
            api.train_rules(web, "class=course", classes=["class=course"])

    def test_every_page_that_a_class_links_to_counts_once_by_its_label_or_by_its_words(self, web: Path) -> None:
        model = trained_on_web(Web.open(web), "class=course")
        assert model.rules.classes == ("class=course", "class=staff", "class=student")
        assert model.rules.times.tolist() == [[0, 0, EACH], [0, 0, 0], [EACH, 0, 1]]
        assert model.relevant == ("class=course",)

    def test_classes_are_labels_of_one_kind(self, web: Path) -> None:
        opened = Web.open(web)
        assert siblings(opened, "class=staff") == ("class=course", "class=staff", "class=student")
        with pytest.raises(UsageError, match="no labels of the web web are of a kind with odd; name several"):
            siblings(opened, "odd")

    def test_a_page_with_two_labels_is_an_example_of_the_first(self, web: Path) -> None:
        examples = labelled_examples(Web.open(web), ("odd", "class=course", "class=student"))
        assert {leaf: len(kept.examples) for leaf, kept in examples.pages.items()} == {"odd": 3 * EACH // 2}

    def test_a_web_without_texts_is_refused(self, tmp_path: Path) -> None:
        bare = Web.open(write_web(tmp_path / "bare", [[1], [0]], {"class=a": [0], "class=b": [1]}))
        with pytest.raises(BadInput, match="the web bare has no texts, which are needed to distinguish classes"):
            trained_on_web(bare, "class=a")


class TestTheCommand:
    def test_tells_what_it_learned_and_writes_it(
        self, web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "courses.spoor"
        assert spoor("train", "rules", web, "--target", "class=course", "--out", out) == 0
        told = capsys.readouterr().out
        assert "trained     class=course on web" in told
        assert "held out    5-fold cross-validation: 100% of pages in their own class" in told
        assert "class       class=student: 6 pages, 7 linked to; look-ahead 8.57 (best path 8.57)" in told
        assert "            leads to class=course 0.86, class=student 0.14" in told
        assert "            leads to nothing that the web holds" in told
        assert open_rules(out).taxonomy.name == "class=course"

    def test_tells_the_classes_as_json(self, web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "rules", web, "--target", "class=course", "--out", tmp_path / "a.spoor", "--json") == 0
        told = json.loads(capsys.readouterr().out)
        assert told["target"] == ["class=course"] and told["classes"]["class=student"] == 6

    def test_takes_classes_and_several_targets_by_name(self, web: Path, tmp_path: Path) -> None:
        out, targets = tmp_path / "a.spoor", ("--target", "class=course", "--target", "class=staff")
        classes = "class=student, class=staff"
        assert spoor("train", "rules", web, *targets, "--classes", classes, "--out", out) == 0
        model = open_rules(out)
        assert model.rules.classes == ("class=student", "class=staff", "class=course")
        assert set(model.relevant) == {"class=course", "class=staff"}

    def test_learns_from_folders_of_pages_what_they_link_to(
        self, web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for kind, number in PAGES:
            (tmp_path / "pages" / kind).mkdir(parents=True, exist_ok=True)
            (tmp_path / "pages" / kind / f"{number}.html").write_text(html(kind, number))
        out = tmp_path / "courses.spoor"
        assert spoor("train", "rules", web, "--examples", tmp_path / "pages", "--target", "course", "--out", out) == 0
        assert open_rules(out).rules.times.tolist() == [[0, 0, EACH], [0, 0, 0], [EACH, 0, 1]]
        assert "trained     course on pages" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("given", "complaint"),
        [
            (("--target", "class=cours"), "has no label 'class=cours'; the nearest it has is 'class=course'"),
            (("--target", "class=course", "--where", "even"), "has no label 'even'"),
            (("--target", "class=course", "--where", "odd"), "there are too few such pages to learn from"),
            (("--target", "class=course", "--classes", "class=course"), "the target is every class"),
            (("--target", "odd"), "no labels of the web web are of a kind with odd"),
            (("--target", "course", "--examples", "none"), "cannot read none"),
            (("--target", "course", "--examples", "none", "--where", "odd"), "--where is for labels"),
        ],
    )
    def test_refuses_in_one_line(
        self, web: Path, tmp_path: Path, given: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert spoor("train", "rules", web, *given, "--out", tmp_path / "a.spoor") in (1, 2)
        assert complaint in refusal(capsys)
        assert not (tmp_path / "a.spoor").exists()

    def test_wants_a_name_that_ends_in_spoor(self, web: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "rules", web, "--target", "class=course", "--out", "rules") == 2
        assert "the name of a model ends in .spoor" in refusal(capsys)

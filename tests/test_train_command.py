"""`spoor train language` and `spoor judge`: what they print, what they write, and how they refuse."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from spoor import settings as config
from spoor.cli.main import main
from spoor.judging.profiles import open_profiles

SYLLABLES = ["ba", "dilu", "morga", "ne", "tsik", "ulam", "varo", "wenna", "xi", "yoru", "zeb"]


def spoor(*words: object) -> int:
    return main([str(word) for word in words])


def prose(letters: int, seed: int = 1) -> str:
    chance = random.Random(seed)
    return " ".join("".join(chance.choices(SYLLABLES, k=2)) for _ in range(letters // 6))


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that says why."""
    said = capsys.readouterr().err.strip()
    assert said.startswith("spoor: ") and "\n" not in said
    return said


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text(prose(5_000), "utf8")
    return tmp_path / "text.txt"


@pytest.fixture
def model(text: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert spoor("train", "language", "--name", "x-made", text) == 0
    capsys.readouterr()
    return Path("x-made.spoor")


class TestTraining:
    def test_tells_what_was_trained(self, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "language", "--name", "x-made", text) == 0
        said = dict(line.split(None, 1) for line in capsys.readouterr().out.replace("held out", "held").splitlines())
        assert said["trained"] == "x-made (x-made) on text.txt"
        assert "3-grams" in said["text"]
        assert said["held"].startswith("a tenth of the text has similarity 0.")
        assert said["written"].startswith("x-made.spoor; ")

    def test_tells_the_same_as_json(self, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "language", "--name", "x-made", text, "--json") == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["model"], told["language"], told["orthography"]) == ("x-made.spoor", "x-made", "x-made")
        assert 0.0 < told["similarity"] <= 1.0

    def test_writes_the_tag_in_its_one_spelling(self, text: Path) -> None:
        assert spoor("train", "language", "--name", "MON_mong", text, "--out", "m.spoor") == 0
        assert open_profiles(Path("m.spoor")).tags == ("mn-Mong",)

    def test_adds_to_a_model_that_exists(self, model: Path, text: Path) -> None:
        assert spoor("train", "language", "--name", "x-made", "--orthography", "other", text, "--out", model) == 0
        assert [profile.name for profile in open_profiles(model).profiles()] == ["x-made", "other"]

    def test_takes_utf_16_with_its_mark(self) -> None:
        Path("wide.txt").write_text(prose(5_000), "utf-16")
        assert spoor("train", "language", "--name", "x-made", "wide.txt") == 0

    def test_refuses_two_profiles_of_the_same_name(
        self, model: Path, text: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert spoor("train", "language", "--name", "x-made", text, "--out", model) == 1
        assert "two profiles of x-made have the same name 'x-made'" in refusal(capsys)

    @pytest.mark.parametrize(
        ("content", "complaint"),
        [
            (b"", "text.txt is empty"),
            (b" \n\t", "text.txt is empty"),
            (b"two words", "text.txt: 9 characters are too few; 1,000 are needed"),
            (b"\x89PNG\r\n\x1a\n" * 500, "text.txt is not UTF-8 text (byte 0x89 at 0); convert it first"),
            (b"a\x00b" * 500, "text.txt is not text: it holds NUL characters, the first at 1"),
        ],
    )
    def test_refuses_what_is_no_text_or_too_little(
        self, content: bytes, complaint: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("text.txt").write_bytes(content)
        assert spoor("train", "language", "--name", "x-made", "text.txt") == 1
        assert complaint in refusal(capsys)
        assert not Path("x-made.spoor").exists()

    def test_refuses_a_file_that_is_not_there(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "language", "--name", "x-made", "none.txt") == 1
        assert "cannot read the text file none.txt: No such file or directory" in refusal(capsys)

    def test_refuses_a_file_that_is_given_twice(self, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "language", "--name", "x-made", text, text) == 2
        assert "is given twice" in refusal(capsys)

    def test_refuses_a_name_that_is_no_tag(self, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "language", "--name", "Mongolian", text) == 2
        assert "did you mean 'mn'" in refusal(capsys)

    def test_refuses_to_add_another_language_to_a_model(
        self, model: Path, text: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert spoor("train", "language", "--name", "x-other", text, "--out", model) == 2
        assert "x-made.spoor is a model of x-made; give x-other another file with --out" in refusal(capsys)

    def test_refuses_to_add_to_what_is_no_model(self, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("other.spoor").write_text("no model")
        assert spoor("train", "language", "--name", "x-made", text, "--out", "other.spoor") == 1
        assert "other.spoor is not a file of language profiles" in refusal(capsys)

    def test_refuses_a_name_that_would_be_taken_for_a_tag(self, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("train", "language", "--name", "x-made", text, "--out", "model") == 2
        assert "--out model: the name of a model ends in .spoor" in refusal(capsys)


class TestJudging:
    def test_tells_language_runner_up_and_what_decided(self, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("page.html").write_text(f"<title>x</title><p>{prose(300, seed=2)}</p>")
        assert spoor("judge", model, "page.html") == 0
        said = capsys.readouterr().out
        assert "relevant yes, relevance " in said
        assert "language x-made, similarity 0." in said
        assert "then     " in said
        assert "decided  '" in said

    def test_tells_the_same_as_json(self, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("page.html").write_text(f"<title>x</title><p>{prose(300, seed=2)}</p>")
        assert spoor("judge", model, "page.html", "--json") == 0
        (page,) = json.loads(capsys.readouterr().out)["pages"]
        assert page["page"] == "page.html" and page["relevant"]
        assert page["nearest"][0]["language"] == "x-made" and page["deciding"]

    def test_takes_a_tag_a_judge_or_settings(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("thai.txt").write_text("ภาษาไทย เป็นภาษาที่ใช้ในประเทศไทย", "utf8")
        Path("crawl.toml").write_text('[target]\nscript = "thai"\n[crawl]\nseeds = ["http://a.test/"]\n')
        for target in ("th", "script:thai", "ngram:th:n=2:least=0.2", "crawl.toml"):
            assert spoor("judge", target, "thai.txt") == 0
            assert "relevant yes" in capsys.readouterr().out, target

    def test_reads_standard_input(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"abc")))
        assert spoor("judge", "ja", "-") == 0
        assert "language unknown, the text is too short: 3 characters" in capsys.readouterr().out

    def test_sends_nothing_to_the_terminal_that_could_steer_it(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("page.txt").write_text("\x1b[31m\u202e red \ue2c1\ue27f\ue317 " * 20, "utf8")
        assert spoor("judge", "mn-Mong", "page.txt") == 0
        assert all(letter.isprintable() or letter == "\n" for letter in capsys.readouterr().out)

    def test_refuses_a_page_that_is_not_there(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("judge", "ja", "none.html") == 1
        assert "cannot read the page none.html" in refusal(capsys)

    def test_refuses_a_language_of_which_nothing_is_known(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert spoor("judge", "ff", "page.html") == 2
        assert "train one: spoor train language --name ff" in refusal(capsys)


def test_a_model_in_crawl_toml_is_looked_for_beside_it(model: Path) -> None:
    table = {"target": {"language": "x-made.spoor"}, "crawl": {"seeds": ["http://a.test/"]}}
    assert config.checked(table, Path("elsewhere")).target.language == str(Path("elsewhere/x-made.spoor").resolve())

"""Any judge as the target of a crawl: by its name, with others, with the files that it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from spoor import registry
from spoor.errors import UsageError
from spoor.judging.language_judges import NgramRank
from spoor.records import Page
from spoor.registry import checked
from spoor.settings import GIVEN_IN_PYTHON, Target, dumps, loads, parsed

CRAWL = '\n[crawl]\nseeds = ["http://a.test/"]\n'
HORSES = "Horses graze on the steppe. A mare and her foal graze among the horses of the herd."
SHIPS = "Ships sail the sea. A ship and her crew sail among the ships of the fleet."


def documents(folder: Path, *texts: str) -> None:
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(text)


def judged(toml: str, folder: Path, text: str) -> tuple[bool, str]:
    (folder / "crawl.toml").write_text(toml)
    (verdict,) = registry.judge(str(folder / "crawl.toml")).judge([Page("http://a.test/", text=text)])
    return verdict.relevant, verdict.because


def test_require_names_each_judge_by_its_own_name_and_counts_those_of_one_name() -> None:
    target = Target(
        language="mn",
        judge=("tag-weighted:horse", "vsm:a", "models/my horses.spoor", "vsm:b", "language:th", GIVEN_IN_PYTHON),
    )
    assert list(target.judges()) == ["tag_weighted", "vsm", "my_horses", "vsm_2", "language_2", "judge"]
    assert next(iter(target.named())) == "language" and len(target.named()) == 7


def test_judges_are_joined_as_require_says(tmp_path: Path) -> None:
    toml = '[target]\njudge = ["script:thai", "pattern:horse", "pattern:steppe"]\nrequire = "pattern and not pattern_2"'
    assert judged(toml, tmp_path, "a horse")[0]
    assert not judged(toml, tmp_path, "a horse on the steppe")[0]
    assert not judged(toml.replace("require", "#"), tmp_path, "a horse on the steppe")[0]


def test_one_judge_needs_no_brackets(tmp_path: Path) -> None:
    assert judged('[target]\njudge = "pattern:horse"', tmp_path, "a horse") == (True, "pattern: text holds 'horse'")


def test_files_of_a_judge_are_looked_for_beside_the_settings_and_written_down_with_their_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents(tmp_path / "thai", HORSES, HORSES + " Foals.")
    documents(tmp_path / "ships", SHIPS, SHIPS + " Masts.")
    monkeypatch.chdir("/")
    asked = '[target]\njudge = ["vsm:thai:background=ships", "script:thai"]\nrequire = "vsm"'
    assert judged(asked, tmp_path, HORSES)[0] and not judged(asked, tmp_path, SHIPS)[0]
    settings = checked(parsed(asked + CRAWL, "settings"), tmp_path)
    assert settings.target.judge == (f"vsm:{tmp_path}/thai:background={tmp_path}/ships", "script:thai")
    assert loads(dumps(settings)).target == settings.target


@pytest.mark.parametrize(
    ("judge", "placed"),
    [
        ("ngram:mine.spoor:n=2", "ngram:/f/mine.spoor:n=2"),
        ("language:mn", "language:mn"),
        ("code-interval:font.toml", "code-interval:/f/font.toml"),
        ("horses.spoor:least=0.8", "/f/horses.spoor:least=0.8"),
        ("ontology:o.ttl:concept=C:dictionary=d.tsv", "ontology:/f/o.ttl:concept=C:dictionary=/f/d.tsv"),
        ("gold:/g/best.html", "gold:/g/best.html"),
        ("pattern:https?://a", "pattern:https?://a"),
    ],
)
def test_only_what_names_a_file_gets_a_path(judge: str, placed: str) -> None:
    assert registry.with_its_files(judge, Path("/f")) == placed


def test_a_wrong_judge_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="unknown judge 'vsmm'; did you mean 'vsm'"):
        registry.judge_of(Target(judge=("vsmm:x",)))
    with pytest.raises(UsageError, match="names 'judge', which is not set; set are pattern"):
        loads('[target]\njudge = "pattern:x"\nrequire = "judge"' + CRAWL)


def test_a_mean_distance_of_ranks_is_a_threshold_on_the_merged_profile() -> None:
    """The similarity is 1 - distance / ranks, so the distance at which a page changes sides is known."""
    page = Page("http://a.test/", text="ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ ᠪᠢᠴᠢᠭ " * 10)
    near = NgramRank("mn-Mong", profiles="merged")
    (by_similarity,) = near.judge([page])
    away = (1 - by_similarity.relevance) * near._recogniser().farthest
    assert away > 1
    for distance, relevant in ((away * 1.001, True), (away * 0.999, False)):
        (verdict,) = NgramRank("mn-Mong", profiles="merged", distance=distance).judge([page])
        assert verdict.relevant == relevant and verdict.relevance == by_similarity.relevance
        assert f"{away:.0f} ranks away from mn-Mong" in verdict.because
    with pytest.raises(UsageError, match="give profiles=merged"):
        NgramRank("mn-Mong", distance=100)


def test_n_crawl_can_use_the_merged_model() -> None:
    judge = registry.judge("ngram:mn-Mong:profiles=merged")
    each, merged = (registry.strategy(f"n-crawl:profiles={name}", judge) for name in ("each", "merged"))
    assert len(each.scorer.likeness.profiles) > 1 == len(merged.scorer.likeness.profiles)  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="profiles=both: must be each or merged"):
        registry.strategy("n-crawl:profiles=both", judge)

"""The experiment of the CORE paper, on webs small enough for a test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from spoor.cli.main import main
from spoor.judging.dictionary import Transcriber, read_dictionary
from spoor.judging.ontology_files import open_ontology
from spoor.judging.page_rules import open_rules
from spoor.judging.term_finder import Finder
from spoor.lab.generate.chance import Request
from spoor.lab.generate.courses import OWN_HINDI, in_hindi
from spoor.lab.generate.prose import COURSE_TERMS
from spoor.lab.papers import core
from spoor.lab.papers.core import (
    IN_ENGLISH,
    ML_CORE,
    TICKS,
    WITHOUT_RULES,
    Experiment,
    Outcome,
    curve_rows,
    found_rows,
    given_to_all,
    learned,
)
from spoor.lab.papers.experiment import Estimate
from tests.test_reproduce import answers_in
from tests.translation_server import translating


def outcome(baseline: int, plain: int, multilingual: int, same: bool = True, without: int = 90) -> Outcome:
    """So many pages found by each crawler at the end, and none before."""
    alone = dict.fromkeys(WITHOUT_RULES, without)
    ends = {"baseline": baseline, "CORE": plain, "ML-CORE": multilingual, **alone, IN_ENGLISH: 130}
    return Outcome(140, {name: (*[0] * (TICKS - 1), end) for name, end in ends.items()}, same)


def experiment(*outcomes: Outcome) -> Experiment:
    return Experiment(tuple(range(len(outcomes))), outcomes, 300)


AS_HOPED = outcome(70, 110, 120)


@pytest.mark.parametrize(
    ("found", "held"),
    [
        (AS_HOPED, [True, True, True, True, True]),
        (outcome(70, 110, 110), [False, True, True, True, True]),
        (outcome(115, 110, 120), [True, False, True, True, True]),
        (outcome(70, 110, 120, without=115), [True, True, False, True, True]),
        (outcome(70, 110, 120, without=120), [True, True, False, False, True]),
        (outcome(70, 110, 120, same=False), [True, True, True, True, False]),
    ],
)
def test_the_claims(found: Outcome, held: list[bool]) -> None:
    assert [claim.answer == "yes" for claim in core.claims(experiment(found, found))] == held


def test_tables_have_every_seed() -> None:
    both = experiment(AS_HOPED, outcome(80, 110, 130))
    assert found_rows(both)[0] == [
        "baseline",
        Estimate((70, 80)),
        Estimate((70 / 140, 80 / 140)),
        Estimate((70 / 300, 80 / 300)),
    ]
    assert curve_rows(both)[-1] == [300, 75.0, 110.0, 125.0, 90.0, 90.0, 130.0]
    assert len(curve_rows(both)) == TICKS


def test_with_the_generators_own_dictionary_terms_in_hindi_are_worth_what_they_are_in_english(tmp_path: Path) -> None:
    given = given_to_all(None, tmp_path)
    transcriber, finder = Transcriber(read_dictionary(given.dictionary)), Finder(open_ontology(given.ontology))
    worth = {name: finder.score(term) for name, term in COURSE_TERMS.items()}
    again = {
        name: finder.score(transcriber.transcribe(in_hindi(term, OWN_HINDI))) for name, term in COURSE_TERMS.items()
    }
    assert again == worth
    assert worth == pytest.approx({"CSE": 2.5, "IT": 0.5, "ENGG": 0.3, "COMP": 0.4, "OTHER": 0.0})


def test_with_a_dictionary_that_knows_every_word_a_mixed_web_is_crawled_as_if_it_were_in_english(
    tmp_path: Path,
) -> None:
    request = Request("courses", 300, 5, text=True)
    done = core.outcome(request, given_to_all(None, tmp_path), tmp_path)
    assert done.found[ML_CORE] == done.found[IN_ENGLISH] != done.found[core.CORE]
    assert done.same_in_english


def test_a_server_that_knows_every_word_takes_the_place_of_the_dictionary(tmp_path: Path) -> None:
    request, given = Request("courses", 300, 5, text=True), given_to_all(None, tmp_path)
    by_words = {hindi: english for english, hindi in OWN_HINDI.items()}
    with translating(by_words) as server:
        (tmp_path / "translate.toml").write_text(f'[translate]\nendpoint = "{server.url}"\nanswer_seconds = 60\n')
        done = core.outcome(request, replace(given, translator=tmp_path / "translate.toml"), tmp_path)
        assert server.texts
    assert done.found[ML_CORE][-1] > done.found[core.CORE][-1]


def test_a_dictionary_from_outside_is_read_once_for_all_crawlers(tmp_path: Path) -> None:
    (tmp_path / "words.tsv").write_text("science\tविज्ञान|शास्त्र\ncomputer\tकम्प्यूटर\n", "utf8")
    given = given_to_all(tmp_path / "words.tsv", tmp_path)
    assert read_dictionary(given.dictionary) == read_dictionary(tmp_path / "words.tsv")


def test_rules_are_learned_from_another_web_all_in_english(tmp_path: Path) -> None:
    model = open_rules(learned(Request("courses", 300, 5, text=True), tmp_path))
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["courses-english-505"]
    assert model.relevant == ("class=CSE",)
    assert not any("\u0900" <= letter <= "\u097f" for word in model.taxonomy.bayes.words for letter in word)


def test_the_experiment_prints_every_crawler_the_curves_and_every_claim(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dictionary = tmp_path / "some.tsv"
    dictionary.write_text("computer\tकम्प्यूटर\nscience\tविज्ञान\nengineering\tअभियांत्रिकी\n", "utf8")
    words = ["reproduce", "core", "--seeds", "5-5", "--dictionary", str(dictionary), "--workers", "1"]
    code = main([*words, "--keep", str(tmp_path / "webs")])
    said = capsys.readouterr().out
    assert f"the dictionary: {dictionary}" in said
    assert all(f"\n{name} " in said for name in (*core.CRAWLERS, IN_ENGLISH))
    assert "\n300 " in said
    answers, bound = answers_in(said)
    assert (len(answers), len(bound)) == (4, 1)
    assert set(answers) == {"undecided"} and code == 1, "of a single seed"


def test_a_dictionary_that_cannot_be_read_is_refused_before_anything_is_generated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "no-such.tsv"
    words = ["reproduce", "core", "--seeds", "5-5", "--dictionary", str(missing), "--keep", str(tmp_path)]
    assert main(words) == 1
    assert capsys.readouterr().err.endswith(f"cannot read the dictionary {missing}: No such file or directory\n")
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]

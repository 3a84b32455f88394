"""Pages judged by the terms of an ontology: relevance, the reason, and how such a judge is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from spoor import registry
from spoor import settings as config
from spoor.cli.main import main
from spoor.errors import SpoorError, UsageError
from spoor.judging.combined import CombinedJudge
from spoor.judging.dictionary import Dictionary, Transcriber
from spoor.judging.ontology import Ontology, Term
from spoor.judging.ontology_judge import OntologyTerms
from spoor.judging.term_finder import Finder
from spoor.records import Page, Verdict
from tests.shared_data import SHARED, needs_shared

LEARNING = Ontology(
    "learning",
    (
        Term("Machine learning", 1.0, ("machine learning",)),
        Term("Neural networks", 0.8, ("neural networks", "neural nets")),
        Term("Learning", 0.1, ("learning",)),
        Term("学习", 0.5, ("学习",)),
    ),
)
JUDGE = OntologyTerms(Finder(LEARNING))
TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix : <http://a.test/> .
:sea skos:prefLabel "Sea animals"@en . :seal skos:prefLabel "Monk seals"@en ; skos:broader :sea .
:land skos:prefLabel "Land animals"@en ."""


def page(text: str = "", title: str = "", **tags: str) -> Page:
    return Page("http://a.test/", title=title, text=text, tag_texts=tags)


def verdict(judged: Page, judge: OntologyTerms = JUDGE) -> Verdict:
    return judge.judge([judged])[0]


class TestRelevance:
    def test_is_even_at_one_important_term_in_a_hundred_words(self) -> None:
        only = OntologyTerms(Finder(Ontology("one", LEARNING.terms[:1])))
        judged = verdict(page("machine learning" + " word" * 98), only)
        assert (judged.relevance, judged.relevant) == (0.5, True)
        assert not verdict(page("machine learning" + " word" * 99), only).relevant

    def test_grows_with_importance_and_with_the_place(self) -> None:
        filler = " word" * 200
        said = ("neural nets", "machine learning", "machine learning, neural nets")
        by_term = [verdict(page(text + filler)).relevance for text in said]
        assert by_term == sorted(by_term) and len(set(by_term)) == 3
        text = "neural nets" + filler
        by_place = [
            verdict(one).relevance for one in (page(text), page(text, h2="Neural nets"), page(text, "Neural nets"))
        ]
        assert by_place == sorted(by_place) and len(set(by_place)) == 3

    def test_takes_more_terms_where_the_ontology_has_thousands_of_forms(self) -> None:
        rest = tuple(Term(f"t{number}", 1.0, (f"t{number}",)) for number in range(9999))
        large = OntologyTerms(Finder(Ontology("large", (LEARNING.terms[0], *rest))))
        text = page("machine learning" + " word" * 98)
        assert verdict(text, large).relevance < 0.5 < verdict(text).relevance

    def test_reads_the_main_text_where_there_is_one(self) -> None:
        menu = Page("http://a.test/", text="machine learning", main_text="sports day")
        assert verdict(menu).relevance == 0.0

    def test_of_terms_inside_of_others_counts_or_does_not(self) -> None:
        longest = OntologyTerms(Finder(LEARNING, "longest"))
        assert verdict(page("machine learning")).relevance > verdict(page("machine learning"), longest).relevance


class TestTheReason:
    def test_names_concepts_how_often_and_where(self) -> None:
        text = "In our lab neural nets, and neural networks of all kinds, are used for machine learning."
        assert verdict(page(text, "Neural networks", h1="Research in machine learning")).because == (
            "Neural networks 3 (title; “lab neural nets neural networks kinds”), "
            "Machine learning 2 (headings; “networks kinds used machine learning”), "
            "Learning 2 (headings; “kinds used machine learning”) in 16 words"
        )

    def test_counts_what_it_does_not_show(self) -> None:
        assert "and 1 more in 5 words" in verdict(page("machine learning 学习 neural nets")).because

    def test_shows_scripts_without_blanks_as_they_are_written(self) -> None:
        assert "学习 1 (“机器学习方法”)" in verdict(page("机器学习方法")).because

    def test_says_when_nothing_was_found(self) -> None:
        assert verdict(page("sports day")).because == "none of the terms of learning in 2 words"


def test_the_most_important_terms_are_told_beforehand() -> None:
    assert JUDGE.target_prior.words == ("Machine learning", "Neural networks", "学习", "Learning")


def test_texts_of_links_are_compared() -> None:
    near = JUDGE.similarities(["machine learning", "neural nets and learning", "sports", ""])
    assert near[0] > near[1] > near[2] == near[3] == 0.0


def test_words_of_another_language_are_transcribed_first() -> None:
    hindi = Transcriber(Dictionary({("मशीन", "लर्निंग"): "machine learning"}))
    mixed, english = page("Courses in मशीन लर्निंग today"), page("Courses in machine learning today")
    assert verdict(mixed, OntologyTerms(Finder(LEARNING), transcriber=hindi)) == verdict(english)
    assert verdict(mixed).relevance == 0.0


class TestAskingForIt:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        (tmp_path / "animals.ttl").write_text(TURTLE, "utf8")
        return tmp_path / "animals.ttl"

    def test_by_name_and_parameters(self, file: Path) -> None:
        judge = registry.judge(f"ontology:{file}:concept=Sea animals:least=0.4:overlap=longest:languages=en+de")
        assert isinstance(judge, OntologyTerms)
        assert (judge.finder.ontology.name, judge.finder.overlap, judge.least) == (
            "animals.ttl, Sea animals", "longest", 0.4,
        )  # fmt: skip
        assert judge.judge([page("two monk seals")])[0].relevant
        assert not judge.judge([page("two land animals")])[0].relevant

    def test_in_a_target(self, file: Path) -> None:
        settings = config.checked(
            {"target": {"ontology": "animals.ttl", "concept": "sea"}, "crawl": {"seeds": ["http://a.test/"]}},
            file.parent,
        )
        judge = registry.judge_of(settings.target)
        assert isinstance(judge, CombinedJudge)
        assert judge.judge([page("monk seals")])[0].because.startswith("ontology: Monk seals 1")
        assert settings.target.ontology == str(file.resolve())

    def test_in_a_target_from_a_folder(self, file: Path) -> None:
        table = {"target": {"ontology": ".", "query": "monk seals"}, "crawl": {"seeds": ["http://a.test/"]}}
        judge = registry.judge_of(config.checked(table, file.parent).target)
        assert judge.judge([page("land animals")])[0].relevance > 0.0

    def test_a_concept_alone_is_no_target(self) -> None:
        with pytest.raises(UsageError, match=r"\[target\] does not say what is relevant"):
            config.checked({"target": {"concept": "x"}, "crawl": {"seeds": ["http://a.test/"]}})

    @pytest.mark.parametrize(
        ("asked", "complaint"),
        [
            ("{file}:concept=Sea animal", "has no concept 'Sea animal'; the nearest are 'Sea animals', 'Land animals'"),
            ("{file}:least=0", "least=0 is not a relevance above 0 and up to 1"),
            ("{file}:overlap=no", "overlap=no is not known"),
            ("{file}:languages=fr", "has no labels in fr; it has en"),
            ("{file}x", "cannot read the ontology"),
            ("{file}:dictionary=none.tsv", "cannot read the dictionary none.tsv"),
        ],
    )
    def test_in_vain_is_answered_in_one_line(
        self, file: Path, asked: str, complaint: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (file.parent / "page.txt").write_text("seals")
        with pytest.raises(SpoorError, match=complaint):
            registry.judge("ontology:" + asked.format(file=file))
        assert main(["judge", "ontology:" + asked.format(file=file), str(file.parent / "page.txt")]) in (1, 2)
        told = capsys.readouterr().err
        assert told.startswith("spoor: ") and told.count("\n") == 1


@needs_shared
def test_the_acm_classification_shows_which_concepts_matched_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "page.html").write_text(
        "<title>Robot control by neural networks</title><h1>Reinforcement learning</h1><p>We use Q-learning, "
        "a kind of reinforcement learning, and support vector machines to steer a robot."
    )
    judged = f"ontology:{SHARED / 'data' / 'acm-ccs-2012.skos.xml'}:concept=Machine learning"
    assert main(["judge", judged, str(tmp_path / "page.html")]) == 0
    told = capsys.readouterr().out
    assert "relevant yes" in told
    assert "Neural networks 1 (title)" in told
    assert "Reinforcement learning 3 (headings; “reinforcement learning use q learning”)" in told

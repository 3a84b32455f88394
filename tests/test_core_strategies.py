"""Contexts, an ontology, rules and two thresholds: which links are visited, which are parked, and which come back."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from spoor.errors import UsageError
from spoor.events import Event, Refused
from spoor.judging.classifiers import TaxonomyModel, learned
from spoor.judging.combined import Truth
from spoor.judging.dictionary import Dictionary, Transcriber
from spoor.judging.page_rules import LookAhead, RuleModel, rules_from, write_rules
from spoor.judging.term_finder import Finder
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.admissions import TwoThresholds
from spoor.ordering.ontology_order import ContextOntology
from spoor.records import Link, Page
from spoor.registry import judge, strategy
from spoor.roles import Judge
from tests.test_ontology import BRANCHES as ONTOLOGY
from tests.test_rules import BRANCHES as RULES
from tests.tiny import events_of, names, url

WORDS = {"CSE": "compiler automata", "IT": "intranet helpdesk", "ENGG": "bridges turbines", "COMP": "keyboards prices"}
TAXONOMY = TaxonomyModel("CSE", "", ("CSE",), learned({name: [said.split()] for name, said in WORDS.items()}))
MODEL = RuleModel(TAXONOMY, RULES)
FULL = {1.0: "computer science and engineering", 0.8: "computer science", 0.5: "information technology",
        0.4: "computer", 0.3: "engineering", 0.0: "sports day"}  # fmt: skip
"""An anchor of each score, where only the longest terms count."""
CSV = "term,importance,forms\n" + "".join(
    f"{term.name},{term.importance},{'|'.join(term.forms)}\n" for term in ONTOLOGY.terms
)
NOBODY = Truth("nobody", lambda address: False)
TERMS = {
    ("कंप्यूटर", "विज्ञान"): "computer science",
    ("इंजीनियरिंग",): "engineering",
    ("सूचना", "प्रौद्योगिकी"): "information technology",
    ("विभाग",): "department",
    ("संकलक",): "compiler",
    ("स्वचालित",): "automata",
}
HINDI = Transcriber(Dictionary(TERMS), frozenset({"और", "में"}))


@pytest.fixture
def files(tmp_path: Path) -> str:
    """The parameters that name a model and an ontology."""
    write_rules(tmp_path / "rules.spoor", MODEL)
    (tmp_path / "branches.csv").write_text(CSV, "utf8")
    (tmp_path / "hindi.tsv").write_text(
        "".join(f"{' '.join(term)}\t{sense}\n" for term, sense in TERMS.items()), "utf8"
    )
    return f"model={tmp_path}/rules.spoor:ontology={tmp_path}/branches.csv"


def page(name: str, kind: str, **links: str) -> Page:
    """Of a class, with links by name and anchor."""
    return Page(url(name), text=WORDS[kind], links=tuple(Link(url(to), anchor) for to, anchor in links.items()))


def crawled(asked: str, pages: list[Page], seeds: str) -> list[Event]:
    found = {one.url: one for one in pages}
    for link in [link for one in pages for link in one.links]:
        found.setdefault(link.url, Page(link.url))
    return events_of(WrittenWorld(found), strategy(asked, NOBODY), seeds.split())


def refused(events: list[Event]) -> dict[str, str]:
    return {e.refusal.url: e.refusal.because for e in events if isinstance(e, Refused)}


SEVEN_LINKS = [
    page("comp", "COMP", l1=FULL[1.0], l6=FULL[0.5]),
    page("cse", "CSE", l7=FULL[0.8], l5=FULL[0.3]),
    page("engg", "ENGG", l2=FULL[0.5], l4=FULL[0.0]),
    page("it", "IT", l3=FULL[0.4]),
]


class TestTwoThresholds:
    def test_let_through_what_either_score_speaks_for_in_the_order_of_the_ontology(self, files: str) -> None:
        events = crawled(f"core:{files}:overlap=longest", SEVEN_LINKS, "comp cse engg it")
        assert names(events) == "comp cse engg it l1 l7 l2 l3 l4"
        assert refused(events) == {
            url("l6"): "ontology 5 is not above 5, nor rules 0 above 3",
            url("l5"): "ontology 3 is not above 5, nor rules 2.94 above 3",
        }

    def test_leave_the_rules_without_a_say_where_only_the_best_way_counts(self, files: str) -> None:
        events = crawled(f"core:{files}:overlap=longest:combine=max", SEVEN_LINKS, "comp cse engg it")
        assert names(events) == "comp cse engg it l1 l7"

    def test_can_be_set(self, files: str) -> None:
        asked = f"core:{files}:overlap=longest:min_ont=0:min_rules=100"
        assert names(crawled(asked, SEVEN_LINKS, "comp cse engg it")) == "comp cse engg it l1 l7 l6 l2 l3 l5"

    def test_take_the_score_as_it_is_printed_on_the_scale_of_one(self, files: str) -> None:
        asked = f"core:{files}:overlap=longest:obrs_scale=1:min_rules=10"
        assert names(crawled(asked, SEVEN_LINKS, "comp cse engg it")) == "comp cse engg it"

    def test_take_only_the_ontology_where_no_rules_are_known(self, files: str) -> None:
        asked = f"core:{files.partition(':')[2]}:overlap=longest"
        assert names(crawled(asked, SEVEN_LINKS, "comp cse engg it")) == "comp cse engg it l1 l7"


def test_a_parked_link_comes_back_when_a_better_context_is_found(files: str) -> None:
    web = [
        page("comp", "COMP", a=FULL[0.3]),
        page("engg", "ENGG", b=FULL[0.0]),
        page("b", "COMP", a=FULL[0.8]),
        page("a", "CSE"),
    ]
    events = crawled(f"core:{files}:overlap=longest", web, "comp engg")
    assert names(events) == "comp engg b a"
    assert list(refused(events)) == [url("a")]


def test_a_parked_link_that_gains_too_little_is_parked_again(files: str) -> None:
    web = [page("comp", "COMP", a=FULL[0.3]), page("engg", "ENGG", b=FULL[0.0]), page("b", "COMP", a=FULL[0.5])]
    events = crawled(f"core:{files}:overlap=longest", web, "comp engg")
    assert names(events) == "comp engg b"
    parked = [event.refusal.because for event in events if isinstance(event, Refused)]
    assert parked == [f"ontology {n} is not above 5, nor rules 0 above 3" for n in (3, 5)]


def test_the_context_is_heading_and_words_on_both_sides() -> None:
    scorer = ContextOntology(Finder(ONTOLOGY))
    link = Link(url("a"), "science", left="our computer", right="and engineering", heading="Information technology")
    assert scorer.hints(Page(url("p")), [link]) == [(5.0 + 10.0 + 8.0 + 4.0 + 3.0, 0.0)]


def test_a_heading_does_not_run_on_into_the_words_below_it() -> None:
    scorer = ContextOntology(Finder(ONTOLOGY))
    assert scorer.hints(Page(url("p")), [Link(url("a"), "science", heading="Computer")]) == [(4.0, 0.0)]


@pytest.mark.parametrize(
    ("context", "before", "after"),
    [
        ("कंप्यूटर विज्ञान और इंजीनियरिंग विभाग", 0.0, 2.5),
        ("M.Tech में सूचना प्रौद्योगिकी", 0.0, 0.5),
        ("Physics department", 0.0, 0.0),
    ],
)
def test_transcribed_the_score_of_a_context_is_the_published_one(context: str, before: float, after: float) -> None:
    finder = Finder(ONTOLOGY)
    assert (finder.score(context), finder.score(HINDI.transcribe(context))) == (before, after)


class TestAMixedPage:
    MIXED = Page(
        url("p"),
        text="हमारे विभाग में compiler और स्वचालित",
        links=(
            Link(url("a"), "B.Tech कंप्यूटर विज्ञान", "Department of", "और इंजीनियरिंग at", "सूचना प्रौद्योगिकी and more"),
            Link(url("b"), "विभाग", "M.Tech में", "(कंप्यूटर विज्ञान)", ""),
        ),
    )
    ENGLISH = Page(
        url("p"),
        text="हमारे department compiler automata",
        links=(
            Link(
                url("a"),
                "B.Tech computer science",
                "Department of",
                "engineering at",
                "information technology and more",
            ),
            Link(url("b"), "department", "M.Tech", "(computer science)", ""),
        ),
    )

    @pytest.mark.parametrize("soft", [False, True])
    def test_is_scored_as_its_translation_would_be(self, soft: bool) -> None:
        scorer = ContextOntology(Finder(ONTOLOGY), LookAhead(MODEL, soft=soft), HINDI)
        found = scorer.hints(self.MIXED, self.MIXED.links)
        assert found == scorer.hints(self.ENGLISH, self.ENGLISH.links)
        assert found == ContextOntology(Finder(ONTOLOGY), LookAhead(MODEL, soft=soft)).hints(
            self.ENGLISH, self.ENGLISH.links
        )
        assert [ontology for ontology, _ in found] == [30.0, 12.0]

    def test_is_nearly_silent_without_a_dictionary(self) -> None:
        scorer = ContextOntology(Finder(ONTOLOGY), LookAhead(MODEL))
        assert [ontology for ontology, _ in scorer.hints(self.MIXED, self.MIXED.links)] == [0.0, 0.0]


def english_web(seed: int) -> list[Page]:
    """Sixty pages of any class, with links of any context among them."""
    chance, numbers = random.Random(seed), range(60)
    said = [*FULL.values(), "the history of the bridge", "Über uns"]
    return [
        Page(
            url(f"p{number}"),
            text=chance.choice(list(WORDS.values())),
            links=tuple(
                Link(url(f"p{to}"), chance.choice(said), chance.choice(said), heading=chance.choice(said))
                for to in chance.sample(numbers, 5)
            ),
        )
        for number in numbers
    ]


@pytest.mark.parametrize("seed", range(5))
def test_with_a_dictionary_nothing_changes_on_a_web_in_one_language(files: str, seed: int, tmp_path: Path) -> None:
    web, dictionary = english_web(seed), f"dictionary={tmp_path}/hindi.tsv"
    core = crawled(f"core:{files}", web, "p0 p1")
    assert len(core) > 20
    assert crawled(f"ml-core:{files}:{dictionary}", web, "p0 p1") == core


def test_the_baseline_follows_pages_that_are_likeliest_of_the_wanted_class(files: str) -> None:
    web = [page("comp", "COMP", a="x"), page("cse", "CSE", b="x"), page("b", "IT", c="x")]
    asked = f"core-baseline:{files.partition(':')[0]}"
    assert names(crawled(asked, web, "comp cse")) == "comp cse b a c"


def test_the_baseline_without_a_model_goes_by_the_judge(files: str) -> None:
    taxonomy = judge(files.partition(":")[0].removeprefix("model="))
    web = [page("comp", "COMP", a="x"), page("cse", "CSE", b="x"), page("a", "COMP"), page("b", "IT")]
    world = WrittenWorld({one.url: one for one in web})
    assert names(events_of(world, strategy("core-baseline", taxonomy), ["comp", "cse"])) == "comp cse b a"


class TestAskingFor:
    def test_core_takes_the_ontology_of_the_judge(self, files: str) -> None:
        of_judge = judge(f"ontology:{files.partition('ontology=')[2]}")
        scorer = strategy("core", of_judge).scorer
        assert isinstance(scorer, ContextOntology) and len(scorer.finder.ontology.terms) == len(ONTOLOGY.terms)

    def test_ml_core_takes_the_dictionary_of_the_judge(self, files: str, tmp_path: Path) -> None:
        of_judge = judge(f"ontology:{files.partition('ontology=')[2]}:dictionary={tmp_path}/hindi.tsv")
        scorer = strategy("ml-core", of_judge).scorer
        assert isinstance(scorer, ContextOntology) and scorer.transcriber is not None
        assert scorer.transcriber.translate(["कंप्यूटर विज्ञान और विभाग"]) == ["computer science department"]

    @pytest.mark.parametrize(
        ("asked", "complaint"),
        [
            ("core", "core needs an ontology; name it, as in core:ontology=topic.csv, or give a judge that does"),
            ("core:{files}:overlap=none", "overlap=none is not known"),
            ("core:{files}:combine=mean", "combine=mean is not known"),
            ("core:{files}:obrs_scale=0", "obrs_scale=0 makes every link the same"),
            ("core:{files}:min_ont=nan", "a threshold is nan"),
            ("core:{files}:concept=x", "is a table, where nothing is below 'x'"),
            ("ml-core:{files}", "ml-core needs a dictionary of the two languages, or a translator; name one"),
        ],
    )
    def test_what_cannot_be_is_refused(self, files: str, asked: str, complaint: str) -> None:
        with pytest.raises(UsageError, match=complaint):
            strategy(asked.format(files=files), NOBODY)

    def test_a_concept_without_its_ontology_is_refused(self, files: str) -> None:
        of_judge: Judge = judge(f"ontology:{files.partition('ontology=')[2]}")
        with pytest.raises(UsageError, match="core:concept=x is part of an ontology; name that too"):
            strategy("core:concept=x", of_judge)


def test_rules_of_a_target_that_cannot_be_reached_admit_nothing() -> None:
    lost = RuleModel(TAXONOMY, rules_from({name: {} for name in WORDS}))
    assert LookAhead(lost).score(WORDS["IT"]) == 0.0


def test_thresholds_print_as_the_code_that_makes_them() -> None:
    told = "TwoThresholds(first='ontology', above_first=5.0, second='rules', above_second=3.0)"
    assert repr(TwoThresholds("ontology", 5.0, "rules", 3.0)) == told

"""Terms of an ontology in texts: what is found, what it is worth, and what two ways of overlapping make of it."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from spoor.errors import BadInput, UsageError
from spoor.judging.ontology import Ontology, Term
from spoor.judging.term_finder import Finder, tokens

BRANCHES = Ontology(
    "branches",
    (
        Term("Comp. Sc. and Engg.", 1.0, ("Comp. Sc. and Engg.", "computer science and engineering")),
        Term("Comp. Engg.", 0.9, ("Comp. Engg.", "computer engineering")),
        Term("Comp. Sc.", 0.8, ("Comp. Sc.", "computer science")),
        Term("Information Tech.", 0.5, ("Information Tech.", "information technology")),
        Term("Computer", 0.4, ("computer",)),
        Term("Engineering", 0.3, ("engineering", "engg")),
    ),
)
"""Table 1 of the paper."""


def ontology(*forms: str) -> Ontology:
    """Each a term of importance 1."""
    return Ontology("test", tuple(Term(form, 1.0, (form,)) for form in forms))


def found(text: str, of: Ontology, overlap: str = "all") -> str:
    """The terms, in the order of the text."""
    return ", ".join(of.terms[match.term].name for match in Finder(of, overlap).matches(tokens(text)))


@pytest.mark.parametrize(
    ("text", "every", "longest"),
    [
        ("B.Tech in Computer Science and Engineering; M.Tech Information Technology at the Computer Centre", 3.4, 1.9),
        ("computer computer computer", 1.2, 1.2),
        ("Civil engineering", 0.3, 0.3),
        ("Sports day", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_the_score_of_a_text_is_the_published_one(text: str, every: float, longest: float) -> None:
    assert Finder(BRANCHES).score(text) == every
    assert Finder(BRANCHES, "longest").score(text) == longest


def test_abbreviations_and_capitals_do_not_matter() -> None:
    assert Finder(BRANCHES, "longest").score("COMP. SC. & ENGG., comp-engg") == pytest.approx(1.9)


def test_a_term_is_found_as_whole_words_only() -> None:
    assert found("art, artful, state of the art", ontology("art")) == "art, art"


def test_stop_words_count_neither_in_the_term_nor_in_the_text() -> None:
    assert found("the theory of the computation", ontology("theory of computation")) == "theory of computation"


def test_occurrences_of_one_term_do_not_overlap() -> None:
    assert found("tick tock tick tock tick", ontology("tick tock tick")) == "tick tock tick"


def test_the_forms_of_one_term_are_one_term() -> None:
    data = Ontology("test", (Term("data", 1.0, ("database", "database management")),))
    assert found("a database management system, a database", data) == "data, data"


def test_every_term_counts_by_itself_or_only_the_longest() -> None:
    both = ontology("learning", "machine learning")
    assert found("machine learning", both) == "machine learning, learning"
    assert found("machine learning", both, "longest") == "machine learning"


def test_terms_that_share_a_form_both_count() -> None:
    twins = Ontology("test", (Term("river bank", 0.5, ("bank",)), Term("money bank", 0.5, ("bank",))))
    assert found("a bank", twins, "longest") == "river bank, money bank"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("研究机器学习方法", "机器学习"),
        ("红茶", "茶"),
        ("ผมพูดภาษาไทยได้", "ภาษาไทย"),
        ("भारत में कंप्यूटर विज्ञान", "कंप्यूटर विज्ञान"),
        ("О Машинном обучении", "машинном обучении"),
    ],
)
def test_terms_are_found_in_every_script(text: str, form: str) -> None:
    assert found(text, ontology(form)) == form


def test_thousands_of_terms_are_found_where_each_would_be_alone() -> None:
    numbered = ontology(*(f"w{n % 97} w{n}" for n in range(5000)))
    assert found("w3 w100 w3 w9 w1 w98", numbered) == "w3 w100, w1 w98"


@given(some.lists(some.sampled_from("abcd"), max_size=12), some.sets(some.text("abcd", min_size=1, max_size=3)))
def test_one_pass_finds_what_looking_for_each_term_finds(words: list[str], forms: set[str]) -> None:
    """Words of one letter that is no stop word; a term is a run of them."""
    spelt = {"a": "ka", "b": "kb", "c": "kc", "d": "kd"}
    text = [spelt[word] for word in words]
    for form in forms:
        term = [spelt[letter] for letter in form]
        times = place = 0
        while place + len(term) <= len(text):
            hit = text[place : place + len(term)] == term
            times += hit
            place += len(term) if hit else 1
        every = ontology(*(" ".join(spelt[letter] for letter in other) for other in sorted(forms)))
        number = sorted(forms).index(form)
        assert sum(match.term == number for match in Finder(every).matches(text)) == times


def test_a_finder_can_be_copied_and_sent_to_another_process() -> None:
    finder = Finder(BRANCHES, "longest")
    for other in (replace(finder), pickle.loads(pickle.dumps(finder))):
        assert other == finder and other.score("computer science") == 0.8


def test_a_finder_prints_as_the_code_that_makes_it() -> None:
    assert repr(Finder(BRANCHES)) == "Finder(ontology=Ontology(name='branches'), overlap='all')"


def test_the_most_important_terms_come_first_and_each_once() -> None:
    twice = Ontology("test", (Term("b", 0.5, ("b",)), Term("a", 1.0, ("a",)), Term("b", 0.9, ("bee",))))
    assert twice.most_important(5) == ("a", "b")


def test_what_cannot_be_looked_for_is_refused() -> None:
    with pytest.raises(UsageError, match="overlap=some is not known; terms inside others count by all or longest"):
        Finder(BRANCHES, "some")
    with pytest.raises(BadInput, match="holds no terms"):
        Ontology("empty", ())
    with pytest.raises(BadInput, match="the importance of 'a' is 0; give a number above 0"):
        Ontology("nothing", (Term("a", 0.0, ("a",)),))
    with pytest.raises(BadInput, match="all its terms are stop words"):
        Finder(ontology("the", "…"))

"""Ontologies from files: tables, SKOS and OWL in several forms, the target inside of one, and one out of many."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from spoor.errors import BadInput, MissingExtra, SpoorError, UsageError
from spoor.judging.ontology import Ontology, Term, distinctness, weighted
from spoor.judging.ontology_files import Choice, open_ontology
from spoor.judging.rdf import read_rdf
from spoor.judging.term_finder import Finder
from tests.shared_data import SHARED, needs_shared

TURTLE = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://plants.test/> .
:plants a skos:Concept ; skos:prefLabel "Plants"@en, "Pflanzen"@de .
:trees a skos:Concept ; skos:prefLabel "Trees"@en, "Bäume"@de ; skos:altLabel "arboreal vegetation"@en ;
    skos:broader :plants ; skos:related :timber .
:oaks a skos:Concept ; skos:prefLabel "Oaks"@en, "Eichen"@de ; skos:hiddenLabel "quercus" ; skos:broader :trees .
:fungi a skos:Concept ; skos:prefLabel "Fungi"@en .
:timber a skos:Concept ; skos:prefLabel "Timber"@en ; skos:broader :goods .
:goods a skos:Concept ; skos:prefLabel "Goods"@en ; skos:narrower :timber .
"""
OWL = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
  xmlns:owl="http://www.w3.org/2002/07/owl#" xml:base="http://beasts.test/">
<owl:Class rdf:about="#Beast"><rdfs:label>Beast</rdfs:label></owl:Class>
<owl:Class rdf:about="#PackAnimal"><rdfs:subClassOf rdf:resource="#Beast"/></owl:Class>
<owl:NamedIndividual rdf:about="#modestine"><rdf:type rdf:resource="#PackAnimal"/>
<rdfs:label>Modestine</rdfs:label></owl:NamedIndividual>
<owl:Class rdf:about="#Ass"><rdfs:subClassOf rdf:resource="#PackAnimal"/>
<owl:equivalentClass rdf:resource="#Donkey"/></owl:Class>
<owl:Class rdf:about="#Donkey"><rdfs:label xml:lang="en">donkey</rdfs:label></owl:Class>
</rdf:RDF>"""
TRIPLES = """
<http://a.test/x> <http://www.w3.org/2004/02/skos/core#prefLabel> "Otter"@en .
<http://a.test/y> <http://www.w3.org/2008/05/skos-xl#prefLabel> _:l .
_:l <http://www.w3.org/2008/05/skos-xl#literalForm> "Seal" .
"""
JSON = json.dumps(
    {"@id": "http://a.test/x", "@type": "http://www.w3.org/2004/02/skos/core#Concept"}
    | {"http://www.w3.org/2004/02/skos/core#prefLabel": {"@value": "Otter", "@language": "en"}}
)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf8")
    return path


def weights(ontology: Ontology) -> dict[str, float]:
    """By form."""
    return {form: term.importance for term in ontology.terms for form in term.forms}


class TestTables:
    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("t.csv", "term,importance,forms\nComputer science,0.8,CS | comp. sc.\n\nEngineering,0.3,\n"),
            ("t.tsv", "\ufeffImportance\tforms\tterm\n0.8\tCS|comp. sc.\tComputer science\n0.3\t\tEngineering\n"),
            ("t.csv", "term; importance; forms\nComputer science; 0.8; CS|comp. sc.\nEngineering; 0.3;\n"),
            (
                "t.toml",
                '[terms]\n"Computer science" = { importance = 0.8, forms = ["CS", "comp. sc."] }\nEngineering = 0.3\n',
            ),
        ],
    )
    def test_say_the_terms_their_importance_and_other_forms(self, tmp_path: Path, name: str, text: str) -> None:
        science = Term("Computer science", 0.8, ("Computer science", "CS", "comp. sc."))
        assert open_ontology(written(tmp_path, name, text)).terms == (
            science,
            Term("Engineering", 0.3, ("Engineering",)),
        )

    @pytest.mark.parametrize(
        ("name", "text", "complaint"),
        [
            ("t.csv", "word,weight\na,1\n", "has no column 'term'; the first line names the columns term, importance"),
            ("t.csv", "", "has no column 'term'"),
            ("t.csv", "term,importance\na,much\n", "line 2: 'much' is not a number; give an importance above 0"),
            ("t.csv", "term,importance\na,-1\n", "the importance of 'a' is -1; give a number above 0"),
            ("t.csv", "term,importance\na,nan\n", "the importance of 'a' is nan"),
            ("t.csv", "term,importance\n", "holds no terms"),
            ("t.toml", "a = 1\n", "has no \\[terms\\]"),
            ("t.toml", "terms = 3\n", "has no \\[terms\\]"),
            ("t.toml", "[terms]\na = true\n", "'a' is True; write 0.8, or"),
            ("t.toml", "[terms]\na = { weight = 1 }\n", "'a' is {"),
            ("t.toml", "[terms\n", "cannot be read as TOML"),
        ],
    )
    def test_that_are_none_are_refused_in_one_line(self, tmp_path: Path, name: str, text: str, complaint: str) -> None:
        with pytest.raises(BadInput, match=complaint) as refused:
            open_ontology(written(tmp_path, name, text))
        assert "\n" not in str(refused.value)

    def test_have_nothing_below_anything(self, tmp_path: Path) -> None:
        table = written(tmp_path, "t.csv", "term,importance\na,1\n")
        with pytest.raises(UsageError, match="is a table, where nothing is below 'a'; leave the concept out"):
            open_ontology(table, Choice("a"))


class TestConcepts:
    def test_stand_below_broader_ones_whichever_of_the_two_says_so(self, tmp_path: Path) -> None:
        plants = read_rdf(written(tmp_path, "plants.ttl", TURTLE))
        assert plants.depths([plants.find("Plants")]) == {
            "http://plants.test/plants": 0,
            "http://plants.test/trees": 1,
            "http://plants.test/oaks": 2,
        }
        assert [plants.by_uri[uri].name() for uri in plants.top] == ["Fungi", "Goods", "Plants"]

    def test_are_found_by_any_label_the_uri_or_its_end(self, tmp_path: Path) -> None:
        plants = read_rdf(written(tmp_path, "plants.ttl", TURTLE))
        for name in ("oaks", "EICHEN", "quercus", "http://plants.test/oaks", " Oaks "):
            assert plants.find(name) == "http://plants.test/oaks"

    def test_that_do_not_exist_are_told_with_the_nearest_names(self, tmp_path: Path) -> None:
        plants = read_rdf(written(tmp_path, "plants.ttl", TURTLE))
        with pytest.raises(UsageError, match=r"plants.ttl has no concept 'oak'; the nearest are 'Oaks', 'Goods', "):
            plants.find("oak")

    def test_may_be_classes_and_what_belongs_to_them(self, tmp_path: Path) -> None:
        beasts = read_rdf(written(tmp_path, "beasts.owl", OWL))
        below = beasts.depths([beasts.find("beast")])
        assert {beasts.by_uri[uri].name(): steps for uri, steps in below.items()} == {
            "Beast": 0, "Pack Animal": 1, "Ass": 2, "Modestine": 2,
        }  # fmt: skip
        (donkey,) = beasts.by_uri[beasts.find("Ass")].related
        assert beasts.by_uri[donkey].name() == "donkey"

    def test_that_go_round_in_circles_are_all_at_the_top(self, tmp_path: Path) -> None:
        circle = TURTLE.partition(":plants a")[0] + (
            ':a skos:prefLabel "A" ; skos:broader :b . :b skos:prefLabel "B" ; skos:broader :a .'
        )
        concepts = read_rdf(written(tmp_path, "circle.ttl", circle))
        assert sorted(concepts.depths(concepts.top).values()) == [0, 0]


class TestRdf:
    @pytest.mark.parametrize(
        ("name", "text", "names"),
        [
            ("a.nt", TRIPLES, {"Otter", "Seal"}),
            ("a.jsonld", JSON, {"Otter"}),
            ("a.owl", OWL, {"Beast", "Pack Animal", "Modestine", "Ass", "donkey"}),
            ("a.owl", TRIPLES, {"Otter", "Seal"}),
            ("a.unknown", JSON, {"Otter"}),
            ("a", OWL, {"Beast", "Pack Animal", "Modestine", "Ass", "donkey"}),
        ],
    )
    def test_is_read_in_every_usual_form_whatever_the_file_is_called(
        self, tmp_path: Path, name: str, text: str, names: set[str]
    ) -> None:
        concepts = read_rdf(written(tmp_path, name, text))
        assert {concept.name() for concept in concepts.by_uri.values()} == names

    @pytest.mark.parametrize(
        ("name", "text", "complaint"),
        [
            ("a.skos", "<rdf:RDF", "cannot be read as RDF: .*; give RDF/XML, Turtle, N-Triples or JSON-LD"),
            ("a.ttl", "this is no RDF", "cannot be read as RDF"),
            ("a.html", "<html><p>Hello</html>", "cannot be read as RDF|names neither concepts"),
            ("a.json", '{"a": 1}', "names neither concepts"),
            ("a.json", "{", "cannot be read as RDF"),
            ("a.pdf", "%PDF-1.4", "cannot be read as RDF"),
            ("a.ttl", "", "names neither concepts \\(SKOS\\) nor classes \\(OWL\\); give an ontology"),
        ],
    )
    def test_that_is_none_is_refused_in_one_line(self, tmp_path: Path, name: str, text: str, complaint: str) -> None:
        with pytest.raises(BadInput, match=complaint) as refused:
            open_ontology(written(tmp_path, name, text))
        assert "\n" not in str(refused.value)

    def test_that_is_not_there_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"cannot read the ontology .*: No such file"):
            open_ontology(tmp_path / "none.ttl")

    def test_without_rdflib_says_what_to_install(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "rdflib", None)
        with pytest.raises(MissingExtra, match=r"pip install 'spoor\[ontology\]'"):
            read_rdf(written(tmp_path, "plants.ttl", TURTLE))

    def test_with_odd_uris_is_read_without_a_word(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            read_rdf(written(tmp_path, "a.owl", OWL.replace("beasts.test/", "beasts.test/all of them/")))
        assert not caplog.records


class TestImportance:
    def of(self, folder: Path, concept: str = "", languages: Sequence[str] = ()) -> dict[str, float]:
        return weights(weighted(read_rdf(written(folder, "plants.ttl", TURTLE)), concept, languages))

    def test_falls_with_every_step_below_the_target(self, tmp_path: Path) -> None:
        found = self.of(tmp_path, "plants", ["en"])
        steps = {form: found[form] / distinctness(form) ** 2 for form in ("Plants", "Trees", "Oaks")}
        assert steps == pytest.approx({"Plants": 1.0, "Trees": 2 / 3, "Oaks": 1 / 2})

    def test_is_half_for_what_is_only_related(self, tmp_path: Path) -> None:
        found = self.of(tmp_path, "trees")
        assert found["Timber"] / distinctness("Timber") ** 2 == pytest.approx(0.5)
        assert "Plants" not in found and "Goods" not in found and "Fungi" not in found

    def test_is_counted_from_the_top_where_everything_is_wanted(self, tmp_path: Path) -> None:
        found = self.of(tmp_path)
        assert found["Fungi"] == pytest.approx(distinctness("Fungi") ** 2)
        assert found["Timber"] == pytest.approx(2 / 3 * distinctness("Timber") ** 2)

    def test_is_less_for_words_that_many_texts_hold(self) -> None:
        assert distinctness("support vector machines") == 1.0
        assert 0.0 < distinctness("people") < distinctness("system") < distinctness("beamforming") == 0.5
        assert distinctness("the of and") == 0.0

    def test_counts_labels_in_all_languages_unless_some_are_named(self, tmp_path: Path) -> None:
        assert {"Trees", "Bäume", "arboreal vegetation", "quercus"} < set(self.of(tmp_path))
        assert set(self.of(tmp_path, "plants", ["de"])) == {"Pflanzen", "Bäume", "Eichen", "quercus"}
        with pytest.raises(UsageError, match=r"plants.ttl, Fungi has no labels in fr; it has de, en"):
            self.of(tmp_path, "fungi", ["fr"])

    def test_is_told_by_the_name_of_the_concept(self, tmp_path: Path) -> None:
        plants = read_rdf(written(tmp_path, "plants.ttl", TURTLE))
        names = {form: term.name for term in weighted(plants).terms for form in term.forms}
        assert names["quercus"] == names["Eichen"] == "Oaks"
        german = {form: term.name for term in weighted(plants, languages=["de"]).terms for form in term.forms}
        assert german["quercus"] == "Eichen"


class TestARepository:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        written(tmp_path, "plants.ttl", TURTLE)
        written(tmp_path, "branches.csv", "term,importance\nComputer science,0.8\nEngineering,0.3\n")
        written(tmp_path, "mining.toml", "[terms]\nMining = 1\nEngineering = 0.5\n")
        written(tmp_path, "README.md", "Ontologies.")
        return tmp_path

    @pytest.mark.parametrize(
        ("query", "name"),
        [
            ("courses in computer science", "branches.csv"),
            ("mining engineering", "mining.toml"),
            ("engineering", "mining.toml"),
            ("oaks and other trees", "plants.ttl"),
        ],
    )
    def test_gives_the_ontology_whose_terms_in_the_query_are_worth_most(
        self, folder: Path, query: str, name: str
    ) -> None:
        assert open_ontology(folder, Choice(query=query)).name == name

    def test_can_be_asked_for_a_concept_of_the_one_it_gives(self, folder: Path) -> None:
        assert open_ontology(folder, Choice("trees", query="oaks")).name == "plants.ttl, Trees"

    @pytest.mark.parametrize(
        ("query", "complaint"),
        [
            ("", "holds several ontologies, branches.csv, mining.toml, plants.ttl; name one, or choose by a query="),
            ("opera", "query='opera' holds no term of the ontologies in .*; use words of theirs"),
        ],
    )
    def test_that_cannot_choose_says_what_it_has(self, folder: Path, query: str, complaint: str) -> None:
        with pytest.raises(UsageError, match=complaint):
            open_ontology(folder, Choice(query=query))

    def test_with_a_single_ontology_needs_no_query(self, tmp_path: Path) -> None:
        written(tmp_path, "only.csv", "term,importance\na,1\n")
        assert open_ontology(tmp_path).name == "only.csv"

    def test_without_ontologies_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="holds no ontologies; put some there"):
            open_ontology(tmp_path, Choice(query="anything"))

    def test_is_a_folder(self, folder: Path) -> None:
        with pytest.raises(UsageError, match=r"selects from a folder of ontologies, but .*plants.ttl is not a folder"):
            open_ontology(folder / "plants.ttl", Choice(query="oaks"))


@needs_shared
def test_the_acm_classification_is_read_whole_and_in_part() -> None:
    path = SHARED / "data" / "acm-ccs-2012.skos.xml"
    concepts = read_rdf(path)
    assert len(concepts.by_uri) == 2299 and len(concepts.top) == 14
    learning = weighted(concepts, "Machine learning")
    assert Finder(learning).score("support vector machines and other kernel methods") == 0.9
    assert Finder(learning).score("the history of the abacus") == 0.0
    assert concepts.find("10010257") == concepts.find("machine learning")


def test_every_refusal_is_one_of_ours(tmp_path: Path) -> None:
    for name in ("a.csv", "a.toml", "a.ttl", "a.owl", "a.json", "a.nt"):
        for content in (b"\xff\xfe\x00", b"\x00" * 50, b"<" * 50, b"{}", b"[[[[", b"@prefix"):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(SpoorError):
                open_ontology(tmp_path / name)

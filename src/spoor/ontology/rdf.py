"""Thesauri (SKOS) and class hierarchies (OWL, RDF Schema) as concepts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from spoor.errors import BadInput
from spoor.ontology.concepts import Concept, Concepts, Label
from spoor.ontology.rdf_file import Literal, Statements, read_statements

SKOS, XL = "http://www.w3.org/2004/02/skos/core#", "http://www.w3.org/2008/05/skos-xl#"
RDFS, OWL = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2002/07/owl#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
KINDS = (f"{SKOS}Concept", f"{OWL}Class", f"{RDFS}Class")
PREFERRED = (f"{SKOS}prefLabel", f"{XL}prefLabel", f"{RDFS}label")
OTHERS = (
    f"{SKOS}altLabel", f"{SKOS}hiddenLabel", f"{XL}altLabel", f"{XL}hiddenLabel",
    "http://www.geneontology.org/formats/oboInOwl#hasExactSynonym",
)  # fmt: skip
BROADER = (f"{SKOS}broader", f"{SKOS}broaderTransitive", f"{RDFS}subClassOf")
NARROWER = (f"{SKOS}narrower", f"{SKOS}narrowerTransitive")
RELATED = (f"{SKOS}related", f"{SKOS}exactMatch", f"{SKOS}closeMatch", f"{OWL}equivalentClass")
_NO_WORD = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


def read_rdf(path: Path) -> Concepts:
    """All that are called concepts or classes, and the members of these classes."""
    said = read_statements(path)
    uris = _members(said)
    if not uris:
        raise BadInput(f"{path} is RDF, but names neither concepts (SKOS) nor classes (OWL); give an ontology")
    labels, broader, related = _labels(said), _broader(said), _related(said)
    return Concepts(
        path.name,
        {
            uri: Concept(
                uri,
                tuple(sorted(labels[uri], key=_place)) or (Label(_spelt_out(uri)),),
                tuple(sorted(broader[uri] & uris - {uri})),
                tuple(sorted(related[uri] & uris - {uri})),
            )
            for uri in sorted(uris)
        },
    )


def _members(said: Statements) -> set[str]:
    """Nodes without a URI stand for what is put together from others, and are left out."""
    classes = {one for one, kind in said.get(TYPE, ()) if kind in KINDS}
    classes |= {one for relation in PREFERRED[:2] for one, _ in said.get(relation, ())}
    members = {one for one, kind in said.get(TYPE, ()) if kind in classes}
    return {one for one in classes | members if not one.startswith("_:")}


def _broader(said: Statements) -> defaultdict[str, set[str]]:
    """Being one of a class counts as being below it."""
    upwards = [*_pairs(said, (*BROADER, TYPE)), *((other, one) for one, other in _pairs(said, NARROWER))]
    return _gathered(upwards)


def _related(said: Statements) -> defaultdict[str, set[str]]:
    pairs = list(_pairs(said, RELATED))
    return _gathered([*pairs, *((other, one) for one, other in pairs)])


def _labels(said: Statements) -> defaultdict[str, set[Label]]:
    """Labels that are nodes of their own (SKOS-XL) have their words one step further."""
    literal = {one: words for one, words in said.get(f"{XL}literalForm", ()) if isinstance(words, Literal)}
    found: defaultdict[str, set[Label]] = defaultdict(set)
    for relations, preferred in ((PREFERRED, True), (OTHERS, False)):
        for relation in relations:
            for one, label in said.get(relation, ()):
                words = literal.get(label) if isinstance(label, str) else label
                if words is not None and words.text.strip():
                    found[one].add(Label(" ".join(words.text.split()), words.language, preferred))
    return found


def _pairs(said: Statements, relations: Iterable[str]) -> Iterator[tuple[str, str]]:
    return ((one, other) for relation in relations for one, other in said.get(relation, ()) if isinstance(other, str))


def _gathered(pairs: Iterable[tuple[str, str]]) -> defaultdict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for one, other in pairs:
        found[one].add(other)
    return found


def _place(label: Label) -> tuple[bool, str, str]:
    return not label.preferred, label.language, label.text


def _spelt_out(uri: str) -> str:
    """What has no label is called by the end of its URI: `ComputerScience` is Computer Science."""
    return " ".join(filter(None, _NO_WORD.split(re.split("[/#]", uri.rstrip("/#"))[-1]))) or uri

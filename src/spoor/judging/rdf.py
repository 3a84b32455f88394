"""Thesauri (SKOS) and class hierarchies (OWL, RDF Schema), from untrusted RDF files."""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

from spoor.errors import BadInput, MissingExtra
from spoor.files import read_bounded
from spoor.judging.ontology import Concept, Concepts, Label

# Checks of untrusted RDF: nothing may be fetched, and nothing may expand to more than the file.


LONGEST_ENTITY = 120
"""Characters. Many ontologies declare entities for URI prefixes, and for nothing else."""


class Refusal(Exception):
    """The reason why a file is not read."""


def without_remote_contexts(content: bytes) -> bytes:
    """The same JSON, serialised again, so that the next parser reads exactly what was checked here. Raises Refusal if
    it refers to a remote context, ValueError if it is not JSON."""
    try:
        said = json.loads(content)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if (where := next(_remote(said), None)) is not None:
        problem = f"its context is remote, at {where[:200]!r}, and nothing is fetched to read a file"
        raise Refusal(f"{problem}; write the context into the file")
    return json.dumps(said).encode()


def _remote(said: Any) -> Iterator[str]:
    """References to other documents, wherever JSON-LD allows them. Without recursion, because files may be deeply
    nested."""
    waiting = [said]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            yield from _references(here.get("@context"))
            yield from _references(here.get("@import"))
            waiting += here.values()
        elif isinstance(here, list):
            waiting += here


def _references(context: Any) -> Iterator[str]:
    waiting = [context]
    while waiting:
        here = waiting.pop()
        if isinstance(here, str):
            yield here
        elif isinstance(here, list):
            waiting += here


def check_entities(content: bytes) -> None:
    """Raises Refusal if the XML declares entities that are nested, external or long: a few of these can exhaust the
    memory (billion laughs)."""

    def declared(name: str, is_parameter: bool, value: str | None, *_: object) -> None:
        if is_parameter or value is None:
            raise Refusal(f"it declares the entity {name[:40]!r}, which is external or redefines another")
        if "&" in value or len(value) > LONGEST_ENTITY:
            problem = f"it declares the entity {name[:40]!r}, nested or longer than {LONGEST_ENTITY} characters"
            raise Refusal(f"{problem}; write it out where it is used")

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = declared
    parser.StartElementHandler = _stop
    try:
        parser.Parse(content, True)
    except (_DeclarationsEnd, expat.ExpatError, ValueError):
        return  # The RDF parser reports other errors.


class _DeclarationsEnd(Exception):
    """Nothing can be declared after the first element."""


def _stop(*_: object) -> None:
    raise _DeclarationsEnd


# RDF statements from a file in any of the usual formats.


FORMATS = {
    ".rdf": "xml", ".owl": "xml", ".xml": "xml", ".skos": "xml", ".ttl": "turtle", ".n3": "n3", ".nt": "nt",
    ".jsonld": "json-ld", ".json": "json-ld",
}  # fmt: skip
"""The format to try first for each suffix. If it fails, or the suffix is unknown, the format is guessed from the
content."""
_BASE = "http://ontology.invalid/"
"""Base of relative URIs if the file has none. Not the local path, which is private."""
LARGEST = 1 << 27
"""Maximum size of a file, in bytes. Its statements take some thirty times as much memory."""
_URI_FIRST = re.compile(rb"\s*<[A-Za-z][\w+.-]*:[^>\s]*>")


@dataclass(frozen=True, slots=True)
class Literal:
    """A text value; `language` is a BCP-47 tag or ""."""

    text: str
    language: str = ""


Statements = Mapping[str, list[tuple[str, "str | Literal"]]]
"""By the URI of the predicate: pairs of subject and object, in no particular order. Blank nodes begin with _:."""


def read_statements(path: Path) -> Statements:
    content = read_bounded(path, LARGEST, "ontology")
    guess = _guessed(content)
    why = ""
    for form in dict.fromkeys((FORMATS.get(path.suffix.lower(), guess), guess)):
        try:
            return _parsed(_checked(content, form), form)
        except Refusal as refused:
            raise BadInput(f"{path} is not read: {refused}") from None
        except ValueError as error:
            why = why or " ".join(str(error).split())[:100]
    raise BadInput(f"{path} cannot be read as RDF: {why}; give RDF/XML, Turtle, N-Triples or JSON-LD")


def _checked(content: bytes, form: str) -> bytes:
    """Raises Refusal for content that reaches beyond the file; ValueError if it is in another format."""
    if form == "json-ld":
        return without_remote_contexts(content)
    if form == "xml":
        check_entities(content)
    return content


def _parsed(content: bytes, form: str) -> Statements:
    """ValueError if it cannot be parsed."""
    try:
        import rdflib
    except ModuleNotFoundError:
        raise MissingExtra("SKOS and OWL need rdflib; install it with: pip install 'spoor[ontology]'") from None

    def plain(node: object) -> str | Literal:
        if isinstance(node, rdflib.Literal):
            return Literal(str(node), node.language or "")
        return f"_:{node}" if isinstance(node, rdflib.BNode) else str(node)

    graph = rdflib.Graph()
    with _silence(), _literals_as_written(rdflib):
        try:
            graph.parse(data=content, format=form, publicID=_BASE)
        except Exception as error:  # The parsers of rdflib have no common exception.
            raise ValueError(" ".join(str(error).split())[:100] or type(error).__name__) from None
    statements: dict[str, list[tuple[str, str | Literal]]] = {}
    for subject, relation, said in graph:
        statements.setdefault(str(relation), []).append((str(plain(subject)), plain(said)))
    return statements


@contextmanager
def _silence() -> Iterator[None]:
    """rdflib logs a warning for each of the many published URIs with spaces, and also emits deprecation warnings."""
    log = logging.getLogger("rdflib")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        log.setLevel(level)


@contextmanager
def _literals_as_written(rdflib: Any) -> Iterator[None]:
    """Otherwise a decimal such as 1e999999999 is expanded digit by digit."""
    was, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
    try:
        yield
    finally:
        rdflib.NORMALIZE_LITERALS = was


def _guessed(content: bytes) -> str:
    """By the first character. Turtle may begin with a URI, and includes N-Triples."""
    match content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]:
        case b"{" | b"[":
            return "json-ld"
        case b"<" if not _URI_FIRST.match(content):
            return "xml"
        case _:
            return "turtle"


# Thesauri (SKOS) and class hierarchies (OWL, RDF Schema) as concepts.


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
    """All concepts and classes, and the instances of these classes."""
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
    """Blank nodes are left out: they stand for class expressions."""
    classes = {one for one, kind in said.get(TYPE, ()) if kind in KINDS}
    classes |= {one for relation in PREFERRED[:2] for one, _ in said.get(relation, ())}
    members = {one for one, kind in said.get(TYPE, ()) if kind in classes}
    return {one for one in classes | members if not one.startswith("_:")}


def _broader(said: Statements) -> defaultdict[str, set[str]]:
    """An instance of a class counts as below it."""
    upwards = [*_pairs(said, (*BROADER, TYPE)), *((other, one) for one, other in _pairs(said, NARROWER))]
    return _gathered(upwards)


def _related(said: Statements) -> defaultdict[str, set[str]]:
    pairs = list(_pairs(said, RELATED))
    return _gathered([*pairs, *((other, one) for one, other in pairs)])


def _labels(said: Statements) -> defaultdict[str, set[Label]]:
    """Labels that are nodes of their own (SKOS-XL) have their text in a literal of that node."""
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
    """The name of a concept without a label, from the end of its URI: `ComputerScience` is Computer Science."""
    return " ".join(filter(None, _NO_WORD.split(re.split("[/#]", uri.rstrip("/#"))[-1]))) or uri

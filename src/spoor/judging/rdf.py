"""Thesauri (SKOS) and class hierarchies (OWL, RDF Schema), from RDF files that may come from anybody."""

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

# What a file of RDF from anybody may not do: have something fetched, or stand for more than it is.


LONGEST_ENTITY = 120
"""Characters. Many ontologies have entities for the beginnings of their URIs, and for nothing else."""


class Refusal(Exception):
    """Says why a file is not read."""


def without_remote_contexts(content: bytes) -> bytes:
    """The same JSON, written anew so that whoever reads it next reads what was looked at here. Refused when it names a
    context that is elsewhere; ValueError when it is no JSON."""
    try:
        said = json.loads(content)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if (where := next(_remote(said), None)) is not None:
        problem = f"its context is remote, at {where[:200]!r}, and nothing is fetched to read a file"
        raise Refusal(f"{problem}; write the context into the file")
    return json.dumps(said).encode()


def _remote(said: Any) -> Iterator[str]:
    """References to other documents, wherever JSON-LD has a place for them. Without recursion: files may be deep."""
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
    """Refused when the XML declares entities that are made of others, lie elsewhere, or are long: few of these can be
    made to fill any memory."""

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
        return  # What is wrong with it otherwise, its reader will say.


class _DeclarationsEnd(Exception):
    """Nothing can be declared after the first element."""


def _stop(*_: object) -> None:
    raise _DeclarationsEnd


# Statements from a file of RDF, whichever of its usual forms it is in.


FORMATS = {
    ".rdf": "xml", ".owl": "xml", ".xml": "xml", ".skos": "xml", ".ttl": "turtle", ".n3": "n3", ".nt": "nt",
    ".jsonld": "json-ld", ".json": "json-ld",
}  # fmt: skip
"""What files with these endings are taken for at first; what they turn out to be, or others are, is guessed."""
_BASE = "http://ontology.invalid/"
"""What URIs in a file are relative to when it does not say; where it lies on this machine is nobody's business."""
LARGEST = 1 << 27
"""Bytes of a file; its statements take some thirty times as many in memory."""
_URI_FIRST = re.compile(rb"\s*<[A-Za-z][\w+.-]*:[^>\s]*>")


@dataclass(frozen=True, slots=True)
class Literal:
    """A text that something is said to have; `language` is a BCP-47 tag or ""."""

    text: str
    language: str = ""


Statements = Mapping[str, list[tuple[str, "str | Literal"]]]
"""By the URI of the relation: what has it to what, in no order of the file. Nodes without a URI begin with _:."""


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
    """Free of all that would reach beyond the file. ValueError when it is of another form."""
    if form == "json-ld":
        return without_remote_contexts(content)
    if form == "xml":
        check_entities(content)
    return content


def _parsed(content: bytes, form: str) -> Statements:
    """ValueError when it cannot be."""
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
        except Exception as error:  # Its parsers have no error in common.
            raise ValueError(" ".join(str(error).split())[:100] or type(error).__name__) from None
    statements: dict[str, list[tuple[str, str | Literal]]] = {}
    for subject, relation, said in graph:
        statements.setdefault(str(relation), []).append((str(plain(subject)), plain(said)))
    return statements


@contextmanager
def _silence() -> Iterator[None]:
    """Many a published URI holds spaces, and rdflib logs a warning at each mention; also it warns of its own future."""
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
    """Otherwise a decimal such as 1e999999999 is written out, digit by digit."""
    was, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
    try:
        yield
    finally:
        rdflib.NORMALIZE_LITERALS = was


def _guessed(content: bytes) -> str:
    """By how it begins. Turtle may begin with a URI, and holds N-Triples."""
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

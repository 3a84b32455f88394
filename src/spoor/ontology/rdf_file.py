"""Statements from a file of RDF, whichever of its usual forms it is in."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spoor.bounded_file import read_bounded
from spoor.errors import BadInput, MissingExtra
from spoor.ontology.untrusted import Refusal, check_entities, without_remote_contexts

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
    """Many a published URI holds blanks, and rdflib logs a warning at each mention; also it warns of its own future."""
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

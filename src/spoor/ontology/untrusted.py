"""What a file of RDF from anybody may not do: have something fetched, or stand for more than it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

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
        told = f"its context is elsewhere, at {where[:200]!r}, and nothing is fetched to read a file"
        raise Refusal(f"{told}; write the context into the file")
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
            raise Refusal(f"it declares the entity {name[:40]!r}, which lies elsewhere or changes what is declared")
        if "&" in value or len(value) > LONGEST_ENTITY:
            told = (
                f"it declares the entity {name[:40]!r}, which is made of others or longer than {LONGEST_ENTITY} letters"
            )
            raise Refusal(f"{told}; write it out where it is used")

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

"""Ontologies and dictionaries, and the judge by them, from the names of files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from spoor.assembly.naming import joined
from spoor.judge.ontology import OntologyTerms
from spoor.ontology.dictionary import read_dictionary
from spoor.ontology.finder import Finder
from spoor.ontology.opening import Choice, open_ontology
from spoor.ontology.scripts import script_of
from spoor.ontology.transcriber import Transcriber
from spoor.roles import Judge
from spoor.text.stop_words import STOP_WORDS


def ontology(
    file: str,
    concept: str = "",
    least: float = 0.5,
    overlap: str = "all",
    languages: str = "",
    query: str = "",
    dictionary: str = "",
) -> Judge:
    chosen = open_ontology(Path(file), Choice(concept, joined(languages), query))
    return OntologyTerms(Finder(chosen, overlap), least, transcriber_of(dictionary) if dictionary else None)


def transcriber_of(file: str) -> Transcriber:
    return Transcriber(read_dictionary(Path(file)), _foreign_stop_words())


@cache
def _foreign_stop_words() -> frozenset[str]:
    """Those in other letters than Latin ones: which language a dictionary is of, it does not say, but its script does.
    Among Latin letters they would be words of the other language as well, such as the German `die`."""
    words = (word for listed in STOP_WORDS.values() for word in listed.split())
    return frozenset(word for word in words if script_of(word[0]) != "latin")

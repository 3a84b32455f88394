"""An ontology from a file of any kind, or the one of a folder that suits a query best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from spoor.errors import BadInput, UsageError
from spoor.ontology.concepts import Concepts
from spoor.ontology.finder import Finder
from spoor.ontology.importance import weighted
from spoor.ontology.rdf import read_rdf
from spoor.ontology.rdf_file import FORMATS
from spoor.ontology.tables import read_csv, read_toml
from spoor.ontology.terms import Ontology

TABLES = {".csv": read_csv, ".tsv": read_csv, ".toml": read_toml}


@dataclass(frozen=True)
class Choice:
    """What is wanted of a file or folder: what is at and below a `concept`, which is named by a label, its URI or the
    last part of that; labels in these `languages`, BCP-47 tags; of a folder the ontology that suits the `query`. All
    may be left out."""

    concept: str = ""
    languages: tuple[str, ...] = ()
    query: str = ""


EVERYTHING = Choice()


def open_ontology(path: Path, choice: Choice = EVERYTHING) -> Ontology:
    if path.is_dir():
        path = _suiting(path, choice.query)
    elif choice.query:
        raise UsageError(f"query={choice.query!r} chooses from a folder of ontologies, but {path} is none")
    if read := TABLES.get(path.suffix.lower()):
        if choice.concept:
            raise UsageError(f"{path} is a table, where nothing is below {choice.concept!r}; leave the concept out")
        return read(path)
    return weighted(_concepts(path, path.stat().st_mtime_ns if path.exists() else 0), choice.concept, choice.languages)


@lru_cache(maxsize=4)
def _concepts(path: Path, changed: int) -> Concepts:
    """Parsing takes a second, and a comparison asks for the same file once for each strategy. `changed` is when it was
    written."""
    return read_rdf(path)


def _suiting(folder: Path, query: str) -> Path:
    """The file whose terms in the query are worth most, by their importance; of equal ones the first by name. Where
    there is but one, it is that."""
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in (*TABLES, *FORMATS))
    if not files:
        raise BadInput(f"the folder {folder} holds no ontologies; put some there, such as SKOS files or CSV tables")
    if len(files) == 1:
        return files[0]
    names = _listed([file.name for file in files])
    if not query:
        raise UsageError(f"{folder} holds several ontologies, {names}; name one, or choose by a query=")
    worth = {file: Finder(open_ontology(file)).score(query) for file in files}
    best = max(files, key=worth.__getitem__)
    if not worth[best]:
        raise UsageError(f"query={query!r} holds no term of the ontologies in {folder}, {names}; use words of theirs")
    return best


def _listed(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")

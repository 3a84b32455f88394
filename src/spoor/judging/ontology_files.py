"""Opens an ontology from a file of any supported format, or the best match for a query from a folder.

CSV, with the names of the columns in the first line; forms are separated by |:

    term,importance,forms
    Computer science,0.8,CS|comp. sc.

TOML, with a table for each term, or with the importance alone:

    [terms]
    "Engineering" = 0.3
    "Computer science" = { importance = 0.8, forms = ["CS", "comp. sc."] }
"""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from spoor.errors import BadInput, UsageError
from spoor.files import read_bounded
from spoor.judging.ontology import Concepts, Ontology, Term, weighted
from spoor.judging.rdf import FORMATS, read_rdf
from spoor.judging.term_finder import Finder

# Ontologies as tables: terms, their importance, and other forms.


COLUMNS = ("term", "importance")
FORMS = "forms"
LARGEST = 1 << 26
"""Maximum size of a table, in bytes: enough for millions of terms."""


def read_csv(path: Path) -> Ontology:
    """Columns are separated by comma, semicolon or tab, whichever is most frequent in the first line, and may be in any
    order."""
    lines = _text(path).splitlines()
    head = next((line for line in lines if line.strip()), "")
    separator = max(",;\t", key=head.count)
    rows = csv.DictReader(io.StringIO("\n".join(lines)), delimiter=separator, skipinitialspace=True)
    names = [name.strip().lower() for name in rows.fieldnames or ()]
    rows.fieldnames = names
    for column in COLUMNS:
        if column not in names:
            asked = f"the first line names the columns {', '.join((*COLUMNS, FORMS))}"
            raise BadInput(f"the ontology {path} has no column {column!r}; {asked}")
    try:
        terms = tuple(_row(path, rows.line_num, row) for row in rows if (row["term"] or "").strip())
    except csv.Error as error:
        raise BadInput(f"{path}, line {rows.line_num}: {error}") from None
    return Ontology(path.name, terms)


def _row(path: Path, line: int, row: Mapping[str, str | None]) -> Term:
    name = (row["term"] or "").strip()
    try:
        importance = float(row["importance"] or "")
    except ValueError:
        raise BadInput(
            f"{path}, line {line}: {row['importance']!r} is not a number; give an importance above 0"
        ) from None
    return _term(name, importance, (row.get(FORMS) or "").split("|"))


def read_toml(path: Path) -> Ontology:
    try:
        terms = tomllib.loads(_text(path))["terms"]
        return Ontology(path.name, tuple(_entry(path, name, said) for name, said in terms.items()))
    except (ValueError, OverflowError, RecursionError) as error:
        raise BadInput(f"the ontology {path} cannot be read as TOML: {error}") from None
    except (KeyError, AttributeError):
        raise BadInput(f'the ontology {path} has no [terms]; write them as "Computer science" = 0.8') from None


def _entry(path: Path, name: str, said: Any) -> Term:
    """`said` is the importance, or a table with the importance."""
    table = said if isinstance(said, dict) else {"importance": said}
    match table:
        case {"importance": int() | float() as importance, **others} if not isinstance(importance, bool):
            forms = others.pop(FORMS, [])
            if isinstance(forms, list) and not others:
                return _term(name, float(importance), list(map(str, forms)))
    remedy = '0.8, or { importance = 0.8, forms = ["CS"] }'
    raise BadInput(f"the ontology {path}: {name!r} is {said!r}; write {remedy}")


def _term(name: str, importance: float, forms: list[str]) -> Term:
    """The name is one of the forms."""
    return Term(name, importance, tuple(dict.fromkeys(form.strip() for form in (name, *forms) if form.strip())))


def _text(path: Path) -> str:
    try:
        return read_bounded(path, LARGEST, "ontology").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"cannot read the ontology {path}: {error}") from None


# Opens an ontology from a file of any supported format, or the best match for a query from a folder.


TABLES = {".csv": read_csv, ".tsv": read_csv, ".toml": read_toml}


@dataclass(frozen=True)
class Choice:
    """The part of a file or folder to use: the `concept`, given by label, URI or last part of the URI, and those below
    it; labels in `languages`, BCP-47 tags; in a folder, the ontology that best matches `query`. All are optional."""

    concept: str = ""
    languages: tuple[str, ...] = ()
    query: str = ""


EVERYTHING = Choice()


def open_ontology(path: Path, choice: Choice = EVERYTHING) -> Ontology:
    if path.is_dir():
        path = _suiting(path, choice.query)
    elif choice.query:
        raise UsageError(f"query={choice.query!r} selects from a folder of ontologies, but {path} is not a folder")
    if read := TABLES.get(path.suffix.lower()):
        if choice.concept:
            raise UsageError(f"{path} is a table, where nothing is below {choice.concept!r}; leave the concept out")
        return read(path)
    return weighted(_concepts(path, path.stat().st_mtime_ns if path.exists() else 0), choice.concept, choice.languages)


@lru_cache(maxsize=4)
def _concepts(path: Path, changed: int) -> Concepts:
    """Cached, because parsing takes a second and a comparison opens the same file once for each strategy. `changed` is
    the modification time."""
    return read_rdf(path)


def _suiting(folder: Path, query: str) -> Path:
    """The file whose terms in the query have the highest total importance; the first by name among equals. If there is
    only one file, that one."""
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

"""Ontologies written down as tables: terms, how important each is, and other ways to write it.

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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spoor.bounded_file import read_bounded
from spoor.errors import BadInput
from spoor.ontology.terms import Ontology, Term

COLUMNS = ("term", "importance")
FORMS = "forms"
LARGEST = 1 << 26
"""Bytes of a table: millions of terms."""


def read_csv(path: Path) -> Ontology:
    """Comma, semicolon or tab between columns: whichever the first line has. The columns may stand in any order."""
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
        raise BadInput(f"{path}, line {line}: {row['importance']!r} is no importance; give a number") from None
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
    """`said` is the importance, or a table that has it."""
    table = said if isinstance(said, dict) else {"importance": said}
    match table:
        case {"importance": int() | float() as importance, **others} if not isinstance(importance, bool):
            forms = others.pop(FORMS, [])
            if isinstance(forms, list) and not others:
                return _term(name, float(importance), list(map(str, forms)))
    remedy = '0.8, or { importance = 0.8, forms = ["CS"] }'
    raise BadInput(f"the ontology {path}: {name!r} is said to be {said!r}; write {remedy}")


def _term(name: str, importance: float, forms: list[str]) -> Term:
    """What it is called is one of its forms."""
    return Term(name, importance, tuple(dict.fromkeys(form.strip() for form in (name, *forms) if form.strip())))


def _text(path: Path) -> str:
    try:
        return read_bounded(path, LARGEST, "ontology").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"cannot read the ontology {path}: {error}") from None

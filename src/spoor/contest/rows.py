"""The rows of a contest: a web, what is wanted of it, and where to start."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spoor.errors import BadInput, UsageError

COLUMNS = ("web", "target", "start", "seeds")


@dataclass(frozen=True)
class Row:
    """One line of contest.tsv; `web` and `seeds` as paths."""

    web: Path
    target: str
    start: str
    seeds: Path

    @property
    def name(self) -> str:
        """As `--rows` and the tables call it."""
        return f"{self.web.name}/{self.target}/{self.start}"

    @property
    def language(self) -> str:
        """The tag that the target names; "" when it is about something else."""
        kind, _, tag = self.target.partition("=")
        return tag if kind == "lang" else ""


def read_rows(data: Path) -> list[Row]:
    """`data` holds contest/contest.tsv and webs/."""
    with (data / "contest" / "contest.tsv").open(encoding="utf8", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t")
        missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
        if missing:
            raise BadInput(f"{file.name} lacks the column {missing[0]!r}; it needs {', '.join(COLUMNS)}")
        rows = [_row(data, line, f"{file.name}, line {reader.line_num}") for line in reader]
    if not rows:
        raise BadInput(f"{file.name} has no rows; each names a web, a target, a start and a file of seeds")
    return rows


def _row(data: Path, line: dict[str, str | None], place: str) -> Row:
    web, target, start, seeds = (line[column] or "" for column in COLUMNS)
    if not (web and target and start and seeds):
        raise BadInput(f"{place}: a cell is empty; each row has {', '.join(COLUMNS)}")
    return Row(data / "webs" / web, target, start, data / "contest" / seeds)


def chosen(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """Those that are named: `webkb` are all of a web, `webkb/class=course` all of a target, one has its start too."""
    for name in names:
        if not any(_is_of(row, name) for row in rows):
            near = difflib.get_close_matches(name, [row.name for row in rows], 1, 0.0)[0]
            raise UsageError(f"--rows {name}: there is no such row; the nearest is {near!r}, and a beginning is enough")
    return [row for row in rows if any(_is_of(row, name) for name in names)]


def _is_of(row: Row, name: str) -> bool:
    return f"{row.name}/".startswith(f"{name}/")

"""Tables on disk, CSV or Parquet, read row by row as text."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spoor.errors import BadInput, MissingExtra
from spoor.webs.build.gather import Report

_SUFFIXES = (".csv", ".tsv", ".parquet")


def is_table(path: Path) -> bool:
    return path.suffix.lower() in _SUFFIXES


@dataclass(frozen=True)
class Table:
    """`columns` are in lower case, as the table names them."""

    path: Path
    columns: tuple[str, ...]

    def rows(self, wanted: Sequence[str], report: Report) -> Iterator[list[str]]:
        """The wanted cells of each row, "" for a cell or column that is not there. Unreadable rows are counted."""
        places = [self.columns.index(name) if name in self.columns else -1 for name in wanted]
        read = _parquet_rows if self.path.suffix.lower() == ".parquet" else _csv_rows
        for row in read(self.path, report):
            yield [row[place] if 0 <= place < len(row) else "" for place in places]


def open_table(path: Path) -> Table:
    try:
        names = _parquet_columns(path) if path.suffix.lower() == ".parquet" else _csv_columns(path)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from error
    return Table(path, tuple(name.strip().lower() for name in names))


def _csv_columns(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return next(_reader(file, path), [])


def _csv_rows(path: Path, report: Report) -> Iterator[list[str]]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = _reader(file, path)
        next(rows, None)
        while True:
            try:
                yield next(rows)
            except StopIteration:
                return
            except csv.Error:
                report["bad rows"] += 1


def _reader(file: Any, path: Path) -> Iterator[list[str]]:
    return csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")


def _parquet_columns(path: Path) -> list[str]:
    return list(_parquet_file(path).schema_arrow.names)


def _parquet_rows(path: Path, report: Report) -> Iterator[list[str]]:
    for batch in _parquet_file(path).iter_batches():
        columns = [column.to_pylist() for column in batch.columns]
        yield from ([_as_text(cell) for cell in row] for row in zip(*columns, strict=True))


def _parquet_file(path: Path) -> Any:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra(f"{path} needs pyarrow to be read; run: pip install 'spoor[parquet]'") from None
    try:
        return parquet.ParquetFile(path)
    except arrow.ArrowInvalid as error:
        raise BadInput(f"{path} is not a Parquet file: {error}") from None


def _as_text(cell: Any) -> str:
    """A list of labels becomes words; a whole number that Parquet holds as a float loses its point."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, list):
        return " ".join(map(str, cell))
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)

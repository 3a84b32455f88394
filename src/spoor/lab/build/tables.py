"""Tables on disk, CSV, TSV or Parquet, read row by row as text."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spoor.errors import BadInput, MissingExtra
from spoor.lab.build.text_lines import Lines, first_lines, start_of

PARQUET = b"PAR1"
"""How a Parquet file begins."""
_DELIMITERS = ",\t;"

ALIASES: Mapping[str, Sequence[str]] = {
    "status": ("fetch_status",),
    "content_type": ("content_mime_detected", "content_mime_type"),
    "meta_charset": ("charset",),
    "detected_charset": ("content_charset",),
    "language": ("content_languages",),
    "redirect": ("fetch_redirect",),
    "bytes": ("warc_record_length",),
}
"""Other names of the columns of a log: those of Common Crawl's columnar index, and a short one."""

Row = list[str]
"""The cells of a row, as text."""


@dataclass(frozen=True)
class Table:
    """`columns` are in lower case, as the table names them. `delimiter` is "" for Parquet."""

    path: Path
    columns: tuple[str, ...]
    delimiter: str

    def rows(self, names: Sequence[str]) -> Iterator[Row]:
        """The cells of each row in the columns `names`, "" for one that is not there. Of a column that goes by several
        names, the first that says something is taken."""
        known = [[name, *ALIASES.get(name, ())] for name in names]
        read = [column for column in self.columns if any(column in group for group in known)]
        places = [[read.index(name) for name in group if name in read] for group in known]
        for row in self._cells(read):
            yield [next((row[place] for place in group if row[place]), "") for group in places]

    def _cells(self, columns: list[str]) -> Iterator[Row]:
        if not self.delimiter:
            return _parquet_rows(self.path, [self.columns.index(name) for name in columns])
        places = [self.columns.index(name) for name in columns]
        return ([row[place] for place in places] for row in _csv_rows(self))


def open_table(path: Path) -> Table:
    """CSV, TSV and Parquet are told apart by what is in the file."""
    if path.suffix.lower() == ".parquet" or start_of(path, len(PARQUET)) == PARQUET:
        return Table(path, _tidy(_parquet_file(path).schema_arrow.names), "")
    first = next(iter(first_lines(path)), "")
    delimiter = max(_DELIMITERS, key=first.count)
    return Table(path, _tidy(next(csv.reader([first], delimiter=delimiter), [])), delimiter)


def _tidy(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip().lower() for name in names)


def _csv_rows(table: Table) -> Iterator[Row]:
    """BadInput for a row that has more or fewer cells than there are columns, with the line on which it begins."""
    lines = Lines(table.path)
    rows = csv.reader(lines, delimiter=table.delimiter)
    began = 1
    try:
        for row in rows:
            if row and len(row) != len(table.columns):
                reason = f"{len(row)} cells, but the first line names {len(table.columns)} columns"
                raise lines.complaint(reason, began)
            if row and began > 1:
                yield row
            began = lines.number + 1
    except csv.Error as error:
        raise lines.complaint(f"not a row of a table: {error}", began) from None


def _parquet_rows(path: Path, places: Sequence[int]) -> Iterator[Row]:
    """Only the columns that are asked for are read."""
    file = _parquet_file(path)
    names = [file.schema_arrow.names[place] for place in places]
    try:
        for batch in file.iter_batches(columns=names):
            columns = [batch.column(name).to_pylist() for name in names]
            yield from ([_as_text(cell) for cell in row] for row in zip(*columns, strict=True))
    except OSError as error:
        raise BadInput(f"{path} is cut off or damaged: {_in_one_line(error)}") from None


def _parquet_file(path: Path) -> Any:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra(f"{path} needs pyarrow to be read; run: pip install 'spoor[parquet]'") from None
    try:
        return parquet.ParquetFile(path)
    except (arrow.ArrowInvalid, OSError) as error:
        raise BadInput(f"{path} is not a Parquet file, or cut off: {_in_one_line(error)}") from None


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _as_text(cell: Any) -> str:
    """A list of labels becomes words; a whole number that Parquet holds as a float loses its point."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, list):
        return " ".join(map(str, cell))
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)

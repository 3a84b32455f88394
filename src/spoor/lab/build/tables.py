"""Reads external files: text, possibly compressed, line by line; CSV, TSV and Parquet tables row by row as text."""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from spoor.errors import BadInput, MissingExtra
from spoor.zstd import zstd

# Text, line by line. Errors name the line.


_OPENERS: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": zstd.open,
    b"BZh": bz2.open,
}
"""Decompressors by the first bytes of a file."""

_DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error, zstd.ZstdError)
"""Errors that the openers raise while reading a truncated or damaged file."""

_SNIFFED, _FEW = 1 << 16, 10
"""The number of bytes and lines used to recognise a file."""

LONGEST_LINE = 1 << 24
"""In bytes. A file without line ends is not text, and must not fill the memory."""


def start_of(path: Path, size: int) -> bytes:
    """The first bytes, decompressed, as many as can be read."""
    start = b""
    with _opened(path) as stream, contextlib.suppress(*_DAMAGE):
        # `read1`, because `read` would lose the bytes between its start and the damage.
        while len(start) < size and (piece := cast(gzip.GzipFile, stream).read1(size - len(start))):
            start += piece
    return start


def first_lines(path: Path) -> list[str]:
    """The first few lines that can be read, without line ends. May be empty."""
    return start_of(path, _SNIFFED).decode("utf-8-sig", "replace").splitlines()[:_FEW]


def _opened(path: Path) -> BinaryIO:
    """Recognises compression by content, not by file name."""
    try:
        with path.open("rb") as file:
            begins = file.read(max(map(len, _OPENERS)))
        opener = next((opener for magic, opener in _OPENERS.items() if begins.startswith(magic)), None)
        return path.open("rb") if opener is None else cast(BinaryIO, opener(path))
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from None


class Lines:
    """The decoded lines of a file with their line ends. `number` is the last line read, counted from 1."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        with _opened(self.path) as stream:
            while raw := self._next(stream):
                self.number += 1
                yield self._decoded(raw)

    def complaint(self, reason: object, number: int | None = None) -> BadInput:
        """An error about the last line, or about line `number`."""
        return BadInput(f"{self.path}, line {number or self.number}: {reason}")

    def _next(self, stream: BinaryIO) -> bytes:
        try:
            raw = stream.readline(LONGEST_LINE + 1)
        except _DAMAGE as error:
            self.number += 1
            raise self.complaint(f"the file is truncated or damaged here ({error})") from None
        if len(raw) > LONGEST_LINE:
            self.number += 1
            raise self.complaint(f"more than {LONGEST_LINE:,} bytes without a line end, so this is not a text file")
        return raw

    def _decoded(self, raw: bytes) -> str:
        try:
            return raw.decode("utf-8-sig" if self.number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            byte = raw[error.start]
            raise self.complaint(f"byte {error.start + 1}, {byte:#x}, is not UTF-8; convert the file") from None


# Tables.


PARQUET = b"PAR1"
"""The first bytes of a Parquet file."""
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
"""Alternative names of log columns: those of the columnar index of Common Crawl, and a short one."""

Row = list[str]
"""The cells of a row, as text."""


@dataclass(frozen=True)
class Table:
    """`columns` are the column names of the file in lower case. `delimiter` is "" for Parquet."""

    path: Path
    columns: tuple[str, ...]
    delimiter: str

    def rows(self, names: Sequence[str]) -> Iterator[Row]:
        """The cells of each row in the columns `names`, "" for a missing column. If a column has several aliases, the
        first non-empty cell is used."""
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
    """Distinguishes CSV, TSV and Parquet by content; a .parquet suffix also counts."""
    if path.suffix.lower() == ".parquet" or start_of(path, len(PARQUET)) == PARQUET:
        return Table(path, _tidy(_parquet_file(path).schema_arrow.names), "")
    first = next(iter(first_lines(path)), "")
    delimiter = max(_DELIMITERS, key=first.count)
    return Table(path, _tidy(next(csv.reader([first], delimiter=delimiter), [])), delimiter)


def _tidy(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip().lower() for name in names)


def _csv_rows(table: Table) -> Iterator[Row]:
    """Raises BadInput, with its first line number, for a row whose number of cells differs from the number of
    columns."""
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
    """Reads only the requested columns."""
    file = _parquet_file(path)
    names = [file.schema_arrow.names[place] for place in places]
    try:
        for batch in file.iter_batches(columns=names):
            columns = [batch.column(name).to_pylist() for name in names]
            yield from ([_as_text(cell) for cell in row] for row in zip(*columns, strict=True))
    except OSError as error:
        raise BadInput(f"{path} is truncated or damaged: {_in_one_line(error)}") from None


def _parquet_file(path: Path) -> Any:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra(f"{path} needs pyarrow to be read; run: pip install 'spoor[parquet]'") from None
    try:
        return parquet.ParquetFile(path)
    except (arrow.ArrowInvalid, OSError) as error:
        raise BadInput(f"{path} is not a Parquet file, or truncated: {_in_one_line(error)}") from None


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _as_text(cell: Any) -> str:
    """Joins a list with spaces; writes an integer that Parquet stores as a float without the decimal point."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, list):
        return " ".join(map(str, cell))
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)

"""Line-based logs and indexes of other crawlers and archives: Heritrix crawl.log, CDX, CDXJ."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spoor.errors import BadInput
from spoor.lab.build.gather import BuildReport
from spoor.lab.build.tables import Lines, Row, first_lines

Cells = Mapping[str, str]
"""The values of a line by column name."""

ParsedLine = Cells | str | None
"""None if the line has no usable content; a string is the name under which the line is counted."""

REVISIT = "warc/revisit"
"""The MIME type in an index for a capture that is identical to an earlier one."""


@dataclass(frozen=True)
class LineLog:
    """A table whose rows are lines parsed by `understand`, which raises ValueError for an invalid line."""

    path: Path
    understand: Callable[[str], ParsedLine]
    report: BuildReport

    def rows(self, names: Sequence[str]) -> Iterator[Row]:
        lines = Lines(self.path)
        for line in lines:
            if not line.strip():
                continue
            try:
                cells = self.understand(line.rstrip("\r\n"))
            except ValueError as error:
                raise lines.complaint(error) from None
            if isinstance(cells, str):
                self.report[cells] += 1
            elif cells is not None:
                yield [cells.get(name, "") for name in names]


# Heritrix: a line for each URL that was tried, with its referring page.


HERITRIX = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z?\s+(-?\d+|-)\s+(\d+|-)\s+[a-z][a-z\d+.-]*:", re.IGNORECASE)
"""Time, status, bytes and URL at the start of a line."""

_HERITRIX_FIELDS = 12
_NOT_ON_THE_PAGE = frozenset("PI")
"""Last steps of a discovery path that are not links of the referring page: robots.txt and DNS, and speculative URLs."""


def heritrix_page(line: str) -> ParsedLine:
    _, status, size, url, _, _, mime, _, fetched, *_ = _heritrix_fields(line)
    if not _is_http(url):
        return "not HTTP"
    return {
        "url": url,
        # Values below 100 are Heritrix codes for failures without a response.
        "status": status if status.isdecimal() and int(status) >= 100 else "0",
        "content_type": mime,
        "bytes": size.replace("-", ""),
        "seconds": _heritrix_seconds(fetched),
    }


def heritrix_link(line: str) -> ParsedLine:
    """The link from the page on which the URL was found."""
    _, _, _, url, path, via, *_ = _heritrix_fields(line)
    if not (_is_http(url) and _is_http(via)) or path[-1] in _NOT_ON_THE_PAGE:
        return None
    return {"source": via, "target": url}


def _heritrix_fields(line: str) -> list[str]:
    fields = line.split(None, _HERITRIX_FIELDS - 1)
    if len(fields) < _HERITRIX_FIELDS:
        raise ValueError(f"{len(fields)} fields, but a line of a Heritrix crawl.log has {_HERITRIX_FIELDS}")
    return fields


def _heritrix_seconds(fetched: str) -> str:
    """Parses `20110623171208574+225`: start time, and duration in milliseconds."""
    milliseconds = fetched.partition("+")[2]
    return str(int(milliseconds) / 1000) if milliseconds.isdecimal() else ""


def _is_http(url: str) -> bool:
    return url[:7].lower() == "http://" or url[:8].lower() == "https://"


# CDX: a line for each capture. The first line may be a legend with a letter for each field.


_CDX_LEGEND = re.compile(r"(.)CDX\1")
_CDX_LETTERS = {11: "N b a m s k r M S V g", 9: "N b a m s k r V g", 7: "N b a m s k S"}
"""The fields of files without a legend, by their number; seven is the format of CDX server responses."""
_CDX_COLUMNS = {"a": "url", "s": "status", "m": "content_type", "r": "redirect", "S": "bytes"}
_SCHEME = re.compile(r"[a-z][a-z\d+.-]*:(?!\d+(?:/|$))", re.IGNORECASE)
"""Does not match a host with a port."""
_BARE_CDX = re.compile(r"\S+ \d{14} \S+ \S+ (?:\d{3}|-) \S+ ")


def is_cdx(line: str) -> bool:
    """Whether this can be the first line of a CDX file."""
    return bool(_CDX_LEGEND.match(line) or (_BARE_CDX.match(line) and len(line.split(" ")) in _CDX_LETTERS))


def cdx_reader(path: Path) -> Callable[[str], ParsedLine]:
    """The field order is taken from the first line of the file."""
    first = first_lines(path)[0]
    legend = _CDX_LEGEND.match(first)
    delimiter = first[0] if legend else " "
    letters = first[legend.end() :] if legend else _CDX_LETTERS[len(first.split(" "))].replace(" ", delimiter)
    columns = [_CDX_COLUMNS.get(letter, letter) for letter in letters.split(delimiter)]
    if "url" not in columns:
        raise BadInput(f"{path}, line 1: no field is marked a, the URL, so there is nothing to read")

    def understand(line: str) -> ParsedLine:
        if _CDX_LEGEND.match(line):
            return None
        fields = line.split(delimiter)
        if len(fields) != len(columns):
            raise ValueError(f"{len(fields)} fields, but the first line has {len(columns)}")
        return _capture({name: "" if field == "-" else field for name, field in zip(columns, fields, strict=True)})

    return understand


def _capture(cells: dict[str, str]) -> ParsedLine:
    """A missing type is not taken for HTML. Very old files have URLs without a scheme."""
    mime = cells.get("content_type") or "unknown"
    if mime == REVISIT:
        return "duplicates"
    url = cells["url"] if _SCHEME.match(cells["url"]) else f"http://{cells['url']}"
    if not _is_http(url):
        return "not HTTP"
    return cells | {"url": url, "status": cells.get("status") or "0", "content_type": mime}


# CDXJ: a key, a timestamp, and the rest as JSON; also the format of index servers, which is JSON only.


CDXJ = re.compile(r"!\w|\S+ \d{4,17} \{|\{")
_CDXJ_NAMES = {
    "status": ("status", "statuscode"),
    "content_type": ("mime-detected", "mime", "mimetype"),
    "detected_charset": ("charset",),
    "language": ("languages",),
    "redirect": ("redirect",),
    "bytes": ("length",),
}
"""The JSON keys for each column, best first."""


def cdxj_page(line: str) -> ParsedLine:
    if line.startswith("!"):
        return None
    key, brace, rest = line.partition("{")
    try:
        capture = json.loads(brace + rest)
    except json.JSONDecodeError as error:
        raise ValueError(f"the JSON is broken at character {len(key) + error.pos + 1}: {error.msg}") from None
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    url = capture.get("url") or capture.get("original")
    if not isinstance(url, str):
        raise ValueError("the JSON has no url")
    said = {name: str(value) for name, value in capture.items() if value not in ("-", None)}
    found = {name: next(filter(None, map(said.get, places)), "") for name, places in _CDXJ_NAMES.items()}
    return _capture({"url": url} | found)

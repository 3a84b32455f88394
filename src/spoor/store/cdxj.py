"""Indexes of WARC files in CDXJ, the format that replay tools read.

One sorted line per capture: `org,example)/page 20261115120000 {"url": …, "offset": …, "filename": …}`. The index of
`x.warc.gz` is `x.cdxj` in the same folder; it exists once the WARC file is complete.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

from spoor.result_files import replacing
from spoor.store.surt import surt
from spoor.store.warc_records import BLANK, Member, members

REVISIT = "warc/revisit"
"""The MIME type in an index for a capture whose payload is in another record."""
_WARC = ".warc.gz"
_STATUS = re.compile(rb"\s*HTTP/\S+\s+(\d{3})", re.IGNORECASE)
_JSON = json.JSONEncoder(ensure_ascii=False)
_TYPE = re.compile(rb"^content-type[ \t]*:([^;\r\n]*)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Capture:
    """A response in a WARC file. `date` is WARC-Date; `length` and `offset` count compressed bytes."""

    url: str
    date: str
    mime: str
    status: str
    digest: str
    length: int
    offset: int
    file: str


class Draft:
    """The index of a file that is being written, unsorted. It is kept on disk, so that memory use is constant."""

    def __init__(self) -> None:
        self._lines: IO[str] | None = None

    def begin(self, warc: Path) -> None:
        self._lines = _draft(warc).open("w", encoding="utf8", newline="\n")

    def add(self, capture: Capture) -> None:
        assert self._lines is not None
        self._lines.write(line(capture))

    def finish(self, warc: Path) -> None:
        """Turns the draft into the index, if the WARC file exists."""
        assert self._lines is not None
        self._lines.close()
        if warc.exists():
            with _draft(warc).open(encoding="utf8", newline="\n") as lines:
                write(warc, "".join(sorted(lines)))
        _draft(warc).unlink(missing_ok=True)


def index(folder: Path, pattern: str = "*" + _WARC) -> list[Path]:
    """Writes missing indexes by reading the WARC files; returns all indexes, in file order. No process may be writing
    to them."""
    files = sorted(folder.glob(pattern))
    for file in files:
        if not index_of(file).exists():
            write(file, text_of(captures(file)))
    return [index_of(file) for file in files]


def index_of(warc: Path) -> Path:
    return warc.with_name(warc.name.removesuffix(_WARC) + ".cdxj")


def line(capture: Capture) -> str:
    fields = (
        ("url", capture.url),
        ("mime", capture.mime),
        ("status", capture.status),
        ("digest", capture.digest),
        ("length", str(capture.length)),
        ("offset", str(capture.offset)),
        ("filename", capture.file),
    )
    known = ", ".join([f'"{name}": {_JSON.encode(value)}' for name, value in fields if value])
    return f"{surt(capture.url)} {timestamp(capture.date)} {{{known}}}\n"


@lru_cache(16)
def timestamp(date: str) -> str:
    """Converts `2026-11-15T12:00:00Z` to fourteen digits."""
    return re.sub(r"\D", "", date)[:14]


def captures(file: Path) -> Iterator[Capture]:
    """The responses of a WARC file with one gzip member per record, as far as it can be read."""
    return (capture for member in members(file) if (capture := capture_in(member, file.name)) is not None)


def capture_in(member: Member, file: str) -> Capture | None:
    """None if the record is not a response."""
    headers = member.record.headers
    kind = headers.get("warc-type")
    if kind not in ("response", "revisit"):
        return None
    mime, status = type_and_status(member.record.http_head)
    return Capture(
        url=headers.get("warc-target-uri", ""),
        date=headers.get("warc-date", ""),
        mime=REVISIT if kind == "revisit" else mime,
        status=status,
        digest=headers.get("warc-payload-digest", ""),
        length=member.length,
        offset=member.offset,
        file=file,
    )


def type_and_status(head: bytes) -> tuple[str, str]:
    """Content type and status from the head of an HTTP message, "" if missing. All writers of indexes use it, so that
    an index made from a file equals the one made while writing it."""
    head = head.partition(BLANK)[0]
    status, mime = _STATUS.match(head), _TYPE.search(head)
    return mime[1].decode("utf8", "replace").strip().lower() if mime else "", status[1].decode() if status else ""


def text_of(found: Iterable[Capture]) -> str:
    """The text of a whole index."""
    return "".join(sorted(map(line, found)))


def _draft(warc: Path) -> Path:
    return index_of(warc).with_suffix(".draft")


def write(warc: Path, text: str) -> None:
    """Writes an index atomically, so that its existence marks a complete WARC file."""
    index = index_of(warc)
    with replacing(index, index.with_suffix(".partial").name) as partial:
        partial.write_text(text, "utf8", newline="\n")
    _draft(warc).unlink(missing_ok=True)

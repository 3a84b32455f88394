"""Where in the archive is a URL? An index of each WARC file in CDXJ, the format that replay tools read.

One line a capture, sorted: `org,example)/page 20261115120000 {"url": …, "offset": …, "filename": …}`. The index of
`x.warc.gz` is `x.cdxj` beside it, and exists once the file is complete."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from spoor.files import replacing
from spoor.store.warc_records import BLANK, Member, members

REVISIT = "warc/revisit"
"""The type that stands in an index for a capture whose payload is elsewhere."""
_WARC = ".warc.gz"
_WWW = re.compile(r"^www\d*\.")
_PORT = re.compile(r":\d+$")
_STATUS = re.compile(rb"\s*HTTP/\S+\s+(\d{3})", re.IGNORECASE)
_TYPE = re.compile(rb"^content-type[ \t]*:([^;\r\n]*)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Capture:
    """A response in a WARC file. `date` is as the record says it; `length` and `offset` are in packed bytes."""

    url: str
    date: str
    mime: str
    status: str
    digest: str
    length: int
    offset: int
    file: str


class Draft:
    """The index of a file that is still being written, in the order of writing, on disk so that memory stays flat."""

    def __init__(self) -> None:
        self._lines: IO[str] | None = None

    def begin(self, warc: Path) -> None:
        self._lines = _draft(warc).open("w", encoding="utf8", newline="\n")

    def add(self, capture: Capture) -> None:
        assert self._lines is not None
        self._lines.write(line(capture))

    def finish(self, warc: Path) -> None:
        """The draft becomes the index, if there is a file to be indexed."""
        assert self._lines is not None
        self._lines.close()
        if warc.exists():
            with _draft(warc).open(encoding="utf8", newline="\n") as lines:
                write(warc, "".join(sorted(lines)))
        _draft(warc).unlink(missing_ok=True)


def index(folder: Path) -> list[Path]:
    """Writes the indexes that are missing, by reading the files; returns all, in the order of the files. Only for a
    folder that nobody writes to."""
    files = sorted(folder.glob("*" + _WARC))
    for file in files:
        if not index_of(file).exists():
            write(file, text_of(captures(file)))
    return [index_of(file) for file in files]


def index_of(warc: Path) -> Path:
    return warc.with_name(warc.name.removesuffix(_WARC) + ".cdxj")


def line(capture: Capture) -> str:
    fields = {"url": capture.url, "mime": capture.mime, "status": capture.status, "digest": capture.digest}
    fields |= {"length": str(capture.length), "offset": str(capture.offset), "filename": capture.file}
    known = {name: value for name, value in fields.items() if value}
    return f"{surt(capture.url)} {timestamp(capture.date)} {json.dumps(known, ensure_ascii=False)}\n"


def timestamp(date: str) -> str:
    """`2026-11-15T12:00:00Z` in fourteen digits."""
    return re.sub(r"\D", "", date)[:14]


def surt(url: str) -> str:
    """The spelling that sorts sites together: host reversed, without scheme and `www.`, parameters in order."""
    place, mark, query = url.lower().partition("://")[2].partition("?")
    host, _, path = _WWW.sub("", place, count=1).partition("/")
    port = found[0] if (found := _PORT.search(host)) else ""
    name = ",".join(reversed(host.removesuffix(port).split(".")))
    return f"{name}{port})/{path}{mark}{'&'.join(sorted(query.split('&')))}"


def captures(file: Path) -> Iterator[Capture]:
    """The responses of a WARC file with a gzip member for each record, as far as it can be read."""
    return (capture for member in members(file) if (capture := capture_in(member, file.name)) is not None)


def capture_in(member: Member, file: str) -> Capture | None:
    """None: it is no response."""
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
    """What the head of an HTTP message says of both, "" for nothing. Whoever writes an index asks here, so that one
    made by reading a file is the one that was made by writing it."""
    head = head.partition(BLANK)[0]
    status, mime = _STATUS.match(head), _TYPE.search(head)
    return mime[1].decode("utf8", "replace").strip().lower() if mime else "", status[1].decode() if status else ""


def text_of(found: Iterable[Capture]) -> str:
    """The whole index."""
    return "".join(sorted(map(line, found)))


def _draft(warc: Path) -> Path:
    return index_of(warc).with_suffix(".draft")


def write(warc: Path, text: str) -> None:
    """Complete or not at all, so that the index stands for a complete file."""
    index = index_of(warc)
    with replacing(index, index.with_suffix(".partial").name) as partial:
        partial.write_text(text, "utf8", newline="\n")
    _draft(warc).unlink(missing_ok=True)

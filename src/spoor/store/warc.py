"""The archive of a crawl: requests, responses and verdicts in WARC files that always consist of complete records."""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from spoor.records import Response, Verdict, Visit
from spoor.storage_errors import storing
from spoor.store import cdxj
from spoor.store.warc_records import (
    FIELDS,
    SAME_PAYLOAD,
    Headers,
    answer_headers,
    block_of,
    date_of,
    digest_of,
    fields_block,
    kept_head,
    new_id,
    packed,
    packed_around,
    record,
    record_head,
    request_headers,
    unpacked,
)
from spoor.store.warc_repair import Repair, repair, survey

LARGEST = 1 << 30
"""Size in bytes at which a new file is started."""
CONFORMS_TO = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
HTML = "text/html; charset=utf-8"
"""Content type of a rendered DOM."""
NOT_KEPT = "not-kept"
"""Field of a metadata record: the digest of a payload that is not in the archive."""
_NUMBER = re.compile(r"spoor-(?:w\d+-)?(\d+)-")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kept:
    """A response in the archive. `offset` is the start of the compressed record in `file`, a name within the folder; ""
    if the response was not stored."""

    url: str
    at: float
    digest: str
    record_id: str
    file: str
    offset: int


def not_kept(response: Response) -> Kept:
    return Kept(response.url, response.at, digest_of(response.payload), "", "", 0)


class WarcWriter:
    """Writes WARC files. The open file always consists of complete records: each is written at once, and a partial
    write is rolled back. A closed file has an index beside it; one without was left by a killed writer of the same
    `series`, and is repaired on entry. Writers of different series may write at the same time.

    Dates come from the caller. Not thread-safe; use it as a context manager.
    """

    def __init__(self, folder: Path, about: Mapping[str, str], largest: int = LARGEST, series: str = "") -> None:
        """`about` goes into the warcinfo record of each file: software, robots, the settings of the crawl. `series` is
        in the names of the files."""
        self._folder = folder
        self._series = f"spoor-{series}-" if series else "spoor-"
        self._about = about
        self._largest = largest
        self._number = 0
        self._path = folder
        self._file = -1
        self._end = 0
        self._index = cdxj.Draft()

    def __enter__(self) -> Self:
        with storing(self._folder):
            mend(self._folder, self._files)
        self._number = max((_number(file) for file in self._folder.glob(self._files)), default=0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def keep(self, response: Response, digest: str = "", earlier: Kept | None = None, kind: str = "") -> Kept:
        """Writes request and response; if the payload was stored `earlier`, a revisit record that refers to it.
        `digest` is that of the payload, if known; `kind` the type of sub-resource that a script requested."""
        self._have_file(response.at)
        digest = digest or digest_of(response.payload)
        answer_id = new_id()
        request = packed(record("request", response.at, request_headers(response, answer_id), response.request))
        head = kept_head(response)
        answer = _packed_answer(response, head, answer_headers(response, answer_id, digest, kind), earlier)
        offset = self._end + len(request)
        self._write(request + answer)
        kept = Kept(response.url, response.at, digest, answer_id, self._path.name, offset)
        with storing(self._path):
            self._index.add(_capture(head, kept, len(answer), earlier is not None))
        return kept

    def convert(self, kept: Kept, at: float, html: str) -> tuple[str, int]:
        """Writes the rendered DOM of a response. Returns the file and the offset of the record."""
        self._have_file(at)
        place = self._path.name, self._end
        headers = {"WARC-Target-URI": kept.url, "WARC-Refers-To": kept.record_id, "Content-Type": HTML}
        self._write(packed(record("conversion", at, headers, html.encode("utf8", "replace"))))
        return place

    def note(self, kept: Kept, at: float, fields: Mapping[str, str]) -> None:
        """Writes a metadata record about a response, such as its verdict; the only record if that was not stored."""
        self.add([metadata(kept, at, fields)], at)

    def add(self, records: Sequence[bytes], at: float) -> None:
        """Writes records of `metadata` in one write."""
        self._have_file(at)
        self._write(b"".join(records))

    def message(self, kept: Kept) -> bytes | None:
        """The HTTP message of a stored response; None if it is lost."""
        with contextlib.suppress(OSError):
            record = unpacked(self._folder / kept.file, kept.offset) if kept.file else None
            return None if record is None else block_of(record)
        return None

    def close(self) -> None:
        """Closes the file and writes its index; the next record starts a new file."""
        if self._file < 0:
            return
        file, self._file = self._file, -1
        with storing(self._path):
            os.fsync(file)
            os.close(file)
            if self._end == 0:
                self._path.unlink()
            self._index.finish(self._path)

    @property
    def _files(self) -> str:
        """A pattern for the names of the files of this series."""
        return f"{self._series}[0-9]*.warc.gz"

    def _have_file(self, at: float) -> None:
        if self._file >= 0 and self._end >= self._largest:
            self.close()
        if self._file < 0:
            self._open(at)
        if self._end == 0:
            self._introduce(at)

    def _open(self, at: float) -> None:
        self._number += 1
        self._path = self._folder / f"{self._series}{self._number:05d}-{cdxj.timestamp(date_of(at))}.warc.gz"
        with storing(self._path):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._index.begin(self._path)
            self._file, self._end = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), 0

    def _introduce(self, at: float) -> None:
        about = {**self._about, "format": "WARC File Format 1.1", "conformsTo": CONFORMS_TO}
        headers = {"WARC-Filename": self._path.name, "Content-Type": FIELDS}
        self._write(packed(record("warcinfo", at, headers, fields_block(about))))

    def _write(self, data: bytes) -> None:
        """Writes all of the data, or truncates the file to its previous end."""
        written = 0
        with storing(self._path):
            try:
                while written < len(data):
                    written += os.write(self._file, data[written:])
            except OSError:
                os.ftruncate(self._file, self._end)
                os.lseek(self._file, self._end, os.SEEK_SET)
                raise
        self._end += len(data)


def mend(folder: Path, files: str = "*.warc.gz") -> list[Repair]:
    """Repairs files that a killed writer left, and writes missing indexes. Logs a warning for each damaged file. No
    process may be writing to them."""
    done: list[Repair] = []
    for file in sorted(folder.glob(files)):
        if cdxj.index_of(file).exists():
            continue
        found = survey(file)
        if (repaired := repair(file, found)) is not None:
            if repaired.aside is not None:
                _log.warning("%s", repaired)
            done.append(repaired)
        else:
            cdxj.write(file, cdxj.text_of(found.captures))
    cdxj.index(folder, files)
    return done


def metadata(kept: Kept, at: float, fields: Mapping[str, str]) -> bytes:
    """The record that `WarcWriter.note` writes."""
    refers = kept.record_id if kept.file else ""
    headers = {"WARC-Target-URI": kept.url, "WARC-Refers-To": refers, "Content-Type": FIELDS}
    block = fields_block(fields if kept.file else {NOT_KEPT: kept.digest, **fields})
    return packed(record("metadata", at, headers, block))


def judgement(visit: Visit, verdict: Verdict, language: str = "") -> dict[str, str]:
    """The fields that `note` writes about a judged page."""
    return {
        "verdict": "relevant" if verdict.relevant else "not relevant",
        "relevance": f"{verdict.relevance:g}",
        "because": verdict.because,
        "label": verdict.label or "",
        "language": language,
        "found-on": visit.found_on,
        "key": " ".join(f"{part:g}" for part in visit.key),
    }


def _packed_answer(response: Response, head: bytes, headers: Headers, earlier: Kept | None) -> bytes:
    if earlier is not None:
        return packed(record("revisit", response.at, headers | _references(earlier), head))
    if len(response.payload) >= len(response.body):
        return packed(record("response", response.at, headers, head + response.payload))
    warc_head = record_head("response", response.at, headers, head + response.payload)
    return packed_around(warc_head + head, response.payload)


def _references(earlier: Kept) -> Headers:
    return {
        "WARC-Profile": SAME_PAYLOAD,
        "WARC-Refers-To": earlier.record_id,
        "WARC-Refers-To-Target-URI": earlier.url,
        "WARC-Refers-To-Date": date_of(earlier.at),
    }


def _capture(head: bytes, kept: Kept, length: int, revisit: bool) -> cdxj.Capture:
    mime, status = cdxj.type_and_status(head)
    return cdxj.Capture(
        url=kept.url,
        date=date_of(kept.at),
        mime=cdxj.REVISIT if revisit else mime,
        status=status,
        digest=kept.digest,
        length=length,
        offset=kept.offset,
        file=kept.file,
    )


def _number(file: Path) -> int:
    found = _NUMBER.match(file.name)
    return int(found[1]) if found else 0

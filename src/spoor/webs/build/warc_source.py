"""Reading WARC files: split into responses here, understood in worker processes, handed on in their order."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastwarc.stream_io import FastWARCError
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from spoor.errors import BadInput
from spoor.in_order import in_order
from spoor.parse.html import Interest, read_page
from spoor.parse.main_text import QUICK
from spoor.records import Redirect
from spoor.urls import join, normalise
from spoor.webs.build.gather import Report
from spoor.webs.build.http_response import take_apart
from spoor.webs.build.packed import Packed, Recorded, pack
from spoor.webs.build.until_it_breaks import UntilItBreaks, open_unpacked

_BATCH_BYTES, _BATCH_RESPONSES = 1 << 20, 64
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Response:
    """A response record: its URL as written and the HTTP message. `whole` is False when part of it is known to miss."""

    url: str
    block: bytes
    whole: bool


def warc_files(source: Path) -> list[Path]:
    """The WARC files that a source names: itself, or those of a crawl folder."""
    if not source.is_dir():
        return [source]
    files = sorted((source / "warc").glob("*.warc*"))
    if not files:
        raise BadInput(f"{source} is a folder without warc/*.warc files; give WARC files or a crawl folder")
    return files


def read_warcs(files: Sequence[Path], report: Report, workers: int | None = None) -> Iterator[Packed]:
    """The result does not depend on the number of workers. `report` counts what could not be used."""
    batches = _batches(response for file in files for response in _responses(file, report))
    found = False
    for packed in in_order(_understand, batches, workers or os.cpu_count() or 1):
        if isinstance(packed, Packed):
            report["truncated"] += not packed.whole
            found = True
            yield packed
        else:
            report[packed] += 1
    if not found:
        raise BadInput(f"{', '.join(map(str, files))}: no HTTP response in it, so there is no web to build")


def _responses(file: Path, report: Report) -> Iterator[Response]:
    """Stops, and counts it, where a file cannot be read any further."""
    records = 0
    with contextlib.closing(_opened(file)) as stream:
        try:
            # lz4 and zstd are undone by fastwarc itself.
            for record in ArchiveIterator(stream, record_types=WarcRecordType.any_type, parse_http=False):
                records += 1
                if record.record_type == WarcRecordType.revisit:
                    report["duplicates"] += 1
                elif record.record_type == WarcRecordType.response:
                    yield _response(record)
        except (OSError, FastWARCError, ValueError):
            stream.broken = True
        report["broken"] += stream.broken
    if records == 0:
        raise BadInput(f"{file} is not a WARC file, or broken before its first record ends")


def _response(record: WarcRecord) -> Response:
    block = record.reader.read()
    whole = len(block) == record.content_length and "WARC-Truncated" not in record.headers
    return Response(record.headers.get("WARC-Target-URI") or "", block, whole)


def _opened(file: Path) -> UntilItBreaks:
    try:
        return open_unpacked(file)
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from error


def _batches(responses: Iterable[Response]) -> Iterator[list[Response]]:
    """Enough at a time to be worth sending to another process."""
    batch: list[Response] = []
    size = 0
    for response in responses:
        batch.append(response)
        size += len(response.block)
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_RESPONSES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _understand(batch: list[Response]) -> list[Packed | str]:
    """For each response what was recorded, or under which name it is counted when nothing was."""
    return [_packed(response) for response in batch]


def _packed(response: Response) -> Packed | str:
    http = take_apart(response.block)
    if http is None:
        return "not HTTP"
    url = normalise(response.url.strip("<>"))
    if url is None:
        return "bad URLs"
    whole = response.whole and http.whole
    target = join(url, http.headers.get("location", "")) if http.status in _REDIRECTS else None
    if target is not None and target != url:
        return pack(Recorded(url, Redirect(target, http.status), whole=whole))
    page = read_page(url, http.body, http.headers.get("content-type", ""), http.status, Interest(QUICK))
    return pack(Recorded(url, page, whole=whole))

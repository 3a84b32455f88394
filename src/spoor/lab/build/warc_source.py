"""Reads WARC files, complete or damaged, and the WAT and WET files derived from them: splits them into records here,
parses those in worker processes."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from spoor.crawling.sitemap_budget import may_be_sitemap
from spoor.errors import BadInput
from spoor.fetch.decoding import decoded
from spoor.lab.bodies import ROBOTS_TAG, Body, packed_body
from spoor.lab.build.extracts import REDIRECTS, Extract, joined, read_extract
from spoor.lab.build.gather import BuildReport, Packed, Recorded, pack
from spoor.lab.sitemaps import packed_sitemap
from spoor.parse.apart import read_in_subprocess
from spoor.parse.documents import kind_of
from spoor.parse.html import ParseOptions, is_html, read_page, with_robots_tags
from spoor.parse.main_text import extractor_named
from spoor.parse.sitemaps import read_sitemap
from spoor.pools import in_order
from spoor.records import Failure, Redirect
from spoor.settings import USUAL_PARSING, ParseSettings, parse_in
from spoor.store.warc import NOT_KEPT
from spoor.store.warc_records import FIELDS
from spoor.urls import join, normalise

# Parses a recorded HTTP response: status, headers, and the body without transfer and content encoding.


LARGEST = 50_000_000
"""Maximum decoded size of a body in bytes; archives may contain decompression bombs, too."""

_MOST_DIGITS = 18
"""Maximum number of digits of a plausible length."""
_STATUS_LINE = re.compile(rb"\s*HTTP/\d(?:\.\d)?\s+(\d{3})\b", re.IGNORECASE)
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_CHUNK_SIZE = re.compile(rb"\s*+([0-9a-fA-F]++)[^\r\n]*+\r?\n")


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """`headers` are the first values by names in lower case; `robots_tags` all values of X-Robots-Tag. `whole` is False
    if the body is shorter than announced."""

    status: int
    headers: dict[str, str]
    body: bytes
    whole: bool
    robots_tags: tuple[str, ...] = ()


def parse_http_response(block: bytes) -> HttpResponse | None:
    """None if the bytes are not an HTTP response. A body that cannot be decoded as announced is left unchanged."""
    line = _STATUS_LINE.match(block)
    if line is None:
        return None
    end = _END_OF_HEAD.search(block, line.end())
    head, raw = (block[: end.start()], block[end.end() :]) if end else (block, b"")
    fields = list(_fields(head))
    headers = dict(reversed(fields))
    announced = headers.get("content-length", "")
    is_shorter = announced.isdecimal() and (len(announced) > _MOST_DIGITS or len(raw) < int(announced))
    whole = end is not None and not is_shorter
    robots_tags = tuple(value for name, value in fields if name == ROBOTS_TAG.lower())
    return HttpResponse(int(line[1]), headers, _decoded(raw, headers), whole, robots_tags)


def _fields(head: bytes) -> Iterator[tuple[str, str]]:
    """Names in lower case, and values."""
    for line in head.decode("latin-1").splitlines()[1:]:
        name, colon, value = line.partition(":")
        if colon:
            yield name.strip().lower(), value.strip()


def _decoded(raw: bytes, headers: dict[str, str]) -> bytes:
    body = _joined_chunks(raw) if "chunked" in headers.get("transfer-encoding", "").lower() else raw
    return decoded(body, headers.get("content-encoding", ""), LARGEST)


def _joined_chunks(raw: bytes) -> bytes:
    """Many archives store the dechunked body but keep the header; then the body is returned unchanged."""
    chunks, place = [], 0
    while size := _CHUNK_SIZE.match(raw, place):
        length = min(int(size[1], 16), len(raw))
        if length == 0:
            break
        chunks.append(raw[size.end() : size.end() + length])
        place = size.end() + length
    return b"".join(chunks) or raw


# A compressed stream that may be truncated or damaged: yields what can be read, then ends.


_XZ_MAGIC, _GZIP_MAGIC = b"\xfd7zXZ\x00", b"\x1f\x8b"


class TolerantStream:
    """Never raises while reading. Afterwards `broken` is True if the stream ended early."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.broken = False

    def read(self, size: int = -1) -> bytes:
        try:
            # `read1`, because `read` would lose the bytes between its start and the damage.
            return cast(gzip.GzipFile, self._stream).read1(size)
        except (EOFError, OSError, lzma.LZMAError, zlib.error):
            self.broken = True
            return b""

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def close(self) -> None:
        self._stream.close()


def open_unpacked(file: Path) -> TolerantStream:
    """Decompresses gzip and xz, recognised by content, not by file name. Raises OSError if the file cannot be
    opened."""
    with file.open("rb") as stream:
        magic = stream.read(len(_XZ_MAGIC))
    if magic == _XZ_MAGIC:
        return TolerantStream(cast(BinaryIO, lzma.open(file)))
    return TolerantStream(cast(BinaryIO, gzip.open(file)) if magic.startswith(_GZIP_MAGIC) else file.open("rb"))


# Reads WARC files: splits them into responses here, parses those in worker processes, yields the results in order.


_NOT_KEPT = f"{NOT_KEPT}:".encode()
"""The first bytes of the metadata record of a page that the crawl did not keep."""
_BATCH_BYTES, _BATCH_RESPONSES = 1 << 20, 64


@dataclass(frozen=True, slots=True)
class Response:
    """A response record: its URL as written and the HTTP message. `whole` is False if part of it is missing.
    `is_rendered`: the block is the rendered HTML of the page, without an HTTP message."""

    url: str
    block: bytes
    whole: bool
    is_rendered: bool = False

    @property
    def size(self) -> int:
        return len(self.block)


def warc_files(source: Path) -> list[Path]:
    """The WARC files of a source: the file itself, or those of a crawl folder and its shards."""
    if not source.is_dir():
        return [source]
    folders = [source / "warc", *source.glob("shards/*/warc")]
    files = sorted((file for folder in folders for file in folder.glob("*.warc*")), key=lambda file: file.name)
    if not files:
        raise BadInput(f"{source} is a folder without warc/*.warc files; give WARC files or a crawl folder")
    return files


def parsing_of(source: Path) -> ParseSettings:
    """The parse settings of the crawl if the source is a crawl folder, otherwise the defaults."""
    settings = source / "crawl.toml"
    return parse_in(settings) if settings.exists() else USUAL_PARSING


def read_warcs(
    files: Sequence[Path], report: BuildReport, workers: int | None = None, parsing: ParseSettings = USUAL_PARSING
) -> Iterator[Packed]:
    """The result does not depend on the number of workers. `report` counts records that could not be used."""
    batches = _batches(record for file in files for record in joined(_records(file, report)))
    understand = partial(
        _understand,
        ParseOptions(extractor_named(parsing.main_text), window=parsing.context, documents=parsing.documents),
    )
    found = False
    for packed in in_order(understand, batches, workers or os.cpu_count() or 1):
        if isinstance(packed, Packed):
            report["truncated"] += not packed.whole
            report["documents without text"] += packed.unread
            found = True
            yield packed
        elif packed is not None:
            report[packed] += 1
    if not found:
        raise BadInput(f"{', '.join(map(str, files))}: no HTTP response in it, so there is no web to build")


def _records(file: Path, report: BuildReport) -> Iterator[Response | Extract]:
    """Stops where a file cannot be read any further, and counts that. A damaged WAT or WET file is refused."""
    records, kinds = 0, set[type]()
    with contextlib.closing(_opened(file)) as stream:
        try:
            # fastwarc decompresses lz4 and zstd itself.
            for record in ArchiveIterator(stream, record_types=WarcRecordType.any_type, parse_http=False):
                records += 1
                report["duplicates"] += record.record_type == WarcRecordType.revisit
                report["not kept"] += _is_not_kept(record)
                if (taken := _taken(record, f"{file}, record {records}")) is not None:
                    kinds.add(type(taken))
                    yield taken
        except (OSError, ValueError):
            stream.broken = True
        if stream.broken and kinds == {Extract}:
            raise BadInput(f"{file}, record {records + 1}: the file is truncated or damaged here; get it again")
        report["broken"] += stream.broken
    if records == 0:
        raise BadInput(f"{file} is not a WARC file, or broken before its first record ends")


def _is_not_kept(record: WarcRecord) -> bool:
    """Whether it is the metadata of a page of which the crawl kept nothing else."""
    is_fields = (record.headers.get("Content-Type") or "") == FIELDS
    return (
        is_fields and record.record_type == WarcRecordType.metadata and record.reader.read(len(_NOT_KEPT)) == _NOT_KEPT
    )


def _taken(record: WarcRecord, place: str) -> Response | Extract | None:
    """None if the type of the record carries no page data."""
    content_type = record.headers.get("Content-Type") or ""
    match record.record_type:
        case WarcRecordType.response:
            return _response(record) if _is_of_a_page(record) else None
        case WarcRecordType.metadata if content_type.startswith("application/json"):
            return _extract(record, place, is_text=False)
        case WarcRecordType.conversion if content_type.startswith("text/plain"):
            return _extract(record, place, is_text=True)
        case WarcRecordType.conversion if content_type.startswith("text/html"):
            return replace(_response(record), is_rendered=True)
    return None


def _is_of_a_page(record: WarcRecord) -> bool:
    """False for sub-resources requested by scripts. Many crawlers do not record the resource type."""
    return (record.headers.get("WARC-Resource-Type") or "document").lower() == "document"


def _extract(record: WarcRecord, place: str, is_text: bool) -> Extract:
    block = record.reader.read()
    if len(block) != record.content_length:
        raise BadInput(
            f"{place}: {len(block):,} bytes of {record.content_length:,}; the file is truncated, get it again"
        )
    languages = record.headers.get("WARC-Identified-Content-Language") or ""
    return Extract(_target(record), (block,), place, is_text, languages)


def _response(record: WarcRecord) -> Response:
    block = record.reader.read()
    whole = len(block) == record.content_length and "WARC-Truncated" not in record.headers
    return Response(_target(record), block, whole)


def _target(record: WarcRecord) -> str:
    return (record.headers.get("WARC-Target-URI") or "").strip("<>")


def _opened(file: Path) -> TolerantStream:
    try:
        return open_unpacked(file)
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from error


def _batches(records: Iterable[Response | Extract]) -> Iterator[list[Response | Extract]]:
    """Batches large enough to be worth sending to another process."""
    batch: list[Response | Extract] = []
    size = 0
    for record in records:
        batch.append(record)
        size += record.size
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_RESPONSES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _understand(parse_options: ParseOptions, batch: list[Response | Extract]) -> list[Packed | str | None]:
    """For each record the packed result, or the name under which it is counted if there is none."""
    return [read_extract(record) if isinstance(record, Extract) else _packed(record, parse_options) for record in batch]


_FOUND = 302
"""The status recorded for a page that only forwards, so that it can be served as a redirect."""
_RENDERED = "text/html; charset=utf-8"


def _packed(response: Response, parse_options: ParseOptions) -> Packed | str:
    if response.is_rendered:
        return _rendered(response, parse_options)
    http = parse_http_response(response.block)
    if http is None:
        return "not HTTP"
    url = normalise(response.url)
    if url is None:
        return "bad URLs"
    whole = response.whole and http.whole
    target = join(url, http.headers.get("location", "")) if http.status in REDIRECTS else None
    if target is not None and target != url:
        return pack(Recorded(url, Redirect(target, http.status), whole=whole))
    content_type = http.headers.get("content-type", "")
    answer = (url, http.body, content_type, http.status, parse_options)
    page = read_in_subprocess(*answer)
    if isinstance(page, Failure):
        packed = replace(pack(Recorded(url, read_page(*answer), whole=whole)), unread=True)
        return replace(packed, body=_body(http, content_type))
    page = with_robots_tags(page, http.robots_tags)
    if page.forwards_to:
        return pack(Recorded(url, Redirect(page.forwards_to, _FOUND), whole=whole))
    return replace(pack(Recorded(url, page, whole=whole)), body=_body(http, content_type), sitemap=_sitemap(url, http))


def _body(http: HttpResponse, content_type: str) -> bytes:
    """In its stored form, if it is HTML or a document and not an error."""
    if 200 <= http.status < 300 and (is_html(http.body, content_type) or kind_of(http.body, content_type)):
        return packed_body(Body(http.body, content_type, http.robots_tags))
    return b""


def _sitemap(url: str, http: HttpResponse) -> bytes:
    """The compressed list of URLs if this is a sitemap or a feed. It remains a page as well: others may link to it."""
    if not (may_be_sitemap(url) and 200 <= http.status < 300):
        return b""
    file = read_sitemap(url, http.body)
    return b"" if isinstance(file, Failure) else packed_sitemap(file)


def _rendered(response: Response, parse_options: ParseOptions) -> Packed | str:
    url = normalise(response.url)
    if url is None:
        return "bad URLs"
    page = read_page(url, response.block, _RENDERED, parse_options=parse_options)
    body = packed_body(Body(response.block, _RENDERED))
    return replace(pack(Recorded(url, page, whole=response.whole)), body=body, part="rendered")

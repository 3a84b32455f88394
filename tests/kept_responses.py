"""Responses as a server would have sent them, and how to read an archive with the tools of others."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace

from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from spoor.records import Response

NOON = 1_794_744_000.0
"""2026-11-15T12:00:00Z."""

HTML_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"


def response(
    url: str, payload: bytes = b"<p>hello", head: bytes | None = None, cut: str = "", at: float = NOON
) -> Response:
    """HTML with its length said, unless `head` says otherwise."""
    head = head or HTML_HEAD + b"Content-Length: %d\r\n\r\n" % len(payload)
    lines = [line.partition(":") for line in head.decode("latin-1").splitlines()[1:] if line]
    return Response(
        url=url,
        status=int(head.split()[1]),
        headers={name.lower(): value.strip() for name, _, value in lines},
        body=payload,
        payload=payload,
        request=b"GET / HTTP/1.1\r\nHost: a.test\r\nUser-Agent: spoor\r\n\r\n",
        head=head,
        address="192.0.2.7",
        at=at,
        seconds=0.25,
        cut=cut,
    )


def warcs_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.warc.gz"))


def records_of(*files: Path) -> list[SimpleNamespace]:
    """As warcio reads them: `kind`, `headers` (a dictionary), `http` (head), `payload`, `offset`."""
    found = []
    for file in files:
        archive = ArchiveIterator(io.BytesIO(file.read_bytes()), no_record_parse=False)
        for record in archive:
            http = record.http_headers.to_ascii_bytes() if record.http_headers else b""
            payload = record.raw_stream.read()
            headers = dict(record.rec_headers.headers)
            kind = record.rec_type
            told = SimpleNamespace(kind=kind, headers=headers, http=http, payload=payload)
            told.offset = archive.get_record_offset()
            found.append(told)
    return found


def passes_warcio_check(*files: Path) -> bool:
    return bool(Checker(SimpleNamespace(inputs=list(map(str, files)), verbose=False)).process_all() == 0)

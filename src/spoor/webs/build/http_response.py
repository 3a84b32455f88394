"""A recorded HTTP response taken apart: status, headers, and the body free of transfer and content encoding."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spoor.fetch.decoding import decoded

LARGEST = 50_000_000
"""Bytes of a decoded body that are read; an archive may hold a bomb as well as a server."""

_MOST_DIGITS = 18
"""Of a length that anything can have."""
_STATUS_LINE = re.compile(rb"\s*HTTP/\d(?:\.\d)?\s+(\d{3})\b", re.IGNORECASE)
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_CHUNK_SIZE = re.compile(rb"\s*+([0-9a-fA-F]++)[^\r\n]*+\r?\n")


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """Names of headers are in lower case. `whole` is False when less came than was announced."""

    status: int
    headers: dict[str, str]
    body: bytes
    whole: bool


def take_apart(block: bytes) -> HttpResponse | None:
    """None: these bytes are no HTTP response. A body that does not decode as announced is left as it is."""
    line = _STATUS_LINE.match(block)
    if line is None:
        return None
    end = _END_OF_HEAD.search(block, line.end())
    head, raw = (block[: end.start()], block[end.end() :]) if end else (block, b"")
    headers = _headers(head)
    announced = headers.get("content-length", "")
    is_shorter = announced.isdecimal() and (len(announced) > _MOST_DIGITS or len(raw) < int(announced))
    whole = end is not None and not is_shorter
    return HttpResponse(int(line[1]), headers, _decoded(raw, headers), whole)


def _headers(head: bytes) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in head.decode("latin-1").splitlines()[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers.setdefault(name.strip().lower(), value.strip())
    return headers


def _decoded(raw: bytes, headers: dict[str, str]) -> bytes:
    body = _joined_chunks(raw) if "chunked" in headers.get("transfer-encoding", "").lower() else raw
    return decoded(body, headers.get("content-encoding", ""), LARGEST)


def _joined_chunks(raw: bytes) -> bytes:
    """Many archives hold the body without its chunks although the header stays; then it is returned as it is."""
    chunks, place = [], 0
    while size := _CHUNK_SIZE.match(raw, place):
        length = min(int(size[1], 16), len(raw))
        if length == 0:
            break
        chunks.append(raw[size.end() : size.end() + length])
        place = size.end() + length
    return b"".join(chunks) or raw

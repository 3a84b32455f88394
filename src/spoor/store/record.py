"""What does a WARC 1.1 record look like? Bytes made from what a server sent and what was thought of it."""

from __future__ import annotations

import base64
import hashlib
import re
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache

from spoor.records import Response

Headers = dict[str, str]
"""Those of a WARC record, in the order they are written; one with an empty value is left out."""

SAME_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
FIELDS = "application/warc-fields"
_CUT = frozenset({"length", "time", "disconnect"})
_TRANSFER_ENCODING = re.compile(rb"^transfer-encoding[ \t]*:[^\n]*\n(?:[ \t][^\n]*\n)*", re.IGNORECASE | re.MULTILINE)
_CONTENT_LENGTH = re.compile(rb"^content-length[ \t]*:[^\n]*\n(?:[ \t][^\n]*\n)*", re.IGNORECASE | re.MULTILINE)


def new_id() -> str:
    return f"<{uuid.uuid4().urn}>"


def digest_of(data: bytes) -> str:
    """As archives write it: SHA-1 in base 32."""
    return digest_text(hashlib.sha1(data, usedforsecurity=False).digest())


def digest_text(sha1: bytes) -> str:
    return "sha1:" + base64.b32encode(sha1).decode()


def date_of(at: float) -> str:
    """`at` is in seconds since 1970."""
    return _date(int(at))


@lru_cache(16)
def _date(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def record(kind: str, at: float, headers: Headers, block: bytes) -> bytes:
    """`headers` are those that not every record has, Content-Type included."""
    common = {
        "WARC-Type": kind,
        "WARC-Record-ID": headers.pop("WARC-Record-ID", "") or new_id(),
        "WARC-Date": date_of(at),
    }
    ending = {"WARC-Block-Digest": digest_of(block), "Content-Length": str(len(block))}
    lines = [f"{name}: {value}\r\n" for name, value in (common | headers | ending).items() if value]
    return f"WARC/1.1\r\n{''.join(lines)}\r\n".encode() + block + b"\r\n\r\n"


def fields_block(fields: Mapping[str, str]) -> bytes:
    """One field a line; line ends within a value become blanks."""
    lines = "".join(f"{name}: {' '.join(value.split())}\r\n" for name, value in fields.items() if value)
    return lines.encode("utf8", "replace")


def request_headers(response: Response, answer_id: str) -> Headers:
    return {
        "WARC-Target-URI": response.url,
        "WARC-IP-Address": response.address,
        "WARC-Concurrent-To": answer_id,
        "Content-Type": "application/http; msgtype=request",
    }


def answer_headers(response: Response, answer_id: str, payload_digest: str) -> Headers:
    return {
        "WARC-Record-ID": answer_id,
        "WARC-Target-URI": response.url,
        "WARC-IP-Address": response.address,
        "WARC-Payload-Digest": payload_digest,
        "WARC-Truncated": _truncated(response.cut),
        "Content-Type": "application/http; msgtype=response",
    }


def kept_head(response: Response) -> bytes:
    """Status line and headers as sent, save that the transfer encoding, which the payload has no more, gives way to its
    length."""
    head = response.head.rstrip(b"\r\n") + b"\r\n"
    if _TRANSFER_ENCODING.search(head):
        head = _CONTENT_LENGTH.sub(b"", _TRANSFER_ENCODING.sub(b"", head))
        head += b"Content-Length: %d\r\n" % len(response.payload)
    return head + b"\r\n"


def _truncated(cut: str) -> str:
    """In the words of the WARC standard."""
    return cut if cut in _CUT else "unspecified" if cut else ""

"""Tiny WARC files, written byte by byte so that they can also be wrong."""

from __future__ import annotations


def response(url: str, body: str | bytes = b"", status: int = 200, **headers: str) -> bytes:
    """A response record. `headers` are those of HTTP, with `_` for `-`; HTML unless they say otherwise."""
    headers = {"content_type": "text/html", **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    payload = body.encode() if isinstance(body, str) else body
    return record("response", url, f"HTTP/1.1 {status} Whatever\r\n{lines}\r\n".encode() + payload)


def record(kind: str, url: str, block: bytes, extra: str = "", length: int | None = None) -> bytes:
    """Any record; `length` when it should announce another one than it has."""
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>\r\n{extra}"
        f"Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block) if length is None else length}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def page(url: str, *hrefs: str) -> bytes:
    """A response with these links, the anchor of each being its href."""
    return response(url, "<title>t</title>" + " ".join(f'<a href="{href}">{href}</a>' for href in hrefs))

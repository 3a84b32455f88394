"""The part of a response received so far, within limits; kept if the rest does not come."""

from __future__ import annotations

from aiohttp.http import RawResponseMessage

from spoor.fetch.decoding import FetchLimits
from spoor.records import Response

LARGE = 1_000_000
"""Bytes of an encoded body that every response may hold in memory."""


class Receipt:
    """`cut` is the reason why the response is not complete, "head" if its headers are too large. It `is_held` when it
    has become large, until it has a turn."""

    def __init__(self, url: str, limits: FetchLimits) -> None:
        self.url = url
        self.limits = limits
        self.request = b""
        self.address = ""
        self.encodings = ""
        self.cut = ""
        self.size = 0
        self.has_turn = False
        self._pieces: list[bytes] = []
        self._head: RawResponseMessage | None = None
        self._lines = b""

    @property
    def has_begun(self) -> bool:
        return self._head is not None

    @property
    def is_held(self) -> bool:
        return self.size > LARGE and not self.has_turn

    def begin(self, head: RawResponseMessage) -> None:
        self._head = head
        self._lines = b"".join([b"%b: %b\r\n" % header for header in head.raw_headers])
        self.encodings = ",".join(head.headers.getall("Content-Encoding", ()))
        if len(self._lines) > self.limits.head:
            self.cut = "head"
        elif not self.limits.accept(head.headers.get("Content-Type", "")):
            self.cut = "type"

    def take(self, data: bytes) -> None:
        room = self.limits.body - self.size
        if len(data) > room:
            data = data[:room]
            self.cut = "length"
        self._pieces.append(data)
        self.size += len(data)

    def payload(self) -> bytes:
        """The pieces are joined once."""
        whole = b"".join(self._pieces)
        self._pieces = [whole]
        return whole

    def response(self, body: bytes, at: float, seconds: float) -> Response:
        assert self._head is not None
        return Response(
            url=self.url,
            status=self._head.code,
            headers=_first_of_each(self._head),
            body=body,
            payload=self.payload(),
            request=self.request,
            head=_status_line(self._head) + self._lines + b"\r\n",
            address=self.address,
            at=at,
            seconds=seconds,
            cut=self.cut,
        )


def _first_of_each(head: RawResponseMessage) -> dict[str, str]:
    """Bytes that are not UTF-8 are decoded as latin-1, so that every header is text that can be stored."""
    headers: dict[str, str] = {}
    for name, value in head.raw_headers:
        headers.setdefault(_text(name).lower(), _text(value))
    return headers


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _status_line(head: RawResponseMessage) -> bytes:
    line = f"HTTP/{head.version.major}.{head.version.minor} {head.code} {head.reason}".rstrip()
    return line.encode("utf-8", "surrogateescape") + b"\r\n"

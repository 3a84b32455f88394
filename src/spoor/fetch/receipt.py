"""The part of a response received so far, within limits; kept if the rest does not come."""

from __future__ import annotations

from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http_parser import ResponseHead
from spoor.records import Response

LARGE = 1_000_000
"""Bytes of an encoded body that every response may hold in memory."""


class Receipt:
    """`cut` is the reason why the response is not complete. It `is_held` when it has become large, until it has a
    turn."""

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
        self._head: ResponseHead | None = None

    @property
    def has_begun(self) -> bool:
        return self._head is not None

    @property
    def is_held(self) -> bool:
        return self.size > LARGE and not self.has_turn

    def begin(self, head: ResponseHead) -> None:
        self._head = head
        self.encodings = ",".join(head.headers.all("content-encoding"))
        if not self.limits.accept(head.headers.first.get("content-type", "")):
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
            status=self._head.status,
            headers=self._head.headers.first,
            body=body,
            payload=self.payload(),
            request=self.request,
            head=self._head.raw,
            address=self.address,
            at=at,
            seconds=seconds,
            cut=self.cut,
        )

"""Parses the response to a GET request: bytes in, in any pieces; its head and its body out. No I/O.

Servers send heads that the standard forbids; what they mean is nearly always clear, and browsers read them. So they
are read, but where another reader might see another message, the connection is not used again (RFC 9112, 11.2).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

MAX_INTERIM_RESPONSES = 16
"""Of responses such as `100 Continue` before the final one."""
_SWITCHING_PROTOCOLS = 101
_WITHOUT_BODY = frozenset({_SWITCHING_PROTOCOLS, 204, 304})
_START = b"HTTP/"
_HTTP2_SETTINGS = re.compile(rb"\0[\0-\xff]{2}\x04\0{5}")
"""The header of the first frame that every HTTP/2 server sends."""
_FRAME_HEADER_BYTES = 9
_EMPTY_LINE = re.compile(rb"\n\r?\n")
_TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_STRICT_HEAD = re.compile(
    rf"HTTP/([0-9](?:\.[0-9])?) ([0-9]{{3}})(?: [^\r\n\0]*+)?\r\n((?:{_TOKEN}:[^\r\n\0]*+\r\n)*+)\r\n"
)
_FOLDED = re.compile(r"\n[ \t]+")
_HEADER = re.compile(rf"({_TOKEN})[ \t]*(:.*)")
_LENGTHS = re.compile(r"([0-9]{1,18})(?:[ \t]*,[ \t]*\1)*")
_CHUNK_START = re.compile(rb"\r?\n([0-9A-Fa-f]{1,64})[ \t]*(;[^\n]*)?\r?\n")
"""The end of the chunk before, and the size of the next."""


class BrokenResponse(Exception):
    """Not HTTP/1, or it cannot be told where the body ends."""


class OnlyHttp2(BrokenResponse):
    """The server has sent a frame of HTTP/2."""


class HeadTooLarge(BrokenResponse):
    """Too many bytes before the body, whether or not the head ends."""


class ResponseHeaders:
    """Those of a response. `first` has the first value of each name, which is in lower case."""

    __slots__ = ("_others", "first")

    def __init__(self, lines: list[str]) -> None:
        self.first: dict[str, str] = {}
        self._others: list[tuple[str, str]] = []
        for line in lines:
            name, _, value = line.partition(":")
            name, value = name.lower(), value.strip(" \t")
            if name in self.first:
                self._others.append((name, value))
            else:
                self.first[name] = value

    def all(self, name: str) -> list[str]:
        """The values of a header that may occur several times."""
        if name not in self.first:
            return []
        return [self.first[name], *(value for other, value in self._others if other == name)]

    def elements(self, name: str) -> list[str]:
        """Of the comma-separated lists that are the values, in lower case."""
        return [element.strip(" \t") for value in self.all(name) for element in value.lower().split(",")]


class ResponseHead(NamedTuple):
    """`raw` is the head as received, from the status line to the empty line. `is_strict`: it is as the standard wants
    it; otherwise other readers may see other headers."""

    version: str
    status: int
    is_strict: bool
    headers: ResponseHeaders
    raw: bytes


class ResponseParser:
    """For one response. States: before the end of the head, in the body, complete."""

    def __init__(self, max_head_bytes: int) -> None:
        self.is_complete = False
        self._max_head_bytes = max_head_bytes
        self._data = b""
        self._at = 0
        """Of `_data`, what is before this place has been parsed."""
        self._interim_responses = 0
        self._body: Callable[[ResponseParser], Iterator[bytes]] | None = None
        """The method that reads the body, None before the end of the head. It is not bound: a cycle of references would
        keep the data in memory."""
        self._missing = 0
        """Bytes of the body or chunk that have not arrived."""
        self._extension_bytes = 0
        self._is_last_chunk = False
        self._is_persistent = False

    def feed(self, data: bytes) -> Iterator[ResponseHead | bytes]:
        """Yields the head once, then pieces of the body. Must be exhausted before it is called again; not to be called
        once the response `is_complete`. Raises BrokenResponse, after everything before the error."""
        self._data, self._at = self._data[self._at :] + data, 0
        while self._body is None:
            head = self._next_head()
            if head is None:
                return
            if 100 <= head.status < 200 and head.status != _SWITCHING_PROTOCOLS:
                self._interim_responses += 1
                if self._interim_responses > MAX_INTERIM_RESPONSES:
                    raise BrokenResponse("too many interim responses")
            else:
                self._body = self._body_after(head)
                yield head
        yield from self._body(self)

    @property
    def ends_with_connection(self) -> bool:
        """Whether the end of the connection is the end of the body."""
        return self._body is ResponseParser._until_close

    @property
    def leaves_connection_open(self) -> bool:
        """Whether another request may follow on the connection: the response is complete, nothing came after it, and
        no other reader could see another end of it."""
        return self.is_complete and self._is_persistent and self._at == len(self._data)

    def _next_head(self) -> ResponseHead | None:
        """None if it has not arrived."""
        data = self._data
        start = len(data) - len(data.lstrip(b"\r\n"))  # An empty line may follow the body of the response before.
        first = data[start : start + _FRAME_HEADER_BYTES]
        if not first.startswith(_START[: len(first)]):
            if first.startswith(b"\0") and len(first) < _FRAME_HEADER_BYTES:
                return None
            raise OnlyHttp2 if _HTTP2_SETTINGS.match(first) else BrokenResponse("Bad status line")
        end = _EMPTY_LINE.search(data, start)
        if (end.end() if end else len(data)) > self._max_head_bytes:
            raise HeadTooLarge
        if end is None:
            return None
        self._data = data[end.end() :]
        return parse_head(data[start : end.end()])

    def _body_after(self, head: ResponseHead) -> Callable[[ResponseParser], Iterator[bytes]]:
        """RFC 9112, 6.3."""
        headers = head.headers
        options, codings = headers.elements("connection"), headers.elements("transfer-encoding")
        has_length = "content-length" in headers.first
        is_kept = head.version == "1.1" or (head.version == "1.0" and "keep-alive" in options)
        self._is_persistent = head.is_strict and is_kept and "close" not in options
        if head.status in _WITHOUT_BODY:
            self._is_persistent &= head.status != _SWITCHING_PROTOCOLS and not codings
            return ResponseParser._of_length
        if codings:
            self._is_persistent &= not has_length
        if codings and codings[-1] == "chunked":
            self._data = b"\r\n" + self._data  # So that the first chunk starts as all others do.
            return ResponseParser._in_chunks
        if has_length:
            self._missing = _length(headers.all("content-length"))
            return ResponseParser._of_length
        self._is_persistent = False
        return ResponseParser._until_close

    def _of_length(self) -> Iterator[bytes]:
        piece = self._data[self._at : self._at + self._missing]
        self._at += len(piece)
        self._missing -= len(piece)
        self.is_complete = not self._missing
        if piece:
            yield piece

    def _until_close(self) -> Iterator[bytes]:
        self._at = len(self._data)
        if self._data:
            yield self._data

    def _in_chunks(self) -> Iterator[bytes]:
        while not self._is_last_chunk:
            if self._missing:
                piece = self._data[self._at : self._at + self._missing]
                if not piece:
                    return
                self._at += len(piece)
                self._missing -= len(piece)
                yield piece
            elif not self._start_chunk():
                return
        self._skip_trailers()

    def _start_chunk(self) -> bool:
        """Returns whether its size has arrived."""
        start = _CHUNK_START.match(self._data, self._at)
        if start is None:
            if self._data.find(b"\n", self._at + 2) >= 0 or len(self._data) - self._at > self._max_head_bytes:
                raise BrokenResponse("Bad chunk size")
            return False
        self._extension_bytes += len(start[2] or b"")
        if self._extension_bytes > self._max_head_bytes:
            raise BrokenResponse("Chunk extensions are too large")
        self._is_persistent &= start[0].count(b"\r\n") == 2
        self._missing = int(start[1], 16)
        self._at = start.end()
        if not self._missing:
            self._is_last_chunk = True
            self._at -= 1  # The line end may be the first half of the empty line that ends the trailers.
        return True

    def _skip_trailers(self) -> None:
        end = _EMPTY_LINE.search(self._data, self._at)
        if (end.end() if end else len(self._data)) - self._at > self._max_head_bytes:
            raise BrokenResponse("Trailers are too large")
        if end is not None:
            self._is_persistent &= end[0] == b"\n\r\n"
            self._at, self.is_complete = end.end(), True


def parse_head(raw: bytes) -> ResponseHead:
    """A head as received, to the empty line. Raises BrokenResponse."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = "\n".join(map(_text, raw.split(b"\n")))
    strict = _STRICT_HEAD.fullmatch(text)
    is_strict = strict is not None
    strict = strict or _STRICT_HEAD.fullmatch(_corrected(text))
    if strict is None:
        raise BrokenResponse("Bad status line")
    return ResponseHead(strict[1], int(strict[2]), is_strict, ResponseHeaders(strict[3].split("\r\n")[:-1]), raw)


def _text(line: bytes) -> str:
    """A line that is not UTF-8 is decoded as latin-1, so that all headers are text that can be stored."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _corrected(head: str) -> str:
    """What the server will have meant. Lines that are no headers are left out."""
    text = head.replace("\r\n", "\n").replace("\r", " ").replace("\0", " ")
    status_line, *lines = _FOLDED.sub(" ", text).rstrip("\n").split("\n")
    headers = [header[1] + header[2] for header in map(_HEADER.fullmatch, lines) if header]
    return "\r\n".join([" ".join(status_line.split(None, 2)), *headers, "", ""])


def _length(values: list[str]) -> int:
    """All of them must be the same."""
    length = _LENGTHS.fullmatch(",".join(values))
    if length is None:
        raise BrokenResponse("Bad Content-Length")
    return int(length[1])

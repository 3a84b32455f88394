"""Decoding of content encodings, with limits on time and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import brotli
from isal import isal_zlib

from spoor.parse.documents import readable_types
from spoor.settings import FetchSettings
from spoor.zstd import zstd

# Limits of one response.


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Times in seconds, sizes in bytes.

    An element of `types` that ends in a slash matches all types that begin with it; None accepts every type.
    """

    connect: float = FetchSettings.connect_seconds  # until the connection is established, including DNS
    idle: float = FetchSettings.read_seconds  # without a byte from the server
    whole: float = FetchSettings.whole_seconds  # from the request to the last byte
    body: int = FetchSettings.body_bytes  # as transferred
    decoded: int = FetchSettings.decompressed_bytes  # after decompression
    head: int = FetchSettings.header_bytes  # status line and headers
    types: frozenset[str] | None = frozenset(FetchSettings.content_types)  # of bodies to be read; "" always is

    @staticmethod
    def of(asked: FetchSettings, documents: bool = False) -> FetchLimits:
        """`documents`: bodies of document types are read, too, if they can be parsed here."""
        sizes = (asked.body_bytes, asked.decompressed_bytes, asked.header_bytes)
        types = frozenset(asked.content_types) | (readable_types() if documents else frozenset())
        return FetchLimits(asked.connect_seconds, asked.read_seconds, asked.whole_seconds, *sizes, types)

    def accept(self, content_type: str) -> bool:
        """`content_type` is the whole header; "" if there is none. One without a slash is none."""
        mime = content_type.partition(";")[0].strip().lower()
        return "/" not in mime or self.types is None or mime in self.types or mime.partition("/")[0] + "/" in self.types


# Decoding a body, with limits on its size and on the time, however small the encoded form is.


ENCODINGS = "gzip, deflate, br, zstd"
"""The supported encodings, as in Accept-Encoding."""

_ZLIB_ERROR: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # its stub takes the class for an instance
_PIECE = 1 << 16
"""Maximum output per step in bytes, so that a decompression bomb never takes more memory than the limit plus this."""
_BITE = 1 << 14
"""Input per step in bytes, so that no stream keeps a decompressor busy for long without output."""
_PIECES_AT_ONCE = 8
"""Pieces between two yields: some milliseconds of work."""
_MOST_STREAMS = 1_000
"""Maximum number of concatenated streams in one body. Each costs time even if it is empty."""
_MOST_SILENCE = 1 << 16
"""Maximum input in bytes before the first output."""
_MOST_GROWTH = 2
"""The factor by which undoing an inner encoding may enlarge a body, beyond the first `_PIECE`: data compressed twice is
hardly smaller than data compressed once."""
_GZIP = b"\x1f\x8b"
_STEPS_AT_MOST = 3
"""Maximum number of nested encodings; longer lists do not occur in regular responses."""
_ZSTD_WINDOW = 23
"""log2 of the window that one stream may request: 8 MB, the maximum on the web by RFC 9659."""


class Decoding:
    """Decodes a body incrementally; the result is in `body`.

    `cut` is "" unless decoding stopped: "length" if the limit is reached, "encoding" if the rest is invalid; after
    either, input is ignored. A body that is not encoded although its header says so is taken unchanged.

    The work is proportional to the size of the input and the limit: neither endless empty streams nor nested streams
    multiply it.
    """

    def __init__(self, encodings: str, limit: int) -> None:
        """`encodings` is the Content-Encoding header, `limit` the largest body in bytes."""
        self.body = bytearray()
        self.cut = ""
        self._limit = limit
        self._steps = _steps(encodings)
        self._unanswered = bytearray()

    def feed(self, data: bytes) -> None:
        for _ in self.feeding(data):
            pass

    def feeding(self, data: bytes) -> Iterator[None]:
        """Feeds data and yields every few milliseconds, so that an event loop can do other work. Must be exhausted
        before more is fed, unless decoding is abandoned."""
        try:
            for place in range(0, len(data), _BITE):
                if self.cut:
                    return
                yield from self._bite(data[place : place + _BITE])
        except _Unreasonable:
            self.cut = "encoding"
        except (_ZLIB_ERROR, brotli.error, zstd.ZstdError):
            if self.body:
                self.cut = "encoding"
            else:
                self._take_as_it_is(data[place + _BITE :])

    def _bite(self, bite: bytes) -> Iterator[None]:
        if self._steps and not self.body:
            self._unanswered += bite
            if len(self._unanswered) > _MOST_SILENCE:
                raise _Unreasonable
        for number, piece in enumerate(_through(self._steps, bite), 1):
            self._take(piece)
            if self.cut:
                return
            if number % _PIECES_AT_ONCE == 0:
                yield

    def _take(self, piece: bytes) -> None:
        room = self._limit - len(self.body)
        if len(piece) > room:
            piece = piece[:room]
            self.cut = "length"
        self.body += piece

    def _take_as_it_is(self, rest: bytes) -> None:
        self._steps = []
        self._take(bytes(self._unanswered) + rest)


def decoded(raw: bytes, encodings: str, limit: int) -> bytes:
    """Decodes a whole body at once, up to `limit` bytes."""
    decoding = Decoding(encodings, limit)
    for start in range(0, len(raw), _PIECE):
        decoding.feed(raw[start : start + _PIECE])
    return bytes(decoding.body)


class _Step(Protocol):
    """Undoes one encoding."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """The output for these bytes and those before, in pieces; the rest is lost if the iterator is not exhausted."""
        ...


class _Unreasonable(Exception):
    """An encoding that no regular server uses and that would cost unbounded work."""


class _Inner:
    """Undoes an encoding whose output is encoded again. Counts input and output."""

    def __init__(self, step: _Step) -> None:
        self._step = step
        self._taken = self._given = 0

    def pieces(self, data: bytes) -> Iterator[bytes]:
        self._taken += len(data)
        for piece in self._step.pieces(data):
            self._given += len(piece)
            if self._given > _PIECE + _MOST_GROWTH * self._taken:
                raise _Unreasonable
            yield piece


def _through(steps: list[_Step], data: bytes) -> Iterator[bytes]:
    if not steps:
        return iter((data,))
    first, rest = steps[0], steps[1:]
    pieces = first.pieces(data)
    return pieces if not rest else (last for piece in pieces for last in _through(rest, piece))


def _steps(encodings: str) -> list[_Step]:
    """Undoes the last encoding first. Unknown names are skipped: most of them are not encodings at all."""
    names = encodings.lower().replace(" ", "").split(",")
    makers = [_MAKERS[name] for name in reversed(names) if name in _MAKERS]
    steps = [maker() for maker in makers[:_STEPS_AT_MOST]]
    return [*map(_Inner, steps[:-1]), *steps[-1:]]


class _Stream(Protocol):
    """The common interface of the decompressors of zlib and zstd."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Streams:
    """Concatenated streams, as gzip and zstd allow. Invalid data after the first stream is ignored."""

    def __init__(self, make: Callable[[], _Stream]) -> None:
        self._make = make
        self._stream = make()
        self._count = 1
        self._nonsense = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        piece = b""
        while (data or len(piece) == _PIECE) and not self._nonsense:
            piece = self._decompress(data)
            yield piece
            data = self._left_over()

    def _decompress(self, data: bytes) -> bytes:
        if self._count > _MOST_STREAMS:
            raise _Unreasonable
        try:
            return self._stream.decompress(data, _PIECE)
        except (_ZLIB_ERROR, zstd.ZstdError):
            if self._count == 1:
                raise
            self._nonsense = True
            return b""

    def _left_over(self) -> bytes:
        """Input that was not yet decompressed; after the end of a stream it belongs to the next."""
        if not self._stream.eof:
            return getattr(self._stream, "unconsumed_tail", b"")  # zstd buffers it internally
        unused = self._stream.unused_data
        self._stream, self._count = self._make(), self._count + 1
        return unused


class _Deflate:
    """Should be zlib, but many servers send a raw deflate stream; the first two bytes distinguish them."""

    def __init__(self) -> None:
        self._begun = b""
        self._streams: _Streams | None = None

    def pieces(self, data: bytes) -> Iterator[bytes]:
        if self._streams is None:
            data = self._begun = self._begun + data
            if len(data) < 2:
                return
            window = 15 if data[0] & 15 == 8 and (data[0] * 256 + data[1]) % 31 == 0 else -15
            self._streams = _Streams(lambda: isal_zlib.decompressobj(window))
        yield from self._streams.pieces(data)


class _Brotli:
    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while not self._stream.is_finished() and (piece := self._stream.process(data, output_buffer_limit=_PIECE)):
            yield piece
            data = b""


class _Gzip:
    """Checks the first two bytes itself: ISA-L would wait for more input if it is not gzip."""

    def __init__(self) -> None:
        self._begun = b""
        self._streams = _Streams(lambda: isal_zlib.decompressobj(31))

    def pieces(self, data: bytes) -> Iterator[bytes]:
        if len(self._begun) < len(_GZIP):
            self._begun += data[: len(_GZIP)]
            if not _GZIP.startswith(self._begun[: len(_GZIP)]):
                raise _ZLIB_ERROR("no gzip")
        return self._streams.pieces(data)


def _zstd() -> _Step:
    return _Streams(lambda: zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW}))


_MAKERS: dict[str, Callable[[], _Step]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
    "br": _Brotli,
    "zstd": _zstd,
}

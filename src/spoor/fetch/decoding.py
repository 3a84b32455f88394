"""A body free of its content encoding, within limits of time and room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import brotli
from backports.zstd import DecompressionParameter, ZstdDecompressor, ZstdError
from isal import isal_zlib

from spoor.parse.documents import readable_types
from spoor.settings import FetchSettings

# How much time and room may one answer take?


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Times in seconds, sizes in bytes.

    Of `types`, one that ends in a slash stands for all that begin so; None accepts every type.
    """

    connect: float = FetchSettings.connect_seconds  # until the connection is established, DNS included
    idle: float = FetchSettings.read_seconds  # without a byte from the server
    whole: float = FetchSettings.whole_seconds  # from the request to the last byte
    body: int = FetchSettings.body_bytes  # as transferred
    decoded: int = FetchSettings.decompressed_bytes  # after decompression
    head: int = FetchSettings.header_bytes  # status line and headers
    types: frozenset[str] | None = frozenset(FetchSettings.content_types)  # of a body that is read; "" always is

    @staticmethod
    def of(asked: FetchSettings, documents: bool = False) -> FetchLimits:
        """`documents`: bodies of their types are read too, if they can be understood here."""
        sizes = (asked.body_bytes, asked.decompressed_bytes, asked.header_bytes)
        types = frozenset(asked.content_types) | (readable_types() if documents else frozenset())
        return FetchLimits(asked.connect_seconds, asked.read_seconds, asked.whole_seconds, *sizes, types)

    def accept(self, content_type: str) -> bool:
        """Of the whole header; "" when there is none."""
        mime = content_type.partition(";")[0].strip().lower()
        return not mime or self.types is None or mime in self.types or mime.partition("/")[0] + "/" in self.types


# A body free of its content encoding: never larger than a limit however small it came, never long in the
# making.


ENCODINGS = "gzip, deflate, br, zstd"
"""What can be decoded, as a request says it."""

_ZLIB_ERROR: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # its stub takes the class for an instance
_PIECE = 1 << 16
"""Bytes that come out at once, so that a bomb never has more in memory than the limit and this."""
_BITE = 1 << 14
"""Bytes that go in at once, so that no stream keeps a decompressor busy for long without a word."""
_PIECES_AT_ONCE = 8
"""Pieces between two pauses: some milliseconds of work."""
_MOST_STREAMS = 1_000
"""Streams one after another in one body. Each costs something even if it is empty."""
_MOST_SILENCE = 1 << 16
"""Bytes that may go in before the first comes out."""
_MOST_GROWTH = 2
"""How much larger a body may become, beyond the first `_PIECE`, by undoing an encoding that is not the last to be
undone: what is compressed twice is hardly smaller than what is compressed once."""
_GZIP = b"\x1f\x8b"
_STEPS_AT_MOST = 3
"""Encodings one upon another; a longer list is no honest answer."""
_ZSTD_WINDOW = 23
"""log2 of the memory one stream may ask for: 8 MB, all that RFC 9659 allows on the web."""


class Decoding:
    """Takes a body as it comes and holds it decoded in `body`.

    `cut` is "" while all is well, "length" when the limit is reached, "encoding" when the rest makes no sense; after
    either, nothing more is taken. A body that is not encoded at all although it should be stays as it is.

    The work is in proportion to the bytes that came and the limit: neither empty streams without end nor streams inside
    of streams multiply it.
    """

    def __init__(self, encodings: str, limit: int) -> None:
        """`encodings` is the header Content-Encoding, `limit` the largest body in bytes."""
        self.body = bytearray()
        self.cut = ""
        self._limit = limit
        self._layers = [_Layer(step) for step in _steps(encodings)]
        self._unanswered = bytearray()

    def feed(self, data: bytes) -> None:
        for _ in self.feeding(data):
            pass

    def feeding(self, data: bytes) -> Iterator[None]:
        """Feeds, and stops every few milliseconds, so that others have their turn. To be asked to the end before more
        is fed, unless all is to be left as it is."""
        try:
            for place in range(0, len(data), _BITE):
                if self.cut:
                    return
                yield from self._bite(data[place : place + _BITE])
        except _Unreasonable:
            self.cut = "encoding"
        except (_ZLIB_ERROR, brotli.error, ZstdError):
            if self.body:
                self.cut = "encoding"
            else:
                self._take_as_it_is(data[place + _BITE :])

    def _bite(self, bite: bytes) -> Iterator[None]:
        if self._layers and not self.body:
            self._unanswered += bite
            if len(self._unanswered) > _MOST_SILENCE:
                raise _Unreasonable
        for number, piece in enumerate(_through(self._layers, bite), 1):
            self._take(piece)
            if self.cut:
                return
            if number % _PIECES_AT_ONCE == 0:
                yield

    def _take(self, piece: bytes) -> None:
        room = self._limit - len(self.body)
        self.body += piece[:room]
        if len(piece) > room:
            self.cut = "length"

    def _take_as_it_is(self, rest: bytes) -> None:
        self._layers = []
        self._take(bytes(self._unanswered) + rest)


def decoded(raw: bytes, encodings: str, limit: int) -> bytes:
    """A whole body at once, at most `limit` bytes of it."""
    decoding = Decoding(encodings, limit)
    for start in range(0, len(raw), _PIECE):
        decoding.feed(raw[start : start + _PIECE])
    return bytes(decoding.body)


class _Step(Protocol):
    """One encoding undone."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What these bytes and those before them say, piece by piece; when asked no further, the rest is lost."""
        ...


class _Unreasonable(Exception):
    """No honest server encodes so; it would be work without end for nothing."""


class _Layer:
    """One encoding undone, with how much went in and came out."""

    def __init__(self, step: _Step) -> None:
        self._step = step
        self._taken = self._given = 0

    def pieces(self, data: bytes, is_last: bool) -> Iterator[bytes]:
        self._taken += len(data)
        for piece in self._step.pieces(data):
            self._given += len(piece)
            if not is_last and self._given > _PIECE + _MOST_GROWTH * self._taken:
                raise _Unreasonable
            yield piece


def _through(layers: list[_Layer], data: bytes) -> Iterator[bytes]:
    if not layers:
        yield data
        return
    first, rest = layers[0], layers[1:]
    for piece in first.pieces(data, is_last=not rest):
        yield from _through(rest, piece)


def _steps(encodings: str) -> list[_Step]:
    """The last encoding is undone first. Unknown names are passed over: most of them describe no encoding at all."""
    names = encodings.lower().replace(" ", "").split(",")
    makers = [_MAKERS[name] for name in reversed(names) if name in _MAKERS]
    return [maker() for maker in makers[:_STEPS_AT_MOST]]


class _Stream(Protocol):
    """What the decompressors of zlib and zstd have in common."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Streams:
    """Streams one after another, as gzip and zstd allow. What follows the first and is no stream is ignored."""

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
        except (_ZLIB_ERROR, ZstdError):
            if self._count == 1:
                raise
            self._nonsense = True
            return b""

    def _left_over(self) -> bytes:
        """What was not yet decompressed; after the end of a stream it is for the next."""
        if not self._stream.eof:
            return getattr(self._stream, "unconsumed_tail", b"")  # zstd keeps it to itself
        unused = self._stream.unused_data
        self._stream, self._count = self._make(), self._count + 1
        return unused


class _Deflate:
    """Meant to be zlib, but many servers send the bare stream; the first two bytes tell."""

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
    """Looks at the first two bytes itself: ISA-L would wait for more of what is no gzip."""

    def __init__(self) -> None:
        self._begun = b""
        self._streams = _Streams(lambda: isal_zlib.decompressobj(31))

    def pieces(self, data: bytes) -> Iterator[bytes]:
        if len(self._begun) < len(_GZIP):
            self._begun += data[: len(_GZIP)]
            if not _GZIP.startswith(self._begun[: len(_GZIP)]):
                raise _ZLIB_ERROR("no gzip")
        yield from self._streams.pieces(data)


def _zstd() -> _Step:
    return _Streams(lambda: ZstdDecompressor(options={DecompressionParameter.window_log_max: _ZSTD_WINDOW}))


_MAKERS: dict[str, Callable[[], _Step]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
    "br": _Brotli,
    "zstd": _zstd,
}

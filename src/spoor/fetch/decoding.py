"""A body free of its content encoding, never larger than a limit however small it came."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import brotli
from backports.zstd import DecompressionParameter, ZstdDecompressor, ZstdError
from isal import isal_zlib

ENCODINGS = "gzip, deflate, br, zstd"
"""What can be decoded, as a request says it."""

_ZLIB_ERROR: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # its stub takes the class for an instance
_PIECE = 1 << 16
"""Bytes that are decoded at once, so that a bomb never has more in memory than the limit and this."""
_GZIP = b"\x1f\x8b"
_STEPS_AT_MOST = 3
"""Encodings one upon another; a longer list is no honest answer."""
_ZSTD_WINDOW = 23
"""log2 of the memory one stream may ask for: 8 MB, all that RFC 9659 allows on the web."""


class Decoding:
    """Takes a body as it comes and holds it decoded in `body`.

    `cut` is "" while all is well, "length" when the limit is reached, "encoding" when the rest makes no sense; after
    either, nothing more is taken. A body that is not encoded at all although it should be stays as it is.
    """

    def __init__(self, encodings: str, limit: int) -> None:
        """`encodings` is the header Content-Encoding, `limit` the largest body in bytes."""
        self.body = bytearray()
        self.cut = ""
        self._limit = limit
        self._steps = _steps(encodings)
        self._unanswered = b""

    def feed(self, data: bytes) -> None:
        if self.cut:
            return
        if self._steps and not self.body:
            self._unanswered += data
        try:
            self._take(_through(self._steps, data))
        except (_ZLIB_ERROR, brotli.error, ZstdError):
            self._give_up()

    def _take(self, pieces: Iterator[bytes]) -> None:
        for piece in pieces:
            room = self._limit - len(self.body)
            self.body += piece[:room]
            if len(piece) > room:
                self.cut = "length"
                return

    def _give_up(self) -> None:
        if self.body:
            self.cut = "encoding"
        else:
            self._steps = []
            self._take(iter([self._unanswered]))


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


def _through(steps: list[_Step], data: bytes) -> Iterator[bytes]:
    if not steps:
        yield data
        return
    for piece in steps[0].pieces(data):
        yield from _through(steps[1:], piece)


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
        self._first = True
        self._nonsense = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        piece = b""
        while (data or len(piece) == _PIECE) and not self._nonsense:
            piece = self._decompress(data)
            yield piece
            data = self._left_over()

    def _decompress(self, data: bytes) -> bytes:
        try:
            return self._stream.decompress(data, _PIECE)
        except (_ZLIB_ERROR, ZstdError):
            if self._first:
                raise
            self._nonsense = True
            return b""

    def _left_over(self) -> bytes:
        """What was not yet decompressed; after the end of a stream it is for the next."""
        if not self._stream.eof:
            return getattr(self._stream, "unconsumed_tail", b"")  # zstd keeps it to itself
        unused = self._stream.unused_data
        self._stream, self._first = self._make(), False
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

"""Bodies that are encoded: well, as bombs, and as work without end."""

from __future__ import annotations

import functools
import gzip
import random
import zlib
from collections.abc import Callable

import brotli

from spoor.zstd import zstd
from tests.chaos.server import Behaviours, Wrong, says

BOMB = 10_000_000
"""Bytes of zeros in each bomb."""
SMALL = b"<p>well encoded" * 100
EMPTIES = 100_000
"""Streams that say nothing."""


def _bare_deflate(body: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(body) + compressor.flush()


def _brotli(body: bytes) -> bytes:
    compressed: bytes = brotli.compress(body, quality=5)
    return compressed


COMPRESS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "bare-deflate": ("deflate", _bare_deflate),
    "br": ("br", _brotli),
    "zstd": ("zstd", zstd.compress),
    "gzip-br": ("gzip, br", lambda body: _brotli(gzip.compress(body))),
}
"""By the last part of its path: the header, and how the body is made."""


def _encoded(encoding: str, compress: Callable[[bytes], bytes], body: bytes) -> Wrong:
    return says(functools.cache(lambda: compress(body)), f"Content-Encoding: {encoding}")


def _bomb(encoding: str, compress: Callable[[bytes], bytes]) -> Wrong:
    return _encoded(encoding, lambda _: compress(bytes(BOMB)), b"")


def _noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


ENCODINGS: Behaviours = {
    "/not-encoded": _encoded("gzip", bytes, SMALL),
    **{f"/encoded/{name}": _encoded(header, make, SMALL) for name, (header, make) in COMPRESS.items()},
    **{f"/bomb/{name}": _bomb(header, make) for name, (header, make) in COMPRESS.items()},
    "/bomb/thrice": _bomb("gzip, br, gzip", lambda body: gzip.compress(_brotli(gzip.compress(body)))),
    "/empties/gzip": _encoded("gzip", lambda body: gzip.compress(body) * EMPTIES, b""),
    "/empties/gzip-gzip": _encoded("gzip, gzip", lambda body: gzip.compress(gzip.compress(body) * EMPTIES), b""),
    "/empties/zstd-zstd": _encoded("zstd, zstd", lambda body: zstd.compress(zstd.compress(body) * EMPTIES), b""),
    "/empties/skipped": _encoded("zstd, br", lambda body: _brotli(b"\x50\x2a\x4d\x18\0\0\0\0" * EMPTIES), b""),
    "/encoded/cut": _encoded("gzip", lambda body: gzip.compress(body)[:-10], SMALL),
    "/encoded/wrong-sum": _encoded("gzip", lambda body: gzip.compress(body)[:-8] + b"12345678", SMALL),
    "/encoded/long-name": _encoded("gzip", lambda body: b"\x1f\x8b\x08\x08\0\0\0\0\0\3" + b"n" * 300_000, SMALL),
    "/encoded/wide-window": _encoded("zstd", lambda body: b"\x28\xb5\x2f\xfd\0\xff" + b"\1\0\0", SMALL),
    "/encoded/noise-as-gzip": _encoded("gzip", lambda body: b"\x1f\x8b\x08\0" + _noise(50_000), b""),
    "/encoded/noise-as-br": _encoded("br", lambda body: _noise(50_000), b""),
    "/encoded/noise-as-deflate": _encoded("deflate", lambda body: _noise(50_000), b""),
    "/encoded/ten-times": _encoded(", ".join(["gzip"] * 10), gzip.compress, SMALL),
    "/encoded/as-nobody-knows": _encoded("klingon, " * 5_000 + "gzip", gzip.compress, SMALL),
}  # fmt: skip

"""Files robots.txt that nobody wrote in good faith."""

from __future__ import annotations

from collections.abc import Callable

from tests.chaos.server import Behaviours, says

FULL = 512_000
"""Bytes of a file that crawlers read."""
TEXT = "Content-Type: text/plain"


def _full(line: Callable[[int], str], first: str = "User-agent: *") -> Callable[[], bytes]:
    def text() -> bytes:
        lines, length, number = [first], 0, 0
        while length < FULL:
            lines.append(line(number))
            length, number = length + len(lines[-1]) + 1, number + 1
        return "\n".join(lines).encode()

    return text


def _rule(line: str) -> bytes:
    return f"User-agent: *\nDisallow: /private\n{line}\n".encode()


_NAMES = "\n".join([*(f"User-agent: b{n}" for n in range(3_000)), "User-agent: *"])
_TEXTS: dict[str, bytes | Callable[[], bytes]] = {
    "request-rate-of-400-digits": _rule("Request-rate: 1/" + "9" * 400),
    "request-rate-of-nothing": _rule("Request-rate: 0/0"),
    "request-rate-of-infinities": _rule(f"Request-rate: {'9' * 400}/{'9' * 400}h"),
    "delay-of-5000-digits": _rule("Crawl-delay: 0." + "0" * 5000),
    "delay-infinite": _rule("Crawl-delay: inf\nCrawl-delay: nan\nCrawl-delay: 1e999\nCrawl-delay: -1"),
    "names-times-rules": _full(lambda n: f"Allow: /{n}", _NAMES),
    "names": _full(lambda n: f"User-agent: bot{n}"),
    "rules": _full(lambda n: f"Disallow: /{n}/"),
    "wildcards": _full(lambda n: f"Disallow: /*{n}*x"),
    "stars": b"User-agent: *\nDisallow: /" + b"*a" * 200_000,
    "one-line": b"User-agent: *\nDisallow: /" + b"x" * FULL,
    "too-long": _full(lambda n: f"# {n}" + "x" * 1_000),
    "ten-megabytes": lambda: b"User-agent: *\n" + b"#\n" * 5_000_000,
    "blank-lines": b"\n" * FULL,
    "comments": b"#" * FULL,
    "escapes": _full(lambda n: f"Disallow: /%{n % 256:02x}%zz%ü"),
    "nuls": b"User-agent: *\0\nDisallow: /\0\0\0private\n" * 1_000,
    "utf-16": "User-agent: *\nDisallow: /private\n".encode("utf-16"),
    "binary": bytes(range(256)) * 1_000,
    "page": b"<html><body><a href=/plain>We have no rules</a></body></html>",
    "without-names": b"Disallow: /\n" * 10_000,
    "unknown-lines": b"User-agent: a\nNoise: x\nUser-agent: *\n" + b"Noise: y\n" * 10_000 + b"Disallow: /private\n",
    "carriage-returns": b"User-agent: *\rDisallow: /private\r" * 1_000,
}  # fmt: skip

RULES: Behaviours = {
    "/robots.txt": says(b"User-agent: *\nDisallow: /private\n", TEXT),
    "/robots-500/robots.txt": says(b"", status="500 Internal Server Error"),
    **{f"/rules/{name}": says(text, TEXT) for name, text in _TEXTS.items()},
    "/rules/disallow-all": says(b"User-agent: *\nDisallow: /", TEXT),
    "/rules/401": says(b"", status="401 Unauthorized"),
    "/rules/503": says(b"", "Retry-After: " + "9" * 5000, status="503 Service Unavailable"),
}  # fmt: skip
"""What a host may answer for its robots.txt."""

SLOW = frozenset({"/rules/request-rate-of-400-digits"})
"""Those after which a host must be left alone for long."""
CLOSED = frozenset(
    {
        "/rules/disallow-all",
        "/rules/wildcards",
        "/rules/503",
        "/robots-500/robots.txt",
        "/empties/zstd-zstd",
        "/endless-headers",
        "/half-a-body",
        "/length/of-5000-digits",
        "/not-http",
        "/redirect/to-port-0",
        "/reset-before-head",
        "/slow-body",
        "/stall-before-head",
        "/too-many-requests",
    }
)
"""Those after which its pages may not be fetched."""
OPEN = RULES.keys() - SLOW - CLOSED | {"/bomb/gzip", "/redirect-loop", "/image"}
"""Those after which they may."""

"""Pages that are hard to read: for the parser, for the reader, for whoever follows their links."""

from __future__ import annotations

from collections.abc import Callable

from tests.chaos.server import Behaviours, says

MANY = 100_000
"""Of what a page has too many of."""


def _links(url: Callable[[int], str], many: int = 2_000) -> Callable[[], bytes]:
    return lambda: "".join(f"<a href='{url(n)}'>{n}</a>\n" for n in range(many)).encode("utf8", "surrogatepass")


MARKUP: dict[str, Callable[[], bytes]] = {
    "many-links": _links(lambda n: f"/many/{n}", MANY),
    "links-in-one-block": lambda: b"".join(b"<a href=/many/%d>w</a> word " % n for n in range(80_000)),
    "poison": lambda: b"<p>" + b"".join(b"<b id=%d>" % n for n in range(9_000)) + b"<p>x" * 20_000,
    "poison-closed-late": lambda: b"".join(b"<i id=%d><div>" % n for n in range(4_900)) + b"</i>" * 5_000,
    "poison-in-tables": lambda: b"<table>" * 1_000 + b"".join(b"<u id=%d>x<td>" % n for n in range(4_000)),
    "attributes": lambda: b"<p " + b" ".join(b"a%d=1" % n for n in range(MANY)) + b">x",
    "attributes-of-the-body": lambda: b"".join(b"<body a%d=1>" % n for n in range(20_000)),
    "attributes-in-quotes": lambda: b"<p x='>" + b"' y='>" * MANY + b"'>x",
    "options": lambda: b"<select>" + b"<option>x" * MANY,
    "nested-blocks": lambda: b"<div>" * MANY + b"x",
    "nested-formatting": lambda: b"<b>x" * MANY,
    "nested-links": lambda: b"<a href=/plain><span>" * MANY,
    "nested-tables": lambda: b"<table><tr><td>x" * 30_000,
    "nested-templates": lambda: b"<template>" * MANY,
    "nested-svg": lambda: b"<svg><foreignObject>" * 50_000,
    "nested-frames": lambda: b"<frameset>" * MANY,
    "less-than": lambda: b"<" * 1_000_000,
    "tags-that-never-end": lambda: b"<a href='" * MANY,
    "comments-that-never-end": lambda: b"<!--" * MANY,
    "scripts-that-never-end": lambda: b"<script>" * MANY,
    "plaintext": lambda: b"<plaintext>" + b"<a href=/plain>x</a>" * 1_000,
    "entities": lambda: b"&CounterClockwiseContourIntegral;" * MANY,
    "entities-without-end": lambda: b"&#" * MANY + b"&#x" + b"f" * MANY + b";&#" + b"9" * 5_000 + b";",
    "title": lambda: b"<title>" + b"x" * 2_000_000,
    "title-that-clears-the-screen": lambda: b"<title>\x1b[2J\x1b]0;mine\x07 \x00 \xe2\x80\xae</title>x",
    "text-without-blanks": lambda: b"x" * 3_000_000,
    "text-of-one-letter": lambda: b"a " * 500_000,
    "headings": lambda: b"<h1>" + b"".join(b"<a href=/many/%d>x</a>" % n for n in range(20_000)),
    "languages": lambda: b"".join(b"<link rel=alternate hreflang=x%d href=/%d>" % (n, n) for n in range(20_000)),
    "refresh": lambda: b"<meta http-equiv=refresh content='0;url=/page/refresh'>",
    "refresh-of-blanks": lambda: b"<meta http-equiv=refresh content='" + b" " * 300_000 + b"'>",
    "refreshes": lambda: b"".join(b"<meta http-equiv=refresh content='0;url=/r/%d'>" % n for n in range(20_000)),
    "canonical-loop": lambda: b"<link rel=canonical href=/page/canonical-loop-back><p>one",
    "canonical-loop-back": lambda: b"<link rel=canonical href=/page/canonical-loop><p>two",
    "canonical-elsewhere": lambda: b"<link rel=canonical href=http://127.0.0.1:1/><p>x",
    "base-of-a-script": lambda: b"<base href=javascript:x><a href=y>x</a>",
    "base-of-data": lambda: b"<base href='data:text/html,x'><a href=y>x</a>",
    "base-that-is-long": lambda: b"<base href=/" + b"x/" * 3_900 + b">" + b"<a href=1>x</a><a href=2>x</a>" * 1_000,
    "base-elsewhere": lambda: b"<base href=http://127.0.0.1:1/><a href=y>x</a>",
    "bases": lambda: b"<base href=/a/>" * 20_000 + b"<a href=x>x</a>",
    "frames-of-itself": lambda: b"<iframe src=/page/frames-of-itself></iframe>" * 10_000,
    "images": lambda: b"<a href=/plain>" + b"<img alt=x>" * 50_000,
    "robots-metas": lambda: b"<meta name=robots content='index, follow, none'>" * 20_000,
    "dates": lambda: b"<time datetime=2020-01-01>" * 20_000 + b"<meta name=date content=" + b"1" * 300_000 + b">",
}  # fmt: skip

CHARSETS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "broken": ("charset=klingon", lambda: b"<title>\xff\xfe\x80</title><p>\xc3\x28"),
    "lying": ("charset=utf-8", lambda: "<p>þetta er íslenska".encode("latin-1")),
    "lying-utf-16": ("charset=utf-16", lambda: b"<a href=/plain>x</a>" * 1_000),
    "utf-16": ("", lambda: ("\ufeff" + "<a href=/plain>x</a>" * 1_000).encode("utf-16le")),
    "utf-16-unmarked": ("charset=utf-16be", lambda: ("<b>" * 5_000 + "<p>x" * 5_000).encode("utf-16be")),
    "utf-7": ("charset=utf-7", lambda: b"+ADw-script+AD4-x"),
    "utf-32": ("charset=utf-32", lambda: "<p>x".encode("utf-32")),
    "iso-2022-jp": ("charset=iso-2022-jp", lambda: b"\x1b$B" * 100_000),
    "hz": ("charset=hz-gb-2312", lambda: b"~{" * 100_000),
    "nuls": ("charset=utf-8", lambda: b"<a href=/pl\0ain>\0</a>" + b"\0" * 1_000_000),
    "marks": ("", lambda: b"\xef\xbb\xbf" * 100_000 + b"<p>x"),
    "overlong": ("charset=utf-8", lambda: b"\xc0\xbca href=/x\xc0\xbe" * 10_000),
    "surrogates": ("charset=utf-8", lambda: b"<p>\xed\xa0\x80\xed\xbf\xbf" * 10_000),
    "combining": ("charset=utf-8", lambda: ("<a href=/plain>e" + "\u0301" * 500_000).encode()),
    "right-to-left": ("charset=utf-8", lambda: ("<a href=/plain>" + "\u202e" * 500_000).encode()),
    "all-planes": ("charset=utf-8", lambda: "".join(map(chr, range(0x20, 0xD800, 3))).encode() * 5),
    "declared-by-blanks": ("", lambda: b"<meta " * 300 + b"charset=" + b" " * 2_000 + b"<p>x"),
    "binary": ("", lambda: bytes(range(256)) * 1_000),
}  # fmt: skip

ADDRESSES: dict[str, Callable[[], bytes]] = {
    "long": _links(lambda n: f"/{'x' * 10_000}{n}", 200),
    "deep": _links(lambda n: "/a" * n),
    "parents": _links(lambda n: "../" * n + "x"),
    "dots": _links(lambda n: "/%2e%2E/./..;/" * (n % 99) + str(n)),
    "escapes": _links(lambda n: f"/%{n % 256:02x}%00%zz%{n}"),
    "parameters": _links(lambda n: f"/plain?{'&'.join(f'p{m}={n}' for m in range(n % 300))}"),
    "fragments": _links(lambda n: f"#{n}"),
    "scripts": _links(lambda n: f"javascript:go({n})"),
    "schemes": _links(lambda n: f"{['mailto', 'data', 'file', 'ftp', 'ws', 'about', 'view-source:http'][n % 7]}:{n}"),
    "passwords": _links(lambda n: f"http://{n}:{'p' * n}@127.0.0.1:1/"),
    "ports": _links(lambda n: f"http://127.0.0.1:{n * 997}/", 100),
    "numbers-for-hosts": _links(lambda n: f"http://{2130706433 + n}/ http://0x7f.1/ http://0177.0.0.1/", 50),
    "brackets": _links(lambda n: f"http://[::ffff:127.0.0.{n}]:1/ http://[::{n:x}/", 50),
    "names": _links(lambda n: f"http://{'ü' * (n % 70)}.xn--{n}.test。invalid/", 50),
    "blanks": _links(lambda n: f" \t\n/pl\tai\nn?{n}\r "),
    "backslashes": _links(lambda n: f"\\\\127.0.0.1:1\\{n}"),
    "controls": _links(lambda n: f"/{chr(n % 32)}{chr(0x80 + n % 32)}\u202e{n}"),
    "half-characters": lambda: b"".join(b"<a href='/\xed\xa0\x80%d'>x</a>" % n for n in range(1_000)),
    "cases": _links(lambda n: "/" + "".join(c.upper() if n >> i & 1 else c for i, c in enumerate("abcdefghijk"))),
    "slashes": _links(lambda n: "/" * n),
}  # fmt: skip

PAGES: Behaviours = {
    **{f"/page/{name}": says(body) for name, body in MARKUP.items() if name != "many-links"},
    **{f"/charset/{name}": says(body, f"Content-Type: text/html; {told}") for name, (told, body) in CHARSETS.items()},
    **{f"/address/{name}": says(body) for name, body in ADDRESSES.items()},
    "/many-links": says(MARKUP["many-links"]),
}  # fmt: skip

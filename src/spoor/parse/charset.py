"""In which charset is a page written: as it declares, as its bytes show, and the text that follows from both."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from spoor.parse.charset_guess import guess
from spoor.parse.charset_labels import canonical, codec

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)
_IN_HEADER = re.compile(r"charset\s*+=\s*+[\"']?\s*+([^\s\"';,]+)", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_IN_META = re.compile(rb"<meta\s[^>]*?charset\s*+=\s*+[\"']?\s*+([^\s\"'/>;]+)", re.IGNORECASE)
_IN_XML = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([^\"'>]+)", re.IGNORECASE)
_ASCII = re.compile(r"[\x00-\x7f]+")
_HEAD = 4096
"""Bytes in which a declaration is looked for."""
_MOST_LOST = 0.25
"""Share of the characters beyond ASCII that may be lost before a declaration counts as a lie."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Charsets are WHATWG names in lower case, "" when not declared; `detected` comes from the bytes alone."""

    text: str
    header: str
    meta: str
    detected: str


def decode(body: bytes, content_type: str) -> Decoded:
    """Never fails: bytes that mean nothing become U+FFFD. `content_type` is the whole header.

    A byte order mark is believed, else the header, the page, the bytes, in this order; but what turns a good part of
    the text into U+FFFD is not believed as long as another of them does better.
    """
    header, meta = header_charset(content_type), meta_charset(body)
    as_utf8 = _strict_utf8(body)
    marked = next((name for mark, name in _BYTE_ORDER_MARKS if body.startswith(mark)), "")
    detected = marked or guess(body, as_utf8 is not None)
    believed = [marked] if marked else [name for name in (header, meta, detected) if name]
    if as_utf8 is not None and believed[0] in ("utf-8", "ascii"):
        return Decoded(as_utf8.removeprefix("\ufeff"), header, meta, detected)
    return Decoded(_read(body, believed), header, meta, detected)


def header_charset(content_type: str) -> str:
    found = _IN_HEADER.search(content_type)
    return canonical(found[1]) if found else ""


def meta_charset(body: bytes) -> str:
    """As a <meta> or an XML declaration says; UTF-16 there must be a lie, since we could read it."""
    head = body[:_HEAD]
    if b"<!--" in head:
        head = _COMMENT.sub(b"", head)
    found = _IN_META.search(head) or _IN_XML.search(head)
    name = canonical(found[1].decode("ascii", "replace")) if found else ""
    return "utf-8" if name.startswith("utf-16") else name


def _strict_utf8(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _read(body: bytes, charsets: list[str]) -> str:
    """By the first charset that loses little; if all lose much, by the first."""
    for charset in charsets:
        text = body.decode(codec(charset), "replace")
        if _lost(text) <= _MOST_LOST:
            return text.removeprefix("\ufeff")
    return body.decode(codec(charsets[0]), "replace").removeprefix("\ufeff")


def _lost(text: str) -> float:
    lost = text.count("\ufffd")
    return lost / len(_ASCII.sub("", text)) if lost else 0.0

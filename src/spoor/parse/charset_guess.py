"""In which charset is a page written, as its bytes alone show it?"""

from __future__ import annotations

import re

import cchardet
from resiliparse.parse.encoding import detect_encoding

from spoor.parse.charset_labels import canonical

_ENOUGH = 1 << 18
"""Bytes from which a detector has learned what it can."""
_HEAD = 1 << 12
"""Bytes that show whether there are two for each character."""

_HZ = re.compile(rb"~\{(?:[\x21-\x77][\x21-\x7e])+~\}")
_UKRAINIAN = re.compile(rb"[\xc0-\xff][\xa4\xa6\xa7\xad]|[\xa4\xa6\xa7\xad\xb4\xb6\xb7\xbd][\xc0-\xff]")
"""Letters of KOI8-U inside words, where KOI8-R has frames for tables."""
_MAC_LETTERS = bytes.fromhex("81 83 86 87 88 89 8A 8C 8D 8E 8F 90 98 9A 9C 9D 9E 9F")
"""Letters with accents on a Macintosh, where Windows has nothing or what is rare; its quotation marks are left out."""
_LATIN_LETTERS = bytes(range(0xC0, 0x100))


def guess(body: bytes, is_utf8: bool) -> str:
    """A WHATWG name in lower case, or "ascii"; for short texts in the alphabets of Europe no more than a guess."""
    if b"\0" in body and (wide := _two_bytes_each(body[:_HEAD])):
        return wide
    if is_utf8:
        return _escaped(body) if body.isascii() else "utf-8"
    return _told_by_detectors(body[:_ENOUGH])


def _two_bytes_each(head: bytes) -> str:
    """UTF-16 without a mark: half of every ASCII character is a zero, always the same half."""
    first, second = head[::2].count(0), head[1::2].count(0)
    if max(first, second) * 20 < len(head) or min(first, second):
        return ""
    return "utf-16be" if first else "utf-16le"


def _escaped(body: bytes) -> str:
    """Charsets that say everything in ASCII, by the signs that switch between alphabets."""
    if b"\x1b" in body and b"\x1b$" in body:  # one byte alone is found quickly
        return "iso-2022-kr" if b"\x1b$)C" in body else "iso-2022-jp"
    return "hz-gb-2312" if b"~" in body and b"~{" in body and _HZ.search(body) else "ascii"


def _told_by_detectors(sample: bytes) -> str:
    """Two detectors that err on different charsets; the second is asked where the first must be wrong.

    Only for bytes that are not UTF-8. When neither knows, the usual charset of western pages. What both confuse is
    told apart by the bytes that only one of two charsets has for letters.
    """
    answers = (canonical(answer or "") for answer in (detect_encoding(sample), cchardet.detect(sample)["encoding"]))
    name = next((name for name in answers if name not in ("", "utf-8")), "windows-1252")
    if name == "koi8-r" and _UKRAINIAN.search(sample):
        return "koi8-u"
    if name == "windows-1252" or name.startswith("iso-8859"):
        return "macintosh" if _count(sample, _MAC_LETTERS) > _count(sample, _LATIN_LETTERS) else name
    return name


def _count(sample: bytes, letters: bytes) -> int:
    return len(sample) - len(sample.translate(None, letters))

"""Percent-encodes the query of a link in the charset of its page, as browsers do (WHATWG Encoding and URL standards).

Only the encoders are here that differ from Python's codecs: those of browsers know fewer characters than their
decoders.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import product

from spoor.parse.charset import codec

_IN_UTF8 = frozenset({"", "ascii", "utf-8", "utf-16le", "utf-16be", "iso-2022-kr", "hz-gb-2312"})
"""Charsets in whose pages browsers write queries in UTF-8; the last two are not supported by browsers at all."""
_ESCAPED = frozenset([*range(0x21), *range(0x7F, 0x100), *b"\"#<>'"])
"""Bytes that are percent-encoded in a query."""
_SMALLEST_BIG5_LEAD = 0xA1
_LATE_IN_BIG5 = {
    "╞": b"\xf9\xe9",
    "╡": b"\xf9\xeb",
    "╪": b"\xf9\xea",
    "═": b"\xf9\xf9",
    "十": b"\xa4Q",
    "卅": b"\xa4\xca",
}
"""Of these characters, which occur twice in the table, browsers write the second."""
_FULL_WIDTH_MINUS = str.maketrans("\N{MINUS SIGN}", "\N{FULLWIDTH HYPHEN-MINUS}")
_TO_ASCII, _TO_ROMAN, _TO_KANJI = b"\x1b(B", b"\x1b(J", b"\x1b$B"
_SHIFTS = "\x0e\x0f\x1b"
"""Control characters that would change the state of ISO-2022-JP."""
_OF_ROMAN = {"\N{YEN SIGN}": b"\\", "\N{OVERLINE}": b"~"}


def charset_of_queries(charset: str) -> str:
    """For the charset of a page, a WHATWG name: "" if its queries are in UTF-8."""
    return "" if charset in _IN_UTF8 else charset


def encoded(query: str, charset: str) -> str:
    """`charset` is one of `charset_of_queries`, not "". A character that it lacks becomes a reference,
    `%26%2312354%3B`; what is ASCII stays as it is, except in ISO-2022-JP."""
    if charset == "iso-2022-jp":
        return "".join(_iso_2022_jp(query.translate(_FULL_WIDTH_MINUS)))
    encode = _ENCODERS.get(charset) or partial(_by_codec, codec(charset))
    return "".join(char if char.isascii() else _escaped(encode(char), char) for char in query)


def _escaped(code: bytes | None, char: str) -> str:
    if code is None:
        is_half = "\ud800" <= char <= "\udfff"  # of a character beyond the 65,536 first
        return f"%26%23{0xFFFD if is_half else ord(char)}%3B"
    return "".join(f"%{byte:02X}" if byte in _ESCAPED else chr(byte) for byte in code)


def _by_codec(name: str, char: str) -> bytes | None:
    try:
        return char.encode(name)
    except UnicodeEncodeError:
        # Unassigned bytes of browsers' tables are control characters.
        return char.encode("latin-1") if "\x80" <= char <= "\x9f" and name.startswith(("windows-", "cp874")) else None


def _big5(char: str) -> bytes | None:
    """Without the characters that only Hong Kong has."""
    code = _LATE_IN_BIG5.get(char) or _by_codec("cp950", char) or _by_codec("big5hkscs", char)
    return code if code and code[0] >= _SMALLEST_BIG5_LEAD else None


def _gb18030(char: str) -> bytes | None:
    return None if char == "\ue5e5" else _by_codec("gb18030", char)


def _gbk(char: str) -> bytes | None:
    code = b"\x80" if char == "€" else _gb18030(char)
    return code if code and len(code) <= 2 else None


def _shift_jis(char: str) -> bytes | None:
    if "\uff61" <= char <= "\uff9f":
        return bytes((ord(char) - 0xFF61 + 0xA1,))
    return _OF_ROMAN.get(char) or _shift_jis_table().get(char.translate(_FULL_WIDTH_MINUS))


def _euc_jp(char: str) -> bytes | None:
    if "\uff61" <= char <= "\uff9f":
        return bytes((0x8E, ord(char) - 0xFF61 + 0xA1))
    code = _kanji().get(char.translate(_FULL_WIDTH_MINUS))
    return _OF_ROMAN.get(char) or (code and bytes(byte + 0x80 for byte in code))


_ENCODERS: dict[str, Callable[[str], bytes | None]] = {
    "big5": _big5,
    "euc-jp": _euc_jp,
    "gb18030": _gb18030,
    "gbk": _gbk,
    "shift_jis": _shift_jis,
}


def _iso_2022_jp(text: str) -> Iterator[str]:
    state = _TO_ASCII
    for char in text:
        code, needs, char = _in_state(char, state)
        if needs != state:
            yield _escaped(needs, "")
            state = needs
        yield _escaped(code, char)
    if state != _TO_ASCII:
        yield _escaped(_TO_ASCII, "")


def _in_state(char: str, state: bytes) -> tuple[bytes | None, bytes, str]:
    """The code of a character, None if there is none, the state in which it is written, and the character."""
    if char in _OF_ROMAN:
        return _OF_ROMAN[char], _TO_ROMAN, char
    outside_kanji = state if state != _TO_KANJI else _TO_ASCII
    if char in _SHIFTS:
        return None, outside_kanji, "\ufffd"
    if char.isascii():
        return char.encode(), _TO_ASCII if char in "\\~" else outside_kanji, char
    code = _kanji().get(_full_width(char))
    return (code, _TO_KANJI, char) if code else (None, outside_kanji, char)


def _full_width(char: str) -> str:
    """Half-width katakana have no place in ISO-2022-JP; marks of sound stand for themselves."""
    if not "\uff61" <= char <= "\uff9f":
        return char
    return {"\uff9e": "\u309b", "\uff9f": "\u309c"}.get(char) or unicodedata.normalize("NFKC", char)


_TRAILS = (*range(0x40, 0x7F), *range(0x80, 0xFD))
_NEC_SELECTED = (0xED, 0xEE)
"""Leads of characters that come again from 0xFA on, as IBM has them."""


@cache
def _shift_jis_table() -> dict[str, bytes]:
    """Characters of two bytes, without those that only decoders know."""
    leads = (lead for lead in (*range(0x81, 0xA0), *range(0xE0, 0xFD)) if lead not in _NEC_SELECTED)
    codes = (bytes(code) for code in product(leads, _TRAILS))
    table = _first({code: code for code in codes})
    return {char: code for char, code in table.items() if not "\ue000" <= char <= "\uf8ff"}


@cache
def _kanji() -> dict[str, bytes]:
    """Row and cell of each character in JIS X 0208 with the additions of NEC, 0x21 to 0x7E."""
    codes = product((*range(0x81, 0xA0), *range(0xE0, 0xF0)), _TRAILS)
    cells = (bytes((row + 0x21, cell + 0x21)) for row, cell in product(range(94), range(94)))
    return _first({bytes(code): cell for code, cell in zip(codes, cells, strict=True)})


def _first(codes: Mapping[bytes, bytes]) -> dict[str, bytes]:
    """From codes of Shift JIS to others: for each character the other of its first code."""
    table: dict[str, bytes] = {}
    for code, other in codes.items():
        char = code.decode("cp932", "ignore")
        if len(char) == 1:
            table.setdefault(char, other)
    return table

"""In which charset is a page written: as it declares, as its bytes show, and the text that follows from both."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

import cchardet
from resiliparse.parse.encoding import detect_encoding

# WHATWG name: its labels without punctuation, common misspellings among them.
_LABELS = {
    "utf-8": "utf8 unicode11utf8 unicode20utf8 xunicode20utf8 uft8 utf utf08 uft utf8n",
    "utf-16le": "utf16le utf16 ucs2 iso10646ucs2 unicode unicodefeff csunicode",
    "utf-16be": "utf16be unicodefffe",
    "ibm866": "ibm866 866 cp866 csibm866",
    "iso-8859-2": "iso88592 88592 latin2 l2 isoir101 csisolatin2 iso885921987",
    "iso-8859-3": "iso88593 88593 latin3 l3 isoir109 csisolatin3 iso885931988",
    "iso-8859-4": "iso88594 88594 latin4 l4 isoir110 csisolatin4 iso885941988",
    "iso-8859-5": "iso88595 88595 cyrillic isoir144 csisolatincyrillic iso885951988",
    "iso-8859-6": "iso88596 88596 arabic asmo708 ecma114 isoir127 csisolatinarabic iso88596e iso88596i iso885961987",
    "iso-8859-7": "iso88597 88597 greek greek8 ecma118 elot928 suneugreek isoir126 csisolatingreek iso885971987",
    "iso-8859-8": "iso88598 88598 hebrew visual iso88598e isoir138 csisolatinhebrew iso885981988",
    "iso-8859-8-i": "iso88598i logical csiso88598i",
    "iso-8859-10": "iso885910 latin6 l6 isoir157 csisolatin6",
    "iso-8859-13": "iso885913",
    "iso-8859-14": "iso885914",
    "iso-8859-15": "iso885915 latin9 l9 csisolatin9",
    "iso-8859-16": "iso885916",
    "koi8-r": "koi8r koi8 koi cskoi8r",
    "koi8-u": "koi8u koi8ru",
    "macintosh": "macintosh mac xmacroman macroman csmacintosh",
    "windows-874": "windows874 dos874 cp874 iso885911 tis620 tis6202533 tis 874 windos874",
    "windows-1250": "windows1250 cp1250 xcp1250 win1250",
    "windows-1251": "windows1251 cp1251 xcp1251 win1251",
    "windows-1252": (
        "windows1252 cp1252 xcp1252 win1252 iso88591 iso885911987 88591 latin1 l1 isoir100 csisolatin1 ibm819 cp819 "
        "ascii usascii ansi ansix341968 iso8895 iso88951 isolatin1 iso8859 iso 8859 western"
    ),
    "windows-1253": "windows1253 cp1253 xcp1253 win1253",
    "windows-1254": "windows1254 cp1254 xcp1254 win1254 iso88599 88599 latin5 l5 isoir148 csisolatin5 iso885991989",
    "windows-1255": "windows1255 cp1255 xcp1255 win1255",
    "windows-1256": "windows1256 cp1256 xcp1256 win1256",
    "windows-1257": "windows1257 cp1257 xcp1257 win1257",
    "windows-1258": "windows1258 cp1258 xcp1258 win1258",
    "x-mac-cyrillic": "xmaccyrillic maccyrillic xmacukrainian",
    "gbk": "gbk gb2312 chinese csgb2312 csiso58gb231280 gb231280 isoir58 xgbk euccn gb cp936 ms936 windows936",
    "gb18030": "gb18030",
    "hz-gb-2312": "hzgb2312 hz",
    "big5": "big5 big5hkscs cnbig5 csbig5 xxbig5 xbig5 cp950",
    "euc-jp": "eucjp xeucjp ujis cseucpkdfmtjapanese xeuc",
    "iso-2022-jp": "iso2022jp csiso2022jp jis",
    "shift_jis": "shiftjis xsjis sjis mskanji csshiftjis windows31j cp932 ms932 xmscp932 windows932 xshiftjis",
    "euc-kr": "euckr ksc56011987 ksc5601 ksc56011989 ksx1001 korean windows949 cp949 uhc cseuckr isoir149",
    "iso-2022-kr": "iso2022kr csiso2022kr",
}
_NAMES = {label: name for name, labels in _LABELS.items() for label in labels.split()}

# Where Python's codec of that name is narrower than what browsers read.
_CODECS = {
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "hz-gb-2312": "hz",
    "iso-8859-8-i": "iso8859-8",
    "macintosh": "mac_roman",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
}

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)
_PUNCTUATION = re.compile(r"[^a-z0-9]+")
_IN_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_IN_META = re.compile(rb"<meta\s[^>]*?charset\s*=\s*[\"']?\s*([^\s\"'/>;]+)", re.IGNORECASE)
_IN_XML = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([^\"'>]+)", re.IGNORECASE)
_HEAD = 4096
"""Bytes in which a declaration is looked for."""
_ENOUGH = 1 << 18
"""Bytes from which a detector has learned what it can."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Charsets are WHATWG names in lower case, "" when not declared; `detected` comes from the bytes alone."""

    text: str
    header: str
    meta: str
    detected: str


def decode(body: bytes, content_type: str) -> Decoded:
    """Never fails: bytes that mean nothing become U+FFFD. `content_type` is the whole header."""
    header, meta = header_charset(content_type), meta_charset(body)
    as_utf8 = _strict_utf8(body)
    detected = _ascii_kind(body) if body.isascii() else "utf-8" if as_utf8 is not None else _guess(body)
    marked = next((name for mark, name in _BYTE_ORDER_MARKS if body.startswith(mark)), "")
    chosen = marked or header or meta or detected
    if as_utf8 is not None and chosen in ("utf-8", "ascii"):
        return Decoded(as_utf8.removeprefix("\ufeff"), header, meta, detected)
    text = body.decode(codec(chosen), "replace").removeprefix("\ufeff")
    return Decoded(text, header, meta, marked or detected)


def canonical(label: str) -> str:
    """The WHATWG name of a charset label in lower case; "" for a label that names no charset."""
    return _NAMES.get(_PUNCTUATION.sub("", label.lower()), "")


def codec(charset: str) -> str:
    """What Python calls a charset that has a WHATWG name."""
    return _CODECS.get(charset, charset)


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


def _ascii_kind(body: bytes) -> str:
    return "iso-2022-jp" if b"\x1b$B" in body or b"\x1b$@" in body else "ascii"


def _guess(body: bytes) -> str:
    """Two detectors that err on different charsets; the second is asked where the first must be wrong.

    Only for bytes that are not UTF-8. When neither knows, the usual charset of western pages.
    """
    sample = body[:_ENOUGH]
    for answer in (detect_encoding(sample), cchardet.detect(sample)["encoding"]):
        name = canonical(answer or "")
        if name not in ("", "utf-8"):
            return name
    return "windows-1252"

"""The charset of a page: declared or detected; and the names of charsets."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import cchardet
from resiliparse.parse.encoding import detect_encoding

# Names of charsets: WHATWG names, labels in pages (including misspelt ones), and codecs of Python.


# WHATWG name: its labels without punctuation, including common misspellings.
_LABELS = {
    "utf-8": "utf8 unicode11utf8 unicode20utf8 xunicode20utf8 uft8 utf utf08 uft utf8n utf8mb4 utf88 uf8 ut8 utf8bom",
    "utf-16le": "utf16le utf16 ucs2 iso10646ucs2 unicode unicodefeff csunicode",
    "utf-16be": "utf16be unicodefffe",
    "ibm866": "ibm866 866 cp866 csibm866",
    "iso-8859-2": "iso88592 88592 latin2 l2 isoir101 csisolatin2 iso885921987",
    "iso-8859-3": "iso88593 88593 latin3 l3 isoir109 csisolatin3 iso885931988",
    "iso-8859-4": "iso88594 88594 latin4 l4 isoir110 csisolatin4 iso885941988",
    "iso-8859-5": "iso88595 88595 cyrillic isoir144 csisolatincyrillic iso885951988",
    "iso-8859-6": "iso88596 88596 arabic asmo708 ecma114 isoir127 csisolatinarabic iso88596e csiso88596e "
    "iso88596i csiso88596i iso885961987",
    "iso-8859-7": "iso88597 88597 greek greek8 ecma118 elot928 suneugreek isoir126 csisolatingreek iso885971987",
    "iso-8859-8": "iso88598 88598 hebrew visual iso88598e csiso88598e isoir138 csisolatinhebrew iso885981988",
    "iso-8859-8-i": "iso88598i logical csiso88598i",
    "iso-8859-10": "iso885910 latin6 l6 isoir157 csisolatin6",
    "iso-8859-13": "iso885913",
    "iso-8859-14": "iso885914",
    "iso-8859-15": "iso885915 latin9 l9 csisolatin9",
    "iso-8859-16": "iso885916",
    "koi8-r": "koi8r koi8 koi cskoi8r koir8 koi8rus",
    "koi8-u": "koi8u koi8ru",
    "macintosh": "macintosh mac xmacroman macroman csmacintosh",
    "windows-874": "windows874 dos874 cp874 iso885911 tis620 tis6202533 tis 874 windos874 win874 window874 cstis620",
    "windows-1250": "windows1250 cp1250 xcp1250 win1250",
    "windows-1251": "windows1251 cp1251 xcp1251 win1251 window1251 windos1251 ansi1251 1251",
    "windows-1252": (
        "windows1252 cp1252 xcp1252 win1252 iso88591 iso885911987 88591 latin1 l1 isoir100 csisolatin1 ibm819 cp819 "
        "ascii usascii ansi ansix341968 iso8895 iso88951 iso85591 iso885591 isolatin1 iso8859 iso 8859 "
        "western westerniso88591 window1252 windos1252 1252"
    ),
    "windows-1253": "windows1253 cp1253 xcp1253 win1253",
    "windows-1254": "windows1254 cp1254 xcp1254 win1254 iso88599 88599 latin5 l5 isoir148 csisolatin5 iso885991989",
    "windows-1255": "windows1255 cp1255 xcp1255 win1255",
    "windows-1256": "windows1256 cp1256 xcp1256 win1256",
    "windows-1257": "windows1257 cp1257 xcp1257 win1257",
    "windows-1258": "windows1258 cp1258 xcp1258 win1258",
    "x-mac-cyrillic": "xmaccyrillic maccyrillic xmacukrainian",
    "gbk": "gbk gb2312 chinese csgb2312 csiso58gb231280 gb231280 isoir58 xgbk euccn gb cp936 ms936 windows936 cngb",
    "gb18030": "gb18030",
    "hz-gb-2312": "hzgb2312 hz",
    "big5": "big5 big5hkscs cnbig5 csbig5 xxbig5 xbig5 cp950 ms950 windows950 big5eten big5tw",
    "euc-jp": "eucjp xeucjp eucjis eucjpms ujis cseucpkdfmtjapanese xeuc",
    "iso-2022-jp": "iso2022jp csiso2022jp iso2022jp1 iso2022jp2 iso2022jp3 iso2022jpms jis",
    "shift_jis": (
        "shiftjis xsjis sjis mskanji csshiftjis windows31j cp932 ms932 "
        "xmscp932 windows932 xshiftjis shiftjs shitjis shftjis sjs cswindows31j"
    ),
    "euc-kr": (
        "euckr euckorean ksc56011987 ksc5601 ksc56011989 ksx1001 korean "
        "windows949 cp949 ms949 uhc cseuckr csksc56011987 isoir149"
    ),
    "iso-2022-kr": "iso2022kr csiso2022kr",
}
_NAMES = {label: name for name, labels in _LABELS.items() for label in labels.split()}

# Where Python's codec of that name supports fewer characters than browsers do.
_CODECS = {
    "big5": "big5hkscs",
    "euc-jp": "euc_jis_2004",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "hz-gb-2312": "hz",
    "iso-2022-jp": "iso2022_jp_ext",
    "iso-8859-8-i": "iso8859-8",
    "macintosh": "mac_roman",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
}

_PUNCTUATION = re.compile(r"[^a-z0-9]+")


def canonical(label: str) -> str:
    """The WHATWG name of a charset label in lower case; "" for a label that names no charset."""
    return _NAMES.get(_PUNCTUATION.sub("", label.lower()), "")


def codec(charset: str) -> str:
    """The Python codec for a WHATWG name."""
    return _CODECS.get(charset, charset)


# Detection of the charset from the bytes alone.


_ENOUGH = 1 << 18
"""Bytes passed to the detectors; more do not improve the result."""
_SHOWING = 1 << 12
"""Bytes checked for UTF-16."""

_HZ = re.compile(rb"~\{(?:[\x21-\x77][\x21-\x7e])+~\}")
_UKRAINIAN = re.compile(rb"[\xc0-\xff][\xa4\xa6\xa7\xad]|[\xa4\xa6\xa7\xad\xb4\xb6\xb7\xbd][\xc0-\xff]")
"""Letters of KOI8-U inside words, where KOI8-R has box-drawing characters."""
_MAC_LETTERS = bytes.fromhex("81 83 86 87 88 89 8A 8C 8D 8E 8F 90 98 9A 9C 9D 9E 9F")
"""Accented letters of Mac Roman at code points that are unused or rare in Windows-1252; without quotation marks."""
_LATIN_LETTERS = bytes(range(0xC0, 0x100))


def guess(body: bytes, is_utf8: bool) -> str:
    """A WHATWG name in lower case, or "ascii"; unreliable for short texts in European alphabets."""
    if b"\0" in body and (wide := _two_bytes_each(body[:_SHOWING])):
        return wide
    if is_utf8:
        return _escaped(body) if body.isascii() else "utf-8"
    return _detected(body[:_ENOUGH])


def _two_bytes_each(head: bytes) -> str:
    """UTF-16 without a byte order mark: one byte of every ASCII character is zero, always on the same side."""
    first, second = head[::2].count(0), head[1::2].count(0)
    if max(first, second) * 20 < len(head) or min(first, second):
        return ""
    return "utf-16be" if first else "utf-16le"


def _escaped(body: bytes) -> str:
    """Charsets that encode everything in ASCII, by their escape sequences."""
    if b"\x1b" in body and b"\x1b$" in body:  # Searching a single byte is fast.
        return "iso-2022-kr" if b"\x1b$)C" in body else "iso-2022-jp"
    return "hz-gb-2312" if b"~" in body and b"~{" in body and _HZ.search(body) else "ascii"


def _detected(sample: bytes) -> str:
    """Two detectors that fail on different charsets; the second is used if the result of the first must be wrong.

    Only for bytes that are not UTF-8. If neither detects a charset, windows-1252, the usual one of western pages.
    Charsets that both detectors confuse are distinguished by the bytes that are letters in only one of them.
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


# Decoding: by the declared and the detected charset.


_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)
_IN_HEADER = re.compile(r"charset\s*+=\s*+[\"']?\s*+([^\s\"';,]+)", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_TAG = re.compile(rb"<(/?[a-z][^\s/>]*+)((?:=\s*+(?:\"[^\"]*+\"|'[^']*+')|[^>])*+)", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"([^\s=/>\"']++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s>]*+))")
_IN_CONTENT = re.compile(rb"charset\s*+=\s*+[\"']?\s*+([^\s\"'/>;]+)", re.IGNORECASE)
_IN_XML = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([^\"'>]+)", re.IGNORECASE)
_ASCII = re.compile(r"[\x00-\x7f]+")
_HEAD = 4096
"""Bytes in which a declaration is searched."""
_MOST_LOST = 0.25
"""Maximum share of non-ASCII characters that may be undecodable before a declaration is distrusted."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Charsets are WHATWG names in lower case, "" if not declared; `detected` depends on the bytes alone. `charset` is
    the one in which the text was read; `utf8` is the text in UTF-8, None if the body is in another charset."""

    text: str
    charset: str
    header: str
    meta: str
    detected: str
    utf8: bytes | None = None


def decode(body: bytes, content_type: str) -> Decoded:
    """Never fails: undecodable bytes become U+FFFD. `content_type` is the whole header.

    A byte order mark has precedence, then header, page and detection, in this order; a charset that turns a large part
    of the text into U+FFFD is skipped if another one does better.
    """
    header, meta = header_charset(content_type), meta_charset(body)
    as_utf8 = _strict_utf8(body)
    marked = next((name for mark, name in _BYTE_ORDER_MARKS if body.startswith(mark)), "")
    detected = marked or guess(body, as_utf8 is not None)
    believed = [marked] if marked else [name for name in (header, meta, detected) if name]
    if as_utf8 is not None and believed[0] in ("utf-8", "ascii"):
        utf8 = body.removeprefix(codecs.BOM_UTF8)
        return Decoded(as_utf8.removeprefix("\ufeff"), believed[0], header, meta, detected, utf8)
    return Decoded(*_read(body, believed), header, meta, detected)


def header_charset(content_type: str) -> str:
    found = _IN_HEADER.search(content_type)
    return canonical(found[1]) if found else ""


def meta_charset(body: bytes) -> str:
    """By a <meta> or an XML declaration; UTF-16 there must be wrong, since it was readable as ASCII."""
    head = body[:_HEAD]
    if b"<!--" in head:
        head = _COMMENT.sub(b"", head)
    found = _IN_XML.search(head)
    labels = chain(_labels_in_tags(head), (found[1],) if found else ())
    name = next((name for label in labels if (name := canonical(label.decode("ascii", "replace")))), "")
    return "utf-8" if name.startswith("utf-16") else name


def _labels_in_tags(head: bytes) -> Iterator[bytes]:
    """What stands in the value of another attribute, or as one in another element, is not a declaration."""
    for tag in _TAG.finditer(head):
        if tag[1].lower() == b"meta":
            for attribute, *values in _ATTRIBUTE.findall(tag[2]):
                name, value = attribute.lower(), b"".join(values)
                if name == b"charset":
                    yield value
                elif name == b"content" and (found := _IN_CONTENT.search(value)):
                    yield found[1]


def _strict_utf8(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _read(body: bytes, charsets: list[str]) -> tuple[str, str]:
    """Decodes with the first charset that loses little; if all lose much, with the first. That charset comes second."""
    for charset in charsets:
        text = body.decode(codec(charset), "replace")
        if _lost(text) <= _MOST_LOST:
            return text.removeprefix("\ufeff"), charset
    return body.decode(codec(charsets[0]), "replace").removeprefix("\ufeff"), charsets[0]


def _lost(text: str) -> float:
    lost = text.count("\ufffd")
    return lost / len(_ASCII.sub("", text)) if lost else 0.0

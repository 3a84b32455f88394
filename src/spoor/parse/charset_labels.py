"""What charsets are called: by their WHATWG names, by the labels of pages, misspelt ones included, and by Python."""

from __future__ import annotations

import re

# WHATWG name: its labels without punctuation, common misspellings among them.
_LABELS = {
    "utf-8": "utf8 unicode11utf8 unicode20utf8 xunicode20utf8 uft8 utf utf08 uft utf8n utf8mb4 utf88 uf8 ut8 utf8bom",
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

# Where Python's codec of that name is narrower than what browsers read.
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
    """What Python calls a charset that has a WHATWG name."""
    return _CODECS.get(charset, charset)

"""Charsets: what a page declares, what its bytes show, and what is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.parse.charset import canonical, decode

JAPANESE = "これは日本語の文章です。文字コードの判定にはある程度の長さが必要です。" * 5
KOREAN = "이것은 한국어 문장입니다. 문자 집합을 알아내려면 어느 정도의 길이가 필요합니다. " * 5
RUSSIAN = "Это русский текст, и его достаточно, чтобы узнать кодировку страницы. " * 5
THAI = "นี่คือข้อความภาษาไทยที่ยาวพอที่จะตรวจสอบรหัสอักขระได้ " * 5


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("UTF-8", "utf-8"),
        ("utf8", "utf-8"),
        ("uft-8", "utf-8"),
        ("ISO-8859-1", "windows-1252"),
        ("iso 8859_1", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("x-sjis", "shift_jis"),
        ("Windows-31J", "shift_jis"),
        ("ms_kanji", "shift_jis"),
        ("EUCJP", "euc-jp"),
        ("tis-620", "windows-874"),
        ("iso8859-11", "windows-874"),
        ("cp874", "windows-874"),
        ("gb2312", "gbk"),
        ("ks_c_5601-1987", "euc-kr"),
        ("rot13", ""),
        ("nonsense", ""),
        ("", ""),
    ],
)
def test_a_label_has_one_name(label: str, name: str) -> None:
    assert canonical(label) == name


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (JAPANESE, "utf-8", "utf-8"),
        (JAPANESE, "shift_jis", "shift_jis"),
        (JAPANESE, "euc_jp", "euc-jp"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp"),
        (KOREAN, "euc_kr", "euc-kr"),
        (RUSSIAN, "koi8-r", "koi8-r"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (THAI, "tis-620", "windows-874"),
        ("only plain letters", "ascii", "ascii"),
    ],
)
def test_a_charset_is_detected_from_bytes_alone(text: str, codec: str, name: str) -> None:
    decoded = decode(text.encode(codec), "text/html")
    assert (decoded.detected, decoded.text) == (name, text)


def test_the_header_is_believed_before_the_page() -> None:
    decoded = decode(b"<meta charset=koi8-r>" + "ж".encode("cp1251"), "text/html; charset=windows-1251")
    assert (decoded.header, decoded.meta) == ("windows-1251", "koi8-r")
    assert decoded.text.endswith("ж")


def test_the_page_is_believed_before_the_detector() -> None:
    assert decode(b"<meta charset=cp1251>" + "ж".encode("cp1251"), "").text.endswith("ж")


def test_a_byte_order_mark_is_believed_before_all_and_is_no_text() -> None:
    assert decode(b"\xef\xbb\xbf" + "ж".encode(), "text/html; charset=koi8-r").text == "ж"
    assert decode(b"\xff\xfe" + "ж".encode("utf-16le"), "text/html; charset=koi8-r").text == "ж"


def test_detection_does_not_listen_to_the_declaration() -> None:
    decoded = decode(b"<meta charset=shift_jis>" + "é".encode(), "text/html; charset=euc-kr")
    assert decoded.detected == "utf-8"


@pytest.mark.parametrize(
    "head",
    [
        b'<meta http-equiv="Content-Type" content="text/html; charset=EUC-JP">',
        b"<META content='text/html;charset = euc-jp' http-equiv=content-type>",
        b"<meta charset='euc-jp'/>",
        b'<?xml version="1.0" encoding="euc-jp"?>',
        b"<!-- <meta charset=utf-8> --><meta charset=euc-jp>",
    ],
)
def test_a_page_declares_its_charset_in_several_ways(head: bytes) -> None:
    assert decode(head, "").meta == "euc-jp"


def test_a_page_that_could_be_read_so_far_is_not_utf_16() -> None:
    assert decode(b"<meta charset=utf-16>", "").meta == "utf-8"


@given(
    st.binary(max_size=300),
    st.sampled_from(["", "text/html; charset=utf-8", "text/html; charset=iso-2022-jp", ";;charset="]),
)
def test_any_bytes_can_be_decoded(body: bytes, content_type: str) -> None:
    decode(body, content_type).text.encode()

"""Charsets: what a page declares, what its bytes show, and what is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.parse.charset import canonical, decode, meta_charset

JAPANESE = "図書館は朝九時に開きます。新聞と雑誌は一階で読めます。"
SIMPLIFIED = "图书馆早上九点开门，报纸和杂志可以在一楼阅读。"
TRADITIONAL = "圖書館早上九點開門，報紙和雜誌可以在一樓閱讀。"
KOREAN = "도서관은 아침 아홉 시에 문을 엽니다. 신문과 잡지는 일 층에서 읽을 수 있습니다."
RUSSIAN = "Библиотека открывается в девять утра, газеты и журналы можно читать на первом этаже."
UKRAINIAN = "Бібліотека відчиняється о дев'ятій ранку, її газети й журнали можна читати на першому поверсі."
THAI = "ห้องสมุดเปิดตอนเก้าโมงเช้า อ่านหนังสือพิมพ์และนิตยสารได้ที่ชั้นหนึ่ง"
POLISH = "Biblioteka jest otwarta od dziewiątej rano, gazety można czytać na parterze, a książki również w domu."
CZECH = "Knihovna se otevírá v devět hodin ráno, noviny a časopisy si můžete přečíst v přízemí. Příště přijďte dřív."
GREEK = "Η βιβλιοθήκη ανοίγει στις εννέα το πρωί και οι εφημερίδες διαβάζονται στο ισόγειο."
TURKISH = (
    "Kütüphane sabah dokuzda açılır, gazeteler ve dergiler giriş katında okunur, çocuklar için de bir köşe vardır."
)
HEBREW = "הספרייה נפתחת בתשע בבוקר ואת העיתונים אפשר לקרוא בקומה הראשונה."
ARABIC = "تفتح المكتبة في التاسعة صباحا ويمكن قراءة الصحف والمجلات في الطابق الأول."
LITHUANIAN = (
    "Biblioteka atidaroma devintą valandą ryto, laikraščius galima skaityti pirmame aukšte, knygas imti į namus."
)
ESPERANTO = "La biblioteko malfermiĝas je la naŭa matene, ĵurnalojn ĉiuj povas legi ĉe la teretaĝo, kaj ŝi eĉ ĝojas."
ROMANIAN = (
    "Biblioteca se deschide la ora nouă dimineața, ziarele și revistele pot fi citite la parter, cărțile și acasă."
)
FRENCH = "La bibliothèque ouvre à neuf heures du matin, et l'été la cour est très agréable après le déjeuner."
GERMAN = "Die Bücherei öffnet um neun Uhr früh, und für Kinder gibt es im Erdgeschoß eine schöne Ecke."
WELSH = "Mae'r llyfrgell yn agor am naw o'r gloch y bore, ac mae dŵr yn y tŷ."
VIETNAMESE = (
    "Thư viên mơ cưa lúc chín giơ sáng, đoc sách ơ tâng môt."  # without the tones, which are signs of their own
)

DETECTED = [
    ("utf-8", "utf-8", JAPANESE),
    ("utf-16le", "utf-16-le", RUSSIAN),
    ("utf-16be", "utf-16-be", FRENCH),
    ("shift_jis", "cp932", JAPANESE),
    ("euc-jp", "euc_jp", JAPANESE),
    ("iso-2022-jp", "iso2022_jp", JAPANESE),
    ("euc-kr", "cp949", KOREAN),
    ("iso-2022-kr", "iso2022_kr", KOREAN),
    ("gb18030", "gb2312", SIMPLIFIED),
    ("gb18030", "gb18030", f"{SIMPLIFIED}㐀𠀀"),
    ("hz-gb-2312", "hz", SIMPLIFIED),
    ("big5", "big5", TRADITIONAL),
    ("koi8-r", "koi8-r", RUSSIAN),
    ("koi8-u", "koi8-u", UKRAINIAN),
    ("windows-1251", "cp1251", RUSSIAN),
    ("windows-1251", "cp1251", UKRAINIAN),
    ("iso-8859-5", "iso8859-5", RUSSIAN),
    ("ibm866", "cp866", RUSSIAN),
    ("x-mac-cyrillic", "mac_cyrillic", RUSSIAN),
    ("windows-874", "tis-620", THAI),
    ("windows-1250", "cp1250", POLISH),
    ("windows-1250", "cp1250", CZECH),
    ("iso-8859-2", "iso8859-2", POLISH),
    ("iso-8859-2", "iso8859-2", CZECH),
    ("iso-8859-7", "iso8859-7", GREEK),
    ("windows-1254", "cp1254", TURKISH),
    ("windows-1255", "cp1255", HEBREW),
    ("windows-1256", "cp1256", ARABIC),
    ("iso-8859-6", "iso8859-6", ARABIC),
    ("iso-8859-13", "iso8859-13", LITHUANIAN),
    ("iso-8859-4", "iso8859-4", LITHUANIAN),
    ("iso-8859-10", "iso8859-10", LITHUANIAN),
    ("iso-8859-3", "iso8859-3", ESPERANTO),
    ("iso-8859-16", "iso8859-16", ROMANIAN),
    ("windows-1252", "cp1252", FRENCH),
    ("macintosh", "mac_roman", FRENCH),
    ("macintosh", "mac_roman", GERMAN),
]
"""The name that is detected, the codec in which the text is written, the text."""

NOT_DETECTED = [
    ("iso-8859-14", "iso8859-14", WELSH),
    ("windows-1258", "cp1258", VIETNAMESE),
]
"""What a sentence does not tell from a more common charset of the same letters."""


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
    ("label", "name"),
    [
        ("utf8mb4", "utf-8"),
        ("utf_8", "utf-8"),
        ("'UTF-8'", "utf-8"),
        ("iso-8559-1", "windows-1252"),
        ("window-1251", "windows-1251"),
        ("win-1251", "windows-1251"),
        ("cp-1251", "windows-1251"),
        ("koi-8r", "koi8-r"),
        ("KOI8-RU", "koi8-u"),
        ("shift-jis", "shift_jis"),
        ("s-jis", "shift_jis"),
        ("x-euc_jp", "euc-jp"),
        ("iso2022jp", "iso-2022-jp"),
        ("euc_kr", "euc-kr"),
        ("gb_2312-80", "gbk"),
        ("GB 18030", "gb18030"),
        ("big-5", "big5"),
        ("Big5-ETen", "big5"),
        ("tis620", "windows-874"),
        ("latin-2", "iso-8859-2"),
        ("mac-roman", "macintosh"),
        ("hz", "hz-gb-2312"),
    ],
)
def test_a_misspelt_label_is_understood(label: str, name: str) -> None:
    assert canonical(label) == name


@pytest.mark.parametrize(("name", "codec", "text"), DETECTED)
def test_a_charset_is_detected_from_one_sentence_alone(name: str, codec: str, text: str) -> None:
    decoded = decode(text.encode(codec), "text/html")
    assert (decoded.detected, decoded.text) == (name, text)


def test_plain_letters_are_ascii() -> None:
    assert decode(b"only plain letters", "text/html").detected == "ascii"
    assert decode(b'(format t "~{~a~^, ~}~%" list)', "text/html").detected == "ascii"


@pytest.mark.parametrize(("name", "codec", "text"), [*DETECTED, *NOT_DETECTED])
def test_a_charset_is_read_by_its_label(name: str, codec: str, text: str) -> None:
    assert decode(text.encode(codec), f"text/html; charset={name.upper()}").text == text


@pytest.mark.parametrize(("name", "codec", "text"), NOT_DETECTED)
def test_some_charsets_are_known_by_their_label_only(name: str, codec: str, text: str) -> None:
    assert decode(text.encode(codec), "").detected != name


def test_characters_that_makers_added_to_japanese_charsets_are_read() -> None:
    circled_one = bytes.fromhex("ada1")
    assert decode("図書館".encode("euc_jp") + circled_one, "text/html; charset=euc-jp").text == "図書館①"
    half_wide = "図書館".encode("iso2022_jp") + b"\x1b(I\x31\x1b(B"
    assert decode(half_wide, "text/html; charset=iso-2022-jp").text == "図書館ｱ"


def test_a_declaration_under_which_the_text_is_lost_is_not_believed() -> None:
    decoded = decode(RUSSIAN.encode("cp1251"), "text/html; charset=utf-8")
    assert decoded.text == RUSSIAN
    assert (decoded.header, decoded.detected) == ("utf-8", "windows-1251")


def test_then_the_other_declaration_is_asked_before_the_bytes() -> None:
    body = b"<meta charset=iso-8859-14>" + WELSH.encode("iso8859-14")
    assert decode(body, "text/html; charset=utf-8").text.endswith(WELSH)


def test_a_declaration_under_which_little_is_lost_is_believed() -> None:
    cut = RUSSIAN.encode()[:-2]
    assert decode(cut, "text/html; charset=utf-8").text == f"{RUSSIAN[:-2]}\ufffd"


def test_a_declaration_that_is_wrong_but_can_be_read_is_believed_as_browsers_do() -> None:
    assert decode("é".encode(), "text/html; charset=iso-8859-1").text == "Ã©"


def test_a_byte_order_mark_is_believed_even_if_all_is_lost() -> None:
    assert decode(b"\xef\xbb\xbf" + b"\xff" * 3, "text/html; charset=koi8-r").text == "\ufffd" * 3


def test_quotation_marks_of_windows_are_not_letters_of_a_macintosh() -> None:
    english = "The library opens at nine – “early”, it’s said…"
    assert decode(english.encode("cp1252"), "").text == english


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


@pytest.mark.parametrize("body", [b"plain", "gr\u00fcn".encode(), "\ufeffmarked".encode()])
def test_a_page_in_utf_8_is_given_to_the_parser_as_it_came(body: bytes) -> None:
    read = decode(body, "")
    assert read.utf8 == read.text.encode()


def test_a_page_in_another_charset_is_not() -> None:
    assert decode("gr\u00fcn".encode("latin-1"), "text/html; charset=latin-1").utf8 is None
    assert decode("gr\u00fcn".encode(), "text/html; charset=latin-1").utf8 is None


@pytest.mark.parametrize(
    ("html", "charset"),
    [
        ("<meta charset=bogus><meta charset=iso-8859-2>", "iso-8859-2"),
        ("<meta charset=bogus http-equiv=x content='text/html; charset=iso-8859-2'>", "iso-8859-2"),
        ("<p title='<meta charset=iso-8859-2>'><meta charset=koi8-r>", "koi8-r"),
        ("<meta name=description content='a' test='charset=iso-8859-2'>", ""),
        ("<p data-charset=iso-8859-2>", ""),
    ],
)
def test_only_a_declaration_declares(html: str, charset: str) -> None:
    assert meta_charset(html.encode()) == charset


@pytest.mark.parametrize("label", ["csISO88596E", "csISO88596I", "csISO88598E"])
def test_labels_of_browsers_are_known(label: str) -> None:
    assert canonical(label) in ("iso-8859-6", "iso-8859-8")

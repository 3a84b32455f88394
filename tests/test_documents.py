"""Documents: PDF, DOCX, OpenDocument and EPUB give a page like any other, or the reason why not; none does harm."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import pytest

import spoor
from spoor.demo.plain_pdf import pdf, stream, written
from spoor.errors import BadInput
from spoor.fetch.decoding import FetchLimits
from spoor.fetch.responses import understand
from spoor.live.page_reader import Reader
from spoor.live.reading_processes import ReadingLimits, reading
from spoor.origins import pack
from spoor.parse.apart import read_in_subprocess
from spoor.parse.document_text import LONGEST_TEXT, Lines
from spoor.parse.documents import read_answer, readable_types
from spoor.parse.html import ParseOptions
from spoor.parse.pdf import repaired
from spoor.parse.zipped import DEEPEST
from spoor.records import Failure, Judged, Outcome, Page, Response, Visit
from spoor.registry import judge, strategy
from spoor.settings import FetchSettings
from tests.made_documents import DOCX, ENCRYPTED, EPUB, ODT, PDF, as_drawn, docx, epub, odt, scanned, zipped

URL = "http://a.test/papers/one"
HAS_PDFIUM = find_spec("pypdfium2") is not None
needs_pdfium = pytest.mark.skipif(not HAS_PDFIUM, reason="pypdfium2 is not installed: pip install 'spoor[documents]'")

THAI = "ประเทศไทยเป็นประเทศที่ตั้งอยู่ในเอเชียตะวันออกเฉียงใต้"
ARABIC = "كانت المدينة القديمة مركزا للتجارة في القرن 14"
MONGOLIAN = "Монгол улсын нийслэл хот бол Улаанбаатар юм"
CHINESE = "中华人民共和国位于亚洲东部太平洋西岸是世界上人口众多的国家"


def read(body: bytes, content_type: str, **parse_options: int) -> Page:
    page = read_answer(URL, body, content_type, parse_options=ParseOptions(**parse_options))  # type: ignore[arg-type]
    assert isinstance(page, Page), page
    return page


def reason(body: bytes, content_type: str) -> str:
    failure = read_answer(URL, body, content_type)
    assert isinstance(failure, Failure)
    return failure.reason


@needs_pdfium
@pytest.mark.parametrize("words", [THAI, MONGOLIAN, CHINESE, "ᠮᠣᠩᠭᠣᠯ ᠤᠯᠤᠰ ᠤᠨ ᠨᠡᠶᠢᠰᠯᠡᠯ ᠬᠣᠲᠠ"])
def test_the_words_of_a_pdf_are_read_in_any_script(words: str) -> None:
    assert read(pdf([[words]]), PDF).text == words


@needs_pdfium
def test_arabic_words_of_a_pdf_are_in_the_order_of_reading() -> None:
    assert read(pdf([[as_drawn(ARABIC)]]), PDF).text == ARABIC


def repaired_letters(placed: Sequence[tuple[str, float]]) -> str:
    """Each letter with its place, how far to the right it stands."""
    return repaired("".join(letter for letter, _ in placed), lambda number: placed[number][1])


def test_words_whose_letters_run_to_the_right_are_turned_around() -> None:
    """The letters and places of a page that Chromium printed, as pdfium gave them."""
    wrong = zip("خيرات ةنيدملا", [522, 537, 545, 562, 569, 512, 433, 445, 455, 466, 478, 494, 505], strict=True)
    right = zip(" زبان،", [577, 572, 569, 566, 557, 553], strict=True)
    assert repaired_letters([*wrong, *right]) == "تاريخ المدينة زبان،"


def test_a_ligature_has_its_letters_at_one_place_and_forms_of_letters_become_letters() -> None:
    assert repaired_letters([("ا", 5.0), ("ل", 5.0)]) == "لا"
    assert repaired_letters([("\ufefb", 5.0)]) == "لا"
    assert repaired_letters([("a", 1.0), ("b", 2.0)]) == "ab"


def test_a_mark_goes_with_the_letter_that_it_stands_above() -> None:
    """Of a Yiddish page that Chromium printed: the mark came after the wrong letter."""
    assert repaired_letters([("א", 20.0), ("ה", 28.0), ("\u05b8", 21.0), ("ט", 11.0)]) == "הא\u05b8ט"


@needs_pdfium
def test_title_links_and_language_of_a_pdf() -> None:
    body = pdf([[THAI, "see http://b.test/written"], ["second page"]], "เอกสาร", ["http://c.test/x#y"], language="th")
    page = read(body, "application/pdf; charset=binary")
    assert (page.title, page.language, page.content_type, page.size) == ("เอกสาร", "th", PDF, len(body))
    assert page.text == f"{THAI}\nsee http://b.test/written\nsecond page"
    annotated, written_out = page.links
    assert (annotated.url, annotated.anchor, annotated.right) == ("http://c.test/x", THAI, "see http://b.test/written")
    assert written_out.url == "http://b.test/written"


@needs_pdfium
def test_a_title_that_is_no_unicode_is_read_as_far_as_it_goes() -> None:
    body = pdf([[MONGOLIAN]], "abcd").replace(b"00620063", b"d8000063")
    assert read(body, PDF).title == "a\ufffdcd"


@needs_pdfium
def test_the_first_line_of_a_pdf_without_a_title_is_its_title() -> None:
    assert read(pdf([["The history of the town", "It is long."]]), PDF).title == "The history of the town"


@needs_pdfium
def test_a_pdf_is_known_by_its_beginning_where_its_type_is_missing_or_that_of_a_text() -> None:
    body = pdf([[MONGOLIAN]])
    assert [read(body, content_type).text for content_type in ("", "text/html", "text/plain; charset=x")] == [
        MONGOLIAN
    ] * 3
    assert read(body, "image/png").text == ""


@needs_pdfium
@pytest.mark.parametrize(
    ("body", "why"),
    [
        (scanned(), "PDF: no text: scanned, or only images"),
        (pdf([[MONGOLIAN]], extra=ENCRYPTED), "PDF: encrypted"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj <<", "PDF: broken"),
        (b"not found", "PDF: broken"),
        (written([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R] /Count 9 >>"]), "PDF: broken"),
    ],
    ids=["scanned", "encrypted", "cut off", "something else", "pages inside of themselves"],
)
def test_a_pdf_without_text_says_why(body: bytes, why: str) -> None:
    assert reason(body, PDF) == why


@pytest.mark.skipif(HAS_PDFIUM, reason="pypdfium2 is installed")
def test_without_pdfium_a_pdf_says_what_to_install_and_its_body_is_not_fetched() -> None:
    assert reason(b"", PDF) == "PDF: not read: install spoor[documents]"
    assert not FetchLimits.of(FetchSettings(), documents=True).accept(PDF)


WORDS = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"


def test_paragraphs_title_and_language_of_a_docx() -> None:
    content = (
        "".join(map(WORDS.format, [THAI, "", " two  words "]))
        + "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r></w:p>"
    )
    page = read(docx(content, "เอกสาร", language="th-TH"), DOCX)
    assert (page.text, page.title, page.language) == (f"{THAI}\ntwo words\na b", "เอกสาร", "th-TH")


def test_links_of_a_docx_stand_in_elements_and_in_fields() -> None:
    element = '<w:p><w:t>go </w:t><w:hyperlink r:id="r1"><w:t>there</w:t></w:hyperlink><w:t> at once</w:t></w:p>'
    field = (
        '<w:p><w:fldChar w:fldCharType="begin"/><w:instrText> HYPERLINK "http://c.test/" </w:instrText>'
        '<w:t>or here</w:t><w:fldChar w:fldCharType="end"/><w:t> later</w:t></w:p>'
    )
    page = read(docx(element + field, relations={"r1": "../other?a=1&amp;b=2"}), DOCX)
    assert [(link.url, link.anchor, link.left, link.right) for link in page.links] == [
        ("http://a.test/other?a=1&b=2", "there", "go", "at once or here later"),
        ("http://c.test/", "or here", "go there at once", "later"),
    ]


def test_words_that_a_docx_has_twice_for_old_programs_are_read_once() -> None:
    twice = "<w:p><w:Choice><w:t>box</w:t></w:Choice><w:Fallback><w:p><w:t>box</w:t></w:p></w:Fallback></w:p>"
    assert read(docx(twice), DOCX).text == "box"


def test_paragraphs_links_and_title_of_an_open_document() -> None:
    content = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:h>หัวข้อ</text:h>"
        f'<text:p>{MONGOLIAN}<text:s/>and <text:a xlink:href="/more">more</text:a><text:line-break/>below</text:p>'
    )
    page = read(odt(content, "Нэр", "mn"), ODT)
    assert (page.title, page.language) == ("Нэр", "mn")
    assert page.text == f"หัวข้อ\n{MONGOLIAN} and more below"
    assert [(link.url, link.anchor, link.right) for link in page.links] == [("http://a.test/more", "more", "below")]


def test_chapters_of_an_epub_are_read_in_their_order_and_links_among_them_are_not_followed() -> None:
    first = f'<html><head><title/></head><body><p>{THAI}</p><a href="two.xhtml">next</a></body></html>'
    second = '<html><body><p>the end, <a href="http://b.test/author">by the author</a></p></body></html>'
    page = read(epub({"one.xhtml": first, "two.xhtml": second}, "หนังสือ", "th"), EPUB)
    assert (page.title, page.language) == ("หนังสือ", "th")
    assert page.text == f"{THAI}\nnext\nthe end, by the author"
    assert [(link.url, link.anchor) for link in page.links] == [("http://b.test/author", "by the author")]


def test_only_so_many_links_of_a_document_are_kept_and_the_others_counted() -> None:
    links = "".join(f'<text:p><text:a xlink:href="/{number}">x</text:a></text:p>' for number in range(9))
    page = read(odt(links), ODT, most_links=4)
    assert (len(page.links), page.unrecorded) == (4, 5)


LAUGHS = '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><d>&b;</d>'


@pytest.mark.parametrize(
    ("body", "content_type", "why"),
    [
        (b"\xd0\xcf\x11\xe0" + bytes(600), DOCX, "DOCX: encrypted, or in the format before 2007"),
        (b"not a zip file", DOCX, "DOCX: broken"),
        (docx(WORDS.format("x"))[:-40], DOCX, "DOCX: broken"),
        (zipped({"a": "b"}), DOCX, "DOCX: broken: no word/document.xml in it"),
        (docx("<w:p>"), DOCX, "DOCX: broken XML"),
        (docx(""), DOCX, "DOCX: no text"),
        (zipped({"word/document.xml": LAUGHS}), DOCX, "DOCX: declares entities"),
        (docx("<w:p>" * 2 * DEEPEST + "</w:p>" * 2 * DEEPEST), DOCX, "DOCX: elements are nested too deeply"),
        (zipped({"word/document.xml": bytes(60_000_000)}), DOCX, "DOCX: unpacks to over 50 MB"),
        (zipped({"content.xml": "x", "META-INF/manifest.xml": "<encryption-data/>"}), ODT, "OpenDocument: encrypted"),
        (zipped({"a": "b"}), ODT, "OpenDocument: broken: no content.xml in it"),
        (zipped({"a": "b"}), EPUB, "EPUB: broken: no META-INF/container.xml in it"),
        (epub({"one.xhtml": "<p> </p>"}), EPUB, "EPUB: no text"),
    ],
)
def test_other_documents_without_text_say_why(body: bytes, content_type: str, why: str) -> None:
    assert reason(body, content_type) == why


def test_a_text_without_end_is_cut() -> None:
    lines = Lines()
    for _ in range(30):
        lines.write("word " * 40_000)
    assert lines.length == len(lines.text) == LONGEST_TEXT


def test_a_document_that_is_of_no_interest_is_a_page_without_text() -> None:
    page = read_answer(URL, docx(WORDS.format("words")), DOCX, parse_options=ParseOptions(documents=False))
    assert page == Page(URL, content_type=DOCX, size=len(docx(WORDS.format("words"))))


@pytest.mark.parametrize("documents", [True, False])
def test_bodies_of_documents_are_fetched_where_they_are_read(documents: bool) -> None:
    limits = FetchLimits.of(FetchSettings(), documents)
    assert [limits.accept(mime) for mime in (DOCX, ODT, EPUB)] == [documents] * 3
    assert limits.accept("text/html") and not limits.accept("image/png")


def answer(body: bytes, content_type: str, cut: str = "", more: str = "") -> Response:
    headers = {"content-type": content_type} | ({"x-robots-tag": more} if more else {})
    head = "\r\n".join(["HTTP/1.1 200 OK", *(f"{name}: {value}" for name, value in headers.items()), "", ""]).encode()
    return Response(URL, 200, headers, body, b"", b"", head, "", 0.0, 0.0, cut)


VISIT = Visit(URL, "a.test", 0, 0.0)


def test_a_document_that_is_cut_says_so() -> None:
    assert understand(VISIT, answer(docx("<w:p/>")[:50], DOCX, "length")) == Failure("DOCX: truncated: length")


def test_headers_of_a_document_are_heeded() -> None:
    page = understand(VISIT, answer(docx(WORDS.format("words")), DOCX, more="noindex"))
    assert isinstance(page, Page) and page.noindex


def test_documents_are_read_in_another_process_where_archives_are_read() -> None:
    body = docx(WORDS.format(THAI))
    assert read_in_subprocess(URL, body, DOCX) == read_answer(URL, body, DOCX)
    assert read_in_subprocess(URL, b"rubbish", DOCX) == Failure("DOCX: broken")
    assert spoor.read_page(body, URL, DOCX).text == THAI
    with pytest.raises(BadInput, match="cannot be read: DOCX: broken"):
        spoor.read_page(b"rubbish", URL, DOCX)


def test_documents_on_disk_are_judged(tmp_path: Path) -> None:
    file = tmp_path / "one.docx"
    file.write_bytes(docx(WORDS.format(THAI)))
    assert [verdict.relevant for verdict in spoor.judge("script:thai", [file])] == [True]


def bombs() -> Mapping[str, tuple[bytes, str]]:
    drawn = b"BT /F 12 Tf " + b"<0001> Tj " * 2_000_000 + b"ET"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    tree = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page]
    laughs = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(12))
    return {
        "letters": (written([*tree, stream(drawn), font]), PDF),
        "arrays": (written([*tree, stream(b"[" * 5_000_000), font]), PDF),
        "pages": (
            written([tree[0], b"<< /Type /Pages /Kids [" + b"3 0 R " * 200_000 + b"] /Count 200000 >>", page]),
            PDF,
        ),
        "blanks": (written([*tree, stream(b" " * 400_000_000), font]), PDF),
        "entities": (zipped({"content.xml": f'<!DOCTYPE d [<!ENTITY a0 "ha">{laughs}]><d>&a12;</d>'}), ODT),
        "members": (zipped({"word/document.xml": f"<d>{'<t>x</t>' * 5_000_000}</d>"}), DOCX),
    }


@needs_pdfium
def test_no_bomb_takes_more_than_its_limits_and_the_next_document_is_read() -> None:
    limits = ReadingLimits(seconds=3.0, memory=300_000_000)
    reader = Reader.of(strategy("breadth-first", judge("script:thai")))
    made = [*bombs().values(), (pdf([[THAI]]), PDF)]
    assert isinstance(reader.read(VISIT, answer(docx(WORDS.format(THAI)), DOCX)), Judged)  # what is compiled is kept

    async def run() -> list[Outcome]:
        async with reading(1, pack(reader), limits) as processes:
            return [await processes.read(VISIT, answer(*document)) for document in made]

    before = getrusage(RUSAGE_CHILDREN).ru_utime
    *exploded, last = asyncio.run(run())
    assert getrusage(RUSAGE_CHILDREN).ru_utime - before < (limits.seconds + 4.0) * len(made)
    assert all(isinstance(outcome, Failure | Judged) for outcome in exploded)
    assert isinstance(last, Judged) and last.verdict.relevant


def test_types_that_can_be_read_follow_what_is_installed() -> None:
    assert (PDF in readable_types()) is HAS_PDFIUM

"""The text of a PDF, by pdfium. Malicious files can crash it: only for a process that may crash."""

from __future__ import annotations

import contextlib
import ctypes
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from spoor.parse.document_text import LONGEST_ANCHOR, DocumentText, Lines, Unreadable
from spoor.parse.tidy_text import words_after, words_before
from spoor.records import Link

if TYPE_CHECKING:
    import pypdfium2
    from pypdfium2 import raw

MOST_PAGES = 1_000
"""Maximum number of pages read."""
MOST_LINKS_OF_A_PAGE = 1_000
INSTALL = "install spoor[documents]"
_HYPHEN = "\ufffe"
"""The character that pdfium writes for a hyphen at the end of a line inside a word."""
_LEAST_LETTERS = 20
"""A document with fewer letters consists of images: page numbers alone are not text."""


def can_be_read() -> bool:
    return find_spec("pypdfium2") is not None


def read_pdf(body: bytes, window: int) -> DocumentText:
    try:
        import pypdfium2
        from pypdfium2 import raw
    except ImportError:
        raise Unreadable(f"not read: {INSTALL}") from None
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        locked = error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
        raise Unreadable("encrypted" if locked else "broken") from None
    with contextlib.closing(document):
        return _text_of(document, window)


def _text_of(document: pypdfium2.PdfDocument, window: int) -> DocumentText:
    lines, links = Lines(), list[Link]()
    broken = 0
    for number in range(min(len(document), MOST_PAGES)):
        if lines.full:
            break
        try:
            with contextlib.closing(document[number]) as page, contextlib.closing(page.get_textpage()) as words:
                reading = _PdfPage(page, words)
                _write(reading.text, lines)
                links += reading.links(window)
        except RuntimeError:  # The base class of errors of pdfium.
            broken += 1
    text = lines.text
    if sum(map(str.isalpha, text)) < _LEAST_LETTERS:
        raise Unreadable("broken" if broken else "no text: scanned, or only images")
    return DocumentText(text, _title(document), _language(document), tuple(links))


def _write(text: str, lines: Lines) -> None:
    for line in text.splitlines():
        whole = line.rstrip()
        lines.write(whole.rstrip(_HYPHEN).replace(_HYPHEN, "-"))
        if not whole.endswith(_HYPHEN):
            lines.end_line()


class _PdfPage:
    """An open page. The positions of letters are only read if the page has right-to-left text."""

    def __init__(self, page: pypdfium2.PdfPage, words: pypdfium2.PdfTextPage) -> None:
        self._page, self._words = page, words
        self.text: str = words.get_text_bounded()
        self._letters = _Letters(words) if is_right_to_left(self.text) else None
        if self._letters is not None:
            self.text = _joined(repaired(self._letters.text, self._letters.across))

    def links(self, window: int) -> Iterator[Link]:
        """First annotations, which have an anchor; then URLs in the text."""
        text = " ".join(self.text.split())
        for href, anchor in self._annotations():
            said = " ".join(anchor.split())[:LONGEST_ANCHOR]
            place = text.find(said) if said else -1
            if place < 0:
                yield Link(href, said)
            else:
                yield Link(href, said, words_before(text, place, window), words_after(text, place + len(said), window))
        for href in _written_out(self._words):
            yield Link(href, href)

    def _annotations(self) -> Iterator[tuple[str, str]]:
        from pypdfium2 import raw

        place, link, box = ctypes.c_int(0), raw.FPDF_LINK(), raw.FS_RECTF()
        for _ in range(MOST_LINKS_OF_A_PAGE):
            if not raw.FPDFLink_Enumerate(self._page, place, link):
                return
            action = raw.FPDFLink_GetAction(link)
            if action and raw.FPDFAction_GetType(action) == raw.PDFACTION_URI:
                href = _filled(partial(raw.FPDFAction_GetURIPath, self._page.pdf, action), "utf8")
                yield href, self._inside(box) if raw.FPDFLink_GetAnnotRect(link, box) else ""

    def _inside(self, box: raw.FS_RECTF) -> str:
        """The text inside the box."""
        if self._letters is not None:
            return self._letters.inside(box)
        said: str = self._words.get_text_bounded(box.left, box.bottom, box.right, box.top)
        return said


class _Letters:
    """The characters of a page that have a code, in the order of pdfium, each with its origin. `text` consists of
    UTF-16 units, as pdfium counts."""

    def __init__(self, words: pypdfium2.PdfTextPage) -> None:
        from pypdfium2 import raw

        self._page = words.raw
        self._number_of, self._origin_of = raw.FPDFText_GetCharIndexFromTextIndex, raw.FPDFText_GetCharOrigin
        self._across, self._up = ctypes.c_double(), ctypes.c_double()
        self._origin = ctypes.byref(self._across), ctypes.byref(self._up)
        count = words.count_chars()
        units = (ctypes.c_ushort * (count + 1))()
        written = raw.FPDFText_GetText(self._page, 0, count, units) - 1
        self.text = "".join(map(chr, units[: max(written, 0)]))
        self._all_known = written == count

    def across(self, place: int) -> float:
        number = place if self._all_known else self._number_of(self._page, place)
        self._origin_of(self._page, number, *self._origin)
        return self._across.value

    @cached_property
    def places(self) -> list[tuple[float, float]]:
        return [(self.across(place), self._up.value) for place in range(len(self.text))]

    def inside(self, box: raw.FS_RECTF) -> str:
        inside = [
            place
            for place, (across, up) in enumerate(self.places)
            if box.left <= across <= box.right and box.bottom <= up <= box.top
        ]
        text = "".join(self.text[place] for place in inside)
        return _joined(repaired(text, lambda place: self.places[inside[place]][0]))


def _joined(units: str) -> str:
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _written_out(words: pypdfium2.PdfTextPage) -> Iterator[str]:
    from pypdfium2 import raw

    found = raw.FPDFLink_LoadWebLinks(words)
    try:
        for number in range(min(raw.FPDFLink_CountWebLinks(found), MOST_LINKS_OF_A_PAGE)):
            yield _filled(partial(raw.FPDFLink_GetURL, found, number), "utf-16-le")
    finally:
        raw.FPDFLink_CloseWebLinks(found)


def _title(document: pypdfium2.PdfDocument) -> str:
    from pypdfium2 import raw

    return _filled(partial(raw.FPDF_GetMetaText, document, b"Title"), "utf-16-le")


def _language(document: pypdfium2.PdfDocument) -> str:
    from pypdfium2 import raw

    return _filled(partial(raw.FPDFCatalog_GetLanguage, document), "utf-16-le")


def _filled(fill: Callable[[Any, int], int], encoding: str) -> str:
    """Calls pdfium twice: for the size of the buffer, and to fill it."""
    unit = ctypes.c_ushort if encoding.startswith("utf-16") else ctypes.c_char
    size = fill(None, 0)
    buffer = (unit * size)()
    fill(buffer, size)
    return bytes(buffer).decode(encoding, "replace").partition("\0")[0]


# Words of right-to-left scripts in reading order. A PDF has the position of each letter, not their order. pdfium
# guesses the order, and reverses many words: in these the x coordinates of letters increase instead of decreasing.


Placed = tuple[str, float]
"""A character, and its x coordinate."""

_LETTERS = (
    "\u0591-\u05f4\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u200c"
)
"""Letters of Hebrew, Arabic, Syriac, Thaana, N'Ko and others, with their marks; without digits and punctuation."""
_LETTER = re.compile(f"[{_LETTERS}]")
_WORD = re.compile(f"[{_LETTERS}]+")
_FORMS = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]+")
"""Presentation forms, which depend on the position in a word; normal text has the base letters."""
_MARK = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
"""Marks above or below a letter of Hebrew or Arabic, without a width of their own."""
_MARKS = frozenset(filter(_MARK.match, map(chr, range(0x591, 0x6EE))))
_LIGATURE = re.compile("[اأإآ]ل")
"""Lam with alef, reversed, which have the same position; they are rarely a word in this order."""

_NEAR = 0.5
"""Tolerance in points for a mark left of the edge of its letter."""


def is_right_to_left(text: str) -> bool:
    return _LETTER.search(text) is not None


def repaired(text: str, across: Callable[[int], float]) -> str:
    """Reverses the words whose letters are ordered from left to right. `across` returns the x coordinate of a
    character; called for every character it would take most of the time."""

    def in_order(word: re.Match[str]) -> str:
        return _in_order(word[0], word.start(), across)

    return _FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), _WORD.sub(in_order, text))


def _in_order(word: str, start: int, across: Callable[[int], float]) -> str:
    if not _MARK.search(word):
        return word[::-1] if len(word) > 1 and _is_turned(word, across(start), across(start + len(word) - 1)) else word
    glyphs = [(letter, across(start + place)) for place, letter in enumerate(word)]
    letters = [glyph for glyph in glyphs if glyph[0] not in _MARKS]
    if not letters:
        return word
    if _is_turned(word, letters[0][1], letters[-1][1]):
        glyphs.reverse()
        letters.reverse()
    return _marked(letters, [glyph for glyph in glyphs if glyph[0] in _MARKS])


def _is_turned(word: str, first: float, last: float) -> bool:
    """By the x coordinates of its first and its last letter."""
    return last > first or (last == first and _LIGATURE.fullmatch(word) is not None)


def _marked(letters: list[Placed], marks: Sequence[Placed]) -> str:
    """Letters from right to left, each with its marks. The origin of a letter is its left edge."""
    letters = sorted(letters, key=lambda letter: -letter[1])
    said = [letter for letter, _ in letters]
    for mark, place in marks:
        under = (number for number, (_, left) in enumerate(letters) if left <= place + _NEAR)
        said[next(under, len(said) - 1)] += mark
    return "".join(said)

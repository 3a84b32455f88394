"""Documents that are ZIP files of XML: DOCX, OpenDocument and EPUB. Protected against ZIP and XML bombs."""

from __future__ import annotations

import contextlib
import io
import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote
from xml.parsers import expat

from spoor.parse.document_text import LONGEST_TEXT, DocumentText, Lines, Unreadable
from spoor.parse.html import ParseOptions, read_page
from spoor.records import Page

MOST_UNPACKED = 50_000_000
"""Maximum uncompressed bytes of all members read of one document."""
DEEPEST = 1_000
"""Maximum nesting depth."""

Attributes = Mapping[str, str]
"""By local name."""
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, IndexError)
"""Errors of zipfile for damaged or unusual files; NotImplementedError for an unknown compression. Each becomes
`Unreadable`."""
_ENCRYPTED = 1
"""A bit of the flags of a member."""


class Members:
    """The files in a ZIP file; limits their total uncompressed size to `MOST_UNPACKED`."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._left = MOST_UNPACKED

    def read(self, name: str) -> bytes:
        """b"" if there is no such file."""
        with _understood():
            try:
                member = self._archive.getinfo(name)
            except KeyError:
                return b""
            if member.flag_bits & _ENCRYPTED:
                raise Unreadable("encrypted")
            with self._archive.open(member) as file:
                content = file.read(self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            raise Unreadable(f"unpacks to over {MOST_UNPACKED // 1_000_000} MB")
        return content


@contextlib.contextmanager
def opened(body: bytes) -> Iterator[Members]:
    with _understood():
        archive = zipfile.ZipFile(io.BytesIO(body))
    with archive:
        yield Members(archive)


@contextlib.contextmanager
def _understood() -> Iterator[None]:
    try:
        yield
    except _BROKEN:
        raise Unreadable("broken") from None


def no_characters(said: str) -> None:
    pass


def no_end(name: str) -> None:
    pass


def read_xml(
    content: bytes,
    starts: Callable[[str, Attributes], None],
    ends: Callable[[str], None] = no_end,
    characters: Callable[[str], None] = no_characters,
) -> None:
    """Calls the handlers with local names. Entities are never expanded: a file that declares any is rejected."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise Unreadable("elements are nested too deeply")
        starts(_local(name), {_local(key): value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        ends(_local(name))

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError):
        raise Unreadable("broken XML") from None


def _refuse(*declared: object) -> None:
    raise Unreadable("declares entities")


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def texts_of(content: bytes, *names: str) -> dict[str, str]:
    """The text of the first element of each name; "" if there is none, or no XML."""
    said = dict.fromkeys(names, "")
    inside = ""

    def start(name: str, attributes: Attributes) -> None:
        nonlocal inside
        inside = name if name in said and not said[name] else ""

    def end(name: str) -> None:
        nonlocal inside
        inside = ""

    def characters(text: str) -> None:
        if inside:
            said[inside] += text

    if content:
        read_xml(content, start, end, characters)
    return said


# Word processor files: DOCX and OpenDocument.


_OLD_FORMAT = b"\xd0\xcf\x11\xe0"
"""The first bytes of a Word file from before 2007, and of an encrypted current one."""
_FIELD = re.compile(r'HYPERLINK\s+"([^"]+)"')
_WORD_ENDS = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_OPEN_ENDS = {"tab": " ", "line-break": "\n"}
_NOT_TEXT = {"tracked-changes", "annotation", "annotation-end", "forms"}
"""Elements of OpenDocument whose text is not part of the document: deletions, comments."""


def read_docx(body: bytes, window: int) -> DocumentText:
    if body.startswith(_OLD_FORMAT):
        raise Unreadable("encrypted, or in the format before 2007")
    with opened(body) as members:
        content = members.read("word/document.xml")
        if not content:
            raise Unreadable("broken: no word/document.xml in it")
        about = texts_of(members.read("docProps/core.xml"), "title", "language")
        reading = _Word(_relations(members))
        read_xml(content, reading.start, reading.end, reading.characters)
    return DocumentText(reading.lines.text, about["title"], about["language"], reading.lines.links(window))


def read_open_document(body: bytes, window: int) -> DocumentText:
    with opened(body) as members:
        if b"encryption-data" in members.read("META-INF/manifest.xml"):
            raise Unreadable("encrypted")
        content = members.read("content.xml")
        if not content:
            raise Unreadable("broken: no content.xml in it")
        about = texts_of(members.read("meta.xml"), "title", "language")
        reading = _OpenDocument()
        read_xml(content, reading.start, reading.end, reading.characters)
    return DocumentText(reading.lines.text, about["title"], about["language"], reading.lines.links(window))


def _relations(members: Members) -> dict[str, str]:
    """The external targets of a DOCX, by id."""
    targets: dict[str, str] = {}

    def start(name: str, attributes: Attributes) -> None:
        if name == "Relationship" and attributes.get("TargetMode") == "External":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    if content := members.read("word/_rels/document.xml.rels"):
        read_xml(content, start)
    return targets


@dataclass
class _Word:
    """The parser state for word/document.xml. A link is an element with the id of its target, or a field, whose
    instruction precedes its text."""

    targets: dict[str, str]
    lines: Lines = field(default_factory=Lines)
    _href: str = ""
    _start: int = 0
    _passed_over: int = 0
    _says: str = ""

    def start(self, name: str, attributes: Attributes) -> None:
        if self._passed_over or name == "Fallback":  # The alternative of a drawing whose text was just read.
            self._passed_over += 1
        elif name in ("t", "instrText"):
            self._says = name
        elif name == "hyperlink":
            self._begin(self.targets.get(attributes.get("id", ""), ""))
        elif name == "fldSimple" and (found := _FIELD.search(attributes.get("instr", ""))):
            self._begin(found[1])
        elif name == "fldChar" and attributes.get("fldCharType") == "end":
            self._finish()
        else:
            self.lines.write(_WORD_ENDS.get(name, ""))

    def end(self, name: str) -> None:
        if self._passed_over:
            self._passed_over -= 1
        elif name in ("hyperlink", "fldSimple"):
            self._finish()
        elif name == "p":
            self.lines.end_line()
        self._says = ""

    def characters(self, said: str) -> None:
        if self._says == "t":
            self.lines.write(said)
        elif self._says == "instrText" and (found := _FIELD.search(said)):
            self._begin(found[1])

    def _begin(self, href: str) -> None:
        self._href, self._start = href, self.lines.length

    def _finish(self) -> None:
        self.lines.end_link(self._href, self._start)
        self._href = ""


@dataclass
class _OpenDocument:
    """The parser state for content.xml: only text in paragraphs and headings counts."""

    lines: Lines = field(default_factory=Lines)
    _links: list[tuple[str, int]] = field(default_factory=list)
    _inside: int = 0
    _passed_over: int = 0

    def start(self, name: str, attributes: Attributes) -> None:
        if self._passed_over or name in _NOT_TEXT:
            self._passed_over += 1
        elif name in ("p", "h"):
            self._inside += 1
        elif name == "a":
            self._links.append((attributes.get("href", ""), self.lines.length))
        elif name == "s":
            self.lines.write(" ")
        elif self._inside:
            self.lines.write(_OPEN_ENDS.get(name, ""))

    def end(self, name: str) -> None:
        if self._passed_over:
            self._passed_over -= 1
        elif name in ("p", "h"):
            self._inside -= 1
            self.lines.end_line()
        elif name == "a":
            self.lines.end_link(*self._links.pop())

    def characters(self, said: str) -> None:
        if self._inside and not self._passed_over:
            self.lines.write(said)


# EPUB books: chapters in order, each parsed as an HTML page.


MOST_CHAPTERS = 2_000
_INSIDE = "http://book.invalid/"
"""The base URL of relative links in a chapter, which lead to other chapters."""
_CLOSED = re.compile(rb"<(?!(?:br|hr|img|input|link|meta|col|wbr)\b)([a-zA-Z][\w:-]*+)(\s[^<>]*)?/>")
"""An element that is self-closing in XML, but a start tag in HTML."""


def read_epub(body: bytes, window: int) -> DocumentText:
    with opened(body) as members:
        package = _package(members)
        content = members.read(package)
        if not content:
            raise Unreadable("broken: no list of chapters in it")
        if b"EncryptedData" in members.read("META-INF/encryption.xml") and _is_protected(members):
            raise Unreadable("encrypted")
        about = texts_of(content, "title", "language")
        chapters = _chapters(content, posixpath.dirname(package))
        pages = list(_pages(members, chapters, ParseOptions(window=window)))
    links = tuple(link for page in pages for link in page.links if not link.url.startswith(_INSIDE))
    text = "\n".join(page.text for page in pages)[:LONGEST_TEXT]
    return DocumentText(text, about["title"], _language(pages) or about["language"], links)


def _language(pages: list[Page]) -> str:
    """Of most of the text, as its chapters say; the language of a whole book is often that of the program."""
    characters: Counter[str] = Counter()
    for page in pages:
        characters[page.language] += len(page.text)
    return characters.most_common(1)[0][0] if characters else ""


def _is_protected(members: Members) -> bool:
    """Rights management encrypts the text; without it only fonts may be obfuscated."""
    return bool(members.read("META-INF/rights.xml"))


def _package(members: Members) -> str:
    found: list[str] = []

    def start(name: str, attributes: Attributes) -> None:
        if name == "rootfile":
            found.append(attributes.get("full-path", ""))

    if content := members.read("META-INF/container.xml"):
        read_xml(content, start)
    if not found:
        raise Unreadable("broken: no META-INF/container.xml in it")
    return found[0]


def _chapters(content: bytes, folder: str) -> list[str]:
    """File names of the chapters, in reading order."""
    files: dict[str, str] = {}
    order: list[str] = []

    def start(name: str, attributes: Attributes) -> None:
        if name == "item" and "html" in attributes.get("media-type", ""):
            files[attributes.get("id", "")] = attributes.get("href", "")
        elif name == "itemref":
            order.append(attributes.get("idref", ""))

    read_xml(content, start)
    names = dict.fromkeys(files[number] for number in order if number in files)
    return [posixpath.normpath(posixpath.join(folder, unquote(name))) for name in names][:MOST_CHAPTERS]


def _pages(members: Members, chapters: list[str], parse_options: ParseOptions) -> Iterator[Page]:
    read = 0
    for name in chapters:
        if read >= LONGEST_TEXT:
            return
        markup = _CLOSED.sub(rb"<\1\2></\1>", members.read(name))
        page = read_page(_INSIDE, markup, "application/xhtml+xml", parse_options=parse_options)
        if page.text:
            yield page
            read += len(page.text)

"""The text of word processors' files: DOCX and OpenDocument."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from spoor.parse.document_text import DocumentText, Lines, Unreadable
from spoor.parse.zipped import Attributes, Members, opened, read_xml, texts_of

_OLD_FORMAT = b"\xd0\xcf\x11\xe0"
"""How a Word file of before 2007 begins, and also an encrypted one of today."""
_FIELD = re.compile(r'HYPERLINK\s+"([^"]+)"')
_WORD_ENDS = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_OPEN_ENDS = {"tab": " ", "line-break": "\n"}
_NOT_TEXT = {"tracked-changes", "annotation", "annotation-end", "forms"}
"""Elements of OpenDocument whose words are not part of the text: what was deleted, comments."""


def read_docx(body: bytes, window: int) -> DocumentText:
    if body.startswith(_OLD_FORMAT):
        raise Unreadable("encrypted, or in the format of before 2007")
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
    """The targets of a DOCX that are outside of it, by their ids."""
    targets: dict[str, str] = {}

    def start(name: str, attributes: Attributes) -> None:
        if name == "Relationship" and attributes.get("TargetMode") == "External":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    if content := members.read("word/_rels/document.xml.rels"):
        read_xml(content, start)
    return targets


@dataclass
class _Word:
    """The state of reading word/document.xml. A link is an element with the id of its target, or a field, whose
    instruction stands before its words."""

    targets: dict[str, str]
    lines: Lines = field(default_factory=Lines)
    _href: str = ""
    _start: int = 0
    _passed_over: int = 0
    _says: str = ""

    def start(self, name: str, attributes: Attributes) -> None:
        if self._passed_over or name == "Fallback":  # of a drawing whose words were just read
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
    """The state of reading content.xml: words count inside of paragraphs and headings alone."""

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

"""The text of a book in EPUB: its chapters in their order, each read as the HTML page that it is."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from urllib.parse import unquote

from spoor.parse.document_text import LONGEST_TEXT, DocumentText, Unreadable
from spoor.parse.html import Interest, read_page
from spoor.parse.zipped import Attributes, Members, opened, read_xml, texts_of
from spoor.records import Page

MOST_CHAPTERS = 2_000
_INSIDE = "http://book.invalid/"
"""What a chapter's relative links become; they lead to other chapters."""
_CLOSED = re.compile(rb"<(?!(?:br|hr|img|input|link|meta|col|wbr)\b)([a-zA-Z][\w:-]*+)(\s[^<>]*)?/>")
"""An element that XML closes at once, which HTML would take for the beginning of one."""


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
        pages = list(_pages(members, chapters, Interest(window=window)))
    links = tuple(link for page in pages for link in page.links if not link.url.startswith(_INSIDE))
    return DocumentText("\n".join(page.text for page in pages), about["title"], about["language"], links)


def _is_protected(members: Members) -> bool:
    """Rights are managed for the text, too; fonts alone may be scrambled without."""
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
    """The names of files, in the order in which they are read."""
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


def _pages(members: Members, chapters: list[str], interest: Interest) -> Iterator[Page]:
    read = 0
    for name in chapters:
        if read >= LONGEST_TEXT:
            return
        markup = _CLOSED.sub(rb"<\1\2></\1>", members.read(name))
        page = read_page(_INSIDE, markup, "application/xhtml+xml", interest=interest)
        if page.text:
            yield page
            read += len(page.text)

"""Documents (PDF, DOCX, OpenDocument, EPUB): recognises them and reads them into a page, or a failure with the
reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from spoor.parse import pdf
from spoor.parse.document_text import DocumentText, Unreadable
from spoor.parse.html import DEFAULT_OPTIONS, ParseOptions, read_page
from spoor.parse.link_base import LinkBase
from spoor.parse.link_contexts import LONGEST_TAG
from spoor.parse.zipped import read_docx, read_epub, read_open_document
from spoor.records import Failure, Link, Page

TYPES = {
    "application/pdf": "PDF",
    "application/x-pdf": "PDF",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "DOCX",
    "application/vnd.oasis.opendocument.text": "OpenDocument",
    "application/vnd.oasis.opendocument.presentation": "OpenDocument",
    "application/vnd.oasis.opendocument.spreadsheet": "OpenDocument",
    "application/epub+zip": "EPUB",
}
"""Kinds of documents by content type."""
ENDINGS = {
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".epub": "application/epub+zip",
}
"""Content types by file name extension."""
_READERS: dict[str, Callable[[bytes, int], DocumentText]] = {
    "PDF": pdf.read_pdf,
    "DOCX": read_docx,
    "OpenDocument": read_open_document,
    "EPUB": read_epub,
}
_BEGINS_AS_PDF = b"%PDF-"
_OF_TEXTS = "text/"


def readable_types() -> frozenset[str]:
    """Content types of the documents whose libraries are installed."""
    return frozenset(mime for mime, kind in TYPES.items() if kind != "PDF" or pdf.can_be_read())


def kind_of(body: bytes, content_type: str) -> str:
    """The kind of a document, by the whole header; "" for everything else. A PDF sent as text, or without a type, is
    recognised by its first bytes."""
    mime = _mime(content_type)
    if kind := TYPES.get(mime, ""):
        return kind
    return "PDF" if body.startswith(_BEGINS_AS_PDF) and (not mime or mime.startswith(_OF_TEXTS)) else ""


def read_answer(
    url: str, body: bytes, content_type: str = "", status: int = 200, parse_options: ParseOptions = DEFAULT_OPTIONS
) -> Page | Failure:
    """Like `read_page`; reads documents if `parse_options` asks for them. Only for processes that may crash."""
    kind = kind_of(body, content_type) if parse_options.documents and 200 <= status < 300 else ""
    if not kind:
        return read_page(url, body, content_type, status, parse_options)
    try:
        document = _READERS[kind](body, parse_options.window)
        if not document.text:
            raise Unreadable("no text")
    except Unreadable as error:
        return Failure(f"{kind}: {error}")
    mime = _mime(content_type) or "application/pdf"
    return _page(Page(url, status, mime, size=len(body)), document, parse_options)


def _mime(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _page(page: Page, document: DocumentText, parse_options: ParseOptions) -> Page:
    links = _links(page.url, document.links)
    most = len(links) if parse_options.most_links is None else parse_options.most_links
    title = document.heading
    return Page(
        page.url,
        page.status,
        page.content_type,
        size=page.size,
        title=title,
        text=document.text,
        tag_texts={"title": title} if title else {},
        links=tuple(links[:most]),
        unrecorded=max(0, len(links) - most),
        language=document.language[:LONGEST_TAG],
    )


def _links(url: str, written: Iterable[Link]) -> list[Link]:
    """Each target once, with its first link that has an anchor."""
    base = LinkBase(url)
    links: dict[str, Link] = {}
    for link in written:
        target = base.join(link.url)
        if target is None or target == url:
            continue
        if target not in links or (link.anchor and not links[target].anchor):
            links[target] = link._replace(url=target)
    return list(links.values())

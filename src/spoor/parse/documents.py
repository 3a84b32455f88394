"""Documents on disk, as pages: HTML or plain text, one file or a folder of them."""

from __future__ import annotations

from pathlib import Path

from spoor.errors import BadInput
from spoor.parse.charset import decode
from spoor.parse.html import Interest, read_page
from spoor.parse.main_text import QUICK
from spoor.records import Page

HTML_NAMES = (".html", ".htm", ".xhtml")


def document(path: Path) -> Page:
    try:
        return as_page(path.name, path.read_bytes())
    except OSError as error:
        raise BadInput(f"cannot read the document {path}: {error.strerror}") from None


def documents(folder: Path) -> list[Page]:
    """All files in the folder and below, in the order of their names; hidden ones are passed over."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder; name one that holds documents, HTML or plain text, one a file")
    files = sorted(path for path in folder.rglob("[!.]*") if path.is_file())
    if not files:
        raise BadInput(f"the folder {folder} holds no documents; put some there, HTML or plain text, one a file")
    return [document(path) for path in files]


def as_page(name: str, body: bytes) -> Page:
    """HTML is what is called so or begins with a tag; everything else is text."""
    if name.lower().endswith(HTML_NAMES) or body.lstrip()[:1] == b"<":
        return read_page("http://document.invalid/", body, "text/html", interest=Interest(QUICK))
    text = decode(body, "").text
    return Page("http://document.invalid/", content_type="text/plain", size=len(body), text=text)

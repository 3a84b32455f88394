"""Small documents, made by hand: PDF, DOCX, OpenDocument and EPUB."""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
from collections.abc import Mapping

from spoor.demo.plain_pdf import dictionary, stream, written

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ODT = "application/vnd.oasis.opendocument.text"
EPUB = "application/epub+zip"
PDF = "application/pdf"


def scanned() -> bytes:
    """A page that is a picture."""
    picture = stream(
        bytes(100), "/Type /XObject /Subtype /Image /Width 10 /Height 10 /BitsPerComponent 8 /ColorSpace /DeviceGray"
    )
    page = "/Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >>"
    return written(
        [
            dictionary("/Type /Catalog /Pages 2 0 R"),
            dictionary("/Type /Pages /Kids [3 0 R] /Count 1"),
            dictionary(page),
            stream(b"600 0 0 800 0 0 cm /I Do"),
            picture,
        ]
    )


ENCRYPTED = "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{0}> /U <{0}> >> /ID [<00> <00>]".format("41" * 32)
"""For the trailer of a file that nobody opens without a password."""


def as_drawn(line: str) -> str:
    """A line of Arabic as it stands on paper, from the left, of letters as they look by themselves."""
    forms = {unicodedata.normalize("NFKC", form): form for form in map(chr, range(0xFE80, 0xFEF5)) if _is_alone(form)}
    drawn = re.sub(r"\d+", lambda digits: digits[0][::-1], line)[::-1]
    return "".join(forms.get(letter, letter) for letter in drawn)


def _is_alone(form: str) -> bool:
    return unicodedata.decomposition(form).startswith("<isolated>")


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def _about(title: str, language: str) -> str:
    return f'<m xmlns:dc="urn:dc"><dc:title>{title}</dc:title><dc:language>{language}</dc:language></m>'


def docx(content: str, title: str = "", relations: Mapping[str, str] | None = None, language: str = "") -> bytes:
    """`content` is what stands in the body, in WordprocessingML; the relations are ids and their external targets."""
    related = "".join(
        f'<Relationship Id="{number}" Target="{target}" TargetMode="External"/>'
        for number, target in (relations or {}).items()
    )
    return zipped(
        {
            "word/document.xml": f'<w:document xmlns:w="urn:w" xmlns:r="urn:r"><w:body>{content}</w:body></w:document>',
            "word/_rels/document.xml.rels": f"<Relationships>{related}</Relationships>",
            "docProps/core.xml": _about(title, language),
        }
    )


def odt(content: str, title: str = "", language: str = "") -> bytes:
    spaces = 'xmlns:office="urn:office" xmlns:text="urn:text" xmlns:xlink="urn:xlink"'
    return zipped(
        {
            "mimetype": ODT,
            "content.xml": f"<office:document {spaces}><office:body>{content}</office:body></office:document>",
            "meta.xml": _about(title, language),
        }
    )


def epub(chapters: Mapping[str, str], title: str = "", language: str = "") -> bytes:
    """Chapters by their names, in the order in which they are read; the files lie the other way round."""
    items = "".join(
        f'<item id="c{number}" href="{name}" media-type="application/xhtml+xml"/>'
        for number, name in reversed([*enumerate(chapters)])
    )
    order = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    about = _about(title, language)
    return zipped(
        {
            "mimetype": EPUB,
            "META-INF/container.xml": '<c><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></c>',
            "OEBPS/book.opf": f"<package>{about}<manifest>{items}</manifest><spine>{order}</spine></package>",
            **{f"OEBPS/{name}": content for name, content in reversed([*chapters.items()])},
        }
    )

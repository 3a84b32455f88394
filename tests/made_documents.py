"""Small documents, made by hand: PDF, DOCX, OpenDocument and EPUB."""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ODT = "application/vnd.oasis.opendocument.text"
EPUB = "application/epub+zip"
PDF = "application/pdf"

_CMAP = """/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /A def /CMapType 2 def 1 begincodespacerange <0000> <FFFF> endcodespacerange
{count} beginbfchar
{pairs}
endbfchar endcmap end end"""


def pdf(
    pages: Sequence[Sequence[str]], title: str = "", links: Sequence[str] = (), extra: str = "", language: str = ""
) -> bytes:
    """Pages of lines. All letters have the same width, and the font says what each means. The links are annotations of
    the first lines of the first page, one each. `extra` goes into the trailer."""
    letters = {letter: number for number, letter in enumerate(sorted({*"".join(map("".join, pages))}), 1)}
    first = 6
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        _dictionary(f"/Type /Catalog /Pages 2 0 R {f'/Lang ({language})' if language else ''}"),
        _dictionary(f"/Type /Pages /Kids [{kids}] /Count {len(pages)}"),
        _dictionary(
            "/Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /DescendantFonts [4 0 R] /ToUnicode 5 0 R"
        ),
        _dictionary(
            "/Type /Font /Subtype /CIDFontType2 /BaseFont /A /DW 600 /CIDSystemInfo "
            "<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor << /Type /FontDescriptor "
            "/FontName /A /Flags 4 /FontBBox [0 -200 600 800] /Ascent 800 /Descent -200 /ItalicAngle 0 /StemV 80 >>"
        ),
        stream(_to_unicode(letters)),
    ]
    for number, lines in enumerate(pages):
        annotations = "".join(map(_annotation, range(len(links)), links)) if number == 0 else ""
        objects += [
            _dictionary(
                f"/Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {first + 2 * number + 1} 0 R "
                f"/Resources << /Font << /F 3 0 R >> >> /Annots [{annotations}]"
            ),
            stream(_drawn(lines, letters)),
        ]
    info = _dictionary(f"/Title <feff{title.encode('utf-16-be').hex()}>")
    return written([*objects, info], f"/Info {len(objects) + 1} 0 R {extra}")


def written(objects: Iterable[bytes], extra: str = "") -> bytes:
    """A file of numbered objects, the first of which is its catalogue."""
    file, places = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(file))
        file += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    count = len(places) + 1
    file_end = f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer << /Root 1 0 R /Size {count} {extra} >>\n"
    return bytes(file) + f"{file_end}startxref\n{len(file)}\n%%EOF\n".encode()


def stream(content: bytes, about: str = "") -> bytes:
    packed = zlib.compress(content, 9)
    return f"<< /Length {len(packed)} /Filter /FlateDecode {about} >>\nstream\n".encode() + packed + b"\nendstream"


def scanned() -> bytes:
    """A page that is a picture."""
    picture = stream(
        bytes(100), "/Type /XObject /Subtype /Image /Width 10 /Height 10 /BitsPerComponent 8 /ColorSpace /DeviceGray"
    )
    page = "/Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >>"
    return written(
        [
            _dictionary("/Type /Catalog /Pages 2 0 R"),
            _dictionary("/Type /Pages /Kids [3 0 R] /Count 1"),
            _dictionary(page),
            stream(b"600 0 0 800 0 0 cm /I Do"),
            picture,
        ]
    )


ENCRYPTED = "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{0}> /U <{0}> >> /ID [<00> <00>]".format("41" * 32)
"""For the trailer of a file that nobody opens without a password."""


def _dictionary(content: str) -> bytes:
    return f"<< {content} >>".encode()


def _annotation(line: int, url: str) -> str:
    """Around the whole line."""
    bottom = _height(line) - 4
    return f"<< /Type /Annot /Subtype /Link /Rect [0 {bottom} 600 {bottom + 16}] /A << /S /URI /URI ({url}) >> >>"


def _to_unicode(letters: Mapping[str, int]) -> bytes:
    pairs = "\n".join(f"<{number:04x}> <{letter.encode('utf-16-be').hex()}>" for letter, number in letters.items())
    return _CMAP.format(count=len(letters), pairs=pairs).encode()


def _drawn(lines: Sequence[str], letters: Mapping[str, int]) -> bytes:
    shown = (
        f"1 0 0 1 40 {_height(number)} Tm <{''.join(f'{letters[letter]:04x}' for letter in line)}> Tj"
        for number, line in enumerate(lines)
    )
    return f"BT /F 12 Tf {' '.join(shown)} ET".encode()


def as_drawn(line: str) -> str:
    """A line of Arabic as it stands on paper, from the left, of letters as they look by themselves."""
    forms = {unicodedata.normalize("NFKC", form): form for form in map(chr, range(0xFE80, 0xFEF5)) if _is_alone(form)}
    drawn = re.sub(r"\d+", lambda digits: digits[0][::-1], line)[::-1]
    return "".join(forms.get(letter, letter) for letter in drawn)


def _is_alone(form: str) -> bool:
    return unicodedata.decomposition(form).startswith("<isolated>")


def _height(line: int) -> int:
    return 760 - 20 * line


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

"""Writes a PDF of plain lines: any Unicode letters, all of the same width, without font outlines.

Displayed or printed, it shows spaces. Text extraction works, because the font maps each of its characters to Unicode.
"""

from __future__ import annotations

import textwrap
import zlib
from collections.abc import Iterable, Mapping, Sequence

LINES, LETTERS = 36, 70
"""Number of lines per page, and of letters per line."""
_CMAP = """/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /A def /CMapType 2 def 1 begincodespacerange <0000> <FFFF> endcodespacerange
{count} beginbfchar
{pairs}
endbfchar endcmap end end"""


def pdf(
    pages: Sequence[Sequence[str]], title: str = "", links: Sequence[str] = (), extra: str = "", language: str = ""
) -> bytes:
    """Pages of lines. All letters have the same width, and the font maps them to Unicode. The links are annotations of
    the first lines of the first page, one each. `extra` goes into the trailer."""
    letters = {letter: number for number, letter in enumerate(sorted({*"".join(map("".join, pages))}), 1)}
    first = 6
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        dictionary(f"/Type /Catalog /Pages 2 0 R {f'/Lang ({language})' if language else ''}"),
        dictionary(f"/Type /Pages /Kids [{kids}] /Count {len(pages)}"),
        dictionary(
            "/Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /DescendantFonts [4 0 R] /ToUnicode 5 0 R"
        ),
        dictionary(
            "/Type /Font /Subtype /CIDFontType2 /BaseFont /A /DW 600 /CIDSystemInfo "
            "<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor << /Type /FontDescriptor "
            "/FontName /A /Flags 4 /FontBBox [0 -200 600 800] /Ascent 800 /Descent -200 /ItalicAngle 0 /StemV 80 >>"
        ),
        stream(_to_unicode(letters)),
    ]
    for number, lines in enumerate(pages):
        annotations = "".join(map(_annotation, range(len(links)), links)) if number == 0 else ""
        objects += [
            dictionary(
                f"/Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {first + 2 * number + 1} 0 R "
                f"/Resources << /Font << /F 3 0 R >> >> /Annots [{annotations}]"
            ),
            stream(_drawn(lines, letters)),
        ]
    info = dictionary(f"/Title <feff{title.encode('utf-16-be').hex()}>")
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


def dictionary(content: str) -> bytes:
    return f"<< {content} >>".encode()


def _annotation(line: int, url: str) -> str:
    """Covers the whole line."""
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


def _height(line: int) -> int:
    return 760 - 20 * line


def pages_of(paragraphs: Iterable[str]) -> list[list[str]]:
    """Wraps paragraphs to lines and pages; breaks anywhere if there are no spaces."""
    lines = [line for paragraph in paragraphs for line in textwrap.wrap(paragraph, LETTERS)]
    return [lines[start : start + LINES] for start in range(0, len(lines), LINES)]

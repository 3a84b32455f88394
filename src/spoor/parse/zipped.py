"""Documents that are ZIP files full of XML, within limits: bombs of both kinds are refused, not unpacked."""

from __future__ import annotations

import contextlib
import io
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from xml.parsers import expat

from spoor.parse.document_text import Unreadable

MOST_UNPACKED = 50_000_000
"""Bytes of all members that are read of one document."""
DEEPEST = 1_000
"""Elements inside one another."""

Attributes = Mapping[str, str]
"""By their local names."""
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, IndexError)
"""What zipfile raises for damaged or strange files; NotImplementedError for a compression that it does not know. Each
becomes a reason."""
_ENCRYPTED = 1
"""The bit of a member's flags."""


class Members:
    """The files in a ZIP file, which together must not unpack to more than `MOST_UNPACKED`."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._left = MOST_UNPACKED

    def read(self, name: str) -> bytes:
        """b"" when there is no such file."""
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
    """Tells of elements by their local names. Entities are never expanded: whoever declares some is refused."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise Unreadable("elements inside one another without end")
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
    """What the first element of each name says; "" where there is none, or no XML at all."""
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

"""Pages to train from: files, folders, tar archives, and lists of URLs."""

from __future__ import annotations

import logging
import lzma
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spoor.errors import BadInput, MissingExtra
from spoor.parse.apart import read_in_subprocess
from spoor.parse.charset import decode
from spoor.parse.documents import ENDINGS, readable_types
from spoor.parse.html import ParseOptions, read_page
from spoor.parse.main_text import QUICK, is_legible
from spoor.records import Failure, Page
from spoor.urls import normalise

# Documents on disk as pages: HTML, plain text, PDF and similar, one file or a folder.


_log = logging.getLogger(__name__)
HTML_NAMES = (".html", ".htm", ".xhtml")


def document(path: Path) -> Page:
    try:
        return as_page(path.name, path.read_bytes())
    except OSError as error:
        raise BadInput(f"cannot read the document {path}: {error.strerror}") from None


def documents(folder: Path) -> list[Page]:
    """All files in the folder and below, sorted by name; hidden files are skipped."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder; name one that holds documents, HTML or plain text, one per file")
    files = sorted(path for path in folder.rglob("[!.]*") if path.is_file())
    if not files:
        raise BadInput(f"the folder {folder} holds no documents; put some there, HTML or plain text, one per file")
    return [document(path) for path in files]


def as_page(name: str, body: bytes) -> Page:
    """HTML by its suffix or if it begins with a tag, PDF by its suffix; everything else is plain text."""
    if mime := ENDINGS.get(Path(name).suffix.lower()):
        return _read_document(name, body, mime)
    if name.lower().endswith(HTML_NAMES) or body.lstrip()[:1] == b"<":
        return read_page("http://document.invalid/", body, "text/html", parse_options=ParseOptions(QUICK))
    text = decode(body, "").text
    return Page("http://document.invalid/", content_type="text/plain", size=len(body), text=text)


def _read_document(name: str, body: bytes, mime: str) -> Page:
    if mime not in readable_types():
        raise MissingExtra(f"{name} needs pypdfium2 to be read; install it with: pip install 'spoor[documents]'")
    page = read_in_subprocess("http://document.invalid/", body, mime)
    if isinstance(page, Failure):
        raise BadInput(f"cannot read the document {name}: {page.reason}")
    return page


# Pages for training: files, folders, tar archives, and lists of URLs, each page with a name.


ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2")
SIDES = ("positive", "negative")
LARGEST = 20_000_000
"""Maximum number of bytes read of a page."""


@dataclass(frozen=True)
class Example:
    """`name` is the path within the source, such as `positive/a.html`."""

    name: str
    page: Page

    @property
    def folder(self) -> str:
        """The folder of the page, "" if it is in none."""
        return self.name.rpartition("/")[0]

    @property
    def text(self) -> str:
        """The text that topic judges read."""
        return self.page.best_text


@dataclass(frozen=True)
class Kept:
    """The usable examples, and how many were left out: without words, not legible, duplicates."""

    examples: tuple[Example, ...]
    empty: int = 0
    illegible: int = 0
    duplicates: int = 0

    def __str__(self) -> str:
        counts = {"empty": self.empty, "not text": self.illegible, "duplicates": self.duplicates}
        left_out = ", ".join(f"{count} {why}" for why, count in counts.items() if count)
        return f"{len(self.examples)}" + (f" ({left_out} left out)" if left_out else "")


def read_examples(source: Path) -> Iterator[Example]:
    """Hidden files are skipped. BadInput if there are no pages."""
    nothing = True
    for name, body in _bodies(source):
        nothing = False
        yield _example(name, body)
    if nothing:
        raise BadInput(f"{source} holds no pages; put some there, HTML or plain text, one per file")


def _example(name: str, body: bytes) -> Example:
    """A document that cannot be read counts as a page without words, so that the other pages are still used."""
    try:
        return Example(name, as_page(name, body))
    except (BadInput, MissingExtra) as error:
        _log.warning("%s", error)
        return Example(name, Page("http://document.invalid/", size=len(body)))


def urls_in(source: Path) -> list[str]:
    """The URLs of a text file with one URL per line and nothing else; empty if the file is a page itself."""
    if source.suffix != ".txt" or not source.is_file():
        return []
    lines = [line.strip() for line in source.read_text("utf8", "replace").splitlines()]
    urls = [normalise(line) for line in lines if line and not line.startswith("#")]
    return [url for url in urls if url is not None] if all(urls) else []


def sides(source: Path, examples: Iterable[Example]) -> tuple[list[Example], list[Example]]:
    """The relevant pages and the others, of a source with a folder for each."""
    by_side: dict[str, list[Example]] = {side: [] for side in SIDES}
    for example in examples:
        side, slash, _ = example.name.partition("/")
        if not slash or side not in by_side:
            raise BadInput(f"{source}: {example.name} is neither in {' nor in '.join(SIDES)}; put it into one of them")
        by_side[side].append(example)
    for side, found in by_side.items():
        if not found:
            raise BadInput(f"{source} has no pages in a folder {side}; both are needed, {' and '.join(SIDES)}")
    return by_side["positive"], by_side["negative"]


def usable(examples: Iterable[Example]) -> Kept:
    """Legible pages with text, without duplicates, which would leak between folds of the cross-validation. Sorted by
    name."""
    seen: dict[tuple[str, str], Example] = {}
    empty = illegible = duplicates = 0
    for example in sorted(examples, key=lambda example: example.name):
        said = (example.page.title, example.text)
        if not example.text.strip():
            empty += 1
        elif not is_legible(example.text):
            illegible += 1
        elif said in seen:
            duplicates += 1
        else:
            seen[said] = example
    return Kept(tuple(seen.values()), empty, illegible, duplicates)


def _bodies(source: Path) -> Iterator[tuple[str, bytes]]:
    try:
        if source.is_dir():
            yield from _in_folder(source)
        elif source.name.lower().endswith(ARCHIVES):
            yield from _in_archive(source)
        else:
            yield source.name, _read(source)
    except OSError as error:
        raise BadInput(f"cannot read {error.filename or source}: {error.strerror or error}") from None
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
        said = str(error).partition("\n")[0].rstrip(":")
        raise BadInput(f"cannot read the archive {source}: {said}") from None


def _in_folder(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not _is_hidden(name):
            yield name, _read(path)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST)


def _in_archive(source: Path) -> Iterator[tuple[str, bytes]]:
    """In the order of the archive; any other order would decompress it repeatedly. A single top folder, common in
    archives, is not part of the names."""
    with tarfile.open(source) as archive:
        members = {member.name.removeprefix("./"): member for member in archive if member.isfile()}
        files = {name: member for name, member in members.items() if not _is_hidden(name)}
        tops = {name.partition("/")[0] for name in files}
        outer = f"{tops.pop()}/" if len(tops) == 1 else ""
        for name, member in files.items():
            if (file := archive.extractfile(member)) is not None:
                yield name.removeprefix(outer), file.read(LARGEST)


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))

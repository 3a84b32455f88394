"""Exports the relevant pages of a crawl for other tools: the text of each page, its origin, and why it is relevant."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, date, datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from spoor.errors import BadInput, MissingExtra, UsageError
from spoor.lab.build.warc_source import parse_http_response
from spoor.parse.apart import read_in_subprocess
from spoor.parse.charset import decode
from spoor.parse.documents import kind_of
from spoor.parse.html import HTML_TYPES, read_page
from spoor.parse.main_text import BEST, MainText, require_trafilatura
from spoor.parse.scripted import THIN_TEXT
from spoor.pools import in_order
from spoor.progress import Advance, unseen
from spoor.records import Failure, Page
from spoor.result_files import output_file
from spoor.store.crawl_folder import CrawlFolder, message_of, tree_of
from spoor.store.crawl_parts import Part, open_parts, pages_in_order, totals_of_crawl
from spoor.store.journal import PageRow
from spoor.store.lesson_tables import has_students
from spoor.store.marks import kind_of_teacher, newest_marks
from spoor.store.verdicts import judges_verdict
from spoor.store.warc_records import date_of
from spoor.teaching.kept_pages import version_of

_BATCH = 16
_ROW_GROUP = 1000
_AS_SENT = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
"""The message head before the rendered HTML of a page."""
_LINE_END = re.compile("\r\n?|[\x85\u2028\u2029]")
_CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f]")
"""All control characters but line feed and tab."""
_LAST_SECOND = 253_402_300_799.0
"""The last second of the year 9999."""
_LATER_CONTROLS = re.compile("[\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Document:
    """An exported page. `text` is its main text, "" if it has none; `published` a date such as 2026-11-15, "" if
    unknown; `time` is when it was fetched. `version` is that of the taught judge that gave the verdict, 0 if the judge
    is not taught; `confirmed_by` is who says the same: `person`, `model`, `file`, or "". `judge_relevance` and
    `judge_relevant` are the verdict of the judge, which a person may have overruled."""

    url: str
    title: str
    text: str
    language: str
    relevance: float
    relevant: bool
    because: str
    published: str
    time: str
    duplicate_of: str
    version: int = 0
    confirmed_by: str = ""
    judge_relevance: float = 0.0
    judge_relevant: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """What to export, and how: `every` page, or only the relevant ones; `workers` is the number of processes."""

    format: str
    every: bool = False
    workers: int = 1


DUPLICATES = "duplicates"
"""Exported pages that are duplicates or near-duplicates of earlier ones."""
NEED_SCRIPTS = "need scripts"
"""Pages of the crawl with hardly any readable text, whether relevant or not."""
NO_INDEX = "noindex"
"""Relevant pages that say that they are not to be indexed."""
NOT_KEPT = "not kept"
"""Pages that were not stored because the settings keep only relevant pages."""

Report = Counter[str]
"""Number of exported pages, of duplicates and of pages without main text among them, of pages that are noindex, not
kept, and missing from the archive, and of all pages that need scripts."""

Archived = tuple[PageRow, bytes]
"""A page and its HTTP message."""


def export(folder: CrawlFolder, selection: Selection, out: Path, advance: Advance = unseen) -> Report:
    """Writes the file `out` completely or not at all, or into the pipe or device of that name. `advance` receives the
    number of processed pages."""
    write = writer_of(selection.format)
    require_trafilatura()
    report = Report()
    with open_parts(folder) as parts:
        report[NEED_SCRIPTS] = totals_of_crawl(parts).needs_scripts
        archived = _archived(parts, selection.every, report, advance)
        documents = _with_sayings(_documents(archived, selection.workers), parts)
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            with output_file(out) as file:
                write(_counted(documents, report, advance), file)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise BadInput(f"cannot write {out}: {error.strerror or error}") from None
    return report


def writer_of(format: str) -> Callable[[Iterable[Document], BinaryIO], None]:
    if format not in FORMATS:
        raise UsageError(f"there is no format '{format}'; there are {', '.join(FORMATS)}")
    return FORMATS[format]


def write_jsonl(documents: Iterable[Document], file: BinaryIO) -> None:
    """Escapes control characters, including those that JSON allows."""
    for document in documents:
        line = json.dumps(asdict(document), ensure_ascii=False)
        escaped = _LATER_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
        file.write(f"{escaped}\n".encode("utf8", "replace"))


def write_text(documents: Iterable[Document], file: BinaryIO) -> None:
    """URL, title, an empty line, the text, and a form feed as the end of the page, which no text contains. Other
    control characters, which may control a terminal, become spaces; only the text keeps line ends and tabs."""
    for document in documents:
        if document.text:
            head = (" ".join(_CONTROLS.sub(" ", line).split()) for line in (document.url, document.title))
            text = "\n".join([*head, "", _CONTROLS.sub(" ", _LINE_END.sub("\n", document.text)), "\f\n"])
            file.write(text.encode("utf8", "replace"))


def write_parquet(documents: Iterable[Document], file: BinaryIO) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise MissingExtra("Parquet needs pyarrow; install it with: pip install 'spoor[parquet]'") from None
    kinds = {"float": pa.float64(), "bool": pa.bool_(), "int": pa.int64()}
    schema = pa.schema([(field.name, kinds.get(str(field.type), pa.string())) for field in fields(Document)])
    remaining = iter(documents)
    with pq.ParquetWriter(file, schema, compression="zstd") as table:
        while group := [asdict(document) for document in islice(remaining, _ROW_GROUP)]:
            table.write_table(pa.Table.from_pylist(group, schema))


FORMATS: dict[str, Callable[[Iterable[Document], BinaryIO], None]] = {
    "jsonl": write_jsonl,
    "parquet": write_parquet,
    "text": write_text,
}


def _archived(parts: Sequence[Part], every: bool, report: Report, advance: Advance) -> Iterator[Archived]:
    """Pages that are not exported are counted at once."""
    for part, page in pages_in_order(parts, relevant_only=not every):
        message = None
        if page.noindex and not every:
            report[NO_INDEX] += 1
        elif (message := _message(part.folder, part.db, page)) is None:
            report["not in the archive" if page.warc_file != "" else NOT_KEPT] += 1
        if message is None:
            advance(1)
        else:
            yield page, message


def _message(folder: CrawlFolder, db: sqlite3.Connection, page: PageRow) -> bytes | None:
    """The HTTP message of a page, or its rendered HTML as if it had been the response."""
    message = message_of(folder, db, page)
    tree = tree_of(folder, db, page) if message is not None else ""
    return _AS_SENT + tree.encode("utf8", "replace") if tree else message


def _documents(archived: Iterator[Archived], workers: int) -> Iterator[Document]:
    """In page order, whatever the number of workers."""
    batches = iter(lambda: list(islice(archived, _BATCH)), [])
    return in_order(_read, batches, workers)


def _with_sayings(documents: Iterator[Document], parts: Sequence[Part]) -> Iterator[Document]:
    """Adds the version of the judge, who confirmed the verdict, and what the judge says."""
    marks = {url: (part.db, mark) for part in parts for url, mark in newest_marks(part.db).items()}
    taught = [part.db for part in parts if has_students(part.db)]
    for document in documents:
        version = max((version_of(db, document.url) for db in taught), default=0)
        by, judged = "", None
        if (marked := marks.get(document.url)) is not None:
            db, mark = marked
            by = kind_of_teacher(mark.who) if mark.relevant == document.relevant else ""
            judged = judges_verdict(db, document.url)
        relevance, relevant = (judged or document).relevance, (judged or document).relevant
        said = replace(document, judge_relevance=relevance, judge_relevant=relevant)
        yield replace(said, version=version, confirmed_by=by)


def _read(batch: list[Archived]) -> list[Document]:
    return [_document(page, main_text(page.url, message, _day(page))) for page, message in batch]


def _day(page: PageRow) -> date:
    return datetime.fromtimestamp(_came(page), UTC).date()


def _came(page: PageRow) -> float:
    """In seconds since 1970; 0 for a time outside the calendar."""
    return page.ended if 0.0 <= page.ended <= _LAST_SECOND else 0.0


def _document(page: PageRow, main: MainText) -> Document:
    return Document(
        url=page.url,
        title=page.title,
        text=main.text,
        language=page.language,
        relevance=page.relevance,
        relevant=page.relevant,
        because=page.because,
        published=main.published,
        time=date_of(_came(page)),
        duplicate_of=page.duplicate_of,
    )


def main_text(url: str, message: bytes, came: date) -> MainText:
    """The main text of an HTTP response, without navigation and other boilerplate; empty if it is not text."""
    http = parse_http_response(message)
    if http is None:
        return MainText()
    content_type = http.headers.get("content-type", "")
    mime = content_type.partition(";")[0].strip().lower() or "text/html"
    if kind_of(http.body, content_type):
        page = read_in_subprocess(url, http.body, content_type, http.status)
        return MainText(text="" if isinstance(page, Failure) else page.text)
    if mime in HTML_TYPES:
        found = BEST.extract(decode(http.body, content_type).text, url, came)
        return found if len(found.text) >= THIN_TEXT else _or_data(found, read_page(url, http.body, content_type))
    return MainText(text=decode(http.body, content_type).text if mime.startswith("text/") else "")


def _or_data(found: MainText, page: Page) -> MainText:
    """Falls back to the text in embedded data of a page, which extractors do not see."""
    return replace(found, text=page.main_text) if page.main_text else found


def _counted(documents: Iterable[Document], report: Report, advance: Advance) -> Iterator[Document]:
    for document in documents:
        yield document
        report["exported"] += 1
        report["without main text"] += not document.text
        report[DUPLICATES] += document.duplicate_of != ""
        advance(1)


def count(folder: CrawlFolder, every: bool) -> int:
    """The number of pages that an export processes."""
    query = "SELECT count(*) FROM pages WHERE relevant = 1 OR ?"
    with open_parts(folder) as parts:
        return sum(int(part.db.execute(query, (every,)).fetchone()[0]) for part in parts)

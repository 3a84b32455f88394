"""The HTTP message that brought a page, read back from the archive of a crawl."""

from __future__ import annotations

import re
import sqlite3

from spoor.store.crawl_folder import CrawlFolder
from spoor.store.duplicates import same_payload
from spoor.store.journal import PageRow
from spoor.store.members import unpacked

_REVISIT = b"\r\nWARC-Type: revisit\r\n"
_FILE = re.compile(r"[^/\0]+\.warc\.gz")


def message_of(folder: CrawlFolder, db: sqlite3.Connection, page: PageRow) -> bytes | None:
    """None: not kept, or lost. A payload that was kept only once is found through its digest."""
    record = _record(folder, page.warc_file, page.warc_offset)
    if record is not None and _REVISIT in record.partition(b"\r\n\r\n")[0]:
        earlier = same_payload(db, page.digest)
        record = None if earlier is None else _record(folder, earlier.file, earlier.offset)
    return None if record is None else record.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n\r\n")


def _record(folder: CrawlFolder, file: object, offset: object) -> bytes | None:
    """Only from files of the archive: a database that somebody else made may name any."""
    if not isinstance(file, str) or not isinstance(offset, int) or offset < 0 or not _FILE.fullmatch(file):
        return None
    try:
        return unpacked(folder.warcs / file, offset)
    except OSError:
        return None

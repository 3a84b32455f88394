"""A web on disk: which files make one, and how a folder becomes complete or stays absent.

    web.json            format, counts, vocabularies, how it was made, the build report
    urls.bin            all URLs one after another; url_offsets.npy says where each begins   (listed webs)
    url_hashes.npy      sorted hashes of the URLs; url_hash_ids.npy gives their numbers       (listed webs)
    page_host.npy       int32  the number of the page's host
    link_offsets.npy    int64  where the links of each page begin in link_targets.npy
    link_targets.npy    int32  page numbers; numbers from `pages` on are URLs that were linked to but not recorded
    status.npy          int16  HTTP status
    size.npy            int32  bytes of the body
    content_type.npy    uint8  index into web.json "content_types"
    header_charset.npy  uint8  index into web.json "charsets"; likewise meta_charset, detected_charset
    language.npy        uint8  index into web.json "languages"; absent when no page claims a language
    seconds.npy         float32  how long the download took; absent when unknown
    redirect.npy        int32  where the page redirects to, -1 for none; absent when there are no redirects
    label_offsets.npy   int64  where the pages of each label of web.json "labels" begin in label_pages.npy
    label_pages.npy     int32  page numbers, rising
    texts.bin           compressed title and texts of each page; texts_offsets.npy   (webs with content)
    contexts.bin        compressed contexts of the links of each page; contexts_offsets.npy   (webs with content)
    seeds.txt           a URL a line   (generated webs)

A generated web has no urls.bin: web.json "url_pattern" makes the URL from the host's number and the page's place on it
(`host_offsets.npy` int32 says where the pages of each host begin).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from spoor.errors import BadInput

FORMAT = 2


@contextlib.contextmanager
def complete_or_absent(out: Path) -> Iterator[Path]:
    """A folder to write into that takes the name `out` only if everything went well."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"{out} already exists; remove it or give another --out")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{out.name}-", suffix=".partial", dir=out.parent))
    except OSError as error:
        raise BadInput(f"cannot write {out}: {error.strerror}") from error
    try:
        yield partial
        partial.chmod(0o755)
        os.replace(partial, out)
    except OSError as error:
        raise _told(error, partial, out) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _told(error: OSError, partial: Path, out: Path) -> BadInput:
    """An error about a file of somebody else's is about reading it; any other kept us from writing."""
    reason = error.strerror or str(error)
    if error.filename and not str(error.filename).startswith(str(partial)):
        return BadInput(f"cannot read {error.filename}: {reason}")
    return BadInput(f"cannot write {out}: {reason}")

"""Webs for language-specific crawling: Thai, Japanese and Mongolian among other languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spoor.lab.generate.chance import Request, draw_seeds, new_stream, write_seeds
from spoor.lab.generate.language_texts import (
    VocabularyFactory,
    language_vocabulary,
    mongolian_tongue,
    write_language_texts,
)
from spoor.lab.generate.language_web import (
    WESTERN,
    Hosts,
    Language,
    batches,
    draw_hosts,
    is_relevant,
    kept_host_offsets,
    restricted,
    trace,
)
from spoor.lab.generate.leaves import CONTENT_TYPES, draw_leaves, with_leaves
from spoor.lab.generate.writing import Batch, WebWriter
from spoor.progress import Advance

SEEDS = 5

TRACED_FROM = 4
"""Size of the web that the Japanese trace is taken from, relative to the request; a complete trace covers about a
third."""

THAI = Language(
    share=0.30,
    own_charsets=("tis-620", "windows-874", "iso-8859-11"),
    other_charsets=(*WESTERN, "utf-8", "shift_jis", "gb2312", "windows-1251"),
)
JAPANESE = Language(
    share=0.30,
    own_charsets=("euc-jp", "shift_jis", "iso-2022-jp"),
    other_charsets=(*WESTERN, "utf-8", "gb2312", "windows-1251"),
    declared=False,
)
MONGOLIAN = Language(
    share=0.12,
    own_charsets=("utf-8",),
    other_charsets=(*WESTERN, "utf-8", "gb2312", "windows-1251"),
)


def thai(request: Request, folder: Path, advance: Advance) -> None:
    _draw_all(THAI, language_vocabulary, request, folder, advance)


def mongolian(request: Request, folder: Path, advance: Advance) -> None:
    _draw_all(MONGOLIAN, mongolian_tongue, request, folder, advance)


def _draw_all(
    language: Language, tongue_of: VocabularyFactory, request: Request, folder: Path, advance: Advance
) -> None:
    hosts = draw_hosts(language.share, request.pages, request.seed)
    seeds = _relevant_seeds(hosts, request.seed)
    pages = batches(hosts, language, request.mislabelled)
    _write(request, _Drawn(pages, hosts.offsets, seeds), tongue_of, folder, advance)


def japanese(request: Request, folder: Path, advance: Advance) -> None:
    """The trace of a crawl; smaller than requested if the crawl ends early."""
    hosts = draw_hosts(JAPANESE.share, TRACED_FROM * request.pages, request.seed)
    seeds = _relevant_seeds(hosts, request.seed)
    kept = trace(hosts, seeds, request.pages)
    pages = restricted(batches(hosts, JAPANESE), kept)
    offsets = kept_host_offsets(hosts.offsets, kept)
    numbers = [int(np.count_nonzero(kept[:seed])) for seed in seeds]
    _write(request, _Drawn(pages, offsets, numbers), language_vocabulary, folder, advance)


class _Drawn(NamedTuple):
    """The pages of a web, the first page of each host, and the page numbers of its seeds."""

    pages: Iterator[Batch]
    offsets: NDArray[np.int32]
    seeds: list[int]


def _write(request: Request, web: _Drawn, tongue_of: VocabularyFactory, folder: Path, advance: Advance) -> None:
    web = web if request.text else web._replace(pages=_counted(web.pages, advance))
    content_types = CONTENT_TYPES[:1]
    if request.errors or request.non_html:
        leaves, content_types = draw_leaves(request.seed, request.errors, request.non_html, web.offsets), CONTENT_TYPES
        web = _Drawn(with_leaves(web.pages, leaves), leaves.moved, list(map(leaves.number, web.seeds)))
    writer = WebWriter(folder, ["relevant"])
    for batch in web.pages:
        writer.append(batch)
    writer.close(request.name, web.offsets, request.made_from, content_types)
    write_seeds(folder, web.seeds)
    if request.text:
        write_language_texts(request, folder, advance, tongue_of)


def _counted(batches: Iterator[Batch], advance: Advance) -> Iterator[Batch]:
    for batch in batches:
        yield batch
        advance(len(batch))


def _relevant_seeds(hosts: Hosts, seed: int) -> list[int]:
    """Random relevant pages; the paper does not state where its crawls began."""
    stream = new_stream()

    def relevant(page: int) -> bool:
        host = int(np.searchsorted(hosts.offsets, page, side="right")) - 1
        return is_relevant(hosts, host, page, stream)

    return draw_seeds(seed, int(hosts.offsets[-1]), relevant, SEEDS)

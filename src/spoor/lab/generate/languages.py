"""The webs for language-specific crawling: Thai, Japanese and Mongolian among other languages."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from spoor.lab.generate.chance import Request, draw_seeds, new_stream, write_seeds
from spoor.lab.generate.language_texts import TongueOf, everyday_tongue, mongolian_tongue, write_language_texts
from spoor.lab.generate.language_web import (
    Hosts,
    Language,
    batches,
    draw_hosts,
    is_relevant,
    kept_host_offsets,
    restricted,
    trace,
)
from spoor.lab.generate.writing import WebWriter
from spoor.progress import Advance

SEEDS = 5

TRACED_FROM = 4
"""How many times larger the web is in which the Japanese trace is taken; a finished trace is about a third of it."""

WESTERN = ("iso-8859-1", "windows-1252")

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
    _draw_all(THAI, everyday_tongue, request, folder, advance)


def mongolian(request: Request, folder: Path, advance: Advance) -> None:
    _draw_all(MONGOLIAN, mongolian_tongue, request, folder, advance)


def _draw_all(language: Language, tongue_of: TongueOf, request: Request, folder: Path, advance: Advance) -> None:
    hosts = draw_hosts(language.share, request.pages, request.seed)
    writer = WebWriter(folder, ["relevant"])
    for batch in batches(hosts, language):
        writer.append(batch)
        advance(0 if request.text else len(batch))
    writer.close(request.name, hosts.offsets, request.made_from)
    write_seeds(folder, _relevant_seeds(hosts, request.seed))
    if request.text:
        write_language_texts(request, folder, advance, tongue_of)


def japanese(request: Request, folder: Path, advance: Advance) -> None:
    """The trace of a crawl; smaller than asked for when the crawl ends early."""
    hosts = draw_hosts(JAPANESE.share, TRACED_FROM * request.pages, request.seed)
    seeds = _relevant_seeds(hosts, request.seed)
    kept = trace(hosts, seeds, request.pages)
    writer = WebWriter(folder, ["relevant"])
    for batch in restricted(batches(hosts, JAPANESE), kept):
        writer.append(batch)
        advance(0 if request.text else len(batch))
    writer.close(request.name, kept_host_offsets(hosts.offsets, kept), request.made_from)
    write_seeds(folder, [int(np.count_nonzero(kept[:seed])) for seed in seeds])
    if request.text:
        write_language_texts(request, folder, advance, everyday_tongue)


def _relevant_seeds(hosts: Hosts, seed: int) -> list[int]:
    """The paper does not say where its crawls began."""
    stream = new_stream()

    def relevant(page: int) -> bool:
        host = int(np.searchsorted(hosts.offsets, page, side="right")) - 1
        return is_relevant(hosts, host, page, stream)

    return draw_seeds(seed, int(hosts.offsets[-1]), relevant, SEEDS)

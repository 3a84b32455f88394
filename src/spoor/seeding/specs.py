"""Search sources by what a user writes: `KIND:WHERE`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from spoor.errors import UsageError
from spoor.seeding.cdx import CdxIndex
from spoor.seeding.opensearch import OpenSearch
from spoor.seeding.result_file import ResultFile
from spoor.seeding.searxng import SearXng
from spoor.seeding.source import ResultSource
from spoor.urls import normalise


def source(spec: str) -> ResultSource:
    kind, _, where = spec.partition(":")
    if kind not in KINDS or not where:
        known = ", ".join(f"{name}:{what}" for name, (what, _) in KINDS.items())
        raise UsageError(f"unknown source {spec!r}; known are {known}")
    return KINDS[kind][1](where)


def _url(where: str) -> str:
    url = normalise(where)
    if url is None:
        raise UsageError(f"source {where!r}: no URL that begins with http:// or https://")
    return url


KINDS: dict[str, tuple[str, Callable[[str], ResultSource]]] = {
    "file": ("PATH", lambda where: ResultFile(Path(where))),
    "searxng": ("URL", lambda where: SearXng(_url(where))),
    "opensearch": ("TEMPLATE", OpenSearch),
    "cdx": ("URL", lambda where: CdxIndex(_url(where))),
}
"""Each kind with what follows it and how it is made."""

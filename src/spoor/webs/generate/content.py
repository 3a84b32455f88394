"""How texts and link contexts of a generated web are written, once its pages and links are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from spoor.webs.blobs import BlobWriter, compress
from spoor.webs.generate.request import Advance
from spoor.webs.web import Web

TEXT_LIMIT = 200_000
"""Pages up to which a web gets texts."""


class Content(NamedTuple):
    title: str
    text: str
    tags: dict[str, str]


class Context(NamedTuple):
    anchor: str
    left: str
    right: str
    heading: str
    nofollow: bool = False


Compose = Callable[[int, list[int]], tuple[Content, list[Context]]]
"""The content of a page, given its number and its links; one context a link, in the same order."""


def write_content(folder: Path, compose: Compose, advance: Advance) -> None:
    web = Web.open(folder)
    with BlobWriter(folder, "texts") as texts, BlobWriter(folder, "contexts") as contexts:
        for page in range(web.pages):
            content, around = compose(page, web.targets(page))
            texts.append(compress(content))
            contexts.append(compress(around))
            advance(1)

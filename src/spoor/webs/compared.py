"""Duplicates in a simulation: every page is compared with those fetched before it, as a live crawl does."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass, field, replace

from spoor.records import Outcome, Page, Visit
from spoor.roles import World
from spoor.sketch import sketch
from spoor.store.duplicates import Duplicates


def _nothing_yet() -> Duplicates:
    db = sqlite3.connect(":memory:")
    Duplicates.create(db)
    return Duplicates(db)


@dataclass
class ComparedWorld:
    """A world with texts, whose pages name the page that they are a duplicate of: an equal one, by all that was kept of
    it, or one with nearly the same text. Of two that are under way at once, the one asked for first is the original."""

    world: World
    _equal: dict[bytes, str] = field(default_factory=dict, init=False, repr=False)
    _similar: Duplicates = field(default_factory=_nothing_yet, init=False, repr=False)

    def look(self, visit: Visit) -> tuple[Outcome, float]:
        outcome, seconds = self.world.look(visit)
        return self._compared(outcome) if isinstance(outcome, Page) else outcome, seconds

    def truth(self, url: str) -> bool:
        return self.world.truth(url)

    def _compared(self, page: Page) -> Page:
        drawn = sketch(page.text) if page.text else None
        twin = self._equal.setdefault(_digest(page), page.url)
        if twin == page.url:
            twin = self._similar.alike(page.url, None if drawn is None else drawn.fingerprint)
        return replace(page, sketch=drawn, duplicate_of=twin)


def _digest(page: Page) -> bytes:
    """Stands for the bytes of a page that has none: what a served page is made of."""
    said = (page.title, page.text, page.language, page.meta_charset, sorted(page.tag_texts.items()), page.links)
    return hashlib.blake2b(repr(said).encode("utf-8", "surrogatepass"), digest_size=16).digest()

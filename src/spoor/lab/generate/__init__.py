"""Webs that are generated: one module for each kind, and here their names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spoor.errors import BadInput, UsageError
from spoor.lab.generate import courses, languages, topical
from spoor.lab.generate.chance import TEXT_LIMIT, Advance, Draw, Request
from spoor.lab.web import complete_or_absent

FEWEST_PAGES = 10
MOST_PAGES = 500_000_000
"""Page numbers are 32 bits wide, and the Japanese web is traced in one four times as large."""


@dataclass(frozen=True)
class Generator:
    sentence: str
    draw: Draw


CATALOGUE = {
    "thai": Generator("sites in many languages, a third of them Thai, known by their declared charset", languages.thai),
    "japanese": Generator(
        "what a crawl for Japanese brought home: mostly Japanese, known by its detected charset", languages.japanese
    ),
    "mongolian": Generator(
        "sites in many languages, an eighth of them in traditional Mongolian; no charset gives them away",
        languages.mongolian,
    ),
    "topical": Generator("pages from the wanted topic to far from it, in nine types, with texts", topical.draw),
    "topical-weak": Generator("the same, but anchors hardly tell where they lead", topical.draw_weak),
    "courses": Generator("engineering courses in five classes, a fifth of the pages half in Hindi", courses.draw),
    "courses-english": Generator("the same, all in English", courses.draw_english),
}


def generate(request: Request, out: Path, advance: Advance) -> None:
    """Write the web asked for to `out`; the same request always gives the same files."""
    if request.name not in CATALOGUE:
        raise UsageError(f"no generator is called {request.name!r}; there are {', '.join(CATALOGUE)}")
    if request.pages < FEWEST_PAGES:
        raise UsageError(f"--pages {request.pages} is too few; give at least {FEWEST_PAGES}")
    if request.pages > MOST_PAGES:
        raise UsageError(f"--pages {request.pages} is too many; give at most {MOST_PAGES}")
    if request.text and request.pages > TEXT_LIMIT:
        raise UsageError(f"--text is for webs of up to {TEXT_LIMIT} pages; {request.pages} are asked for")
    if request.words and not (request.name == "courses" or (request.name == "mongolian" and request.text)):
        raise UsageError("--words is for --like mongolian --text and for --like courses")
    with complete_or_absent(out) as folder:
        try:
            CATALOGUE[request.name].draw(request, folder, advance)
        except MemoryError:
            raise BadInput(f"{request.pages} pages do not fit in memory; give fewer --pages") from None

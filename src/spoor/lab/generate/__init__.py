"""Webs that are generated: one module for each kind, and here their names."""

from __future__ import annotations

from pathlib import Path

from spoor.errors import BadInput, UsageError
from spoor.files import complete_or_absent
from spoor.lab.generate import courses, languages, topical, topical_paths
from spoor.lab.generate.chance import TEXT_LIMIT, Draw, Request
from spoor.progress import Advance

FEWEST_PAGES = 10
MOST_PAGES = 500_000_000
"""Page numbers are 32 bits wide, and the Japanese web is traced in one four times as large."""


CATALOGUE: dict[str, Draw] = {
    "thai": languages.thai,
    "japanese": languages.japanese,
    "mongolian": languages.mongolian,
    "topical": topical.draw,
    "topical-weak": topical.draw_weak,
    "topical-paths": topical_paths.draw,
    "courses": courses.draw,
    "courses-english": courses.draw_english,
}
"""What each is like: `spoor web generate --help`."""


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
            CATALOGUE[request.name](request, folder, advance)
        except MemoryError:
            raise BadInput(f"{request.pages} pages do not fit in memory; give fewer --pages") from None

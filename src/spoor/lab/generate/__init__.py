"""Generated webs: one module for each kind; their names are registered here."""

from __future__ import annotations

from pathlib import Path

from spoor.errors import BadInput, UsageError
from spoor.files import complete_or_absent
from spoor.lab.generate import courses, languages, topical, topical_paths
from spoor.lab.generate.chance import Draw, Request
from spoor.lab.generate.pages import TEXT_LIMIT
from spoor.progress import Advance
from spoor.settings import USUAL_PARSING

FEWEST_PAGES = 10
MOST_PAGES = 500_000_000
"""Page numbers have 32 bits, and the Japanese web is the trace of a web four times as large."""
MOST_URLS = 2_000_000_000
"""The same limit, including errors and other media."""


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
"""Generators by name; `spoor web generate --help` describes each."""


def generate(request: Request, out: Path, advance: Advance) -> None:
    """Writes the requested web to `out`. The same request always gives the same files."""
    if request.name not in CATALOGUE:
        raise UsageError(f"unknown generator {request.name!r}; known are {', '.join(CATALOGUE)}")
    if request.pages < FEWEST_PAGES:
        raise UsageError(f"--pages {request.pages} is too few; give at least {FEWEST_PAGES}")
    if request.pages > MOST_PAGES:
        raise UsageError(f"--pages {request.pages} is too many; give at most {MOST_PAGES}")
    if request.text and request.pages > TEXT_LIMIT:
        raise UsageError(f"--text is for webs of up to {TEXT_LIMIT} pages; {request.pages} are requested")
    if request.words and not (request.name == "courses" or (request.name == "mongolian" and request.text)):
        raise UsageError("--words is for --like mongolian --text and for --like courses")
    if request.parsing != USUAL_PARSING and request.name in _OF_LANGUAGES and not request.text:
        raise UsageError("--main-text and --context are for webs with HTML; add --text")
    _check_shares(request)
    with complete_or_absent(out) as folder:
        try:
            CATALOGUE[request.name](request, folder, advance)
        except MemoryError:
            raise BadInput(f"{request.pages} pages do not fit in memory; give fewer --pages") from None


_OF_LANGUAGES = ("thai", "japanese", "mongolian")
MOST_LEAVES = 0.9
"""Maximum share of errors and other media among all URLs."""


def _check_shares(request: Request) -> None:
    leaves = request.errors + request.non_html
    if request.mislabelled and request.name != "thai":
        raise UsageError("--mislabelled is for --like thai, whose pages are identified by their declared charset")
    if leaves and request.name not in _OF_LANGUAGES:
        raise UsageError(f"--errors and --non-html are for --like {', '.join(_OF_LANGUAGES)}")
    if not 0 <= request.mislabelled <= 1:
        raise UsageError(f"--mislabelled {request.mislabelled}: give a share from 0 to 1")
    if min(request.errors, request.non_html) < 0 or not leaves <= MOST_LEAVES:
        raise UsageError(f"--errors {request.errors} --non-html {request.non_html}: give shares, together 0 to 0.9")
    if request.pages > MOST_URLS * (1 - leaves):
        raise UsageError(f"--pages {request.pages} is too many with so many errors and other media; give fewer")

"""A page of Markdown whose tables are made anew between markers, while what people wrote around them stays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from spoor.errors import BadInput

_SECTION = re.compile(r"(<!-- contest: (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.S)


def check_page(page: Path, known: Iterable[str]) -> None:
    """Refuses before long work a page that could not be filled after it."""
    names = [found["name"] for found in _SECTION.finditer(_text(page))]
    listed = ", ".join(known)
    if not names:
        marks = "<!-- contest: NAME --> and <!-- end --> on lines of their own"
        raise BadInput(f"{page} has no place for a table; mark places by {marks}, where NAME is one of {listed}")
    if wrong := [name for name in names if name not in known]:
        raise BadInput(f"{page} has a place for {wrong[0]!r}, and there is no such table; there are {listed}")


def filled(page: Path, sections: Mapping[str, str]) -> str:
    """The text of the page with each section in its place."""
    return _SECTION.sub(lambda found: f"{found[1]}\n{sections[found['name']]}\n{found[3]}", _text(page))


def _text(page: Path) -> str:
    try:
        return page.read_text("utf8")
    except OSError as error:
        raise BadInput(f"cannot read {page}: {error.strerror}; --page fills places in a page that is there") from None

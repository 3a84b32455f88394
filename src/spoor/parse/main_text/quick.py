"""The main text by the rules of resiliparse: quick enough for every page of a crawl."""

from __future__ import annotations

import re

from resiliparse.extract.html2text import extract_plain_text

from spoor.parse.bounds import deeper_than
from spoor.parse.main_text.boilerplate import SURROUNDINGS
from spoor.parse.main_text.node_ratio import node_ratio_text

_SMALL = 2_000
"""Tags of a page that needs no closer look before it is read."""
_MOST_TAGS = 10_000
_DEEPEST = 500
"""The time of resiliparse grows with the square of both; larger pages are read by the method of paper 002."""
_CELL = re.compile(r"<(?=[tT][dDhH]\b)")
_SKIPPED = sorted(SURROUNDINGS)


def quick_text(html: str, url: str = "") -> str:
    tags = html.count("<")
    if tags > _MOST_TAGS or (tags > _SMALL and deeper_than(html, _DEEPEST)):
        return node_ratio_text(html)
    # Without the blank, the words of neighbouring cells of a table are glued to one.
    text: str = extract_plain_text(
        _CELL.sub(" <", html),
        main_content=True,
        list_bullets=False,
        alt_texts=False,
        links=False,
        comments=False,
        post_meta=False,
        skip_elements=_SKIPPED,
    )
    return text

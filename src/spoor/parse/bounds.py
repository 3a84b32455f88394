"""How much of a page is read: not all of an endless one, and not deeper than any honest page goes."""

from __future__ import annotations

import re

LONGEST = 16_000_000
"""Characters of HTML that are read; the rest of a larger page is passed over."""
DEEPEST = 10_000
"""Elements inside one another; the time of parsers grows with the square of it."""
_NESTING = re.compile(
    r"<(/?)(?!(?:area|base|br|col|dd|dt|embed|frame|hr|img|input|li|link|meta|option|p|param|t[bdhr]|tbody|tfoot|thead|wbr)\b)"
    r"[a-z]",
    re.IGNORECASE,
)


def bounded(html: str) -> str:
    """Cut where more elements are open than any honest page has; a trap would hold the crawler for hours."""
    html = html[:LONGEST]
    return html[: _too_deep_at(html, DEEPEST)] if html.count("<") > DEEPEST else html


def deeper_than(html: str, deepest: int) -> bool:
    """Roughly: elements that need no end tag, or have none inside an SVG image, are guessed at."""
    return _too_deep_at(html, deepest) is not None


def _too_deep_at(html: str, deepest: int) -> int | None:
    depth = 0
    for tag in _NESTING.finditer(html):
        depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > deepest:
            return tag.start()
    return None

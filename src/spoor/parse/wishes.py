"""What does a page ask of robots: not to index it, not to follow its links?"""

from __future__ import annotations

import re

ROBOT = "spoor"
"""The name under which pages and servers may speak to this crawler alone."""

_KNOWN = frozenset({"noindex", "nofollow"})
_BETWEEN = re.compile(r"[\s,;]+")
_ADDRESSED = re.compile(r"\s*([\w-]+)\s*:(.*)", re.DOTALL)
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


def wishes(content: str) -> frozenset[str]:
    """Those of `noindex` and `nofollow` that a <meta name=robots> asks for."""
    words = _BETWEEN.split(content.lower())
    return _KNOWN if "none" in words else _KNOWN.intersection(words)


def header_wishes(value: str) -> frozenset[str]:
    """Those of an X-Robots-Tag that are for all robots or for this one; a name holds until the next name."""
    ours: list[str] = []
    addressee = ROBOT
    for part in value.lower().split(","):
        named = _ADDRESSED.fullmatch(part)
        if named and named[1] not in _WITH_VALUE:
            addressee, part = named[1], named[2]
        if addressee in (ROBOT, "*"):
            ours.append(part)
    return wishes(",".join(ours))

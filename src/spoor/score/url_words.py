"""The words that a URL is made of, as a text that can be compared with a topic."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

SAYS_NOTHING = frozenset(
    ("http", "https", "www", "com", "org", "net", "html", "htm", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "cgi")
)
"""Words of a URL that are there for the machine."""

_NO_LETTERS = re.compile(r"[\x00-@\[-`{-\x7f]+")
"""Digits and signs of ASCII; whatever is beyond belongs to some script."""
_INSIDE = re.compile("(?<=[a-z])(?=[A-Z])")
"""Where one word ends and another begins in AfricanGeography."""


@lru_cache(1 << 16)
def url_words(url: str) -> str:
    """In small letters, without digits, blanks between."""
    words = _NO_LETTERS.split(_INSIDE.sub(" ", unquote(url)).lower())
    return " ".join(word for word in words if word and word not in SAYS_NOTHING)

"""Signs of a language that are seen before a visit, as numbers from -1 to 1: another language is a sign against."""

from __future__ import annotations

from functools import lru_cache

from spoor.language.meanings import SMALL, Meanings, is_small
from spoor.language.tags import matches, read_tag

COMMON = frozenset({"en"})
"""Where several languages meet, pages are in this one: it says little against any other."""

COMMON_SHARE = 0.25
"""How much of a sign against remains of it."""

_WANTED_SMALL = 0.8
"""How surely a code or name of a small language means it when it is wanted."""


def sign(wanted: str, means: Meanings) -> float:
    """For or against a language: of something that may mean the languages `means`. A small language is only ever meant
    where it is wanted."""
    if not means:
        return 0.0
    for_it = max((sure for tag, sure in means.items() if matches(wanted, tag)), default=0.0)
    if for_it:
        return for_it / SMALL * _WANTED_SMALL if for_it <= SMALL and is_small(wanted) else for_it
    against = max((sure for tag, sure in means.items() if not is_small(tag)), default=0.0)
    return -against * COMMON_SHARE if COMMON & means.keys() else -against


@lru_cache(1 << 12)
def claimed(text: str) -> Meanings:
    """What a `lang` or `hreflang` attribute claims; nothing when it is no known language."""
    tag = read_tag(text)
    return {} if tag is None else {tag: 1.0}

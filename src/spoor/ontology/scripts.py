"""In which script is a text written? By the names that Unicode gives to letters: `devanagari`, `latin`, `cjk`."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache

LEAST = 0.1
"""Share of the letters from which on a script is one of the texts, not of a few words quoted in them."""
SAMPLE = 10_000
"""Texts that are looked at; of more, every second, third … one."""


def scripts_of(texts: Sequence[str]) -> list[str]:
    """Those with a good share of the letters, the most frequent first."""
    letters: Counter[str] = Counter()
    for letter, count in Counter("".join(texts[:: 1 + len(texts) // SAMPLE])).items():
        if script := script_of(letter):
            letters[script] += count
    return [script for script, count in letters.most_common() if count >= LEAST * letters.total()]


def has_letter_of(scripts: frozenset[str], text: str) -> bool:
    return not scripts.isdisjoint(map(script_of, set(text)))


@cache
def script_of(letter: str) -> str:
    """Of a letter, or of a sign that goes with letters; "" for everything else."""
    if unicodedata.category(letter)[0] not in "LM":
        return ""
    return unicodedata.name(letter, "").partition(" ")[0].partition("-")[0].lower()

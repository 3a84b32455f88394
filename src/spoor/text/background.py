"""Texts about anything: how common words are in 35 languages, so that a topic can be told from the rest of the world.

One table serves all languages, because few words of one are frequent words of another (`scripts/build_background.py`).
"""

from __future__ import annotations

import lzma
from functools import cache
from importlib.resources import files

from spoor.text.vector_space import Collection

FILE = "background.tsv.xz"


@cache
def background() -> Collection:
    """Words that fewer than three texts hold are left out."""
    packed = files("spoor.text").joinpath(FILE).read_bytes()
    texts, *lines = lzma.decompress(packed).decode("utf8").splitlines()
    return Collection(int(texts), {word: int(count) for word, _, count in (line.partition("\t") for line in lines)})

"""Writes src/spoor/judging/background.tsv.xz: in how many of a hundred or so general texts a word stands.

    python scripts/build_background.py

Counted on the news in 35 languages in the data folder (SPOOR_DATA, default: a `shared` folder beside the checkout), the
same in each language. A word of several languages has the count of the one in which it is most common.
"""

from __future__ import annotations

import lzma
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from spoor.judging.vectors import FILE, Collection, collection
from spoor.parse.words import Words

ROOT = Path(__file__).resolve().parents[1]
NEWS = Path(os.environ.get("SPOOR_DATA") or ROOT.parent / "shared") / "texts" / "ntrex"
OUT = ROOT / "src" / "spoor" / "text" / FILE

LINES = 16
"""Sentences of a text: about as many as an article of news has."""
LEAST = 3
"""A word in fewer texts is as good as unknown."""


def main() -> None:
    if not NEWS.is_dir():
        raise SystemExit(f"no texts in {NEWS}; set SPOOR_DATA to the folder that has texts/ntrex")
    counted = list(collections())
    most: Counter[str] = Counter()
    for one in counted:
        most |= Counter(one.frequencies)
    lines = [f"{word}\t{count}\n" for word, count in sorted(most.items()) if count >= LEAST]
    OUT.write_bytes(lzma.compress("".join([f"{counted[0].texts}\n", *lines]).encode("utf8"), preset=9))
    print(f"{len(lines):,} words, {OUT.stat().st_size:,} bytes")


def collections() -> Iterator[Collection]:
    """Of each language; of Chinese in pairs of letters and in words."""
    for file in sorted(NEWS.glob("*.txt")):
        lines = file.read_text("utf8").splitlines()
        texts = ["\n".join(lines[start : start + LINES]) for start in range(0, len(lines), LINES)]
        yield collection(map(Words().of, texts))
        if file.stem.startswith("zho"):
            yield collection(map(Words("zh", stop_words=False).of, texts))


if __name__ == "__main__":
    main()

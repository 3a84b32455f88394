"""Writes src/spoor/judging/profiles.spoor: the profile of every language that spoor knows from the start.

    python scripts/build_profiles.py        (make profiles)

Trained on the texts in the data folder (SPOOR_DATA, default: a `shared` folder beside the checkout): the Universal
Declaration of Human Rights in every orthography that has a language tag and enough text, and three texts in Mongolian.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

from spoor.judging.language_tags import read_tag
from spoor.judging.profiles import Profile, learned, write_profiles

ROOT = Path(__file__).resolve().parents[1]
TEXTS = Path(os.environ.get("SPOOR_DATA") or ROOT.parent / "shared") / "texts"
OUT = ROOT / "src" / "spoor" / "language" / "profiles.spoor"

LEAST_UNITS = 2_000
"""An orthography with less text is left out."""
MOST_CHARACTERS = 200_000
"""A longer text is cut: more of it adds little to a profile but size."""
MONGOLIAN = {"mongolian-cyrillic": "mn-Cyrl", "mongolian-traditional": "mn-Mong", "mongolian-menksoft-words": "mn-Mong"}
HEADER = re.compile(r"# (\S+) (.+) \((?:ltr|rtl|ttb)\)")


def main() -> None:
    if not (TEXTS / "udhr").is_dir():
        raise SystemExit(f"no texts in {TEXTS}; set SPOOR_DATA to the folder that has texts/udhr")
    profiles = [profile for profile in (*declarations(), *mongolian()) if profile.size >= LEAST_UNITS]
    write_profiles(OUT, profiles)
    languages = len({profile.tag for profile in profiles})
    print(f"{len(profiles)} profiles of {languages} languages, {OUT.stat().st_size:,} bytes")


def declarations() -> Iterator[Profile]:
    for file in sorted((TEXTS / "udhr").glob("*.txt")):
        first, text = file.read_text("utf8").split("\n", 1)
        header = HEADER.fullmatch(first)
        if header is None:
            raise SystemExit(f"{file} does not begin with a line such as '# mn-Cyrl Mongolian, Halh (Cyrillic) (ltr)'")
        if header[1] != "und":
            yield learned(read_tag(header[1]) or header[1], file.stem, text, f"{header[2]}: udhr/{file.name}")


def mongolian() -> Iterator[Profile]:
    for name, tag in MONGOLIAN.items():
        text = (TEXTS / f"{name}.txt").read_text("utf8")
        running = in_running_text(text) if name.endswith("words") else text
        yield learned(tag, name, running[:MOST_CHARACTERS], f"{name}.txt")


def in_running_text(words: str) -> str:
    """A list of words knows nothing of how words meet; so they are shuffled and written ten a line."""
    shuffled = words.split()
    random.Random(1).shuffle(shuffled)
    return "\n".join(" ".join(shuffled[start : start + 10]) for start in range(0, len(shuffled), 10))


if __name__ == "__main__":
    main()

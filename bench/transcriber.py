"""How fast is a dictionary loaded, and how fast does it transcribe? On made-up words, so no data is needed."""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from spoor.cli.terminal import print_table
from spoor.judging.dictionary import Dictionary, Transcriber, read_dictionary

A = TypeVar("A")
T = TypeVar("T")
DEVANAGARI = ("कखगघचछजझटठडढतथदधनपफबभमयरलवशषसह", "ािीुूेैोौं")
LATIN = ("bcdfghjklmnprstvwz", "aeiou")
ENGLISH = ("the", "department", "of", "Science,", "and", "admission", "(2026)", "courses")
KNOWN = 0.5
TOKENS = 100_000
"""Terms and words of a text."""


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench transcriber", description=__doc__)
    parser.add_argument("--entries", type=int, default=100_000, metavar="N", help="entries (100000)")
    arguments = parser.parse_args(options)
    rows = [*measured("Devanagari", DEVANAGARI, arguments.entries), *measured("Latin", LATIN, arguments.entries)]
    columns = ("terms, and how much of the text", "read, s", "made ready, s", "MB/s")
    print_table(columns, rows, f"{arguments.entries:,} entries; processor time")


def measured(name: str, letters: tuple[str, str], entries: int) -> Iterator[tuple[str, ...]]:
    rng = random.Random(1)
    terms = [" ".join(words(letters, rng.choice((1, 1, 2, 3)), rng)) for _ in range(entries)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dictionary.tsv"
        path.write_text("".join(f"{term}\tword{n}; another\n" for n, term in enumerate(terms)), "utf8")
        dictionary, reading = timed(read_dictionary, path)
    transcriber, making = timed(ready, dictionary)
    for share in (1.0, 0.2):
        text = made_text(terms, letters, share, rng)
        _, seconds = timed(transcriber.transcribe, text)
        speed = len(text.encode()) / 1e6 / seconds
        yield f"{name}, {share:.0%}", f"{reading:.2f}", f"{making:.2f}", f"{speed:.1f}"


def ready(dictionary: Dictionary) -> Transcriber:
    """What is made when it is first needed is made now."""
    transcriber = Transcriber(dictionary)
    transcriber.transcribe(next(iter(dictionary.entries))[0])
    return transcriber


def made_text(terms: Sequence[str], letters: tuple[str, str], share: float, rng: random.Random) -> str:
    """So much of it in the foreign language, half of that in words which the dictionary does not have."""
    said: list[str] = []
    while len(said) < TOKENS:
        foreign = rng.random() < share
        known = rng.choice(terms) if rng.random() < KNOWN else " ".join(words(letters, 1, rng))
        said.append(known if foreign else rng.choice(ENGLISH))
    return " ".join(said)


def words(letters: tuple[str, str], count: int, rng: random.Random) -> list[str]:
    return ["".join(rng.choice(part) for _ in range(rng.randint(2, 4)) for part in letters) for _ in range(count)]


def timed(work: Callable[[A], T], on: A) -> tuple[T, float]:
    begun = time.process_time()
    done = work(on)
    return done, time.process_time() - begun

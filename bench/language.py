"""How well and how fast are languages told? Our profiles beside CLD2 and py3langid, on news sentences."""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median
from time import perf_counter

from spoor.cli.terminal import print_table
from spoor.judging.detector import cld2_shares, known_tags, py3langid_shares
from spoor.judging.language_tags import canonical_tag
from spoor.judging.profile_search import Identifier, competing, gram_index, identifier, recogniser
from spoor.judging.profiles import Profile, is_in, learned, shipped_profiles

TEXTS = Path(os.environ.get("SPOOR_DATA") or Path(__file__).resolve().parents[2] / "shared") / "texts" / "ntrex"
TRAINED_ON = 10_000
"""Bytes at the beginning of each file; the lines after them are the test."""
SCRIPTS = {"zho-CN": "zh-Hans", "zho-TW": "zh-Hant"}

Lines = dict[str, list[str]]
"""By the tag of the language they are in."""
Teller = Callable[[list[str]], list[str]]
"""Texts to tags."""


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench language", description=__doc__)
    parser.add_argument("--rounds", type=int, default=50, metavar="N", help="of the clock (50)")
    arguments = parser.parse_args(options)
    if not TEXTS.is_dir():
        print(f"language: no texts in {TEXTS}; set SPOOR_DATA to the folder that has texts/ntrex")
        return
    profiles, rest = split()
    lengths = {"100 characters or more": longer(rest), "20 to 60 characters": shorter(rest)}
    for name, lines in lengths.items():
        rows = [row(model, teller, known, lines) for model, (teller, known) in tellers(profiles).items()]
        title = f"lines of {name}: {sum(map(len, lines.values())):,} in {len(lines)} languages"
        print_table(("told by", "languages", "right", "mean of languages", "worst"), rows, title)
    print_table(("a page of 4 KB", "ms"), clocked(arguments.rounds), "time: the median, of the slowest of six scripts")


def split() -> tuple[tuple[Profile, ...], Lines]:
    """A profile of the beginning of each text, and the lines after it."""
    profiles, rest = [], {}
    for file in sorted(TEXTS.glob("*.txt")):
        tag = SCRIPTS.get(file.stem) or canonical_tag(file.stem)
        content = file.read_bytes()
        beginning = content[:TRAINED_ON].decode("utf8", "ignore")
        profiles.append(learned(tag, file.stem, beginning, f"{TRAINED_ON} bytes of {file.name}"))
        rest[tag] = content.decode("utf8")[len(beginning) :].splitlines()[1:]
    return tuple(profiles), rest


def longer(rest: Lines) -> Lines:
    return {tag: [line for line in lines if len(line) >= 100] for tag, lines in rest.items()}


def shorter(rest: Lines) -> Lines:
    return {tag: [line for line in lines if 20 <= len(line) <= 60] for tag, lines in rest.items()}


def tellers(profiles: tuple[Profile, ...]) -> dict[str, tuple[Teller, frozenset[str]]]:
    """Each with the languages of the test that it knows."""
    relevant = frozenset(profile.tag for profile in profiles)
    few = tuple(known for known in shipped_profiles() if any(is_in(known.tag, tag) for tag in relevant))
    both = frozenset(tag for tag in relevant if knows("cld2", tag) and knows("py3langid", tag))
    ours = "profiles of 10 KB of news"
    return {
        f"{ours}, 3-grams only": (nearest(Identifier(profiles, gram_index(profiles, (3,)))), relevant),
        ours: (nearest(competing(profiles)), relevant),
        f"profiles of the declaration, these {len(relevant)} languages": (nearest(competing(few)), relevant),
        f"profiles of the declaration, all {len(shipped_profiles())}": (nearest(identifier()), relevant),
        f"{ours}, where both libraries know it": (nearest(competing(profiles)), both),
        "cld2, where both know it": (first(cld2_shares), both),
        "py3langid, where both know it": (first(py3langid_shares), both),
    }


def knows(library: str, tag: str) -> bool:
    return any(is_in(known, tag) for known in known_tags(library))


def nearest(among: Identifier) -> Teller:
    return lambda texts: [among.profiles[k].tag for k in among.similarities(texts).argmax(axis=1)]


def first(shares: Callable[[str], dict[str, float]]) -> Teller:
    return lambda texts: [next(iter(shares(text))) for text in texts]


def row(model: str, teller: Teller, known: frozenset[str], lines: Lines) -> tuple[str, ...]:
    right: dict[str, list[bool]] = defaultdict(list)
    for tag in sorted(known):
        right[tag] = [is_in(found, tag) for found in teller(lines[tag])] if lines[tag] else []
    told = {tag: mean(answers) for tag, answers in right.items() if answers}
    every = [answer for answers in right.values() for answer in answers]
    worst = ", ".join(f"{tag} {told[tag]:.2f}" for tag in sorted(told, key=lambda tag: told[tag])[:4])
    return model, str(len(told)), f"{mean(every):.4f}", f"{mean(told.values()):.4f}", worst


def clocked(rounds: int) -> list[tuple[str, str]]:
    """Over a page in each of six scripts."""
    names = ("eng", "rus", "arb", "hin", "tha", "zho-CN")
    pages = [(TEXTS / f"{name}.txt").read_bytes()[-4096:].decode("utf8", "ignore") for name in names]
    tasks: dict[str, Callable[[str], object]] = {
        "one language, 2-, 3- and 4-grams": lambda page: recogniser("fr", (2, 3, 4)).similarities([page]),
        f"all {len(shipped_profiles())} shipped profiles": lambda page: identifier().similarities([page]),
        "cld2": cld2_shares,
        "py3langid": py3langid_shares,
        "100 anchors of 20 characters, 3-grams": lambda page: recogniser("fr").similarities([page[:20]] * 100),
    }
    return [(name, f"{1000 * max(seconds(task, page, rounds) for page in pages):.2f}") for name, task in tasks.items()]


def seconds(task: Callable[[str], object], page: str, rounds: int) -> float:
    task(page)
    taken = []
    for _ in range(rounds):
        began = perf_counter()
        task(page)
        taken.append(perf_counter() - began)
    return median(taken)

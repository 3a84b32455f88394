"""How long does a command take to say what it does? Processor time of `--version` and of every `--help`."""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence

from spoor.cli.main import parser
from spoor.cli.terminal import print_table


def main(options: Sequence[str]) -> None:
    given = argparse.ArgumentParser(prog="python -m bench startup", description=__doc__)
    given.add_argument("--rounds", type=int, default=5, metavar="N", help="times each is run (5)")
    rounds = given.parse_args(options).rounds
    asked = [["--version"], *([*words, "--help"] for words in commands(parser()))]
    rows = [(" ".join(["spoor", *words]), f"{best(words, rounds):.3f}") for words in asked]
    print_table(("command", "s"), rows, f"processor time, the best of {rounds}")


def commands(of: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command and group of commands, the program itself first."""
    yield words
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from commands(below, (*words, name))


def best(words: Sequence[str], rounds: int) -> float:
    return min(seconds(words) for _ in range(rounds))


def seconds(words: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "spoor", *words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

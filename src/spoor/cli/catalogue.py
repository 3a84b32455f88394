"""`spoor strategies`, `spoor judges`: what there is. `spoor judge`: what a judge says of pages at hand."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.api.pages import judge_of
from spoor.cli.command import SUMMARIES, Commands, add_command
from spoor.errors import BadInput
from spoor.files import SUFFIX, kind_in
from spoor.judging.detector import cld2_shares
from spoor.judging.language_judges import LONGEST, SHORTEST
from spoor.judging.profile_search import Identifier, deciding, identifier
from spoor.judging.profiles import PROFILES, is_in
from spoor.judging.training_pages import as_page
from spoor.records import Page
from spoor.registry import JUDGES, STRATEGIES, Named
from spoor.roles import Judge

# `spoor strategies` and `spoor judges`: what there is, with parameters, defaults and sources.


def register_strategies(commands: Commands) -> None:
    strategies = "spoor strategies\nspoor compare WEB --strategies breadth-first,limited-distance:n=3 …"
    add_command(commands, "strategies", SUMMARIES["strategies"], strategies, _strategies)


def register_judges(commands: Commands) -> None:
    judges = "spoor judges\nspoor compare WEB --judge charset:th:sources=meta …"
    add_command(commands, "judges", SUMMARIES["judges"], judges, _judges)


def _strategies(arguments: argparse.Namespace) -> int:
    return _list(STRATEGIES)


def _judges(arguments: argparse.Namespace) -> int:
    return _list(JUDGES)


def _list(named: Mapping[str, Named]) -> int:
    for name, entry in named.items():
        subject = ":SUBJECT" if entry.subjects else ""
        settings = "".join(f":{parameter}={value}" for parameter, value in entry.parameters().items())
        print(f"{name}{subject}{settings}")
        subjects = f"subjects: {', '.join(entry.subjects)}" if entry.subjects else ""
        package = f"from the package {entry.package}" if entry.package else ""
        for line in filter(None, (entry.says, subjects, entry.source, package)):
            print(f"    {line}")
    return 0


# `spoor judge`: what a judge makes of pages at hand, and which n-grams tell their language.


JUDGE_EXAMPLES = """
spoor judge mn page.html
spoor judge gsw.spoor letter.txt other.html
spoor judge script:thai:least=0.5 - < page.html
spoor judge crawl.toml page.html
"""
SHOWN = 8


def register_judge(commands: Commands) -> None:
    parser = add_command(commands, "judge", SUMMARIES["judge"], JUDGE_EXAMPLES, run_judge)
    parser.add_argument(
        "target", metavar="TARGET", help="a language tag, a model, a judge such as script:thai, or a crawl.toml"
    )
    parser.add_argument("pages", nargs="+", metavar="PAGE", help="a file of HTML or text; - reads standard input")


def run_judge(arguments: argparse.Namespace) -> int:
    judge = judge_of(arguments.target)
    of_language = arguments.target.endswith(SUFFIX) and kind_in(Path(arguments.target)) == PROFILES.name
    model = arguments.target if of_language else ""
    print(f"judge      {judge!r}")
    for name in arguments.pages:
        print(f"\n{printable(name)}")
        tell(page_in(name), judge, model)
    return 0


def page_in(name: str) -> Page:
    try:
        body = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read the page {name}: {error.strerror}") from None
    return as_page(name, body)


def tell(page: Page, judge: Judge, model: str) -> None:
    (verdict,) = judge.judge([page])
    answer = "yes" if verdict.relevant else "no"
    print(f"  wanted   {answer}, relevance {verdict.relevance:.2f}: {printable(verdict.because)}")
    text = page.text[:LONGEST]
    if len("".join(text.split())) < SHORTEST:
        print(f"  language too short to tell: {len(text)} characters")
        return
    known = identifier(model)
    near = known.similarities([text])[0]
    first = _told_first(text, known, near, model)
    rivals = np.array([profile.tag != known.profiles[first].tag for profile in known.profiles])
    second = int(np.where(rivals, near, -1.0).argmax())
    for word, k in (("language", first), ("then    ", second)):
        print(f"  {word} {known.profiles[k].tag}, similarity {near[k]:.3f}, as in {known.profiles[k].name}")
    leads = deciding(text, known.profiles[first], known.profiles[second])[:SHOWN]
    print("  decided  " + "  ".join(f"'{printable(gram)}' {lead:+.4f}" for gram, lead in leads))


def _told_first(text: str, known: Identifier, near: NDArray[np.float64], model: str) -> int:
    """The profile of the language that CLD2 finds, which tells those it knows better than profiles can; else, and
    beside a model, the nearest."""
    found = next(iter(cld2_shares(text)))
    own = np.array([is_in(profile.tag, found) for profile in known.profiles])
    return int(np.where(own, near, -1.0).argmax()) if own.any() and not model else int(near.argmax())


def printable(text: str) -> str:
    """Whatever could steer a terminal or look like nothing is written as its code point."""
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in text)

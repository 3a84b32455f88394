"""`spoor strategies`, `spoor judges`: lists them. `spoor judge`: verdicts on local pages. `spoor completion`: a script
for the shell to complete commands, options and files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.api.pages import judge_of
from spoor.cli.main import parser
from spoor.cli.terminal import print_json
from spoor.errors import BadInput, MissingExtra
from spoor.files import SUFFIX, kind_in
from spoor.judging.detector import cld2_shares
from spoor.judging.language_judges import LONGEST, SHORTEST
from spoor.judging.profile_search import Identifier, deciding, identifier
from spoor.judging.profiles import PROFILES, is_in
from spoor.judging.training_pages import as_page
from spoor.records import Page
from spoor.registry import JUDGES, STRATEGIES, Named
from spoor.roles import Judge
from spoor.strategy import verdicts_of

# `spoor strategies` and `spoor judges`: lists with parameters, defaults and sources.


def run_strategies(arguments: argparse.Namespace) -> int:
    return _list(STRATEGIES, arguments.json)


def run_judges(arguments: argparse.Namespace) -> int:
    return _list(JUDGES, arguments.json)


def _list(named: Mapping[str, Named], as_json: bool) -> int:
    if as_json:
        print_json([_described(name, entry) for name, entry in named.items()])
        return 0
    for name, entry in named.items():
        subject = ":SUBJECT" if entry.subjects else ""
        settings = "".join(f":{parameter}={value}" for parameter, value in entry.parameters().items())
        print(f"{name}{subject}{settings}")
        subjects = f"subjects: {', '.join(entry.subjects)}" if entry.subjects else ""
        package = f"from the package {entry.package}" if entry.package else ""
        for line in filter(None, (entry.says, subjects, entry.source, package)):
            print(f"    {line}")
    return 0


def _described(name: str, entry: Named) -> dict[str, object]:
    return {
        "name": name,
        "parameters": entry.parameters(),
        "subjects": list(entry.subjects),
        "says": entry.says,
        "source": entry.source,
        "package": entry.package,
    }


# `spoor judge`: verdicts on local pages, and the n-grams that identify their language.


SHOWN = 8


@dataclass(frozen=True)
class Near:
    """A language whose profile is similar to the page."""

    language: str
    similarity: float
    profile: str


@dataclass(frozen=True)
class Judged:
    """The verdict on a page, the nearest language and the runner-up, and the n-grams that decide between the two.
    Without languages if the text is too short."""

    relevant: bool
    relevance: float
    because: str
    characters: int
    nearest: tuple[Near, ...]
    deciding: dict[str, float]


def run_judge(arguments: argparse.Namespace) -> int:
    judge = judge_of(arguments.target)
    of_language = arguments.target.endswith(SUFFIX) and kind_in(Path(arguments.target)) == PROFILES.name
    model = arguments.target if of_language else ""
    if arguments.json:
        verdicts = [{"page": name, **asdict(judged(page_in(name), judge, model))} for name in arguments.pages]
        print_json({"judge": arguments.target, "pages": verdicts})
        return 0
    print(f"judge      {printable(arguments.target)}")
    for name in arguments.pages:
        print(f"\n{printable(name)}")
        _show(judged(page_in(name), judge, model))
    return 0


def page_in(name: str) -> Page:
    try:
        body = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read the page {name}: {error.strerror}") from None
    return as_page(name, body)


def judged(page: Page, judge: Judge, model: str) -> Judged:
    (verdict,) = verdicts_of(judge, [page])
    text = page.text[:LONGEST]
    short = len("".join(text.split())) < SHORTEST
    nearest, leads = ((), {}) if short else _nearest(text, model)
    return Judged(verdict.relevant, verdict.relevance, verdict.because, len(text), nearest, leads)


def _nearest(text: str, model: str) -> tuple[tuple[Near, ...], dict[str, float]]:
    known = identifier(model)
    near = known.similarities([text])[0]
    first = _first_profile(text, known, near, model)
    rivals = np.array([profile.tag != known.profiles[first].tag for profile in known.profiles])
    second = int(np.where(rivals, near, -1.0).argmax())
    both = (known.profiles[first], float(near[first])), (known.profiles[second], float(near[second]))
    leads = deciding(text, known.profiles[first], known.profiles[second])[:SHOWN]
    nearest = tuple(Near(profile.tag, similarity, profile.name) for profile, similarity in both)
    return nearest, {gram: float(lead) for gram, lead in leads}


def _show(judged: Judged) -> None:
    answer = "yes" if judged.relevant else "no"
    print(f"  relevant {answer}, relevance {judged.relevance:.2f}: {printable(judged.because)}")
    if not judged.nearest:
        print(f"  language unknown, the text is too short: {judged.characters} characters")
        return
    for word, near in zip(("language", "then    "), judged.nearest, strict=True):
        print(f"  {word} {near.language}, similarity {near.similarity:.3f}, as in {near.profile}")
    print("  decided  " + "  ".join(f"'{printable(gram)}' {lead:+.4f}" for gram, lead in judged.deciding.items()))


def _first_profile(text: str, known: Identifier, near: NDArray[np.float64], model: str) -> int:
    """The profile of the language that CLD2 detects, which is more accurate than profiles for the languages it knows.
    The nearest profile if CLD2 finds no such language, or if a model is given."""
    found = next(iter(cld2_shares(text)))
    own = np.array([is_in(profile.tag, found) for profile in known.profiles])
    return int(np.where(own, near, -1.0).argmax()) if own.any() and not model else int(near.argmax())


def printable(text: str) -> str:
    """Escapes control and invisible characters as code points, because they could control the terminal."""
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in text)


# `spoor completion`.


def run_completion(arguments: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError:
        raise MissingExtra("completion needs shtab; install it with: pip install 'spoor[completion]'") from None
    commands = parser()
    for action in _actions(commands):
        if action.type is Path:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(commands, arguments.shell))
    return 0


def _actions(of: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The actions of a parser and of all its sub-parsers."""
    for action in of._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)

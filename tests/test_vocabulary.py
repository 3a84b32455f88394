"""One concept, one word, and the word of the field: names, messages and docs use the glossary's terms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

NOT_AS_NAMES = {
    "wanted": "relevant",
    "unwanted": "irrelevant",
    "wish": "prior, target",
    "wished": "prior, target",
    "wishes": "prior, target",
    "foretold": "prior",
    "foreknowledge": "prior",
    "outlook": "expectation, hit rate",
    "hope": "optimistic prior",
    "hoped": "optimistic prior",
    "heat": "run",
    "heats": "runs",
    "standings": "leaderboard",
    "halves": "split",
    "recollection": "relearning",
    "recall": "relearn",
    "recalled": "relearned",
    "recalling": "relearner",
    "recollect": "relearn",
    "good": "relevant, or what it is good for",
    "goodness": "relevance, probability",
    "rests": "delays",
    "resting": "delayed",
    "rested": "delay is over",
    "peace": "host delay",
    "boards": "leaderboards",
    "copies": "duplicates",
    "foretelling": "has a prior",
    "looks": "requests, reads",
    "sketch": "fingerprint",
    "course": "prepared task",
    "told": "the thing it is: message, figures, digest",
    "met": "discovered, found",
    "looker": "downloader",
}
"""Each with what to say instead."""

NOT_IN_TEXT = {
    r"\bunwanted\b": "irrelevant",
    r"\bwanted\b": "relevant",
    r"\bwish(ed|es)?\b": "prior, target",
    r"\bforetold\b|\bforeknowledge\b": "prior",
    r"\bgone on with\b|\bgoes on with\b": "resumed",
    r"\bmet again\b|\bmeets? again\b": "found again",
    r"\blook(s|ed|ing)? at again\b": "re-scored",
    r"\b(in|left in) peace\b": "host delay",
    r"\bwhat it came to\b|\bcame to\b": "summary",
    r"\bheats?\b|\bstandings\b": "runs, leaderboard",
    r"\brecollection\b": "relearning",
    r"\bhope[ds]?\b": "optimistic prior, exploration",
    r"\boutlook\b": "hit rate, yield",
    r"\bsketch(es)?\b": "fingerprint",
    r"\bhosts? rests?\b|\bresting hosts?\b|\bhave to rest\b|\brested\b": "host delay",
    r"\bforetells?\b|\bforetelling\b": "prior",
    r"\bgoes before\b|\bgo before\b": "overrides, comes before",
    r"\bnearly so\b": "near-duplicate",
    r"\bno URL that begins with\b": "not an http(s) URL",
    r"\bevery so (many|often)\b": "at regular intervals",
    r"\b(page|pages) (it|they) stands? on\b": "referring page",
    r"\bcould not be had\b": "could not be fetched",
    r"\bbroke a promise\b": "violated a rule",
    r"\bbrought forward\b": "promoted",
    r"\bset aside\b": "parked, refused",
    r"\bour reading\b": "our interpretation",
    r"\b(without|between) blanks\b": "spaces",
}

EXCEPTIONS = {
    ("wanted", "src/spoor/ordering/host_yield.py"): "a key of snapshots of earlier versions",
    ("wanted", "src/spoor/ordering/learned/logistic.py"): "a key of snapshots of earlier versions",
    ("good", "src/spoor/report/figures.py"): "for good: for ever",
    ("good", "src/spoor/report/summary.py"): "for good: for ever",
    ("recall", "src/spoor/judging/held_out.py"): "precision and recall",
    ("recall", "src/spoor/lab/papers/correlation.py"): "precision and recall",
    ("recall", "src/spoor/teaching/"): "precision and recall",
    ("recall", "src/spoor/server_settings.py"): "precision and recall",
    ("recall", "src/spoor/api/options.py"): "precision and recall",
    ("course", "src/spoor/lab/generate/"): "courses of a university",
}
"""Where a word is right after all, by the beginning of the path, with the reason."""


def names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node.lineno
            case ast.Name(ctx=ast.Store()):
                yield node.id, node.lineno
            case ast.arg():
                yield node.arg, node.lineno


def words_of(name: str) -> list[str]:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_")


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module, docstrings among them; all lines of a page."""
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(path.read_text("utf8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.lineno, node.value
    else:
        yield from enumerate(path.read_text("utf8").splitlines(), 1)


def patterns_in(said: list[tuple[int, str]]) -> list[str]:
    """Those that may match: to look once in all texts is quicker than many times in each."""
    whole = "\n".join(text for _, text in said)
    return [pattern for pattern in NOT_IN_TEXT if re.search(pattern, whole, re.IGNORECASE)]


def is_exempt(word: str, path: Path) -> bool:
    return any(word == known and str(path.relative_to(ROOT)).startswith(place) for known, place in EXCEPTIONS)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_are_of_the_field(path: Path) -> None:
    found = {
        f"{path.name}:{line} {name}: say {NOT_AS_NAMES[word]}"
        for name, line in names(ast.parse(path.read_text("utf8")))
        for word in words_of(name)
        if word in NOT_AS_NAMES and not is_exempt(word, path)
    }
    assert not found


@pytest.mark.parametrize("path", [*SOURCES, *PAGES], ids=lambda path: str(path.relative_to(ROOT)))
def test_texts_use_the_words_of_the_field(path: Path) -> None:
    said = list(texts(path))
    found = {
        f"{path.name}:{line} {match[0]!r}: say {NOT_IN_TEXT[pattern]}"
        for pattern in patterns_in(said)
        for line, text in said
        if (match := re.search(pattern, text, re.IGNORECASE)) and not is_exempt(match[0].lower(), path)
    }
    assert not found


def found_words(path: Path) -> set[str]:
    """Words of names, and matches of patterns, that would be refused without exceptions."""
    said = list(texts(path))
    matches = (re.search(pattern, text, re.IGNORECASE) for pattern in patterns_in(said) for _, text in said)
    found = {match[0].lower() for match in matches if match}
    if path.suffix == ".py":
        tree = ast.parse(path.read_text("utf8"))
        found |= {word for name, _ in names(tree) for word in words_of(name) if word in NOT_AS_NAMES}
    return found


@pytest.mark.parametrize(("word", "place"), EXCEPTIONS)
def test_every_exception_is_needed(word: str, place: str) -> None:
    paths = [path for path in (*SOURCES, *PAGES) if str(path.relative_to(ROOT)).startswith(place)]
    assert any(word in found_words(path) for path in paths)

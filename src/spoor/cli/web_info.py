"""`spoor web info`: what a web holds, and how wanted pages lie in it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spoor.cli.command import Commands, add_command
from spoor.webs.locality import locality
from spoor.webs.web import Web

EXAMPLES = """
spoor web info my-web
spoor web info my-web --target lang=ja
"""

_MOST_SHOWN = 20


def register(kinds: Commands) -> None:
    parser = add_command(kinds, "info", "show what a web holds", EXAMPLES, run)
    parser.add_argument(
        "web", type=Path, metavar="WEB", help="a folder made by `spoor web build` or `spoor web generate`"
    )
    parser.add_argument("--target", metavar="LABEL", help="also show how the pages with this label are linked")


def run(arguments: argparse.Namespace) -> int:
    web = Web.open(arguments.web)
    lines = _target(web, arguments.target) if arguments.target else []
    print("\n".join([*_overview(web), *_vocabularies(web), *lines]))
    return 0


def _overview(web: Web) -> list[str]:
    about = web.about
    redirects = 0 if web.redirects is None else int((web.redirects >= 0).sum())
    return [
        _fact("web", web.name),
        _fact("made from", _origin(about["made_from"])),
        _fact("pages", web.pages),
        _fact("hosts", about["hosts"]),
        _fact("links", about["links"]),
        _fact("unrecorded link targets", about["unrecorded"]),
        _fact("redirects", redirects),
        _fact("texts", "yes" if web.has_content else "no"),
    ]


def _origin(made_from: str | dict[str, object]) -> str:
    """Generated webs keep their parameters, built ones the name of their source."""
    return made_from if isinstance(made_from, str) else ", ".join(f"{key} {value}" for key, value in made_from.items())


def _vocabularies(web: Web) -> list[str]:
    labels = np.diff(web.array("label_offsets"))
    return [
        *_ranking("statuses", *_counts(web.array("status"))),
        *_ranking("content types", *_named(web.array("content_type"), web.about["content_types"])),
        *_ranking("charsets in headers", *_named(web.array("header_charset"), web.about["charsets"])),
        *_ranking("charsets in pages", *_named(web.array("meta_charset"), web.about["charsets"])),
        *_ranking("charsets detected", *_named(web.array("detected_charset"), web.about["charsets"])),
        *_ranking("labels", web.labels, labels.tolist()),
    ]


def _target(web: Web, label: str) -> list[str]:
    relevant = web.labelled(label)
    found = locality(web, relevant)
    share = f"{relevant.mean():.2%} of all pages" if web.pages else "no pages"
    return [
        f"target {label}",
        _fact("  relevant pages", f"{int(relevant.sum()):,} ({share})"),
        _fact("  links from relevant pages", found.from_relevant),
        _fact("  P(child relevant | parent relevant)", _probability(found.after_relevant)),
        _fact("  P(child relevant | parent irrelevant)", _probability(found.after_others)),
    ]


def _counts(column: NDArray[Any]) -> tuple[list[str], list[int]]:
    values, counts = np.unique(column, return_counts=True)
    return [str(value) for value in values.tolist()], counts.tolist()


def _named(column: NDArray[Any], words: Sequence[str]) -> tuple[list[str], list[int]]:
    values, counts = np.unique(column, return_counts=True)
    return [words[value] or "(none)" for value in values.tolist()], counts.tolist()


def _ranking(title: str, names: Sequence[str], counts: Sequence[int]) -> list[str]:
    """The most frequent first; names break ties. Long lists end in how many are left out."""
    ranked = sorted(zip(counts, names, strict=True), key=lambda pair: (-pair[0], pair[1]))
    lines = [_fact(f"  {name}", count) for count, name in ranked[:_MOST_SHOWN]]
    left_out = len(ranked) - _MOST_SHOWN
    return [f"{title}{'' if ranked else ': none'}", *lines, *([f"  and {left_out} more"] if left_out > 0 else [])]


def _fact(name: str, value: object) -> str:
    return f"{name:<42}{f'{value:,}' if isinstance(value, int) else value}"


def _probability(value: float | None) -> str:
    return "no such links" if value is None else f"{value:.4f}"

"""How well do the judges of a language agree with the labels of recorded webs? `lang=ja` is such a label."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean

import numpy as np

from spoor.cli.terminal import print_table
from spoor.errors import UsageError
from spoor.judging.detector import Detector, language_judge
from spoor.judging.language_judges import NearestProfile, NgramRank
from spoor.lab.web import Web
from spoor.records import Page
from spoor.roles import Judge

LABEL = "lang="
WEBS = Path(__file__).resolve().parents[1] / "out" / "contest" / "webs"
JUDGES: dict[str, Callable[[str], Judge]] = {
    "language": language_judge,
    "detector:library=cld2": Detector,
    "detector:library=py3langid": lambda tag: Detector(tag, "py3langid"),
    "nearest of all profiles": NearestProfile,
    "ngram": NgramRank,
    "ngram:least=0.4": lambda tag: NgramRank(tag, least=0.4),
}


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench language-judges", description=__doc__)
    parser.add_argument("webs", nargs="*", type=Path, metavar="WEB", help="with labels such as lang=ja")
    parser.add_argument("--pages", type=int, default=1000, metavar="N", help="of each web, spread evenly (1000)")
    parser.add_argument("--least", type=int, default=5, metavar="N", help="of them in a language that is tried (5)")
    arguments = parser.parse_args(options)
    webs = arguments.webs or [WEBS / name for name in ("debian-docs", "openoffice") if (WEBS / name).is_dir()]
    if not webs:
        print(f"language-judges: no webs in {WEBS}; `make contest` builds them, or name one")
    for folder in webs:
        compare(Web.open(folder), arguments.pages, arguments.least)


def compare(web: Web, most: int, least: int) -> None:
    pages, labels = sampled(web, most)
    languages = sorted({label for label in labels if labels.count(label) >= least})
    marks: dict[str, dict[str, float]] = defaultdict(dict)
    for language in languages:
        for name, make in JUDGES.items():
            try:
                verdicts = make(language).judge(pages)
            except UsageError:  # This judge does not know the language.
                continue
            marks[name][language] = f1([verdict.relevant for verdict in verdicts], [one == language for one in labels])
    common = [language for language in languages if all(language in marks[name] for name in JUDGES)]
    rows = [
        (name, str(len(told)), f"{mean(told.values()):.3f}", f"{mean(told[language] for language in common):.3f}")
        for name, told in marks.items()
    ]
    columns = ("judge", "languages", "F1", f"F1 of the {len(common)} that all know")
    print_table(columns, rows, f"{web.name}: {len(pages):,} pages in {len(languages)} languages, mean over languages")


def sampled(web: Web, most: int) -> tuple[list[Page], list[str]]:
    language = {
        int(number): label.removeprefix(LABEL)
        for label in web.labels
        if label.startswith(LABEL)
        for number in np.flatnonzero(web.labelled(label))
    }
    with_text = [number for number in sorted(language) if web.texts[number] is not None]
    numbers = with_text[:: max(1, len(with_text) // most)]
    return [Page(web.urls[k], text=web.texts[k][1]) for k in numbers], [language[k] for k in numbers]


def f1(said: Sequence[bool], true: Sequence[bool]) -> float:
    hits = sum(a and b for a, b in zip(said, true, strict=True))
    return 2 * hits / (sum(said) + sum(true))

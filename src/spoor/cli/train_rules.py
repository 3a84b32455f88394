"""`spoor train rules`: which class of page links to which, from the labels of a web or from examples of your own."""

from __future__ import annotations

import argparse
from pathlib import Path

from spoor.cli.command import Commands, add_command
from spoor.cli.progress import counted, progress
from spoor.errors import UsageError
from spoor.model_file import checked_name
from spoor.ontology.rule_model import RuleModel, write_rules
from spoor.training.held_out import told
from spoor.training.pages import read_examples
from spoor.training.rules import Examples, counted_rules, labelled_examples, page_examples, siblings
from spoor.training.taxonomy import Trained, classes_in, trained
from spoor.webs.web import Web

EXAMPLES = """
spoor train rules webs/webkb --target class=course --out courses.spoor
spoor train rules webs/webkb --target class=course --where university=misc --out courses.spoor
spoor train rules webs/webkb --examples pages --target course --out courses.spoor      (pages/course, pages/student …)
"""


def register(kinds: Commands) -> None:
    summary = "learn which class of page links to which, from classes of pages and a web"
    parser = add_command(kinds, "rules", summary, EXAMPLES, run)
    parser.add_argument("web", type=Path, metavar="WEB", help="holds what the examples link to; its pages have texts")
    parser.add_argument(
        "--target", action="append", required=True, metavar="CLASS", help="wanted; may be given several times"
    )
    parser.add_argument(
        "--classes", metavar="A,B,…", help="labels of the web that are classes (all of a kind with the target)"
    )
    parser.add_argument("--where", default="", metavar="LABEL", help="learn only from pages that have this label too")
    parser.add_argument(
        "--examples", type=Path, metavar="FOLDER", help="a folder of pages for each class, instead of labels"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the model; its name ends in .spoor")


def run(arguments: argparse.Namespace) -> int:
    out, web = checked_name(arguments.out), Web.open(arguments.web)
    examples = _from_pages(web, arguments) if arguments.examples else _from_labels(web, arguments)
    _check(examples, arguments.target)
    source = arguments.examples.name if arguments.examples else web.name
    made = trained(", ".join(arguments.target), examples.pages, arguments.target, source)
    with progress("telling what they link to", len(frozenset().union(*examples.linked.values()))) as advance:
        rules = counted_rules(web, made.model, examples, advance)
    model = RuleModel(made.model, rules)
    write_rules(out, model)
    _tell(model, made, examples, out)
    return 0


def _from_labels(web: Web, arguments: argparse.Namespace) -> Examples:
    """Every class that is wanted must be among the labels, under its own name."""
    if arguments.classes:
        classes = tuple(filter(None, map(str.strip, arguments.classes.split(","))))
    else:
        classes = siblings(web, arguments.target[0])
    for label in (*classes, *arguments.target):
        web.labelled(label)
    return labelled_examples(web, tuple(dict.fromkeys((*classes, *arguments.target))), arguments.where)


def _from_pages(web: Web, arguments: argparse.Namespace) -> Examples:
    for flag in ("classes", "where"):
        if getattr(arguments, flag):
            raise UsageError(f"--{flag} speaks of labels; with --examples the classes are the folders in it")
    with progress("reading pages") as advance:
        return page_examples(web, classes_in(counted(read_examples(arguments.examples), advance)))


def _check(examples: Examples, wanted: list[str]) -> None:
    for name in wanted:
        if name not in examples.pages:
            told = ", ".join(examples.pages) or "none"
            raise UsageError(
                f"--target {name}: there are too few such pages to learn from; classes with enough are {told}"
            )
    if set(wanted) == set(examples.pages):
        raise UsageError("--target takes every class; a class that is not wanted is needed too")


def _tell(model: RuleModel, made: Trained, examples: Examples, out: Path) -> None:
    print(f"trained     {model.taxonomy.name} on {model.taxonomy.trained_on}")
    print(f"held out    a fifth after the other: {made.trial.right:.0%} of pages in their own class")
    print(f"            wanted or not: {told(made.trial.accuracy)}")
    ahead, best = (model.rules.look_ahead(model.wanted, combine) for combine in ("sum", "max"))
    for number, leaf in enumerate(model.rules.classes):
        chances = model.rules.chances[number]
        most = [k for k in chances.argsort()[::-1][:3] if chances[k]]
        leads = ", ".join(f"{model.rules.classes[k]} {chances[k]:.2f}" for k in most) or "nothing that the web holds"
        pages = f"{examples.pages[leaf]} pages, {model.rules.times[number].sum():,} linked to"
        print(f"class       {leaf}: {pages}; look-ahead {ahead[number]:.2f} (best way {best[number]:.2f})")
        print(f"            leads to {leads}")
    print(f"written     {out}; crawl by it with --strategy core:model={out}:ontology=FILE")

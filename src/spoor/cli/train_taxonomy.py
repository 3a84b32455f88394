"""`spoor train taxonomy`: classes of pages, some of them wanted, from a folder for each class."""

from __future__ import annotations

import argparse
from pathlib import Path

from spoor.cli.command import Commands, add_command
from spoor.cli.progress import counted, progress
from spoor.model_file import SUFFIX, checked_name
from spoor.text.taxonomy_model import write_taxonomy
from spoor.training.held_out import told
from spoor.training.pages import read_examples
from spoor.training.taxonomy import Trained, classes_in, trained

EXAMPLES = """
spoor train taxonomy --name sports --good sports/cycling pages
spoor judge sports.spoor page.html
"""


def register(kinds: Commands) -> None:
    parser = add_command(kinds, "taxonomy", "make a model of classes from a folder of pages for each", EXAMPLES, run)
    parser.add_argument(
        "pages", nargs="+", type=Path, metavar="FOLDER", help="folder or tar archive with a folder for each class"
    )
    parser.add_argument("--name", required=True, metavar="NAME", help="what the taxonomy is called")
    parser.add_argument(
        "--good", action="append", required=True, metavar="CLASS", help="wanted, with all below; may be given again"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the model (NAME.spoor)")


def run(arguments: argparse.Namespace) -> int:
    out = checked_name(arguments.out or Path(f"{arguments.name}{SUFFIX}"))
    with progress("reading pages") as advance:
        classes = classes_in(page for source in arguments.pages for page in counted(read_examples(source), advance))
    sources = ", ".join(source.name for source in arguments.pages)
    made = trained(arguments.name, classes, arguments.good, sources)
    write_taxonomy(out, made.model)
    print(f"trained     {made.model.name} on {sources}")
    for leaf, kept in classes.items():
        print(f"class       {leaf}, {kept} pages")
    _tell(made, out)
    return 0


def _tell(made: Trained, out: Path) -> None:
    print(f"held out    a fifth after the other: {made.trial.right:.0%} of pages in their own class")
    print(f"            wanted or not: {told(made.trial.accuracy)}")
    print(f"wanted      {', '.join(made.model.good)}")
    print(f"written     {out}; ask for it by this name, as in: spoor judge {out} PAGE")

"""`spoor train`: models from examples; `spoor train language` is a profile of a language from a page of text."""

from __future__ import annotations

import argparse
from pathlib import Path

from spoor.cli import train_context, train_rules, train_taxonomy, train_topic
from spoor.cli.command import Commands, add_command
from spoor.errors import UsageError
from spoor.language.profile import Profile
from spoor.language.profile_file import open_profiles, write_profiles
from spoor.language.training import Trial, checked_tag, read_texts, trained, trial
from spoor.model_file import SUFFIX, checked_name

EXAMPLES = """
spoor train language --name gsw stories.txt letters.txt
spoor judge gsw.spoor page.html
spoor train language --name mn-Mong --orthography myfont legacy.txt --out mongolian.spoor
"""
OTHERS = (train_topic, train_taxonomy, train_rules, train_context)
ALL_EXAMPLES = EXAMPLES.rstrip() + "".join(kind.EXAMPLES.rstrip() for kind in OTHERS)


def register(commands: Commands) -> None:
    kinds = add_command(commands, "train", "make a model from examples", ALL_EXAMPLES).add_subparsers(
        metavar="KIND", required=True
    )
    parser = add_command(kinds, "language", "make a profile of a language from text files", EXAMPLES, run)
    parser.add_argument("texts", nargs="+", type=Path, metavar="TEXTFILE", help="plain text in UTF-8; 10 KB are enough")
    parser.add_argument("--name", required=True, metavar="TAG", help="the language: a BCP-47 tag, or x-NAME")
    parser.add_argument(
        "--orthography", default="", metavar="NAME", help="to tell profiles of one language apart (TAG)"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the model; one that exists is added to (TAG.spoor)")
    for kind in OTHERS:
        kind.register(kinds)


def run(arguments: argparse.Namespace) -> int:
    tag = checked_tag(arguments.name)
    out = checked_name(arguments.out or Path(f"{tag}{SUFFIX}"))
    earlier = open_profiles(out).profiles() if out.exists() else []
    if earlier and earlier[0].tag != tag:
        raise UsageError(f"{out} is a model of {earlier[0].tag}; give {tag} another file with --out")
    text = read_texts(arguments.texts)
    names = ", ".join(path.name for path in arguments.texts)
    profile = trained(tag, arguments.orthography or tag, text, names)
    write_profiles(out, [*earlier, profile])
    _tell(profile, trial(profile, text), out)
    return 0


def _tell(profile: Profile, tried: Trial, out: Path) -> None:
    grams = ", ".join(f"{len(profile.grams(n)[0]):,} {n}-grams" for n in (2, 3, 4))
    print(f"trained     {profile.tag} ({profile.name}) on {profile.trained_on}")
    print(f"text        {profile.size:,} characters; {grams}")
    print(f"held out    a tenth of the text has similarity {tried.similarity:.2f} to the rest")
    print(f"nearest     {tried.nearest}, similarity {tried.nearest_similarity:.2f} of the same tenth")
    print(f"written     {out}; ask for it by this name, as in: spoor judge {out} PAGE")

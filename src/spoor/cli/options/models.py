"""Options of `spoor train`, `judge`, `judges`, `strategies` and `completion`."""

from __future__ import annotations

import argparse
from pathlib import Path

from spoor.cli.command import Commands, add_command, add_json, add_proxy, add_several, add_workers

LANGUAGE_EXAMPLES = """
spoor train language --name gsw stories.txt letters.txt
spoor judge gsw.spoor page.html
spoor train language --name mn-Mong --orthography myfont legacy.txt --out mongolian.spoor
"""

TOPIC_EXAMPLES = """
spoor train topic --name horses --positive relevant-pages --negative other-pages
spoor train topic --name horses pages.tar.xz        (with folders positive and negative inside)
spoor train topic --name horses --positive relevant-urls.txt --negative other-urls.txt --contact https://example.org/us
spoor judge horses.spoor page.html
"""

TAXONOMY_EXAMPLES = """
spoor train taxonomy --name sports --relevant sports/cycling pages
spoor judge sports.spoor page.html
"""

RULES_EXAMPLES = """
spoor train rules webs/webkb --target class=course --out courses.spoor
spoor train rules webs/webkb --target class=course --where university=misc --out courses.spoor
spoor train rules webs/webkb --examples pages --target course --out courses.spoor      (pages/course, pages/student …)
"""

CONTEXT_EXAMPLES = """
spoor train context my-web --target class=course --out courses.spoor
spoor train context my-crawl --out more.spoor        (a crawl folder, with the pages that it judged relevant)
spoor compare other-web --target class=course --seeds seeds.txt --strategies ahmm:model=courses.spoor,soft-focused
"""

ALL_EXAMPLES = "".join((LANGUAGE_EXAMPLES, TOPIC_EXAMPLES, TAXONOMY_EXAMPLES, RULES_EXAMPLES, CONTEXT_EXAMPLES))


def register_train(commands: Commands) -> None:
    group = add_command(commands, "train", "train a model from examples", ALL_EXAMPLES.replace("\n\n", "\n"))
    kinds = group.add_subparsers(metavar="KIND", required=True)
    for register in (_register_language, _register_topic, _register_taxonomy, _register_rules, _register_context):
        register(kinds)


def _register_language(kinds: Commands) -> None:
    summary = "train a profile of a language from text files"
    parser = add_command(kinds, "language", summary, LANGUAGE_EXAMPLES, "training.run_train_language")
    parser.add_argument("texts", nargs="+", type=Path, metavar="TEXTFILE", help="plain text in UTF-8; 10 KB are enough")
    parser.add_argument("--name", required=True, metavar="TAG", help="the language: a BCP-47 tag, or x-NAME")
    parser.add_argument(
        "--orthography", default="", metavar="NAME", help="distinguishes several profiles of one language (TAG)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the model; the profile is added if it exists (TAG.spoor)"
    )
    add_json(parser)


def _register_topic(kinds: Commands) -> None:
    summary = "train a classifier of a topic on relevant and other pages"
    parser = add_command(kinds, "topic", summary, TOPIC_EXAMPLES, "training.run_train_topic")
    _add_examples(parser, "*", "folder or archive with folders positive and negative", "topic")
    _add_pages(parser, "--positive", "relevant pages: a folder, file, tar archive or URLS.txt")
    _add_pages(parser, "--negative", "other pages, in the same form")
    parser.add_argument("--contact", default="", metavar="URL", help="sent to the servers that pages are fetched from")
    add_proxy(parser)
    parser.add_argument("--allow-private", action="store_true", help="allow requests to private IP addresses")
    _add_out(parser)
    add_json(parser)


def _add_examples(parser: argparse.ArgumentParser, number: str, holding: str, made: str) -> None:
    parser.add_argument("pages", nargs=number, type=Path, metavar="FOLDER", help=holding)
    parser.add_argument("--name", required=True, metavar="NAME", help=f"name of the {made}")


def _add_pages(parser: argparse.ArgumentParser, option: str, meaning: str) -> None:
    parser.add_argument(option, nargs="+", type=Path, default=[], metavar="PAGES", help=meaning)


def _add_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, metavar="FILE", help="the model (NAME.spoor)")


def _register_taxonomy(kinds: Commands) -> None:
    summary = "train a classifier on a folder of pages for each class"
    parser = add_command(kinds, "taxonomy", summary, TAXONOMY_EXAMPLES, "training.run_train_taxonomy")
    _add_examples(parser, "+", "folder or tar archive with a folder for each class", "taxonomy")
    meaning = "a relevant class, with all classes below it (earlier name: --good)"
    add_several(parser, "--relevant", "CLASS", meaning, "--good", required=True)
    _add_out(parser)
    add_json(parser)


def _register_rules(kinds: Commands) -> None:
    summary = "learn which class of page links to which, from classes of pages and a web"
    parser = add_command(kinds, "rules", summary, RULES_EXAMPLES, "training.run_train_rules")
    parser.add_argument(
        "web", type=Path, metavar="WEB", help="a web with texts, which contains the link targets of the examples"
    )
    add_several(parser, "--target", "CLASS", "a relevant class", required=True)
    parser.add_argument(
        "--classes", metavar="A,B,…", help="labels of the web that are classes (all of a kind with the target)"
    )
    parser.add_argument("--where", default="", metavar="LABEL", help="learn only from pages that also have this label")
    parser.add_argument(
        "--examples", type=Path, metavar="FOLDER", help="a folder of pages for each class, instead of labels"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the model; its name ends in .spoor")
    add_json(parser)


def _register_context(kinds: Commands) -> None:
    summary = "train a model of the paths that lead to relevant pages"
    parser = add_command(kinds, "context", summary, CONTEXT_EXAMPLES, "training.run_train_context")
    parser.add_argument("web", type=Path, metavar="WEB", help="a web with texts, or the folder of a crawl")
    parser.add_argument("--target", default="", metavar="LABEL", help="label of the relevant pages; not for a crawl")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the model; its name ends in .spoor")
    parser.add_argument(
        "--layers", type=int, default=3, metavar="N", help="largest number of links from a page to a relevant one (3)"
    )
    parser.add_argument(
        "--clusters", type=_clusters, metavar="K", help="clusters of pages; auto: chosen by the data (auto)"
    )
    parser.add_argument(
        "--refine", type=int, default=0, metavar="N", help="iterations of Baum-Welch after counting (0)"
    )
    add_workers(parser)
    add_json(parser)


def _clusters(text: str) -> int | None:
    if text == "auto":
        return None
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto nor a number")
    return int(text)


JUDGE_EXAMPLES = """
spoor judge mn page.html
spoor judge gsw.spoor letter.txt other.html
spoor judge script:thai:least=0.5 - < page.html
spoor judge crawl.toml page.html
"""

STRATEGIES_EXAMPLES = """
spoor strategies
spoor compare WEB --strategies breadth-first,limited-distance:n=3 …
"""

JUDGES_EXAMPLES = """
spoor judges
spoor compare WEB --judge charset:th:sources=meta …
"""

COMPLETION_EXAMPLES = """
spoor completion bash > ~/.local/share/bash-completion/completions/spoor
spoor completion zsh > ~/.zsh/completions/_spoor        (a folder of $fpath)
spoor completion fish > ~/.config/fish/completions/spoor.fish
"""

SHELLS = ("bash", "zsh", "fish")


def register_judge(commands: Commands) -> None:
    summary = "show the verdict of a judge on local pages, and the n-grams that decide"
    parser = add_command(commands, "judge", summary, JUDGE_EXAMPLES, "catalogue.run_judge")
    parser.add_argument(
        "target", metavar="TARGET", help="a language tag, a model, a judge such as script:thai, or a crawl.toml"
    )
    parser.add_argument("pages", nargs="+", metavar="PAGE", help="an HTML or text file; - reads standard input")
    add_json(parser)


def register_strategies(commands: Commands) -> None:
    summary = "list the strategies with their parameters and sources"
    add_json(add_command(commands, "strategies", summary, STRATEGIES_EXAMPLES, "catalogue.run_strategies"))


def register_judges(commands: Commands) -> None:
    summary = "list the judges with their parameters and sources"
    add_json(add_command(commands, "judges", summary, JUDGES_EXAMPLES, "catalogue.run_judges"))


def register_completion(commands: Commands) -> None:
    summary = "print a script that completes spoor commands and options in a shell"
    parser = add_command(commands, "completion", summary, COMPLETION_EXAMPLES, "catalogue.run_completion")
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")

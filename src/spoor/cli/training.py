"""`spoor train`: models of languages, topics, taxonomies, rules and paths, from examples."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.cli.command import SUMMARIES, Commands, add_command, add_workers
from spoor.cli.terminal import Advance, check_writable, counted, progress
from spoor.errors import BadInput, UsageError
from spoor.files import SUFFIX, checked_name
from spoor.judging.classifiers import write_taxonomy, write_topic
from spoor.judging.held_out import told
from spoor.judging.page_rules import (
    Examples,
    RuleModel,
    counted_rules,
    labelled_examples,
    page_examples,
    siblings,
    write_rules,
)
from spoor.judging.profiles import Profile, open_profiles, write_profiles
from spoor.judging.train_language import LanguageTrial, checked_tag, read_texts, train_language, trial
from spoor.judging.train_taxonomy import TrainedTaxonomy, classes_in, train_taxonomy
from spoor.judging.train_topic import TrainedTopic, train_topic
from spoor.judging.training_pages import Example, Kept, read_examples, sides, urls_in, usable
from spoor.lab.build.builder import Making, build_web
from spoor.lab.build.gather import BuildReport
from spoor.lab.build.warc_source import read_warcs, warc_files
from spoor.lab.link_graph import WebBacklinks
from spoor.lab.web import Web
from spoor.live.samples import pages_at
from spoor.ordering.path_model import write_paths
from spoor.ordering.train_paths import MOST_PAGES, Lesson, TrainedPaths, train_paths
from spoor.settings import Config, Crawling
from spoor.store.crawl_folder import open_for_reading
from spoor.store.journal import open_to_read, pages

# `spoor train context`: a model of the paths that lead to wanted pages, from a web or from an earlier crawl.


TRAIN_CONTEXT_EXAMPLES = """
spoor train context my-web --target class=course --out courses.spoor
spoor train context my-crawl --out more.spoor        (a crawl folder; what it judged relevant is wanted)
spoor compare other-web --target class=course --seeds seeds.txt --strategies ahmm:model=courses.spoor,soft-focused
"""
JUDGED_RELEVANT = "judged relevant"
SHOWN = 12


def register_train_context(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "context",
        "make a model of the paths that lead to wanted pages",
        TRAIN_CONTEXT_EXAMPLES,
        run_train_context,
    )
    parser.add_argument("web", type=Path, metavar="WEB", help="a web with texts, or the folder of a crawl")
    parser.add_argument("--target", default="", metavar="LABEL", help="label of the wanted pages; not for a crawl")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the model, FILE.spoor")
    parser.add_argument("--layers", type=int, default=3, metavar="N", help="links away from a wanted page (3)")
    parser.add_argument("--clusters", type=_clusters, metavar="K", help="of pages; auto: as the pages suggest (auto)")
    parser.add_argument("--refine", type=int, default=0, metavar="N", help="rounds of Baum-Welch after counting (0)")
    add_workers(parser)


def run_train_context(arguments: argparse.Namespace) -> int:
    out = checked_name(arguments.out)
    check_writable(out)
    with _opened(arguments) as (web, wanted):
        target = arguments.target or JUDGED_RELEVANT
        name, refine = arguments.web.resolve().name, arguments.refine
        lesson = Lesson(target, name, arguments.layers, arguments.clusters, refine)
        with progress("texts read", MOST_PAGES * (lesson.layers + 2)) as advance:
            made = train_paths(WebBacklinks(web), wanted, lesson, advance)
    write_paths(out, made.model)
    _tell_train_context(made, found=arguments.clusters is None, out=out)
    return 0


def _clusters(text: str) -> int | None:
    if text == "auto":
        return None
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto nor a number")
    return int(text)


@contextlib.contextmanager
def _opened(arguments: argparse.Namespace) -> Iterator[tuple[Web, NDArray[np.int64]]]:
    """The web, and the numbers of its wanted pages. A crawl is made a web of for as long as it is needed: its database
    keeps one way to every page, its WARC files hold every link."""
    if not (arguments.web / "crawl.db").exists():
        yield _web(arguments.web, arguments.target)
        return
    if arguments.target:
        remedy = "leave --target out: what the crawl judged relevant is wanted"
        raise UsageError(f"--target {arguments.target}: a crawl has no labels; {remedy}")
    with tempfile.TemporaryDirectory() as scratch:
        yield _crawled(arguments.web, Path(scratch) / "web", arguments.workers)


def _web(folder: Path, target: str) -> tuple[Web, NDArray[np.int64]]:
    if not (folder / "web.json").exists():
        remedy = "make a web with `spoor web build`, or a crawl with `spoor crawl`"
        raise BadInput(f"{folder} is neither a web nor the folder of a crawl; {remedy}")
    if not target:
        raise UsageError("--target is missing: name the label of the wanted pages; `spoor web info WEB` lists labels")
    web = Web.open(folder)
    return web, np.flatnonzero(web.labelled(target) & web.answers())


def _crawled(folder: Path, scratch: Path, workers: int) -> tuple[Web, NDArray[np.int64]]:
    crawl, report = open_for_reading(folder), BuildReport()
    with progress("pages of the crawl") as advance:
        records = counted(read_warcs(warc_files(folder), report, workers), advance)
        web = build_web(scratch, records, Making(folder.resolve().name, folder.name), report)
    with contextlib.closing(open_to_read(crawl.database)) as db:
        found = (web.urls.find(row.url) for row in pages(db, relevant_only=True))
        numbers = [number for number in found if number is not None and number < web.pages]
    return web, np.unique(np.array(numbers, np.int64))


def _tell_train_context(made: TrainedPaths, found: bool, out: Path) -> None:
    model = made.model
    *near, farther = zip(made.sizes, made.read, strict=True)
    print(f"trained     {model.target} on {model.trained_on}")
    for layer, (size, read) in enumerate(near):
        print(f"layer {layer}     {size:,} pages, {read:,} of them read")
    print(f"farther     {farther[0]:,} pages, {farther[1]:,} of them read")
    for layer in range(1, model.layers + 1):
        nearer = model.path.first_step[layer, layer - 1]
        print(f"nearer      {nearer:.0%} of links of layer {layer} lead to layer {layer - 1}")
    says = f"which take away {made.tells:.0%} of the doubt about the layer"
    print(f"clusters    {model.path.symbols} {'found' if found else 'asked for'}, {says}")
    print(f"words       {', '.join(model.words[:SHOWN])}")
    print(f"written     {out}; use it as in: spoor compare WEB --strategies ahmm:model={out} …")


# `spoor train rules`: which class of page links to which, from the labels of a web or from examples of your
# own.


TRAIN_RULES_EXAMPLES = """
spoor train rules webs/webkb --target class=course --out courses.spoor
spoor train rules webs/webkb --target class=course --where university=misc --out courses.spoor
spoor train rules webs/webkb --examples pages --target course --out courses.spoor      (pages/course, pages/student …)
"""


def register_train_rules(kinds: Commands) -> None:
    summary = "learn which class of page links to which, from classes of pages and a web"
    parser = add_command(kinds, "rules", summary, TRAIN_RULES_EXAMPLES, run_train_rules)
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


def run_train_rules(arguments: argparse.Namespace) -> int:
    out, web = checked_name(arguments.out), Web.open(arguments.web)
    examples = _from_pages(web, arguments) if arguments.examples else _from_labels(web, arguments)
    _check(examples, arguments.target)
    source = arguments.examples.name if arguments.examples else web.name
    made = train_taxonomy(", ".join(arguments.target), examples.pages, arguments.target, source)
    with progress("telling what they link to", len(frozenset().union(*examples.linked.values()))) as advance:
        rules = counted_rules(web, made.model, examples, advance)
    model = RuleModel(made.model, rules)
    write_rules(out, model)
    _tell_train_rules(model, made, examples, out)
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


def _tell_train_rules(model: RuleModel, made: TrainedTaxonomy, examples: Examples, out: Path) -> None:
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


# `spoor train taxonomy`: classes of pages, some of them wanted, from a folder for each class.


TRAIN_TAXONOMY_EXAMPLES = """
spoor train taxonomy --name sports --good sports/cycling pages
spoor judge sports.spoor page.html
"""


def register_train_taxonomy(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "taxonomy",
        "make a model of classes from a folder of pages for each",
        TRAIN_TAXONOMY_EXAMPLES,
        run_train_taxonomy,
    )
    parser.add_argument(
        "pages", nargs="+", type=Path, metavar="FOLDER", help="folder or tar archive with a folder for each class"
    )
    parser.add_argument("--name", required=True, metavar="NAME", help="what the taxonomy is called")
    parser.add_argument(
        "--good", action="append", required=True, metavar="CLASS", help="wanted, with all below; may be given again"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the model (NAME.spoor)")


def run_train_taxonomy(arguments: argparse.Namespace) -> int:
    out = checked_name(arguments.out or Path(f"{arguments.name}{SUFFIX}"))
    with progress("reading pages") as advance:
        classes = classes_in(page for source in arguments.pages for page in counted(read_examples(source), advance))
    sources = ", ".join(source.name for source in arguments.pages)
    made = train_taxonomy(arguments.name, classes, arguments.good, sources)
    write_taxonomy(out, made.model)
    print(f"trained     {made.model.name} on {sources}")
    for leaf, kept in classes.items():
        print(f"class       {leaf}, {kept} pages")
    _tell_train_taxonomy(made, out)
    return 0


def _tell_train_taxonomy(made: TrainedTaxonomy, out: Path) -> None:
    print(f"held out    a fifth after the other: {made.trial.right:.0%} of pages in their own class")
    print(f"            wanted or not: {told(made.trial.accuracy)}")
    print(f"wanted      {', '.join(made.model.good)}")
    print(f"written     {out}; ask for it by this name, as in: spoor judge {out} PAGE")


# `spoor train topic`: a model of a topic from pages that are wanted and pages that are not.


TRAIN_TOPIC_EXAMPLES = """
spoor train topic --name horses --positive good-pages --negative other-pages
spoor train topic --name horses pages.tar.xz        (with folders positive and negative inside)
spoor train topic --name horses --positive good-urls.txt --negative other-urls.txt --contact https://example.org/us
spoor judge horses.spoor page.html
"""


def register_train_topic(kinds: Commands) -> None:
    parser = add_command(kinds, "topic", "make a model of a topic from pages", TRAIN_TOPIC_EXAMPLES, run_train_topic)
    parser.add_argument(
        "pages", nargs="*", type=Path, metavar="FOLDER", help="folder or archive with folders positive and negative"
    )
    parser.add_argument("--name", required=True, metavar="NAME", help="what the topic is called")
    parser.add_argument(
        "--positive",
        nargs="+",
        type=Path,
        default=[],
        metavar="PAGES",
        help="wanted: a folder, file, tar archive or URLS.txt",
    )
    parser.add_argument("--negative", nargs="+", type=Path, default=[], metavar="PAGES", help="not wanted: the same")
    parser.add_argument("--contact", default="", metavar="URL", help="told to the servers that are asked for pages")
    parser.add_argument("--allow-private", action="store_true", help="ask servers on this machine and network too")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the model (NAME.spoor)")


def run_train_topic(arguments: argparse.Namespace) -> int:
    out = checked_name(arguments.out or Path(f"{arguments.name}{SUFFIX}"))
    _check_given(arguments)
    with progress("reading pages") as advance:
        positive, negative = _read(arguments, advance)
    sources = (*arguments.pages, *arguments.positive, *arguments.negative)
    made = train_topic(arguments.name, positive, negative, ", ".join(source.name for source in sources))
    write_topic(out, made.model)
    _tell_train_topic(made, positive, negative, out)
    return 0


def _check_given(arguments: argparse.Namespace) -> None:
    if not (arguments.pages or arguments.positive):
        raise UsageError("no wanted pages are given; name them with --positive, or a folder that holds them")
    if not (arguments.pages or arguments.negative):
        raise UsageError("no other pages are given; name some with --negative, or use the judge vsm, which needs none")


def _read(arguments: argparse.Namespace, advance: Advance) -> tuple[Kept, Kept]:
    positive = _examples(arguments.positive, arguments, advance)
    negative = _examples(arguments.negative, arguments, advance)
    for source in arguments.pages:
        wanted, others = sides(source, counted(read_examples(source), advance))
        positive += wanted
        negative += others
    return usable(positive), usable(negative)


def _examples(sources: Sequence[Path], arguments: argparse.Namespace, advance: Advance) -> list[Example]:
    found: list[Example] = []
    for source in sources:
        if urls := urls_in(source):
            found += _asked_for(urls, source, arguments, advance)
        else:
            found += counted(read_examples(source), advance)
    return found


def _asked_for(urls: Sequence[str], source: Path, arguments: argparse.Namespace, advance: Advance) -> list[Example]:
    crawling = Crawling(contact=arguments.contact, allow_private=arguments.allow_private)
    samples = asyncio.run(pages_at(urls, Config(crawl=crawling), advance))
    for url, why in samples.failed.items():
        print(f"left out    {url}: {why}")
    if not samples.pages:
        raise BadInput(f"none of the {len(urls)} URLs in {source} gave a page; the reasons are above")
    return [Example(url, page) for url, page in samples.pages.items()]


def _tell_train_topic(made: TrainedTopic, positive: Kept, negative: Kept, out: Path) -> None:
    model = made.model
    print(f"trained     {model.name} on {model.trained_on}")
    print(f"pages       {positive} positive, {negative} negative")
    print(f"held out    a fifth after the other: {told(made.trial.accuracy)}")
    print(f"certainty   probabilities are {made.trial.astray:.3f} off the shares that come true")
    print(f"wanted      from a probability of {model.threshold:.2f} on")
    print(f"for it      {', '.join(model.words[:SHOWN])}")
    print(f"against it  {', '.join(made.against[:SHOWN])}")
    print(f"written     {out}; ask for it by this name, as in: spoor judge {out} PAGE")


# `spoor train`: models from examples; `spoor train language` is a profile of a language from a page of text.


TRAIN_EXAMPLES = """
spoor train language --name gsw stories.txt letters.txt
spoor judge gsw.spoor page.html
spoor train language --name mn-Mong --orthography myfont legacy.txt --out mongolian.spoor
"""
OTHER_EXAMPLES = (TRAIN_TOPIC_EXAMPLES, TRAIN_TAXONOMY_EXAMPLES, TRAIN_RULES_EXAMPLES, TRAIN_CONTEXT_EXAMPLES)
ALL_EXAMPLES = TRAIN_EXAMPLES.rstrip() + "".join(examples.rstrip() for examples in OTHER_EXAMPLES)


def register_train(commands: Commands) -> None:
    kinds = add_command(commands, "train", SUMMARIES["train"], ALL_EXAMPLES).add_subparsers(
        metavar="KIND", required=True
    )
    parser = add_command(kinds, "language", "make a profile of a language from text files", TRAIN_EXAMPLES, run_train)
    parser.add_argument("texts", nargs="+", type=Path, metavar="TEXTFILE", help="plain text in UTF-8; 10 KB are enough")
    parser.add_argument("--name", required=True, metavar="TAG", help="the language: a BCP-47 tag, or x-NAME")
    parser.add_argument(
        "--orthography", default="", metavar="NAME", help="to tell profiles of one language apart (TAG)"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the model; one that exists is added to (TAG.spoor)")
    for register in (register_train_topic, register_train_taxonomy, register_train_rules, register_train_context):
        register(kinds)


def run_train(arguments: argparse.Namespace) -> int:
    tag = checked_tag(arguments.name)
    out = checked_name(arguments.out or Path(f"{tag}{SUFFIX}"))
    earlier = open_profiles(out).profiles() if out.exists() else []
    if earlier and earlier[0].tag != tag:
        raise UsageError(f"{out} is a model of {earlier[0].tag}; give {tag} another file with --out")
    text = read_texts(arguments.texts)
    names = ", ".join(path.name for path in arguments.texts)
    profile = train_language(tag, arguments.orthography or tag, text, names)
    write_profiles(out, [*earlier, profile])
    _tell_train(profile, trial(profile, text), out)
    return 0


def _tell_train(profile: Profile, tried: LanguageTrial, out: Path) -> None:
    grams = ", ".join(f"{len(profile.grams(n)[0]):,} {n}-grams" for n in (2, 3, 4))
    print(f"trained     {profile.tag} ({profile.name}) on {profile.trained_on}")
    print(f"text        {profile.size:,} characters; {grams}")
    print(f"held out    a tenth of the text has similarity {tried.similarity:.2f} to the rest")
    print(f"nearest     {tried.nearest}, similarity {tried.nearest_similarity:.2f} of the same tenth")
    print(f"written     {out}; ask for it by this name, as in: spoor judge {out} PAGE")

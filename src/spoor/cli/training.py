"""`spoor train`: models of languages, topics, taxonomies, rules and paths, from examples."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.cli.terminal import check_writable, print_json, progress, say
from spoor.errors import BadInput, UsageError
from spoor.files import SUFFIX, checked_name
from spoor.judging.classifiers import write_taxonomy, write_topic
from spoor.judging.held_out import FOLDS, accuracy_figures
from spoor.judging.page_rules import (
    Examples,
    RuleModel,
    checked,
    counted_rules,
    labelled_examples,
    page_examples,
    siblings,
    write_rules,
)
from spoor.judging.profiles import Profile, open_profiles, write_profiles
from spoor.judging.train_language import LanguageEvaluation, checked_tag, read_texts, train_language, trial
from spoor.judging.train_taxonomy import TrainedTaxonomy, classes_in, train_taxonomy
from spoor.judging.train_topic import TrainedTopic, train_topic
from spoor.judging.training_pages import Example, Kept, read_examples, sides, urls_in, usable
from spoor.lab.build.builder import BuildOptions, build_web
from spoor.lab.build.gather import BuildReport
from spoor.lab.build.warc_source import parsing_of, read_warcs, warc_files
from spoor.lab.link_graph import WebBacklinks
from spoor.lab.web import Web
from spoor.live.samples import pages_at
from spoor.live.surroundings import remarks
from spoor.ordering.path_model import write_paths
from spoor.ordering.train_paths import MOST_PAGES, Lesson, TrainedPaths, train_paths
from spoor.progress import Advance, counted
from spoor.settings import Config, Crawling
from spoor.store.crawl_folder import open_for_reading
from spoor.store.crawl_parts import open_parts, pages_in_order

_log = logging.getLogger(__name__)

Facts = dict[str, object]

Line = tuple[str, str]
"""Name and value."""
SHOWN = 12
"""Words shown of a model."""


def tell(facts: Facts, lines: Iterable[Line], arguments: argparse.Namespace, out: Path, use: str) -> None:
    """Prints the trained model and its evaluation: `facts` as JSON, or `lines` as text. `use` is an example of its
    use."""
    if arguments.json:
        print_json({"model": str(out), **facts})
    else:
        say(*(f"{name:<12}{what}" for name, what in lines), f"{'written':<12}{out}; use it as in: {use}")


# `spoor train context`: a model of the paths to relevant pages, from a web or from an earlier crawl.


JUDGED_RELEVANT = "judged relevant"


def run_train_context(arguments: argparse.Namespace) -> int:
    out = checked_name(arguments.out)
    check_writable(out)
    with _opened(arguments) as (web, relevant):
        target = arguments.target or JUDGED_RELEVANT
        name, refine = arguments.web.resolve().name, arguments.refine
        lesson = Lesson(target, name, arguments.layers, arguments.clusters, refine)
        with progress("texts read", MOST_PAGES * (lesson.layers + 2)) as advance:
            made = train_paths(WebBacklinks(web), relevant, lesson, advance)
    write_paths(out, made.model)
    use = f"spoor compare WEB --strategies ahmm:model={out} …"
    tell(_context_facts(made), _context_lines(made, arguments.clusters is None), arguments, out, use)
    return 0


@contextlib.contextmanager
def _opened(arguments: argparse.Namespace) -> Iterator[tuple[Web, NDArray[np.int64]]]:
    """The web, and the numbers of its relevant pages. A crawl is converted to a temporary web: its database has one
    path to every page, its WARC files have every link."""
    if not (arguments.web / "crawl.db").exists():
        yield _web(arguments.web, arguments.target)
        return
    if arguments.target:
        remedy = "leave --target out: the pages that the crawl judged relevant are used"
        raise UsageError(f"--target {arguments.target}: a crawl has no labels; {remedy}")
    with tempfile.TemporaryDirectory() as scratch:
        yield _crawled(arguments.web, Path(scratch) / "web", arguments.workers)


def _web(folder: Path, target: str) -> tuple[Web, NDArray[np.int64]]:
    if not (folder / "web.json").exists():
        remedy = "make a web with `spoor web build`, or a crawl with `spoor crawl`"
        raise BadInput(f"{folder} is neither a web nor the folder of a crawl; {remedy}")
    if not target:
        raise UsageError("--target is missing: name the label of the relevant pages; `spoor web info WEB` lists labels")
    web = Web.open(folder)
    return web, np.flatnonzero(web.labelled(target) & web.answers())


def _crawled(folder: Path, scratch: Path, workers: int) -> tuple[Web, NDArray[np.int64]]:
    crawl, report = open_for_reading(folder), BuildReport()
    with progress("pages of the crawl") as advance:
        records = counted(read_warcs(warc_files(folder), report, workers, parsing_of(folder)), advance)
        web = build_web(scratch, records, BuildOptions(folder.resolve().name, folder.name), report)
    with open_parts(crawl) as parts:
        found = (web.urls.find(row.url) for _, row in pages_in_order(parts, relevant_only=True))
        numbers = [number for number in found if number is not None and number < web.pages]
    return web, np.unique(np.array(numbers, np.int64))


def _context_facts(made: TrainedPaths) -> Facts:
    model = made.model
    layers = [{"pages": size, "read": read} for size, read in zip(made.sizes, made.read, strict=True)]
    clusters = {"clusters": model.path.symbols, "explained": made.tells}
    return {"target": model.target, "layers": layers, **clusters, "words": model.words[:SHOWN]}


def _context_lines(made: TrainedPaths, found: bool) -> Iterator[Line]:
    model = made.model
    *near, farther = zip(made.sizes, made.read, strict=True)
    yield "trained", f"{model.target} on {model.trained_on}"
    for layer, (size, read) in enumerate(near):
        yield f"layer {layer}", f"{size:,} pages, {read:,} of them read"
    yield "farther", f"{farther[0]:,} pages, {farther[1]:,} of them read"
    for layer in range(1, model.layers + 1):
        nearer = model.path.first_step[layer, layer - 1]
        yield "nearer", f"{nearer:.0%} of links of layer {layer} lead to layer {layer - 1}"
    says = f"which explain {made.tells:.0%} of the entropy of layers"
    yield "clusters", f"{model.path.symbols} {'found' if found else 'asked for'}, {says}"
    yield "words", ", ".join(model.words[:SHOWN])


# `spoor train rules`: which class of page links to which, from the labels of a web or from the user's examples.


def run_train_rules(arguments: argparse.Namespace) -> int:
    out, web = checked_name(arguments.out), Web.open(arguments.web)
    examples = _from_pages(web, arguments) if arguments.examples else _from_labels(web, arguments)
    checked(examples, arguments.target)
    source = arguments.examples.name if arguments.examples else web.name
    made = train_taxonomy(", ".join(arguments.target), examples.pages, arguments.target, source)
    with progress("classifying linked pages", len(frozenset().union(*examples.linked.values()))) as advance:
        rules = counted_rules(web, made.model, examples, advance)
    model = RuleModel(made.model, rules)
    write_rules(out, model)
    facts = {"target": arguments.target, "classes": _sizes(examples.pages), **_cross_validated(made)}
    use = f"spoor crawl --strategy core:model={out}:ontology=FILE …"
    tell(facts, _rules_lines(model, made, examples), arguments, out, use)
    return 0


def _from_labels(web: Web, arguments: argparse.Namespace) -> Examples:
    """Every relevant class must be one of the labels."""
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
            raise UsageError(f"--{flag} is for labels; with --examples the classes are the folders in it")
    with progress("reading pages") as advance:
        return page_examples(web, classes_in(counted(read_examples(arguments.examples), advance)))


def _rules_lines(model: RuleModel, made: TrainedTaxonomy, examples: Examples) -> Iterator[Line]:
    yield "trained", f"{model.taxonomy.name} on {model.taxonomy.trained_on}"
    yield from _taxonomy_trial(made)
    ahead, best = (model.rules.look_ahead(model.relevant, combine) for combine in ("sum", "max"))
    for number, leaf in enumerate(model.rules.classes):
        chances = model.rules.chances[number]
        most = [k for k in chances.argsort()[::-1][:3] if chances[k]]
        leads = ", ".join(f"{model.rules.classes[k]} {chances[k]:.2f}" for k in most) or "nothing that the web holds"
        pages = f"{examples.pages[leaf]} pages, {model.rules.times[number].sum():,} linked to"
        yield "class", f"{leaf}: {pages}; look-ahead {ahead[number]:.2f} (best path {best[number]:.2f})"
        yield "", f"leads to {leads}"


# `spoor train taxonomy`: classes of pages, some of them relevant, from a folder for each class.


def run_train_taxonomy(arguments: argparse.Namespace) -> int:
    out = checked_name(arguments.out or Path(f"{arguments.name}{SUFFIX}"))
    with progress("reading pages") as advance:
        classes = classes_in(page for source in arguments.pages for page in counted(read_examples(source), advance))
    sources = ", ".join(source.name for source in arguments.pages)
    made = train_taxonomy(arguments.name, classes, arguments.relevant, sources)
    write_taxonomy(out, made.model)
    facts = {"name": made.model.name, "classes": _sizes(classes), "relevant": made.model.relevant}
    tell(facts | _cross_validated(made), _taxonomy_lines(made, classes), arguments, out, f"spoor judge {out} PAGE")
    return 0


def _taxonomy_lines(made: TrainedTaxonomy, classes: dict[str, Kept]) -> Iterator[Line]:
    yield "trained", f"{made.model.name} on {made.model.trained_on}"
    for leaf, kept in classes.items():
        yield "class", f"{leaf}, {kept} pages"
    yield from _taxonomy_trial(made)
    yield "relevant", ", ".join(made.model.relevant)


def _taxonomy_trial(made: TrainedTaxonomy) -> Iterator[Line]:
    yield "held out", f"{FOLDS}-fold cross-validation: {made.trial.right:.0%} of pages in their own class"
    yield "", f"relevant or not: {accuracy_figures(made.trial.accuracy)}"


def _sizes(classes: Mapping[str, Kept]) -> dict[str, int]:
    return {leaf: len(kept.examples) for leaf, kept in classes.items()}


def _cross_validated(made: TrainedTaxonomy) -> Facts:
    return {"in_own_class": made.trial.right, **made.trial.accuracy.as_json()}


# `spoor train topic`: a model of a topic from relevant pages and others.


def run_train_topic(arguments: argparse.Namespace) -> int:
    out = checked_name(arguments.out or Path(f"{arguments.name}{SUFFIX}"))
    _check_given(arguments)
    with progress("reading pages") as advance:
        positive, negative = _read(arguments, advance)
    sources = (*arguments.pages, *arguments.positive, *arguments.negative)
    made = train_topic(arguments.name, positive, negative, ", ".join(source.name for source in sources))
    write_topic(out, made.model)
    pages = {"positive": len(positive.examples), "negative": len(negative.examples)}
    lines = _topic_lines(made, positive, negative)
    tell(_topic_facts(made) | pages, lines, arguments, out, f"spoor judge {out} PAGE")
    return 0


def _check_given(arguments: argparse.Namespace) -> None:
    if not (arguments.pages or arguments.positive):
        raise UsageError("no relevant pages are given; name them with --positive, or a folder that holds them")
    if not (arguments.pages or arguments.negative):
        raise UsageError("no other pages are given; name some with --negative, or use the judge vsm, which needs none")


def _read(arguments: argparse.Namespace, advance: Advance) -> tuple[Kept, Kept]:
    positive = _examples(arguments.positive, arguments, advance)
    negative = _examples(arguments.negative, arguments, advance)
    for source in arguments.pages:
        relevant, others = sides(source, counted(read_examples(source), advance))
        positive += relevant
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
    crawling = Crawling(contact=arguments.contact, allow_private=arguments.allow_private, proxy=arguments.proxy)
    for line in remarks(crawling.proxy, os.environ):
        _log.warning("%s", line)
    samples = asyncio.run(pages_at(urls, Config(crawl=crawling), advance))
    for url, why in samples.failed.items():
        _log.warning("left out %s: %s", url, why)
    if not samples.pages:
        raise BadInput(f"none of the {len(urls)} URLs in {source} gave a page; the reasons are above")
    return [Example(url, page) for url, page in samples.pages.items()]


def _topic_facts(made: TrainedTopic) -> Facts:
    model, trial = made.model, made.trial
    facts = {"name": model.name, **trial.accuracy.as_json(), "calibration_error": trial.astray}
    return {**facts, "threshold": model.threshold, "words": model.words[:SHOWN], "against": made.against[:SHOWN]}


def _topic_lines(made: TrainedTopic, positive: Kept, negative: Kept) -> Iterator[Line]:
    model = made.model
    yield "trained", f"{model.name} on {model.trained_on}"
    yield "pages", f"{positive} positive, {negative} negative"
    yield "held out", f"{FOLDS}-fold cross-validation: {accuracy_figures(made.trial.accuracy)}"
    yield "calibration", f"error {made.trial.astray:.3f}"
    yield "threshold", f"{model.threshold:.2f}"
    yield "for it", ", ".join(model.words[:SHOWN])
    yield "against it", ", ".join(made.against[:SHOWN])


# `spoor train language`: an n-gram profile of a language, from text files.


def run_train_language(arguments: argparse.Namespace) -> int:
    tag = checked_tag(arguments.name)
    out = checked_name(arguments.out or Path(f"{tag}{SUFFIX}"))
    earlier = open_profiles(out).profiles() if out.exists() else []
    if earlier and earlier[0].tag != tag:
        raise UsageError(f"{out} is a model of {earlier[0].tag}; give {tag} another file with --out")
    text = read_texts(arguments.texts)
    names = ", ".join(path.name for path in arguments.texts)
    profile = train_language(tag, arguments.orthography or tag, text, names)
    write_profiles(out, [*earlier, profile])
    tried = trial(profile, text)
    facts = {"language": tag, "orthography": profile.name, "characters": profile.size, **asdict(tried)}
    tell(facts, _language_lines(profile, tried), arguments, out, f"spoor judge {out} PAGE")
    return 0


def _language_lines(profile: Profile, tried: LanguageEvaluation) -> Iterator[Line]:
    grams = ", ".join(f"{len(profile.grams(n)[0]):,} {n}-grams" for n in (2, 3, 4))
    yield "trained", f"{profile.tag} ({profile.name}) on {profile.trained_on}"
    yield "text", f"{profile.size:,} characters; {grams}"
    yield "held out", f"a tenth of the text has similarity {tried.similarity:.2f} to the rest"
    yield "nearest", f"{tried.nearest}, similarity {tried.nearest_similarity:.2f} of the same tenth"

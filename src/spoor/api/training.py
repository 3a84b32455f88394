"""`spoor.train_language`, `train_topic`, `train_taxonomy`, `train_context`, `train_rules`: train models from
examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spoor.api.options import AnyPath
from spoor.files import checked_name
from spoor.judging.classifiers import write_taxonomy, write_topic
from spoor.judging.page_rules import RuleModel, checked, counted_rules, labelled_examples, siblings, write_rules
from spoor.judging.profiles import Profile, write_profiles
from spoor.judging.train_language import LanguageEvaluation, checked_tag, trial
from spoor.judging.train_language import train_language as train_profile
from spoor.judging.train_taxonomy import TrainedTaxonomy
from spoor.judging.train_taxonomy import train_taxonomy as train_classes
from spoor.judging.train_topic import TrainedTopic
from spoor.judging.train_topic import train_topic as train_sides
from spoor.judging.training_pages import Example, Kept, read_examples, usable
from spoor.lab.link_graph import WebBacklinks
from spoor.lab.web import Web
from spoor.ordering.path_model import write_paths
from spoor.ordering.train_paths import Lesson, TrainedPaths, train_paths
from spoor.progress import unseen
from spoor.records import Page

Examples = AnyPath | Iterable[Page]
"""A folder, file or tar archive of pages; or pages."""
IN_MEMORY = "pages in memory"


@dataclass(frozen=True)
class TrainedLanguage:
    """A profile, and its test: trained on nine tenths of the text, tested on the last tenth."""

    model: Profile
    trial: LanguageEvaluation


def train_language(name: str, text: str, out: AnyPath | None = None) -> TrainedLanguage:
    """Trains a model of the language `name`, a BCP-47 tag or x-NAME, on a few thousand characters of text. `out` must
    end in .spoor; crawls and judges use the file by name: `language="gsw.spoor"`."""
    file, tag = _checked(out), checked_tag(name)
    profile = train_profile(tag, tag, text, "text in memory")
    made = TrainedLanguage(profile, trial(profile, text))
    if file is not None:
        write_profiles(file, [profile])
    return made


def train_topic(name: str, positive: Examples, negative: Examples, out: AnyPath | None = None) -> TrainedTopic:
    """Trains a topic model on pages about the topic and others, at least ten of each. Use: `topic="horses.spoor"`."""
    file = _checked(out)
    sources = ", ".join(dict.fromkeys((_source(positive), _source(negative))))
    made = train_sides(name, _kept(positive), _kept(negative), sources)
    if file is not None:
        write_topic(file, made.model)
    return made


def train_taxonomy(
    name: str, classes: Mapping[str, Examples], relevant: Iterable[str], out: AnyPath | None = None
) -> TrainedTaxonomy:
    """Trains a classifier of pages on at least five pages of each class; `relevant` names the relevant classes.
    Subclasses are written `sports/cycling`. Use: `topic="sports.spoor"`."""
    file = _checked(out)
    kept = {leaf: _kept(pages) for leaf, pages in classes.items()}
    made = train_classes(name, kept, list(relevant), ", ".join(dict.fromkeys(map(_source, classes.values()))))
    if file is not None:
        write_taxonomy(file, made.model)
    return made


def train_context(
    web: AnyPath,
    target: str,
    out: AnyPath | None = None,
    *,
    layers: int = 3,
    clusters: int | None = None,
    refine: int = 0,
) -> TrainedPaths:
    """Trains a path model: the pages at each distance, up to `layers` links, from those labelled `target`; the web must
    have texts. `clusters=None`: chosen from the data. Use: `strategy="ahmm:model=paths.spoor"`."""
    file, opened = _checked(out), Web.open(Path(web))
    relevant = np.flatnonzero(opened.labelled(target) & opened.answers())
    lesson = Lesson(target, opened.name, layers, clusters, refine)
    made = train_paths(WebBacklinks(opened), relevant, lesson, unseen)
    if file is not None:
        write_paths(file, made.model)
    return made


def train_rules(
    web: AnyPath,
    target: str | Sequence[str],
    out: AnyPath | None = None,
    *,
    classes: Sequence[str] = (),
    where: str = "",
) -> RuleModel:
    """Learns which class of page links to which, from the labels of a web with texts. `classes` are the labels to
    distinguish, by default those of the same kind as the first target; `where` is a label that all examples must have.
    Use: `strategy="core:model=rules.spoor:ontology=terms.tsv"`."""
    file, opened = _checked(out), Web.open(Path(web))
    targets = [target] if isinstance(target, str) else list(target)
    labels = tuple(dict.fromkeys((*(classes or siblings(opened, targets[0])), *targets)))
    examples = checked(labelled_examples(opened, labels, where), targets)
    taxonomy = train_classes(", ".join(targets), examples.pages, targets, opened.name).model
    model = RuleModel(taxonomy, counted_rules(opened, taxonomy, examples))
    if file is not None:
        write_rules(file, model)
    return model


def _checked(out: AnyPath | None) -> Path | None:
    return None if out is None else checked_name(Path(out))


def _kept(examples: Examples) -> Kept:
    if not isinstance(examples, Iterable) or isinstance(examples, str):
        return usable(read_examples(Path(examples)))
    return usable(Example(f"{number}: {page.url}", page) for number, page in enumerate(examples))


def _source(examples: Examples) -> str:
    return IN_MEMORY if isinstance(examples, Iterable) and not isinstance(examples, str) else Path(examples).name

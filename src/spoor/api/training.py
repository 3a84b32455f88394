"""`spoor.train_language`, `train_topic` and `train_taxonomy`: models from examples at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from spoor.api.options import AnyPath
from spoor.files import checked_name
from spoor.judging.classifiers import write_taxonomy, write_topic
from spoor.judging.profiles import Profile, write_profiles
from spoor.judging.train_language import LanguageTrial, checked_tag, trial
from spoor.judging.train_language import train_language as train_profile
from spoor.judging.train_taxonomy import TrainedTaxonomy
from spoor.judging.train_taxonomy import train_taxonomy as train_classes
from spoor.judging.train_topic import TrainedTopic
from spoor.judging.train_topic import train_topic as train_sides
from spoor.judging.training_pages import Example, Kept, read_examples, usable
from spoor.records import Page

Examples = AnyPath | Iterable[Page]
"""A folder, file or tar archive of pages; or pages."""
IN_MEMORY = "pages in memory"


@dataclass(frozen=True)
class TrainedLanguage:
    """A profile, and how well nine tenths of the text recognise the last tenth."""

    model: Profile
    trial: LanguageTrial


def train_language(name: str, text: str, out: AnyPath | None = None) -> TrainedLanguage:
    """A model of the language `name`, a BCP-47 tag or x-NAME, from a few thousand characters of text. Written to `out`,
    a file whose name ends in .spoor, where crawls and judges can be told to find it: `language="gsw.spoor"`."""
    file, tag = _checked(out), checked_tag(name)
    profile = train_profile(tag, tag, text, "text in memory")
    made = TrainedLanguage(profile, trial(profile, text))
    if file is not None:
        write_profiles(file, [profile])
    return made


def train_topic(name: str, positive: Examples, negative: Examples, out: AnyPath | None = None) -> TrainedTopic:
    """A model of a topic from pages about it and others, at least ten of each; `topic="horses.spoor"` asks for it."""
    file = _checked(out)
    sources = ", ".join(dict.fromkeys((_source(positive), _source(negative))))
    made = train_sides(name, _kept(positive), _kept(negative), sources)
    if file is not None:
        write_topic(file, made.model)
    return made


def train_taxonomy(
    name: str, classes: Mapping[str, Examples], good: Iterable[str], out: AnyPath | None = None
) -> TrainedTaxonomy:
    """A model of classes of pages, at least five pages of each, from the pages of each; `good` are the relevant ones.
    Classes below others are written `sports/cycling`. `topic="sports.spoor"` asks for it."""
    file = _checked(out)
    kept = {leaf: _kept(pages) for leaf, pages in classes.items()}
    made = train_classes(name, kept, list(good), ", ".join(dict.fromkeys(map(_source, classes.values()))))
    if file is not None:
        write_taxonomy(file, made.model)
    return made


def _checked(out: AnyPath | None) -> Path | None:
    return None if out is None else checked_name(Path(out))


def _kept(examples: Examples) -> Kept:
    if not isinstance(examples, Iterable) or isinstance(examples, str):
        return usable(read_examples(Path(examples)))
    return usable(Example(f"{number}: {page.url}", page) for number, page in enumerate(examples))


def _source(examples: Examples) -> str:
    return IN_MEMORY if isinstance(examples, Iterable) and not isinstance(examples, str) else Path(examples).name

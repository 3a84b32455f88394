"""Copies the files that the settings of a crawl refer to into its folder: it can be moved as a whole, and a
change of a file elsewhere does not change it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from spoor import registry
from spoor.errors import SpoorError, UsageError
from spoor.files import SUFFIX
from spoor.judging.classifiers import write_topic
from spoor.judging.train_topic import topic_from
from spoor.settings import Config, section_text, translate_in
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.inputs import check_size, digest_of


def check_inputs(settings: Config, folder: CrawlFolder) -> None:
    """Raises, before the folder is created, if a file is too large to be copied or a copy was changed."""
    files = set[Path]()

    def see(file: str) -> str:
        if folder.inputs.holds(Path(file)):
            folder.inputs.check(Path(file))
        files.add(Path(file))
        return file

    registry.with_paths(settings, _with_dictionaries(see))
    without_files = registry.with_paths(settings, lambda file: "")
    is_named = (settings.crawl.strategy, settings.target.judge) != (
        without_files.crawl.strategy,
        without_files.target.judge,
    )
    if is_named and ":" in str(folder.inputs.path):
        problem = f"{folder.path.resolve()} has a colon, so names of strategies and judges cannot hold a file in it"
        raise UsageError(f"{problem}; give --out another folder")
    examples = settings.target.examples
    check_size(files - {Path(examples)} if _is_to_train(examples) else files)


def _with_dictionaries(place: Callable[[str], str]) -> Callable[[str], str]:
    """Also for the dictionary of a file with a section [translate], which the name of a judge or strategy refers to."""

    def placed(file: str) -> str:
        if dictionary := _dictionary_of(file):
            place(dictionary)
        return place(file)

    return placed


def _dictionary_of(file: str) -> str:
    with contextlib.suppress(SpoorError):  # Not a file of settings.
        return translate_in(Path(file)).dictionary if file.endswith(".toml") else ""
    return ""


def with_kept_inputs(settings: Config, folder: CrawlFolder) -> Config:
    """The same settings with paths in the folder. Of a folder of examples the model trained from it is kept."""
    examples = settings.target.examples
    if _is_to_train(examples):
        settings = replace(settings, target=replace(settings.target, examples=_trained(examples, folder)))

    def copy(file: str) -> str:
        path = Path(file)
        if folder.inputs.holds(path) or not path.exists():
            return file
        if dictionary := _dictionary_of(file):
            return _translator(path, Path(copy(dictionary)), folder)
        return str(folder.inputs.copy_of(path))

    return registry.with_paths(settings, copy)


def _is_to_train(examples: str) -> bool:
    return bool(examples) and not examples.endswith(SUFFIX)


def _trained(examples: str, folder: CrawlFolder) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch) / f"examples{SUFFIX}"
        write_topic(model, topic_from(Path(examples)))
        return str(folder.inputs.copy_of(model))


def _translator(file: Path, dictionary: Path, folder: CrawlFolder) -> str:
    """The copy of a file with a section [translate], whose dictionary is a copy beside it."""
    beside = os.path.relpath(dictionary, folder.inputs.path / "digest")
    section = replace(translate_in(file), dictionary=beside)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / file.name
        copy.write_text(section_text("translate", section), "utf8")
        return str(folder.inputs.copy_of(copy))


def by_content(settings: Config) -> Config:
    """The same settings with the digest of each file in place of its path, to compare two crawls."""

    def digest(file: str) -> str:
        try:
            return digest_of(Path(file))
        except OSError:
            return file

    return registry.with_paths(settings, digest)

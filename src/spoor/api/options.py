"""Keyword options of a crawl in Python: the settings of crawl.toml, and objects in place of names."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from spoor import registry
from spoor import settings as config
from spoor.errors import UsageError
from spoor.files import SUFFIX
from spoor.live.from_settings import Objects
from spoor.naming import warn_of_rename
from spoor.roles import Judge
from spoor.settings import GIVEN_IN_PYTHON, SETTINGS, Config
from spoor.store.crawl_folder import CrawlFolder
from spoor.strategy import Strategy
from spoor.trust import ALL_KEYS, Key

AnyPath = str | os.PathLike[str]
AnyStrategy = str | Strategy | Callable[[Judge], Strategy]
"""A name with parameters, such as `limited-distance:n=3`; a function that makes a strategy for a judge; or a strategy,
which has its own judge; every crawl uses a fresh copy of it."""
AnyJudge = str | Judge
"""A name with its argument, such as `script:thai`; or any object with `reads_content` and `judge`."""

FILES = ("gold", "topic", "examples", "ontology", "seeds_file", "warm", "dictionary", "answers")
"""Options that name files, relative to the working directory."""


class CrawlOptions(TypedDict, total=False):
    """Every setting of crawl.toml under the same name, except `strategy` and `judge`; see docs/settings.md. Defaults
    are those of the command line."""

    language: AnyPath
    charset: str
    script: str
    least: float
    keywords: Sequence[str]
    gold: AnyPath
    pattern: str
    topic: AnyPath
    examples: AnyPath
    like: Sequence[str]
    about: str
    ontology: AnyPath
    concept: str
    query: str
    require: str
    seeds: Sequence[str]
    seeds_file: AnyPath
    warm: AnyPath
    max_pages: int
    max_minutes: float
    until: str
    effort: float
    tries: int
    retry_hours: float
    sitemaps: bool
    contact: str
    user_agent: str
    accept_language: str
    workers: int
    connections: int
    allow_private: bool
    proxy: str
    include: Sequence[str]
    exclude: Sequence[str]
    hosts: Sequence[str]
    domains: Sequence[str]
    max_depth: int
    pages_per_host: int
    host_delay: float
    connections_per_host: int
    obey_robots: bool
    connect_seconds: float
    read_seconds: float
    whole_seconds: float
    body_bytes: int
    decompressed_bytes: int
    header_bytes: int
    content_types: Sequence[str]
    parse_seconds: float
    parse_bytes: int
    links_per_page: int
    main_text: str
    context: int
    documents: bool
    endpoint: str
    dictionary: str
    from_language: str
    into_language: str
    answer_seconds: float
    key_variable: str
    questions: int
    answers: AnyPath
    url: str
    model: str
    prompt: str
    max_calls: int
    max_cost: float
    precision: float
    recall: float
    price_in: float
    price_out: float
    model_seconds: float
    model_tokens: int
    key_env: str
    mode: str
    browser: AnyPath
    tabs: int
    render_share: float
    renders_per_host: int
    render_seconds: float
    keep: str


SECTION_OF = {one.name: one.section for one in SETTINGS}
"""Setting names are unique across sections."""


def objects_of(strategy: AnyStrategy | None, judge: AnyJudge | None) -> Objects:
    """The strategy and the judge, each None if it was given by name."""
    return Objects(None if isinstance(strategy, str) else strategy, None if isinstance(judge, str) else judge)


def settings_of(
    folder: CrawlFolder,
    base: Config | AnyPath | None,
    strategy: AnyStrategy | None,
    judge: AnyJudge | None,
    options: Mapping[str, Any],
) -> Config:
    """The settings of `base`; if None, those of the folder when it is resumed. Options override both."""
    table, beside = _base(folder, base)
    options = _by_names_of_today(options)
    named = {"strategy": _name(strategy), "judge": _name(judge)}
    if isinstance(strategy, Strategy):
        _refuse_second_judge(table, judge, options)
        named["judge"] = GIVEN_IN_PYTHON
    for name, value in {**options, **{name: value for name, value in named.items() if value}}.items():
        if name not in SECTION_OF:
            raise TypeError(f"crawl() got an unexpected keyword argument {name!r}")
        if value is not None:
            table.setdefault(SECTION_OF[name], {})[name] = _plain(name, value)
    return registry.checked(table, beside)


def given_in(base: Config | AnyPath | None, options: Mapping[str, Any]) -> Collection[Key]:
    """The settings that the program gives; all others are those of the folder."""
    if base is not None:
        return ALL_KEYS
    given = (name for name, value in _by_names_of_today(options).items() if value is not None)
    return {(SECTION_OF[name], name) for name in given}


def _by_names_of_today(options: Mapping[str, Any]) -> dict[str, Any]:
    renamed = {old: new for (_, old), new in config.RENAMED.items()}
    for old in options.keys() & renamed:
        warn_of_rename(old, renamed[old])
    return {renamed.get(name, name): value for name, value in options.items()}


def _base(folder: CrawlFolder, base: Config | AnyPath | None) -> tuple[dict[str, Any], Path]:
    """The unchecked settings, and the folder against which their file names are resolved."""
    if isinstance(base, Config):
        return config.parsed(config.dumps(base), "the settings"), Path()
    if base is not None:
        return config.read(Path(base)), Path(base).parent
    return config.parsed(folder.settings() or "", str(folder.path / "crawl.toml")), folder.path


def _name(given: object) -> str:
    return "" if given is None else given if isinstance(given, str) else GIVEN_IN_PYTHON


def _refuse_second_judge(table: Mapping[str, Any], judge: AnyJudge | None, options: Mapping[str, Any]) -> None:
    targets = {field.name for field in dataclasses.fields(config.Target)}
    asked = [name for name in options if name in targets]
    asked += [name for name, value in table.get("target", {}).items() if value and name not in ("judge", "least")]
    if judge is not None or asked:
        given = ", ".join(["judge"] * (judge is not None) + asked)
        remedy = "give a function that makes a strategy for a judge"
        raise UsageError(f"the strategy has its own judge; leave out {given}, or {remedy}")


def _plain(name: str, value: object) -> object:
    """The value as TOML would have it; file names made absolute."""
    if name == "strategy" and isinstance(value, str) and value != GIVEN_IN_PYTHON:
        return registry.STRATEGIES.with_files(value, Path())
    if name == "judge" and isinstance(value, str) and value != GIVEN_IN_PYTHON:
        return registry.with_its_files(value, Path())
    if name == "like" and isinstance(value, list | tuple):
        return [_plain(name, example) for example in value]
    is_file = name in FILES or (name == "language" and str(value).endswith(SUFFIX))
    is_file |= name == "like" and "://" not in str(value)
    if isinstance(value, os.PathLike) or (is_file and value and isinstance(value, str)):
        return str(Path(value).resolve())
    return value

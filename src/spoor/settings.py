"""The settings of a crawl, as in crawl.toml: validated, immutable objects; every error message names the key and the
value."""

from __future__ import annotations

import dataclasses
import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

from spoor.checks import (
    Check,
    above_0,
    always,
    at_least,
    contact,
    language_ranges,
    number,
    one_of,
    one_or_more,
    pattern,
    patterns,
    proxy,
    setting,
    share,
    shown,
    text,
    texts,
    yes_or_no,
)
from spoor.errors import BadInput, UsageError
from spoor.files import SUFFIX, as_toml
from spoor.naming import names, parse, path_in, rename_keys
from spoor.render_budget import USUAL_RENDERING, RenderSettings
from spoor.server_settings import NO_TEACHER, NO_TRANSLATION, TeacherSettings, TranslateSettings
from spoor.stopping import stop_rule
from spoor.urls import host_of, normalise

Table = Mapping[str, Any]
GIVEN_IN_PYTHON = "given-in-python"
"""Placeholder for the name of a strategy or judge that a program passed as an object."""
SEEDS_SHOWN = 3
MOST_WORKERS = 256
"""Each takes tens of megabytes."""
MOST_TRIES = 100
MOST_CONNECTIONS = 10_000
"""Each takes a file descriptor."""
LARGEST_BODY, LARGEST_HEAD = 250_000_000, 1_000_000
"""The largest sizes in bytes that can be read back from an archive."""
MAIN_TEXTS = ("quick", "best", "node-ratio")
WIDEST_CONTEXT = 10_000
"""Characters."""


@dataclass(frozen=True)
class Target:
    """What is relevant. `require` refers to the other keys by name."""

    language: str = setting("", text, "language in which the page must be: a BCP-47 tag such as mn, or a model file")
    charset: str = setting("", text, "language that the character encoding must imply, such as th")
    script: str = setting("", text, "script in which the page must be written, such as thai")
    least: float = setting(0.3, share, "share of letters that must be in the script")
    keywords: tuple[str, ...] = setting((), texts, "words and phrases that the page must be about")
    gold: str = setting(
        "", text, "file of an example document that the page must resemble; the path is relative to that of crawl.toml"
    )
    pattern: str = setting("", pattern, "regular expression that must be found in the URL, the title or the text")
    topic: str = setting("", text, "model of a topic that the page must be about, or a taxonomy, made by `spoor train`")
    examples: str = setting(
        "", text, "folder with pages in positive and negative, to train a topic from; or the model trained from it"
    )
    like: tuple[str, ...] = setting(
        (), one_or_more, "example pages that the page must resemble: URLs, or files of documents"
    )
    about: str = setting("", text, "one sentence that says what the page must be about")
    ontology: str = setting(
        "", text, "ontology whose terms the page must contain: SKOS, OWL or a table, or a folder of such"
    )
    concept: str = setting("", text, "relevant concept of the ontology, with all concepts below it")
    query: str = setting("", text, "words by which an ontology is chosen from a folder")
    judge: tuple[str, ...] = setting(
        (), one_or_more, "any judge by its name, such as script:thai:least=0.5, or several; `spoor judges` lists them"
    )
    require: str = setting("", text, "how the criteria are combined, with and, or, not; all of them when left out")

    def named(self) -> dict[str, Any]:
        """The criteria by key."""
        return {**self._asked(), **self.judges()}

    def judges(self) -> dict[str, str]:
        """The judges in `judge`, by the name that each has in `require`: that of the judge or the model, with
        underscores, and a number if the name is taken."""
        taken, judges = set(self._asked()), dict[str, str]()
        for judge in self.judge:
            name = "judge" if judge == GIVEN_IN_PYTHON else _identifier(judge.partition(":")[0])
            names = chain([name], (f"{name}_{number}" for number in count(2)))
            judges[next(name for name in names if name not in taken | judges.keys())] = judge
        return judges

    @property
    def like_urls(self) -> tuple[str, ...]:
        """The examples that must be fetched; the others are files."""
        return tuple(one for one in self.like if "://" in one)

    def _asked(self) -> dict[str, Any]:
        subjects = {name: getattr(self, name) for name in _subjects() if name != "judge"}
        one_judge = {"about"} if self.like else set()
        return {name: subject for name, subject in subjects.items() if subject and name not in one_judge}


@dataclass(frozen=True)
class Crawling:
    """Where to start, how to continue, when to stop."""

    seeds: tuple[str, ...] = setting((), texts, "where to start: URLs")
    seeds_file: str = setting("", text, "more seeds, one URL a line; the path is relative to that of crawl.toml")
    strategy: str = setting("learned", text, "strategy that orders the links; `spoor strategies` lists them")
    warm: str = setting(
        "", text, "folder of an earlier crawl, from whose visits the strategy learns before the first of its own"
    )
    max_pages: int | None = setting(None, at_least(1), "stop after N visits")
    max_minutes: float | None = setting(None, above_0, "stop after N minutes")
    until: str = setting("", stop_rule, "stop when the last requests found too little: `fewer than 5 in 1000`")
    effort: float | None = setting(
        None,
        share,
        "from 0, fewest requests: wait for the best links, to 1, fastest: never wait",
    )
    tries: int = setting(6, at_least(1, MOST_TRIES), "attempts at a page whose failure may be temporary")
    retry_hours: float = setting(
        20.0, above_0, "longest delay between two tries; the first is a minute, the next ones grow"
    )
    sitemaps: bool = setting(False, yes_or_no, "fetch the sitemaps and feeds of hosts with relevant pages")
    contact: str = setting("", contact, "URL or e-mail address, sent to every server in the user agent")
    user_agent: str = setting("", text, "name sent to every server instead of spoor and its version")
    accept_language: str = setting(
        "", language_ranges, "header Accept-Language of requests for pages; empty: the language of the target"
    )
    workers: int = setting(
        0, at_least(0, MOST_WORKERS), "processes that fetch, store and read pages; 0: the crawler does it itself"
    )
    connections: int = setting(64, at_least(1, MOST_CONNECTIONS), "concurrent requests, over all hosts")
    allow_private: bool = setting(
        False, yes_or_no, "visit loopback, private and link-local addresses too", permits="private_addresses"
    )
    proxy: str = setting(
        "", proxy, "HTTP proxy through which every request goes; `env`: those of the environment", permits="proxies"
    )


@dataclass(frozen=True)
class ScopeSettings:
    """The part of the web that may be fetched."""

    include: tuple[str, ...] = setting((), patterns, "regular expressions; a URL must match one of them")
    exclude: tuple[str, ...] = setting((), patterns, "regular expressions; a URL must match none of them")
    hosts: tuple[str, ...] = setting((), texts, "only these hosts and the domains below")
    domains: tuple[str, ...] = setting(
        (), texts, "only these registrable domains, with all their hosts, and the hosts above"
    )
    max_depth: int | None = setting(None, at_least(0), "largest number of links between a seed and a page")
    pages_per_host: int | None = setting(None, at_least(1), "largest number of pages of one host")


@dataclass(frozen=True)
class Politeness:
    """How hosts are treated where robots.txt does not ask for more."""

    host_delay: float = setting(1.0, number, "seconds between two requests to a host")
    connections_per_host: int = setting(1, at_least(1, MOST_CONNECTIONS), "concurrent requests to one host")
    obey_robots: bool = setting(True, always, "robots.txt is always obeyed")


@dataclass(frozen=True)
class FetchSettings:
    """How much time and memory one response may take."""

    connect_seconds: float = setting(15.0, above_0, "until the connection is established")
    read_seconds: float = setting(30.0, above_0, "without a byte from the server")
    whole_seconds: float = setting(90.0, above_0, "from the request to the last byte")
    body_bytes: int = setting(10_000_000, at_least(1, LARGEST_BODY), "size of a body as it is sent")
    decompressed_bytes: int = setting(10_000_000, at_least(1), "size of a body after decompression")
    header_bytes: int = setting(65_536, at_least(1, LARGEST_HEAD), "size of the status line and all headers")
    content_types: tuple[str, ...] = setting(
        ("text/", "application/xhtml+xml", "application/xml", "application/vnd.wap.xhtml+xml"),
        texts,
        "content types that are read; one that ends in / stands for all that begin with it",
    )
    parse_seconds: float = setting(10.0, above_0, "to read and judge a page")
    parse_bytes: int = setting(200_000_000, at_least(1), "memory to read and judge a page")
    links_per_page: int = setting(4_000, at_least(1), "links of a page that are followed")


KEEPS = ("all", "relevant")


@dataclass(frozen=True)
class StoreSettings:
    """What is stored of the fetched pages."""

    keep: str = setting("all", one_of(*KEEPS), "responses stored in the archive: all, or only those of relevant pages")


@dataclass(frozen=True)
class ShardSettings:
    """Where shards work that are copied to the folder of the crawl."""

    local: str = setting(
        "", text, "folder on the disk of each machine in which its shards work; empty: none", permits="folders"
    )
    copy_minutes: float = setting(5.0, above_0, "minutes between two copies of such a shard")


@dataclass(frozen=True)
class ParseSettings:
    """How a page is parsed."""

    main_text: str = setting("quick", one_of(*MAIN_TEXTS), "how the main text of a page is extracted")
    context: int = setting(
        100, at_least(0, WIDEST_CONTEXT), "characters on each side of a link that belong to its context"
    )
    documents: bool = setting(True, yes_or_no, "fetch and read PDF, DOCX, OpenDocument and EPUB files too")


USUAL_PARSING = ParseSettings()


@dataclass(frozen=True)
class Config:
    """All settings of a crawl."""

    target: Target = Target()
    crawl: Crawling = Crawling()
    scope: ScopeSettings = ScopeSettings()
    politeness: Politeness = Politeness()
    limits: FetchSettings = FetchSettings()
    parse: ParseSettings = USUAL_PARSING
    translate: TranslateSettings = NO_TRANSLATION
    render: RenderSettings = USUAL_RENDERING
    teacher: TeacherSettings = NO_TEACHER
    store: StoreSettings = StoreSettings()
    shards: ShardSettings = ShardSettings()


@dataclass(frozen=True)
class Setting:
    """One line of the documentation. `default` is None if not set."""

    section: str
    name: str
    default: Any
    meaning: str
    check: Check

    def __str__(self) -> str:
        return f"[{self.section}] {self.name}"


RENAMED = {("politeness", "rest"): "host_delay"}
"""Settings by their names in earlier versions, which are still accepted."""
SECTIONS: dict[str, Any] = {part.name: part.default.__class__ for part in fields(Config)}
SETTINGS = [
    Setting(section, one.name, one.default, one.metadata["meaning"], one.metadata["check"])
    for section, made in SECTIONS.items()
    for one in fields(made)
]


def load(path: Path) -> Config:
    return checked(read(path), path.parent)


def loads(text: str, folder: Path = Path()) -> Config:
    """`folder` is where `seeds_file` is searched."""
    return checked(parsed(text, "the settings"), folder)


def read(path: Path) -> dict[str, Any]:
    """The parsed file, not yet validated."""
    return parsed(_content(path, "settings"), str(path))


def checked(table: Table, folder: Path = Path()) -> Config:
    """Validated settings, or UsageError. Seeds are normalised; those of `seeds_file` follow those given directly. Paths
    are relative to `folder`."""
    config = _config(table, folder)
    return dataclasses.replace(config, crawl=_with_seeds(config.crawl, config.target.like_urls, folder))


def target_in(path: Path) -> Target:
    """The target in a file, which need not have seeds."""
    return settings_in(path).target


def settings_in(path: Path) -> Config:
    """The settings as in the file, without seeds from other files."""
    return _config(read(path), path.parent)


def parse_in(path: Path) -> ParseSettings:
    """The settings for parsing in a file, which need not have others."""
    asked: ParseSettings = _section_in(path, "parse")
    return asked


def translate_in(path: Path) -> TranslateSettings:
    asked: TranslateSettings = _section_in(path, "translate")
    dictionary = path_in(path.parent, asked.dictionary) if asked.dictionary else ""
    return dataclasses.replace(asked, dictionary=dictionary)


def _section_in(path: Path, name: str) -> Any:
    values = read(path).get(name, {})
    _check_section(name, values)
    return _section(name, values)


def _config(table: Table, folder: Path) -> Config:
    for name in table:
        _check_section(name, table[name])
    config = Config(**{name: _section(name, table.get(name, {})) for name in SECTIONS})
    _check_target(config.target)
    placed = with_paths(config, partial(path_in, folder))
    warm = path_in(folder, config.crawl.warm) if config.crawl.warm else ""
    return dataclasses.replace(placed, crawl=dataclasses.replace(placed.crawl, warm=warm))


def with_paths(config: Config, place: Callable[[str], str]) -> Config:
    """With another path for each file, except `warm` and those in the names of judges and strategies."""
    target, translate, teacher = config.target, config.translate, config.teacher
    files = {name: getattr(target, name) for name in ("gold", "topic", "examples", "ontology")}
    files["language"] = target.language if target.language.endswith(SUFFIX) else ""
    placed: dict[str, Any] = {name: place(file) for name, file in files.items() if file}
    placed["like"] = tuple(one if "://" in one else place(one) for one in target.like)
    dictionary = place(translate.dictionary) if translate.dictionary else ""
    answers = place(teacher.answers) if teacher.answers else ""
    return dataclasses.replace(
        config,
        target=dataclasses.replace(target, **placed),
        translate=dataclasses.replace(translate, dictionary=dictionary),
        teacher=dataclasses.replace(teacher, answers=answers),
    )


def dumps(config: Config) -> str:
    """The crawl.toml of a crawl: every setting with its value, except those not set."""
    return "\n".join(section_text(name, getattr(config, name)) for name in SECTIONS)


_COMMENT = re.compile(r"(?:^|\s)#.*")


def seeds_in(path: Path) -> tuple[str, ...]:
    """One URL per line; a comment begins with # at the beginning of a line or after white space."""
    lines = [_COMMENT.sub("", line).strip() for line in _content(path, "seeds").removeprefix("\ufeff").splitlines()]
    return _normalised(filter(None, lines), f"the seeds file {path}")


def _content(path: Path, kind: str) -> str:
    try:
        return path.read_text("utf8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read the {kind} file {path}: {getattr(error, 'strerror', None) or error}") from None


def parsed(text: str, name: str) -> dict[str, Any]:
    """TOML with current key names, not yet validated; `name` is used in error messages."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # A number with thousands of digits raises a plain ValueError.
        raise BadInput(f"{name} cannot be read as TOML: {error}") from None
    rename_keys(table, RENAMED)
    return table


def _check_section(name: str, values: Any) -> None:
    if name not in SECTIONS:
        raise UsageError(f"unknown section [{name}]; did you mean [{_nearest(name, SECTIONS)}]?")
    if not isinstance(values, Mapping):
        raise UsageError(f"{name} = {shown(values)}: {name} is a section, written as [{name}]")


def _section(name: str, values: Table) -> Any:
    known = {one.name: one for one in SETTINGS if one.section == name}
    for key in values:
        if key not in known:
            raise UsageError(f"unknown key {key!r} in [{name}]; did you mean {_nearest_key(key, name)}?")
    return SECTIONS[name](**{key: _value(known[key], value) for key, value in values.items()})


def _value(setting: Setting, value: Any) -> Any:
    try:
        return setting.check(value)
    except ValueError as error:
        raise UsageError(f"{setting} = {shown(value)}: {error}") from None


def _nearest_key(key: str, section: str) -> str:
    """A key of another section is preferred to one with a similar spelling."""
    elsewhere = [one for one in SETTINGS if one.name == key]
    here = [one for one in SETTINGS if one.section == section]
    return str(elsewhere[0]) if elsewhere else repr(_nearest(key, [one.name for one in here]))


def _nearest(name: str, known: Iterable[str]) -> str:
    return difflib.get_close_matches(name, list(known), 1, 0.0)[0]


def _check_target(target: Target) -> None:
    if not target.named():
        raise UsageError(f"[target] does not say what is relevant; set {' or '.join(_subjects())}")
    for name in names(parse(target.require)) if target.require else ():
        if name not in target.named():
            known = ", ".join(target.named())
            raise UsageError(f"[target] require = {target.require!r} names {name!r}, which is not set; set are {known}")


def _subjects() -> list[str]:
    return [one.name for one in fields(Target) if one.name not in ("least", "concept", "query", "require")]


def _identifier(name: str) -> str:
    return re.sub(r"\W|^(?=\d)", "_", Path(name).stem if name.endswith(SUFFIX) else name)


def _with_seeds(crawl: Crawling, like: Iterable[str], folder: Path) -> Crawling:
    """Puts all seeds in one list, so that the settings can be saved without other files. Without seeds, a crawl starts
    from its examples."""
    given = _normalised(crawl.seeds or (() if crawl.seeds_file else like), "[crawl] seeds")
    filed = seeds_in(folder / crawl.seeds_file) if crawl.seeds_file else ()
    seeds = tuple(dict.fromkeys(given + filed))
    if not seeds:
        where = f"the seeds file {crawl.seeds_file} holds no URL" if crawl.seeds_file else "no seeds are given"
        raise UsageError(f"{where}; a crawl needs at least one URL to start from, in [crawl] seeds or seeds_file")
    return dataclasses.replace(crawl, seeds=seeds, seeds_file="")


def _normalised(seeds: Iterable[str], where: str) -> tuple[str, ...]:
    by_seed = {seed: None if len(seed.split()) > 1 else normalise(seed) for seed in seeds}
    if rubbish := [seed for seed, url in by_seed.items() if url is None]:
        more = f" and {len(rubbish) - SEEDS_SHOWN} more" if len(rubbish) > SEEDS_SHOWN else ""
        listed = ", ".join(shown(seed) for seed in rubbish[:SEEDS_SHOWN])
        raise UsageError(f"{where}: not an http(s) URL: {listed}{more}{_seed_remedy(rubbish[0])}")
    return tuple(dict.fromkeys(url for url in by_seed.values() if url is not None))


def _seed_remedy(seed: str) -> str:
    if len(seed.split()) > 1:
        return "; a URL has no spaces (write %20), and a comment begins with #"
    url = normalise(f"https://{seed}") if "://" not in seed else None
    return f"; did you mean {url}?" if url is not None and "." in host_of(url) else ""


def section_text(name: str, section: Any) -> str:
    """A section as TOML, without the values that are not set."""
    values = {one.name: getattr(section, one.name) for one in fields(section)}
    lines = [f"{key} = {as_toml(value)}" for key, value in values.items() if value is not None]
    return "\n".join([f"[{name}]", *lines, ""])

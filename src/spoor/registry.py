"""Maps names to objects: strategies, judges and their parameters. Plug-ins are registered here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from spoor import settings as config
from spoor.errors import UsageError
from spoor.judging import judges
from spoor.judging.judges import JUDGES, TARGETS, with_files, with_its_files, with_its_paths
from spoor.judging.translators import translator_of
from spoor.naming import Named, described
from spoor.ordering.strategies import ORACLES, STRATEGIES, Level, strategy, strategy_named
from spoor.records import Page
from spoor.roles import Judge, Translator
from spoor.settings import Config, Target
from spoor.strategy import Strategy
from spoor.teaching.beginning import NOTHING_FETCHED, student_of
from spoor.teaching.student import HALF, Aim

__all__ = [
    "JUDGES",
    "ORACLES",
    "STRATEGIES",
    "TARGETS",
    "Level",
    "Named",
    "checked",
    "judge",
    "judge_of",
    "loads",
    "plug_in_modules",
    "register_judge",
    "register_strategy",
    "strategy",
    "strategy_named",
    "translator_of",
    "with_its_files",
    "with_paths",
]

MakesStrategy = TypeVar("MakesStrategy", bound=Callable[..., Strategy])
MakesJudge = TypeVar("MakesJudge", bound=Callable[..., Judge])


def register_strategy(
    name: str, source: str = "", kinds: Sequence[str] = ()
) -> Callable[[MakesStrategy], MakesStrategy]:
    """Registers a function that takes the judge, and parameters with defaults. The first sentence of its docstring is
    the description; `source` is the paper it comes from, `kinds` are the values for its parameter `without`."""

    def register(make: MakesStrategy) -> MakesStrategy:
        named = Named(make, described(make), source, kinds=tuple(kinds))
        if len(named.needed()) != 1:
            raise UsageError(f"strategy {name!r}: its function takes the judge, then parameters that have defaults")
        STRATEGIES.register(name, named)
        return make

    return register


def register_judge(name: str, source: str = "", subjects: Sequence[str] = ()) -> Callable[[MakesJudge], MakesJudge]:
    """Registers a function that takes a subject or none, and parameters with defaults. The first sentence of its
    docstring is the description. `subjects` are shown by `spoor judges`, the last one as an example."""

    def register(make: MakesJudge) -> MakesJudge:
        named = Named(make, described(make), source)
        shown = tuple(subjects) or tuple(subject.upper() for subject in named.needed())
        JUDGES.register(name, Named(make, described(make), source, shown))
        return make

    return register


def judge(text: str) -> Judge:
    """A judge by name, as in `script:thai:least=0.5`, or by the target of a file, `crawl.toml`."""
    return judges.judge(text, student_of)


def judge_of(
    target: Target,
    given: Judge | None = None,
    translator: Translator | None = None,
    fetched: Mapping[str, Page] = NOTHING_FETCHED,
    aim: Aim = HALF,
) -> Judge:
    """The judge of a target. `given` is one that a program passed as an object; `translator` is for judges by an
    ontology, `fetched` has the pages of the examples in `like` that are URLs, `aim` is for a judge that is taught."""
    return judges.judge_of(target, given, translator, lambda target: student_of(target, fetched, aim))


def checked(table: config.Table, folder: Path) -> Config:
    """Validated settings of crawl.toml, or UsageError; paths are relative to `folder`."""
    settings = config.checked(table, folder)
    crawl = replace(settings.crawl, strategy=STRATEGIES.with_files(settings.crawl.strategy, folder))
    return replace(settings, target=with_files(settings.target, folder), crawl=crawl)


def loads(text: str, folder: Path) -> Config:
    """The settings in the crawl.toml of a folder."""
    return checked(config.parsed(text, "the settings"), folder)


def with_paths(settings: Config, place: Callable[[str], str]) -> Config:
    """The same settings with another path for each file that they refer to, except `warm`; paths are absolute."""
    placed = config.with_paths(settings, place)
    judges = tuple(with_its_paths(text, place) for text in placed.target.judge)
    crawl = replace(placed.crawl, strategy=STRATEGIES.with_paths(placed.crawl.strategy, place))
    return replace(placed, target=replace(placed.target, judge=judges), crawl=crawl)


def plug_in_modules() -> list[str]:
    """The modules that have registered strategies or judges so far."""
    return list(dict.fromkeys([*STRATEGIES.modules(), *JUDGES.modules()]))

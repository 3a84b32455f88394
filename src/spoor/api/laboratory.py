"""`spoor.simulate` and `spoor.compare`: run strategies on a recorded or generated web, without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from spoor.api.options import AnyJudge, AnyPath, AnyStrategy
from spoor.compiled import prepare
from spoor.errors import UsageError
from spoor.lab import comparison
from spoor.lab.comparison import Comparison, Simulation, workers
from spoor.lab.runs import kernels_for, prepared_task
from spoor.lab.task import CustomJudge, CustomStrategy, Driver, StrategySpec, Task, read_seeds
from spoor.lab.web import Web
from spoor.lab.worlds import NAMED, Conditions
from spoor.progress import unseen
from spoor.roles import Judge
from spoor.strategy import Strategy

AnyWeb = AnyPath | Web


class TaskOptions(TypedDict, total=False):
    """The task on a web; defaults as in `spoor simulate`.

    `target`: label of the relevant pages (default `relevant`). `seeds`: URLs, or a file of them (default: seeds.txt of
    the web). `judge`: judge of the crawl (default: the label itself). `budget`: visits. `per_host`: visits per host.
    `unrecorded`: links to pages that the web does not contain are not offered (`skip`), or fail. `conditions`: lab,
    field, or an object. `orders`: number of orders of the seeds; each strategy runs once with each. `sitemaps`: whether
    sitemaps in the web are read for hosts with relevant pages.
    """

    target: str
    seeds: AnyPath | Sequence[str]
    judge: AnyJudge
    budget: int
    per_host: int
    unrecorded: Literal["skip", "fail"]
    driver: Driver
    conditions: Literal["lab", "field"] | Conditions
    orders: int
    sitemaps: bool


def simulate(web: AnyWeb, strategy: AnyStrategy, **options: Unpack[TaskOptions]) -> Simulation:
    """Runs one strategy on a web: its score, the score of the oracle, and its runs."""
    task = _task(web, options, [strategy])
    prepare(kernels_for(task, [_given(strategy)]))
    return comparison.simulation(task, _given(strategy), options.get("orders", 1), unseen)


def compare(
    web: AnyWeb,
    strategies: Sequence[AnyStrategy] | Mapping[str, AnyStrategy],
    *,
    processes: int = 1,
    **options: Unpack[TaskOptions],
) -> Comparison:
    """Runs several strategies on a web; the oracle is always included. The keys of a mapping are the display names.
    With more than one process, strategies must be importable: names, or functions at module level."""
    asked = dict(_named(strategies))
    task = _task(web, options, list(asked.values()))
    given = [_given(strategy, name) for name, strategy in asked.items()]
    prepare(kernels_for(task, given))
    with workers(processes) as pool:
        return comparison.compare(task, given, pool, unseen, options.get("orders", 1))


def _named(strategies: Sequence[AnyStrategy] | Mapping[str, AnyStrategy]) -> Iterator[tuple[str, AnyStrategy]]:
    """Names for display; repeated names get a number."""
    if isinstance(strategies, Mapping):
        yield from strategies.items()
        return
    used: dict[str, int] = {}
    for strategy in strategies:
        name = _name(strategy)
        used[name] = used.get(name, 0) + 1
        yield name if used[name] == 1 else f"{name} ({used[name]})", strategy


def _name(strategy: AnyStrategy) -> str:
    if isinstance(strategy, str):
        return strategy
    return type(strategy.scorer).__name__ if isinstance(strategy, Strategy) else _name_of(strategy)


def _name_of(make: Callable[[Judge], Strategy]) -> str:
    return getattr(make, "__name__", type(make).__name__)


def _given(strategy: AnyStrategy, name: str = "") -> StrategySpec:
    if isinstance(strategy, str) and name in ("", strategy):
        return strategy
    if isinstance(strategy, str):
        raise UsageError(f"{name!r}: {strategy!r} has a name of its own; leave it out of the mapping, or use that name")
    return CustomStrategy(name or _name(strategy), _fresh(strategy) if isinstance(strategy, Strategy) else strategy)


def _fresh(strategy: Strategy) -> Callable[[Judge], Strategy]:
    """The strategy has its own judge."""
    return lambda judge: strategy.fresh()


def _task(web: AnyWeb, options: TaskOptions, strategies: Sequence[AnyStrategy]) -> Task:
    prepared_task.cache_clear()  # A web that was rebuilt since has the same name.
    folder, judge = web.folder if isinstance(web, Web) else Path(web), options.get("judge", "truth")
    if "judge" in options and any(isinstance(strategy, Strategy) for strategy in strategies):
        raise UsageError(
            "a strategy object has its own judge; leave out judge, or give a function that makes a strategy"
        )
    conditions = options.get("conditions", "lab")
    return Task(
        web=folder,
        target=options.get("target", "relevant"),
        seeds=_seeds(folder, options.get("seeds")),
        judge=judge if isinstance(judge, str) else repr(judge),
        budget=_positive("budget", options.get("budget")),
        open_ended=options.get("unrecorded") == "fail",
        driver=options.get("driver", "auto"),
        per_host=_positive("per_host", options.get("per_host")),
        conditions=NAMED[conditions] if isinstance(conditions, str) else conditions,
        given=None if isinstance(judge, str) else CustomJudge(judge),
        sitemaps=options.get("sitemaps", False),
    )


def _seeds(folder: Path, seeds: AnyPath | Sequence[str] | None) -> tuple[str, ...]:
    if seeds is None or not isinstance(seeds, Sequence) or isinstance(seeds, str):
        return read_seeds(folder / "seeds.txt" if seeds is None else Path(seeds))
    return tuple(seeds)


def _positive(name: str, number: int | None) -> int | None:
    if number is not None and number < 1:
        raise UsageError(f"{name}={number}: at least 1 is needed; leave it out for the default")
    return number

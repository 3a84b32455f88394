"""`spoor contest --held-out`: trained strategies on the half of each web that they have not seen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from spoor.cli.progress import progress
from spoor.cli.results import write_text
from spoor.cli.tables import print_table
from spoor.contest import workers
from spoor.contest.held_out import (
    CLUSTERS,
    HeldOutResult,
    HeldOutRow,
    compete,
    prepare,
    strategies,
    train_all,
)
from spoor.contest.rows import Row
from spoor.errors import BadInput


def held_out(rows: Sequence[Row], out: Path, processes: int) -> None:
    """The webs of the rows are in `out`/webs. Writes `out`/held-out.md and held-out.json."""
    models = out / "models" / "held-out"
    with progress("halves of webs", len(rows)) as advance:
        prepared = prepare(rows, out / "webs", advance)
    for row in prepared:
        if row.why_not:
            print(f"left out    {row.row.name}: {row.why_not}")
    runnable = [row for row in prepared if not row.why_not]
    if not runnable:
        raise BadInput("no row is left to run; the reasons are above, choose other rows with --rows")
    taught = {(row.halves, row.row.target) for row in runnable}
    with workers(processes) as pool:
        with progress("models", len(taught) * len(CLUSTERS)) as advance:
            train_all(runnable, models, pool, advance)
        with progress("strategies on rows", sum(len(strategies(row, models)) for row in runnable)) as advance:
            found = [compete(row, models, pool, advance) for row in runnable]
    _write(found, out)


def _write(found: Sequence[HeldOutResult], out: Path) -> None:
    names = list(found[0].areas)
    lines = [[*_said(result.row), *(f"{result.areas[name]:.3f}" for name in names)] for result in found]
    lines.append(["mean", "", *(f"{mean(result.areas[name] for result in found):.3f}" for name in names)])
    columns = ["normalised area", "parted by", *names]
    print_table(columns, lines, "\ntrained on one half of the web, crawled on the other")
    write_text(out / "held-out.md", _markdown([columns, ["---"] * len(columns), *lines]))
    told = [
        {**result.comparison.as_json(), "start": result.row.row.start, "parted_by": result.row.halves.how}
        for result in found
    ]
    write_text(out / "held-out.json", json.dumps(told, ensure_ascii=False) + "\n")


def _said(row: HeldOutRow) -> list[str]:
    return [f"{row.row.web.name} {row.row.target} {row.row.start}", row.halves.how]


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"

"""Tables, progress and result files on the command line."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from spoor.cli.streams import LostOutput
from spoor.errors import BadInput, UsageError
from spoor.progress import Advance, unseen
from spoor.result_files import is_standard_output, output_file

if TYPE_CHECKING:
    from spoor.lab.measures import Score

# Output: results always, summaries and remarks unless --quiet is given.


_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextlib.contextmanager
def quietly(quiet: bool) -> Iterator[None]:
    """Suppresses summaries, remarks and progress in the context, if `quiet`."""
    token = _quiet.set(quiet)
    try:
        yield
    finally:
        _quiet.reset(token)


def is_quiet() -> bool:
    return _quiet.get()


def say(*lines: str, always: bool = False) -> None:
    """Prints a summary; `always`: also with --quiet. It is lost if standard output is closed or full, because what it
    summarises is done; results before it are not."""
    if always or not is_quiet():
        sys.stdout.flush()
        try:
            print(*lines, sep="\n", flush=True)
        except LostOutput as error:
            remark(f"spoor: {error}")


def remark(line: str) -> None:
    """Prints a status message to standard error."""
    if not is_quiet():
        print(line, file=sys.stderr, flush=True)


def print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1))


# Tables on the terminal: plain text, so that they can be piped and pasted.


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """The first column is left-aligned, the others right-aligned."""
    lines = [list(columns), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    if title:
        print(title)
    for first, *rest in lines:
        print("  ".join([first.ljust(widths[0]), *map(str.rjust, rest, widths[1:])]))


SCORE_COLUMNS = ("strategy", "visits", "found", "area", "normalised", "r_prec", "n90", "coverage", "max queue", "s")
CLOCK_COLUMNS = (
    "strategy",
    "visits",
    "found",
    "normalised",
    "by time",
    "n90",
    "coverage",
    "failed",
    "requests",
    "idle",
    "half at",
    "virtual s",
    "s",
)


def score_table(scores: Sequence[Score]) -> tuple[tuple[str, ...], list[list[str]]]:
    """Columns and rows. Under a clock, columns about time replace some about visits; with several seed orders there is
    also the spread."""
    clocked = any(score.elapsed is not None for score in scores)
    spread = any(score.spread is not None for score in scores)
    columns = (CLOCK_COLUMNS if clocked else SCORE_COLUMNS) + ("spread",) * spread
    row = _clock_row if clocked else score_row
    return columns, [row(score) + [_share(score.spread)] * spread for score in scores]


def score_row(score: Score) -> list[str]:
    return [
        score.strategy,
        f"{score.visits:,.0f}",
        f"{score.found:,.0f}",
        f"{score.area:.3f}",
        _share(score.normalised),
        f"{score.r_precision:.3f}",
        _until(score.n90, 0),
        f"{score.coverage:.3f}",
        f"{score.max_queue:,.0f}",
        f"{score.seconds:.1f}",
    ]


def _clock_row(score: Score) -> list[str]:
    return [
        score.strategy,
        f"{score.visits:,.0f}",
        f"{score.found:,.0f}",
        _share(score.normalised),
        _share(score.normalised_time),
        _until(score.n90, 0),
        f"{score.coverage:.3f}",
        _share(score.failed),
        "" if score.requests_per_relevant is None else f"{score.requests_per_relevant:,.1f}",
        _share(score.idle),
        _until(score.half_time, 1),
        "" if score.elapsed is None else f"{score.elapsed:,.1f}",
        f"{score.seconds:.1f}",
    ]


def _share(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.3f}"


def _until(figure: float | None, digits: int) -> str:
    return "never" if figure is None else f"{figure:,.{digits}f}"


# Progress of long operations: a bar on a terminal, otherwise a line every few seconds; nothing if quiet.


SECONDS_BETWEEN_LINES = 10.0

T = TypeVar("T")


@contextlib.contextmanager
def progress(doing: str, total: int | None = None) -> Iterator[Advance]:
    """`total` is the number of units, None if unknown. All output goes to standard error."""
    if is_quiet():
        yield unseen
    elif sys.stderr.isatty():
        with _bar(doing, total) as advance:
            yield advance
    else:
        yield _lines(doing, total)


@contextlib.contextmanager
def announced(doing: str, total: int | None = None) -> Iterator[Advance]:
    """Like `progress`, with a line before it: also where no bar is shown, it is said at once what takes so long."""
    remark(f"{doing} …")
    with progress(doing, total) as advance:
        yield advance


@contextlib.contextmanager
def _bar(doing: str, total: int | None) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda units: bar.advance(task, units)


def _lines(doing: str, total: int | None) -> Advance:
    done, last_line = 0, time.monotonic()

    def advance(units: int) -> None:
        nonlocal done, last_line
        done += units
        if time.monotonic() - last_line >= SECONDS_BETWEEN_LINES:
            last_line = time.monotonic()
            print(f"{doing}: {done:,}" + (f" of {total:,}" if total else ""), file=sys.stderr, flush=True)

    return advance


# Result files: checked for write access before the work, written after it.


def check_writable(*paths: Path | None) -> None:
    """Raises before long work if a result could not be written after it."""
    for path in paths:
        if path is None or is_standard_output(path):
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"cannot write {path}: {error.strerror}") from None
        if path.is_dir():
            raise BadInput(f"cannot write {path}: it is a folder")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise BadInput(f"cannot write {path}: permission denied")


def check_result(out: Path, as_json: bool) -> None:
    """Raises before long work if the result cannot be written, or would be mixed with `--json` on standard output."""
    if as_json and is_standard_output(out):
        raise UsageError(f"--out {out} and --json would both write to standard output; give --out a file")
    check_writable(out)


def say_of(out: Path, *lines: str) -> None:
    """Prints the summary of a result: to standard error if standard output has the result itself."""
    if is_standard_output(out):
        remark("\n".join(lines))
    else:
        say(*lines)


def write_json(path: Path, value: object) -> None:
    if is_standard_output(path):
        print_json(value)
    else:
        write_text(path, json.dumps(value, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with output_file(path) as file:
            file.write(text.encode())
    except BrokenPipeError:
        raise
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None

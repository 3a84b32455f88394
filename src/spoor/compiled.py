"""Functions compiled to machine code, and how they are compiled before a crawl needs them.

A *kernel* is a compiled function that Python code calls, together with the types of its arguments: `@kernel(types)`.
Functions that only compiled code calls are `@compiled`. numba compiles a function when it is called first, which takes
from a tenth of a second to several, and a quarter of a minute for all of a crawl; `prepare` does that beforehand, in
other processes, once on a machine.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from numba import njit, types
from numba.np.numpy_support import from_dtype
from numpy.typing import DTypeLike, NDArray

from spoor import code_cache
from spoor.code_cache import CodeCache
from spoor.pools import is_other_process, other_process
from spoor.progress import Progress, silently

P = ParamSpec("P")
R = TypeVar("R")
Number = TypeVar("Number", bound=np.generic)

_log = logging.getLogger(__name__)

# Decorators.


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compiles to machine code, for callers that are compiled themselves.

    Such functions copy arrays element by element: for `a[:n] = b`, numba also compiles the text of an error about
    shapes, which takes two seconds per process.
    """
    dispatcher: Any = njit(function)
    dispatcher._cache = CodeCache(dispatcher)  # In place of numba's own cache, as `njit(cache=True)` does.
    return cast(Callable[P, R], dispatcher)


def plain(function: Callable[P, R]) -> Callable[P, R]:
    """A compiled function as Python runs it."""
    return cast(Callable[P, R], cast(Any, function).py_func)


@dataclass(frozen=True, eq=False, slots=True)
class Kernel:
    """A compiled function, and the types of the arguments with which Python code calls it."""

    dispatcher: Any
    types: tuple[types.Type, ...]

    @property
    def module(self) -> str:
        return str(self.dispatcher.__module__)

    @property
    def name(self) -> str:
        return str(self.dispatcher.__name__)

    @property
    def size(self) -> int:
        """Bytes of instructions, a rough measure of how long it takes to compile."""
        return code_cache.size_of(self.dispatcher)

    @property
    def is_loaded(self) -> bool:
        return self.types in self.dispatcher.overloads

    @property
    def is_kept(self) -> bool:
        """Whether its machine code is in a file."""
        return code_cache.read(self.dispatcher._cache.name_of(self.types)) is not None

    def load(self) -> str:
        """Compiles it, unless its machine code is in a file. Returns why the code cannot be kept for later runs, ""
        otherwise."""
        self.dispatcher.compile(self.types)
        return str(self.dispatcher._cache.not_kept)


Kernels = Sequence[Kernel]
_KERNELS: list[Kernel] = []
"""All kernels of the modules imported so far; added to by their decorator only."""

INT, FLOAT, BOOL = types.int64, types.float64, types.boolean


def array(kind: DTypeLike, dimensions: int = 1, *, read_only: bool = False) -> types.Type:
    """The type of a contiguous array; `read_only` if it is a view of `bytes`."""
    return types.Array(from_dtype(np.dtype(kind)), dimensions, "C", readonly=read_only)


def named_tuple(named: type[tuple[Any, ...]], *fields: types.Type) -> types.Type:
    """The type of a NamedTuple with fields of these types."""
    return cast(types.Type, types.BaseTuple.from_types(fields, named))  # type: ignore[no-untyped-call]


def kernel(*argument_types: types.Type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compiles like `compiled` a function that Python code calls with arguments of these types."""

    def declared(function: Callable[P, R]) -> Callable[P, R]:
        dispatcher = compiled(function)
        _KERNELS.append(Kernel(dispatcher, argument_types))
        return dispatcher

    return declared


def kernels_in(module: str) -> Kernels:
    """The kernels that a module defines."""
    return tuple(kernel for kernel in _KERNELS if kernel.module == module)


@compiled
def nth(numbers: NDArray[Number], place: int) -> Number:
    """`numbers[place]` for a place that is never negative: numba does not test that it is, which takes a quarter of the
    time of a loop over characters. Only for compiled code."""
    found: Number = numbers[np.uintp(place)]
    return found


# Compiled before they are needed.


MOST_PROCESSES = 4
DOING = "compiling for this machine, once"
_PROGRAM = "import sys; from spoor.compiled import compile_for; compile_for(int(sys.argv[1]))"


def prepare(kernels: Iterable[Kernel], progress: Progress = silently) -> None:
    """Loads kernels, so that calling them takes no time. Those whose machine code is in no file are compiled first, in
    other processes, and for only one caller on a machine at a time; where no file can be written, in this process, for
    itself. Takes seconds: not for an event loop."""
    needed = [kernel for kernel in dict.fromkeys(kernels) if not kernel.is_loaded]
    if is_other_process() or all(kernel.is_kept for kernel in needed):
        for kernel in needed:
            kernel.load()
        return
    with code_cache.temporary_folder(), code_cache.locked():
        reasons = _compile([kernel for kernel in needed if not kernel.is_kept], progress)
        reasons += [kernel.load() for kernel in needed]
    if reason := next(filter(None, reasons), ""):
        _log.warning(_NOT_KEPT, reason)


_NOT_KEPT = "compiled code cannot be kept, so that the next run compiles it again (%s): free space there, or set \
NUMBA_CACHE_DIR to a folder for it"


def _compile(kernels: Kernels, progress: Progress) -> list[str]:
    """In other processes, or in this one. Returns the answers of `Kernel.load`."""
    if not kernels:
        return []
    _log.info("%s: %d functions", DOING, len(kernels))
    # Those with the most instructions first, so that no process is left with a long one at the end.
    waiting = deque(sorted(kernels, key=lambda kernel: kernel.size, reverse=True))
    reasons, lock = list[str](), threading.Lock()
    with progress(DOING, len(kernels)) as advance:

        def note(reason: str) -> None:
            with lock:
                reasons.append(reason)
                advance(1)

        others = [_Other(waiting, note) for _ in range(_processes(len(kernels)))]
        for other in others:
            other.start()
        for other in others:
            other.join()
        while (kernel := _next(waiting)) is not None:  # There are no others, or they have died.
            note(kernel.load())
    return reasons


def _processes(kernels: int) -> int:
    """Others even where there is one processor: a process that compiles takes 200 MB more, until it ends. None where
    they could not hand over what they compile."""
    return min(os.cpu_count() or 1, kernels, MOST_PROCESSES) if code_cache.can_be_written() else 0


def _next(waiting: deque[Kernel]) -> Kernel | None:
    """May be called by several threads."""
    try:
        return waiting.popleft()
    except IndexError:
        return None


class _Other(threading.Thread):
    """Compiles in another process what waits, until nothing does, or the process has died. What that one was compiling
    is compiled when it is loaded."""

    def __init__(self, waiting: deque[Kernel], note: Callable[[str], None]) -> None:
        super().__init__(daemon=True)
        self._waiting, self._note = waiting, note

    def run(self) -> None:
        process, own = other_process(_PROGRAM)
        with own, own.makefile("rw", encoding="utf8") as line, contextlib.suppress(OSError):
            while (kernel := _next(self._waiting)) is not None:
                print(kernel.module, kernel.name, file=line, flush=True)
                if not (answer := line.readline()):
                    break
                self._note(answer.rstrip("\n"))
        process.wait()


def compile_for(line: int) -> None:
    """Main function of such a process; `line` is the file descriptor of its socket. Interrupts are left to the process
    that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _offer_to_die_first()
    with (
        contextlib.suppress(BrokenPipeError),
        socket.socket(fileno=line) as own,
        own.makefile("rw", encoding="utf8") as asked,
    ):
        for module, name in map(str.split, asked):
            importlib.import_module(module)
            reasons = [kernel.load() for kernel in kernels_in(module) if kernel.name == name]
            print(*filter(None, reasons), file=asked, flush=True)


def _offer_to_die_first() -> None:
    """Where memory is short, Linux ends this process and not the one that needs what it compiles."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


# What there is, for `spoor doctor`.


@dataclass(frozen=True, slots=True)
class CompiledCode:
    """Where machine code is kept: the folder, how many kernels of all in the modules imported so far have files there
    or in another lasting folder, and whether any can be written."""

    folder: Path
    kept: int
    kernels: int
    is_writable: bool


def compiled_code() -> CompiledCode:
    folders = code_cache.lasting_folders()
    folder = next((folder for folder in folders if folder.is_writable), None)
    kept = sum(kernel.is_kept for kernel in _KERNELS)
    return CompiledCode((folder or folders[0]).path, kept, len(_KERNELS), folder is not None)

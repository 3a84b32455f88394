"""Machine code on disk: a function is compiled once on a machine, and not again in every process.

A file holds the code of one function for one combination of argument types. Its name says all that the code depends
on, so code of an earlier version is never loaded: the function itself, the functions it calls and the constants it
uses; the argument types; the processor; the versions of Python, NumPy and numba.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

import numba
import numpy as np
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps

# The folders.


_TEMPORARY = "SPOOR_MACHINE_CODE"
"""Environment variable: the folder for this process and those that it starts, where no other can be written to."""
_SUFFIX = ".machinecode"
_CHECKSUM_BYTES = 32
LOCK_SECONDS = 120.0
"""How long a process waits for another one that compiles. That one may have been stopped."""
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class CodeFolder:
    """Files of machine code. A damaged file counts as missing."""

    path: Path

    def read(self, name: str) -> bytes | None:
        try:
            content = (self.path / f"{name}{_SUFFIX}").read_bytes()
        except OSError:
            return None
        checksum, code = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
        return code if checksum == sha256(code).digest() else None

    def write(self, name: str, code: bytes) -> None:
        """Replaces code of an earlier version of the function. Raises OSError."""
        self.path.mkdir(parents=True, exist_ok=True)
        path = self.path / f"{name}{_SUFFIX}"
        with self._scratch() as scratch:
            scratch.write_bytes(sha256(code).digest() + code)
            scratch.replace(path)
        same_call, _, _ = name.rpartition("-")
        for other in self.path.glob(f"{same_call}-*{_SUFFIX}"):
            if other.stem != name:
                other.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _scratch(self) -> Iterator[Path]:
        file, name = tempfile.mkstemp(dir=self.path)
        os.close(file)
        try:
            yield Path(name)
        finally:
            Path(name).unlink(missing_ok=True)

    @property
    def is_writable(self) -> bool:
        """Whether a small file can be written."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with self._scratch() as scratch:
                scratch.write_bytes(bytes(1 << 16))
        except OSError:
            return False
        return True

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Waits until no other process has the lock; not forever, and not where nothing can be locked."""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                file = stack.enter_context((self.path / "lock").open("ab"))
                give_up_at = time.monotonic() + LOCK_SECONDS
                while not _lock(file.fileno()) and time.monotonic() < give_up_at:
                    time.sleep(_POLL_SECONDS)
            yield


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lasting_folders() -> list[CodeFolder]:
    """Those that outlive the process, best first: that of `NUMBA_CACHE_DIR`, or beside the source, or in the cache of
    the user."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return [CodeFolder(Path(chosen, "spoor"))]
    folders = [CodeFolder(Path(__file__).parent / "__pycache__" / "machine-code")]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return folders + [CodeFolder(Path(home, "spoor", "machine-code"))] * os.path.isabs(home)


def _folders() -> list[CodeFolder]:
    temporary = os.environ.get(_TEMPORARY)
    return lasting_folders() + ([CodeFolder(Path(temporary))] if temporary else [])


def can_be_written() -> bool:
    """Whether processes can share machine code."""
    return any(folder.is_writable for folder in _folders())


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Only one process on the machine is in this context, unless none can write machine code for the others."""
    folder = next((folder for folder in lasting_folders() if folder.is_writable), None)
    with contextlib.nullcontext() if folder is None else folder.locked():
        yield


@contextlib.contextmanager
def temporary_folder() -> Iterator[None]:
    """In this context there is another folder, for code that no lasting one can hold. If it was needed, it remains
    until this process ends, for the processes that it starts."""
    if _TEMPORARY in os.environ:
        yield
        return
    try:
        path = tempfile.mkdtemp(prefix="spoor-machine-code-")
    except OSError:  # Nothing can be written anywhere.
        yield
        return
    os.environ[_TEMPORARY] = path
    try:
        yield
    finally:
        if any(Path(path).iterdir()):
            atexit.register(_remove, path, os.getpid())
        else:
            del os.environ[_TEMPORARY]
            os.rmdir(path)


def _remove(path: str, owner: int) -> None:
    """Not by a forked copy of the process."""
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


def read(name: str) -> bytes | None:
    """The code of that name in the first folder that has it."""
    return next((code for folder in _folders() if (code := folder.read(name)) is not None), None)


def write(name: str, code: bytes) -> str:
    """Into the first folder that takes it. Returns why no lasting folder did, "" if one did."""
    reason = ""
    for folder in _folders():
        try:
            folder.write(name, code)
            return reason if folder not in lasting_folders() else ""
        except OSError as error:
            reason = reason or f"{folder.path}: {error.strerror or error}"
    return reason


# The cache of one compiled function, in place of numba's own.


_REBUILD: Any = CompileResult._rebuild
_DUMPS: Any = dumps


class CodeCache(_Cache):
    """numba's own cache raises errors of the file system in the middle of a crawl, loads damaged files, and does not
    notice changes of other modules."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self._is_enabled = True
        self.not_kept = ""
        """Why the code compiled last could not be kept for later runs."""

    @property
    def cache_path(self) -> str:
        return str(lasting_folders()[0].path)

    def enable(self) -> None:
        self._is_enabled = True

    def disable(self) -> None:
        self._is_enabled = False

    def flush(self) -> None:
        """Code of an earlier version is never loaded."""

    def name_of(self, types: tuple[Any, ...]) -> str:
        """Of the file with the code for arguments of these types."""
        function, target = self._dispatcher.py_func, self._dispatcher.targetctx.codegen().magic_tuple()
        versions = sys.implementation.cache_tag, numba.__version__, np.__version__
        call = sha256(repr((types, target, versions)).encode()).hexdigest()[:16]
        version = fingerprint(self._dispatcher)[:16]
        return f"{function.__module__}.{function.__qualname__}-{call}-{version}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """None if the code is in no file."""
        target_context.refresh()
        code = read(self.name_of(sig)) if self._is_enabled else None
        return None if code is None else _REBUILD(target_context, *pickle.loads(code))

    def save_overload(self, sig: Any, data: Any) -> None:
        if self._is_enabled and not data.library.has_dynamic_globals:
            self.not_kept = write(self.name_of(sig), _DUMPS(data._reduce()))


# What machine code depends on.


@cache
def fingerprint(dispatcher: Any) -> str:
    """Of the instructions and constants of a function, and of all that it calls."""
    digest = sha256()
    for function in _called(dispatcher.py_func, {}):
        for part in _parts(function):
            digest.update(part.encode() + b"\0")
    return digest.hexdigest()


def size_of(dispatcher: Any) -> int:
    """Bytes of instructions of a function and of all that it calls."""
    return sum(len(code.co_code) for function in _called(dispatcher.py_func, {}) for code in _codes(function.__code__))


def _called(function: FunctionType, known: dict[FunctionType, None]) -> Iterable[FunctionType]:
    """The function, and those that it calls, directly or not."""
    if function not in known:
        known[function] = None
        for value in _globals(function):
            if isinstance(value, FunctionType):
                _called(value, known)
            elif isinstance(value, Dispatcher):
                _called(cast(FunctionType, value.py_func), known)
    return known


def _globals(function: FunctionType) -> Iterator[object]:
    names = dict.fromkeys(name for code in _codes(function.__code__) for name in code.co_names)
    return (function.__globals__[name] for name in names if name in function.__globals__)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Of a function, and of those inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _parts(function: FunctionType) -> Iterator[str]:
    yield f"{function.__module__}.{function.__qualname__} {function.__defaults__}"
    for code in _codes(function.__code__):
        yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames}"
        yield from map(_described, code.co_consts)
    yield from map(_described, _globals(function))


def _described(value: object) -> str:
    match value:
        case CodeType() | FunctionType() | Dispatcher():  # Their instructions count, and not where they are in memory.
            return ""
        case ModuleType():
            return value.__name__
        case np.ndarray():
            return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
        case tuple() | list():
            return " ".join(map(_described, value))
        case frozenset():
            return " ".join(sorted(map(repr, value)))
        case type():
            return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
        case _:
            return repr(value)

"""Origins of modules, so that another process can import them for unpickling: installed modules, files, scripts."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from io import BytesIO
from multiprocessing.spawn import get_preparation_data, prepare
from pathlib import Path
from types import FunctionType
from typing import Any

from spoor.errors import UsageError

MAIN = "__main__"


@dataclass(frozen=True, slots=True)
class Origin:
    """A module by its name here, and how another process can find it: by its own name, else by its file."""

    module: str
    name: str = ""
    file: str = ""


def origins_of(modules: Iterable[str]) -> tuple[Origin, ...]:
    return tuple(map(_origin, dict.fromkeys(modules)))


def _origin(module: str) -> Origin:
    if module == MAIN:
        return _main()
    if module not in sys.modules:
        raise UsageError(f"worker processes cannot import {module!r}, which is not a file; put the code into one")
    return Origin(module, module, getattr(sys.modules[module], "__file__", None) or "")


def _main() -> Origin:
    """As in multiprocessing: interactive input is not a file, and a `__main__.py` would start the program again."""
    preparation = get_preparation_data("")
    name, file = preparation.get("init_main_from_name", ""), preparation.get("init_main_from_path", "")
    if name.endswith(f".{MAIN}") or not (name or Path(file).is_file()):
        raise UsageError(
            "worker processes cannot import what is defined in a notebook or __main__; put it into a module"
        )
    return Origin(MAIN, name, file)


def bring_in(origins: Iterable[Origin]) -> None:
    """Imports them in this process. A script is run again, as `__mp_main__` instead of `__main__`."""
    for origin in origins:
        if origin.module == MAIN:
            prepare({"init_main_from_name": origin.name} if origin.name else {"init_main_from_path": origin.file})
        else:
            _import(origin)


def _import(origin: Origin) -> None:
    try:
        import_module(origin.name)
    except ModuleNotFoundError:
        spec = spec_from_file_location(origin.name, origin.file) if origin.file else None
        if spec is None or spec.loader is None:
            raise
        module = module_from_spec(spec)
        sys.modules[origin.name] = module
        spec.loader.exec_module(module)


@dataclass(frozen=True, slots=True)
class Packed:
    """An object on its way to another process, which must call `bring_in` with the origins before unpickling the
    content."""

    content: bytes
    origins: tuple[Origin, ...]

    @property
    def may_fork(self) -> bool:
        """Whether a process that has unpacked it has no threads of other libraries, which would not survive a fork."""
        return all(origin.module.partition(".")[0] in _WITHOUT_THREADS for origin in self.origins)


_WITHOUT_THREADS = {"spoor", "numpy", *sys.stdlib_module_names}


def pack(thing: object) -> Packed:
    """Raises UsageError if another process could not unpack it."""
    content = BytesIO()
    packer = _Packer(content)
    try:
        packer.dump(thing)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise UsageError(f"it cannot be sent to another process: {error}") from None
    return Packed(content.getvalue(), origins_of(packer.modules))


def unpacked(packed: Packed) -> Any:
    """The object, in another process. Raises UsageError if it cannot be made there."""
    try:
        bring_in(packed.origins)
        return pickle.loads(packed.content)
    except (Exception, SystemExit) as error:  # raised by a script that runs again, or a module that changed
        raise UsageError(f"the judge cannot be loaded in a worker process: {type(error).__name__}: {error}") from error


class _Packer(pickle.Pickler):
    """Records the modules of everything it pickles."""

    def __init__(self, content: BytesIO) -> None:
        super().__init__(content, pickle.HIGHEST_PROTOCOL)
        self.modules: dict[str, None] = {}

    def reducer_override(self, part: Any) -> Any:
        if isinstance(part, type | FunctionType):
            self.modules[part.__module__] = None
        return NotImplemented

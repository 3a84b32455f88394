"""Parsing of names: `limited-distance:n=3`, and judges combined by and, or, not and parentheses."""

from __future__ import annotations

import ast
import difflib
import inspect
import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Annotated, Any, Literal

from spoor.errors import BadInput, SpoorError, UsageError
from spoor.files import SUFFIX

_log = logging.getLogger(__name__)

# Named objects, `limited-distance:n=3`: the name, its parameters, and the error message for unknown ones.


FileName = Annotated[str, "a path"]
"""The type of a subject or parameter that is a file or folder: in crawl.toml, its path is relative to that file."""


@dataclass(frozen=True)
class Named:
    """A strategy or judge with a name. Its parameters are the arguments of `make` with defaults; a dataclass as default
    contributes its fields. A judge may also need a subject, one of `subjects`. `kinds` are the values for the parameter
    `without` of a strategy. `package` is the package of a plug-in."""

    make: Callable[..., Any]
    says: str
    source: str = ""
    subjects: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    package: str = ""

    def parameters(self) -> dict[str, Any]:
        """Default values by name."""
        found: dict[str, Any] = {}
        for name, default in self._defaults().items():
            found |= _fields_of(default) if _is_group(default) else {name: default}
        return found

    def made(self, *needed: Any, **given: Any) -> Any:
        """Calls `make`, with the parameters that are fields of a dataclass grouped into it."""
        for group, default in self._defaults().items():
            if _is_group(default):
                own = {name: given.pop(name) for name in _fields_of(default) if name in given}
                given[group] = replace(default, **own)
        return self.make(*needed, **given)

    def needed(self) -> list[str]:
        """The arguments without defaults: the judge of a strategy, the subject of a judge."""
        return [p.name for p in self._arguments() if p.default is p.empty]

    def files(self) -> list[str]:
        """The arguments that are files."""
        groups = [field for default in self._defaults().values() if _is_group(default) for field in fields(default)]
        types = {p.name: p.annotation for p in self._arguments()} | {field.name: field.type for field in groups}
        return [name for name, kind in types.items() if kind in (FileName, "FileName")]

    def _defaults(self) -> dict[str, Any]:
        return {p.name: p.default for p in self._arguments() if p.default is not p.empty}

    def _arguments(self) -> list[inspect.Parameter]:
        return list(inspect.signature(self.make).parameters.values())


def _is_group(default: Any) -> bool:
    return is_dataclass(default)


def _fields_of(group: Any) -> dict[str, Any]:
    return {field.name: getattr(group, field.name) for field in fields(group)}


@dataclass(eq=False)
class Names(Mapping[str, Named]):
    """All strategies, or all judges, by name: built-in ones, those registered by a program, and those of installed
    packages. A package is imported when a name is not found otherwise, or when all are listed."""

    kind: str
    plural: str
    built_in: Mapping[str, Named]
    _plug_ins: dict[str, Named] = field(default_factory=dict, init=False)
    _complete: bool = field(default=False, init=False)

    def __getitem__(self, name: str) -> Named:
        if name in self.built_in:
            return self.built_in[name]
        if name not in self._plug_ins and (offers := entry_points(group=self.group, name=name)):
            self._load(next(iter(offers)))
        return self._plug_ins[name]

    def __iter__(self) -> Iterator[str]:
        self._load_all()
        return iter([*self.built_in, *self._plug_ins])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def group(self) -> str:
        """The group of the entry points of plug-ins."""
        return f"spoor.{self.plural}"

    def register(self, name: str, named: Named) -> None:
        """The same function may be registered again, as when a notebook cell is run twice."""
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
            raise UsageError(f"{self.kind} {name!r}: a name consists of lower-case letters, digits and hyphens")
        if name in self.built_in:
            raise UsageError(f"{self.kind} {name!r} is built in; give yours another name")
        _check_defaults(self.kind, name, named)
        other = self._plug_ins.get(name)
        if other is not None and _place(other) != _place(named):
            raise UsageError(f"{self.kind} {name!r} is already registered, by {_place(other)}; give yours another name")
        self._plug_ins[name] = named

    def modules(self) -> list[str]:
        """The modules that have registered a name."""
        return list(dict.fromkeys(named.make.__module__ for named in self._plug_ins.values()))

    def read(self, text: str) -> tuple[str, dict[str, Any]]:
        """The name and the parameters in `limited-distance:n=3`."""
        name, *settings = text.split(":")
        defaults = self.named(name).parameters()
        given: dict[str, Any] = {}
        for setting in settings:
            parameter, _, value = setting.partition("=")
            if parameter not in defaults:
                takes = ", ".join(f"{p}={v}" for p, v in defaults.items()) or "no parameters"
                raise UsageError(f"{self.kind} {name!r} has no parameter {parameter!r}; it has {takes}")
            given[parameter] = _converted(f"{name}:{setting}", value, defaults[parameter])
        return name, given

    def with_files(self, text: str, folder: Path) -> str:
        """The same text, with the paths of its file parameters relative to `folder`."""
        return self.with_paths(text, partial(path_in, folder))

    def with_paths(self, text: str, place: Callable[[str], str]) -> str:
        """The same text, with another path for each file among its parameters."""
        name, *settings = text.split(":")
        if name not in self:
            return text
        files = self[name].files()
        return ":".join([name, *(_with_path(setting, files, place) for setting in settings)])

    def named(self, name: str) -> Named:
        try:
            return self[name]
        except KeyError:
            raise self.unknown(name) from None

    def unknown(self, name: str) -> UsageError:
        near = difflib.get_close_matches(name, list(self), 1, 0.0)[0]
        return UsageError(f"unknown {self.kind} {name!r}; did you mean {near!r}? `spoor {self.plural}` lists them")

    def _load_all(self) -> None:
        """A package that cannot be loaded loses only its own names."""
        if self._complete:
            return
        self._complete = True
        for point in entry_points(group=self.group):
            try:
                self._load(point)
            except BadInput as error:
                _log.warning("%s", error)

    def _load(self, point: EntryPoint) -> None:
        """Imports the module of a package, whose decorators register the names of its entry points."""
        package = f"{point.dist.name} {point.dist.version}" if point.dist else point.module
        try:
            if point.name in self.built_in:
                raise UsageError("the name is built in")
            point.load()
            if point.name not in self._plug_ins:
                raise UsageError(f"{point.value} is not registered by @spoor.{self.kind}({point.name!r})")
        except (Exception, SystemExit) as error:
            why = str(error) if isinstance(error, SpoorError) else f"{type(error).__name__}: {error}"
            problem = f"{self.kind} {point.name!r} of the package {package} cannot be used"
            raise BadInput(f"{problem}: {' '.join(why.split())}") from error
        self._plug_ins[point.name] = replace(self._plug_ins[point.name], package=package)


def _with_path(setting: str, files: Collection[str], place: Callable[[str], str]) -> str:
    parameter, _, value = setting.partition("=")
    is_file = value.endswith(SUFFIX) or (parameter in files and value)
    return f"{parameter}={place(value)}" if is_file else setting


def path_in(folder: Path, file: str) -> str:
    return str((folder / file).resolve())


def described(make: Callable[..., Any]) -> str:
    """The first sentence of the docstring of the factory of a strategy or judge, without its full stop."""
    paragraph = (inspect.getdoc(make) or "").partition("\n\n")[0]
    return " ".join(paragraph.split()).partition(". ")[0].removesuffix(".")


def _place(named: Named) -> str:
    """Where a function is defined. A script that is run again in another process has another module name there."""
    module = named.make.__module__
    return f"{'__main__' if module == '__mp_main__' else module}.{named.make.__qualname__}"


def _check_defaults(kind: str, name: str, named: Named) -> None:
    """On the command line, a value is converted to the type of the default."""
    for parameter, default in named.parameters().items():
        if not isinstance(default, bool | int | float | str):
            raise UsageError(f"{kind} {name!r}: {parameter}={default!r} must be a number, a text, True or False")
    if len(named.needed()) > 1:
        raise UsageError(f"{kind} {name!r}: the parameter {named.needed()[1]!r} needs a default value")


def _converted(setting: str, value: str, default: Any) -> Any:
    try:
        return _true_or_false(value) if isinstance(default, bool) else type(default)(value)
    except ValueError:
        kind = {bool: "True or False", int: "a whole number", float: "a number"}[type(default)]
        raise UsageError(f"{setting}: {value!r} is not {kind}") from None


def _true_or_false(value: str) -> bool:
    if value not in ("True", "False"):
        raise ValueError
    return value == "True"


def joined(names: str) -> tuple[str, ...]:
    """The names in `url+anchor`."""
    return tuple(filter(None, names.split("+")))


# Combinations such as `charset and not script`: names joined by and, or, not and parentheses.


LONGEST = 1_000


@dataclass(frozen=True)
class Combined:
    """`not` has one part, `and` and `or` have several."""

    by: Literal["and", "or", "not"]
    parts: tuple[Requirement, ...]


Requirement = str | Combined
"""A name, or a combination of names."""


def parse(text: str) -> Requirement:
    """Precedence as in Python: not, and, or."""
    if len(text) > LONGEST:
        raise UsageError(f"require has {len(text)} characters, more than {LONGEST}")
    try:
        return _understood(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UsageError(
            f"require = {text!r} is not made of names, and, or, not and parentheses; an example: a and not (b or c)"
        ) from None


def names(requirement: Requirement) -> list[str]:
    """In order of appearance, without repetition."""
    if isinstance(requirement, str):
        return [requirement]
    return list(dict.fromkeys(name for part in requirement.parts for name in names(part)))


def asserted(requirement: Requirement) -> list[str]:
    """The names that are not negated, in order of appearance, without repetition."""
    if isinstance(requirement, str):
        return [requirement]
    if requirement.by == "not":
        return []
    return list(dict.fromkeys(name for part in requirement.parts for name in asserted(part)))


def _understood(node: ast.expr) -> Requirement:
    match node:
        case ast.Name(id=name):
            return name
        case ast.BoolOp(op=op, values=values):
            return Combined("and" if isinstance(op, ast.And) else "or", tuple(map(_understood, values)))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Combined("not", (_understood(operand),))
    raise ValueError(f"{type(node).__name__} is not allowed here")


# Names of settings in earlier versions, which are still accepted.


def rename_keys(table: Mapping[str, Any], renamed: Mapping[tuple[str, str], str]) -> None:
    """`renamed` maps the section and the earlier name of a key to its current name."""
    for (section, old), new in renamed.items():
        values = table.get(section)
        if not isinstance(values, dict) or old not in values:
            continue
        if new in values:
            raise UsageError(f"[{section}] has {new} and {old}, its earlier name; leave out {old}")
        warn_of_rename(old, new)
        values[new] = values.pop(old)


@cache
def warn_of_rename(old: str, new: str) -> None:
    """Once per process."""
    _log.warning("the setting %s is now called %s; the old name is still accepted", old, new)

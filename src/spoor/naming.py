"""What is asked for by name: `limited-distance:n=3`, and judges joined by and, or, not and parentheses."""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from spoor.errors import UsageError

# What is asked for by name, `limited-distance:n=3`: the name, its parameters, and what to say when there is
# none.


@dataclass(frozen=True)
class Named:
    """A strategy or judge that can be asked for by name. Its parameters are those of `make` that have defaults; a judge
    may also need a subject, one of `subjects`. `kinds` is what the parameter `without` of a strategy can leave out."""

    make: Callable[..., Any]
    says: str
    source: str = ""
    subjects: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def parameters(self) -> dict[str, Any]:
        """Name to default value."""
        signature = inspect.signature(self.make).parameters.values()
        return {p.name: p.default for p in signature if p.default is not p.empty}


def read(text: str, known: dict[str, Named], kind: str, command: str) -> tuple[str, dict[str, Any]]:
    name, *settings = text.split(":")
    if name not in known:
        raise unknown(name, known, kind, command)
    defaults = known[name].parameters()
    given: dict[str, Any] = {}
    for setting in settings:
        parameter, _, value = setting.partition("=")
        if parameter not in defaults:
            takes = ", ".join(f"{p}={v}" for p, v in defaults.items()) or "no parameters"
            raise UsageError(f"{kind} {name!r} has no parameter {parameter!r}; it takes {takes}")
        given[parameter] = _converted(f"{name}:{setting}", value, defaults[parameter])
    return name, given


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


def unknown(name: str, known: dict[str, Named], kind: str, command: str) -> UsageError:
    near = difflib.get_close_matches(name, known, 1, 0.0)[0]
    return UsageError(f"unknown {kind} {name!r}; did you mean {near!r}? `spoor {command}` lists them")


def joined(names: str) -> tuple[str, ...]:
    """The names in `url+anchor`."""
    return tuple(filter(None, names.split("+")))


# What does `charset and not script` ask for? Names joined by and, or, not and parentheses.


LONGEST = 1_000


@dataclass(frozen=True)
class Combined:
    """`not` has one part, `and` and `or` have several."""

    by: Literal["and", "or", "not"]
    parts: tuple[Requirement, ...]


Requirement = str | Combined
"""A name, or a combination of others."""


def parse(text: str) -> Requirement:
    """As Python reads it: not binds closer than and, and closer than or."""
    if len(text) > LONGEST:
        raise UsageError(f"require has {len(text)} characters, more than {LONGEST}")
    try:
        return _understood(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UsageError(
            f"require = {text!r} is not made of names, and, or, not and parentheses; an example: a and not (b or c)"
        ) from None


def names(requirement: Requirement) -> list[str]:
    """In the order they are written, each once."""
    if isinstance(requirement, str):
        return [requirement]
    return list(dict.fromkeys(name for part in requirement.parts for name in names(part)))


def asserted(requirement: Requirement) -> list[str]:
    """The names that are asked for rather than denied, in the order they are written, each once."""
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
    raise ValueError(f"{type(node).__name__} has no place here")

"""What does `charset and not script` ask for? Names joined by and, or, not and parentheses."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from spoor.errors import UsageError

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

"""Validation of the values of settings."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import field
from typing import Any
from urllib.parse import urlsplit

from spoor.urls import normalise

Check = Callable[[Any], Any]
"""Takes the value in TOML and returns that of the setting, or raises ValueError with what is allowed."""


LARGEST = 10**15
"""No setting needs more, and databases, clocks and floats can represent it."""


def text(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError("must be a string of one line, in quotes")
    return value


def texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError('must be a list of strings, such as ["a", "b"]')
    return tuple(map(text, value))


def one_or_more(value: Any) -> tuple[str, ...]:
    try:
        return tuple(filter(None, (text(value),) if isinstance(value, str) else texts(value)))
    except ValueError:
        raise ValueError('must be a string in quotes, or a list of strings, as in ["a", "b"]') from None


def pattern(value: Any) -> str:
    try:
        re.compile(text(value))
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return text(value)


def patterns(value: Any) -> tuple[str, ...]:
    for one in texts(value):
        try:
            pattern(one)
        except ValueError as error:
            raise ValueError(f"holds {one!r}, which {error}") from None
    return texts(value)


def yes_or_no(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def always(value: Any) -> bool:
    if value is not True:
        raise ValueError("cannot be switched off")
    return value


def at_least(least: int, most: int = LARGEST) -> Check:
    def whole_number(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ValueError(f"must be a whole number, {least} or more")
        if value > most:
            raise ValueError(f"must be a whole number from {least} to {most:,}")
        return value

    return whole_number


def number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
        raise ValueError("must be a number, 0 or more")
    if value > LARGEST:
        raise ValueError(f"must be a number from 0 to {LARGEST:,}")
    return float(value)


def above_0(value: Any) -> float:
    if number(value) == 0.0:
        raise ValueError("must be a number above 0")
    return number(value)


def share(value: Any) -> float:
    if number(value) > 1.0:
        raise ValueError("must be a share between 0 and 1")
    return number(value)


def address(value: Any) -> str:
    if text(value) and normalise(value) is None:
        raise ValueError("must be an http(s) URL, such as http://localhost:8080")
    return text(value)


FROM_ENVIRONMENT = "env"
"""Instead of the URL of a proxy: those that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name."""


def proxy(value: Any) -> str:
    if text(value) not in ("", FROM_ENVIRONMENT) and normalise(value) is None:
        raise ValueError('must be an http(s) URL, such as http://localhost:8080, or "env" for those of the environment')
    return text(value)


def endpoint(value: Any) -> str:
    if address(value) and (urlsplit(value).username or urlsplit(value).query or urlsplit(value).fragment):
        raise ValueError("must be a URL without user, password and query: put a key into an environment variable")
    return text(value)


def variable(value: Any) -> str:
    """In capitals, so that users do not write the secret itself, which would be stored in the folder of the crawl."""
    if text(value) and not re.fullmatch(r"[A-Z][A-Z0-9_]*", value):
        raise ValueError("must be the name of an environment variable in capitals, such as TRANSLATE_KEY")
    return text(value)


def contact(value: Any) -> str:
    if text(value) and normalise(value) is None and not re.fullmatch(r"(mailto:)?[^@\s]+@[^@\s]+", value):
        raise ValueError("must be a URL or an e-mail address at which the operators of the hosts can reach you")
    return text(value)


_RANGE = r"(?:\*|[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)(?: *; *q=(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?"
_RANGES = re.compile(f"{_RANGE}(?: *, *{_RANGE})*")


def language_ranges(value: Any) -> str:
    if text(value) and not _RANGES.fullmatch(value):
        raise ValueError("must be languages as in the header Accept-Language, such as th,en;q=0.5,*;q=0.1")
    return text(value)


def one_of(*known: str) -> Check:
    def name(value: Any) -> str:
        if value not in known:
            raise ValueError(f"must be one of {', '.join(known)}")
        return str(value)

    return name


def shown(value: Any) -> str:
    """A value as shown in error messages."""
    try:
        written = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "a value that is too long to show"
    return written if len(written) <= 60 else written[:57] + "…"


def setting(default: Any, check: Check, meaning: str, permits: str = "") -> Any:
    """A field of a section: the default, the validation, and its meaning. None means not set. `permits` is the kind of
    power, of those in `spoor.trust`, that a value other than the default gives to a crawl."""
    return field(default=default, metadata={"check": check, "meaning": meaning, "permits": permits})

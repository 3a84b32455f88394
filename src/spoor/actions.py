"""The actions by which a person steers a running or stopped crawl, as records; and their JSON.

{"action": "block", "pattern": "ads.example.org"}
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from spoor.errors import BadInput

MOST_SEEDS = 10_000
"""The largest number in one action."""
LONGEST_TEXT = 8192
"""Largest number of characters of a URL, a pattern or a name."""
SLOWEST = 86_400.0
"""The longest host delay that can be set, in seconds."""


@dataclass(frozen=True, slots=True)
class Pause:
    """No new requests, until `Unpause`; those in transit finish. Persists after a restart."""


@dataclass(frozen=True, slots=True)
class Unpause:
    """Ends a pause."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The crawl ends, as by Ctrl-C; it can be resumed."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Another budget of requests, of minutes of a run, or both; None leaves a value unchanged."""

    max_pages: int | None = None
    max_minutes: float | None = None


@dataclass(frozen=True, slots=True)
class AddSeeds:
    """URLs to fetch before everything else, like the seeds given at the start."""

    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Nothing that matches the pattern is fetched: a host or a URL, in which a star matches any characters."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Unblock:
    """Removes a `Block` with the same pattern."""

    pattern: str


@dataclass(frozen=True, slots=True)
class SlowDown:
    """A host delay in seconds, no shorter than politeness requires."""

    host: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Mark:
    """A person labels a page as relevant or not; None withdraws an earlier label."""

    url: str
    relevant: bool | None


Action = Pause | Unpause | Stop | Budget | AddSeeds | Block | Unblock | SlowDown | Mark

NAMES: dict[str, type[Action]] = {
    "pause": Pause,
    "unpause": Unpause,
    "stop": Stop,
    "budget": Budget,
    "add seeds": AddSeeds,
    "block": Block,
    "unblock": Unblock,
    "slow down": SlowDown,
    "mark": Mark,
}
"""The values of `action` in JSON."""


@dataclass(frozen=True, slots=True)
class Submission:
    """An action that `who` submitted `at` a time, in seconds since 1970. `id` identifies it, so that it is applied
    exactly once."""

    id: str
    at: float
    who: str
    action: Action


def name_of(action: Action) -> str:
    return next(name for name, kind in NAMES.items() if isinstance(action, kind))


def as_json(action: Action) -> dict[str, Any]:
    fields = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(action).items()}
    return {"action": name_of(action), **fields}


def action_of(content: object) -> Action:
    """Parses JSON as made by `as_json`. Raises BadInput, in one line, for anything else."""
    if not isinstance(content, Mapping):
        raise BadInput('an action is an object such as {"action": "pause"}')
    kind = NAMES.get(str(content.get("action")))
    if kind is None:
        raise BadInput(f"there is no action {content.get('action')!r}; there are {', '.join(NAMES)}")
    fields = {name: value for name, value in content.items() if name != "action"}
    if unknown := sorted(fields.keys() - _READERS[kind].keys()):
        raise BadInput(f"the action {content['action']!r} has no {unknown[0]!r}")
    return kind(**{name: read(f"{content['action']}: {name}", fields) for name, read in _READERS[kind].items()})


def dumps(submission: Submission) -> str:
    about = {"id": submission.id, "at": submission.at, "who": submission.who}
    return json.dumps({**about, **as_json(submission.action)}, ensure_ascii=False)


def loads(text: str | bytes) -> Submission:
    """Raises BadInput, in one line, if it is not a submission."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON: {error}") from None
    if not isinstance(content, dict):
        raise BadInput("not an action that was submitted")
    about = {name: content.pop(name, None) for name in ("id", "at", "who")}
    at = _number("at", about)
    return Submission(_text("id", about), at, _text("who", about), action_of(content))


# Each reader takes the name of the field for error messages, which ends with its key, and all fields.


def _text(what: str, fields: Mapping[str, object]) -> str:
    value = fields.get(what.rpartition(" ")[2])
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_TEXT or not _is_storable(value):
        raise BadInput(f"{what} must be a string of 1 to {LONGEST_TEXT:,} characters")
    return value


def _texts(what: str, fields: Mapping[str, object]) -> tuple[str, ...]:
    values = fields.get(what.rpartition(" ")[2])
    if not isinstance(values, list | tuple) or not 1 <= len(values) <= MOST_SEEDS:
        raise BadInput(f"{what} must be a list of 1 to {MOST_SEEDS:,} URLs")
    return tuple(_text("each URL", {"URL": value}) for value in values)


def _number(what: str, fields: Mapping[str, object]) -> float:
    value = fields.get(what.rpartition(" ")[2])
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise BadInput(f"{what} must be a number of 0 or more, not {value!r}")
    return float(value)


def _pages(what: str, fields: Mapping[str, object]) -> int | None:
    value = fields.get("max_pages")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**63):
        raise BadInput(f"{what} must be a whole number above 0, not {value!r}")
    return value


def _minutes(what: str, fields: Mapping[str, object]) -> float | None:
    return None if fields.get("max_minutes") is None else _number(what, fields)


def _relevant(what: str, fields: Mapping[str, object]) -> bool | None:
    value = fields.get("relevant")
    if "relevant" not in fields or not (value is None or isinstance(value, bool)):
        raise BadInput(f"{what} must be true, false or null, not {value!r}")
    return value


def _seconds(what: str, fields: Mapping[str, object]) -> float:
    if (seconds := _number(what, fields)) > SLOWEST:
        raise BadInput(f"{what} must be at most {SLOWEST:,.0f}, a day, not {seconds:g}")
    return seconds


def _is_storable(text: str) -> bool:
    """A lone surrogate cannot be stored in a file or a database."""
    return text.isascii() or text.encode("utf8", "ignore").decode("utf8") == text


_READERS: dict[type[Action], dict[str, Callable[[str, Mapping[str, object]], Any]]] = {
    Pause: {},
    Unpause: {},
    Stop: {},
    Budget: {"max_pages": _pages, "max_minutes": _minutes},
    AddSeeds: {"urls": _texts},
    Block: {"pattern": _text},
    Unblock: {"pattern": _text},
    SlowDown: {"host": _text, "seconds": _seconds},
    Mark: {"url": _text, "relevant": _relevant},
}


# Actions in words.


def described(action: Action) -> str:
    match action:
        case Budget(pages, minutes):
            parts = [f"{pages or 0:,} requests", f"{minutes or 0:g} minutes"]
            asked = [part for part, value in zip(parts, (pages, minutes), strict=True) if value is not None]
            return f"budget of {' and '.join(asked)}"
        case AddSeeds(urls):
            return f"seed {urls[0]}" if len(urls) == 1 else f"{len(urls):,} seeds, the first {urls[0]}"
        case Block(pattern) | Unblock(pattern):
            return f"{name_of(action)} {pattern}"
        case SlowDown(host, seconds):
            return f"host delay of {seconds:g} s for {host}"
        case Mark(url, relevant):
            said = {True: "relevant", False: "not relevant", None: "no longer marked"}[relevant]
            return f"{url} is {said}"
    return name_of(action)

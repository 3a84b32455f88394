"""The routes of the API for a crawl: path, parameters, type of the response, and the function that reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from spoor.dashboard import lesson_view, lists, overview, page_list, page_view
from spoor.dashboard.reading import MOST_AT_ONCE, ListQuery, Reading, ShortListQuery
from spoor.errors import UsageError
from spoor.report.showing import plain

LONGEST_PARAMETER = 8192


@dataclass(frozen=True, slots=True)
class Settings:
    """The crawl.toml of the crawl."""

    toml: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Cumulative counts over time."""

    points: tuple[overview.CurvePoint, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """`path` follows `/api/v1/crawls/{crawl}`. `asked` is the dataclass of the parameters, `answers` that of the
    response, or of each row of a paginated list."""

    path: str
    summary: str
    asked: type
    answers: type
    read: Callable[[Reading, Any], Any]
    listed: bool = False

    @property
    def name(self) -> str:
        return self.path.strip("/").partition("/")[0] or "crawl"


def _settings(reading: Reading, asked: overview.OverviewQuery) -> Settings:
    return Settings(reading.folder.settings() or "")


def _curve(reading: Reading, asked: overview.OverviewQuery) -> Curve:
    return Curve(tuple(overview.curve_of(reading)))


_NOTHING = overview.OverviewQuery
ROUTES = (
    Route("", "A crawl at a glance", _NOTHING, overview.Overview, overview.overview),
    Route("/curve", "What was found over time", _NOTHING, Curve, _curve),
    Route("/hosts", "Hosts, sorted and searched", lists.HostQuery, lists.ListedHost, lists.hosts, True),
    Route("/pages", "Pages, sorted and searched", page_list.PageQuery, page_list.ListedPage, page_list.pages, True),
    Route("/pages/{page}", "A page, its text and why", page_view.PageNumber, page_view.ShownPage, page_view.shown_page),
    Route("/languages", "Languages of pages", ShortListQuery, page_list.Language, page_list.languages, True),
    Route("/queue", "Links that wait, next first", lists.QueueQuery, lists.WaitingUrl, lists.waiting, True),
    Route("/why", "What is known of a URL", page_view.WhyQuery, page_view.Explanation, page_view.why),
    Route("/failures", "Failures by reason", ListQuery, lists.FailureKind, lists.failures, True),
    Route("/events", "Events, newest first", lists.EventQuery, lists.LoggedEvent, lists.events, True),
    Route("/kinds", "Kinds of events", ShortListQuery, lists.EventKind, lists.event_kinds, True),
    Route(
        "/questions",
        "Pages that a judge asks about",
        lesson_view.QuestionQuery,
        lesson_view.PageQuestion,
        lesson_view.questions,
        True,
    ),
    Route("/settings", "Settings of the crawl", _NOTHING, Settings, _settings),
)


def asked_of(route: Route, given: Mapping[str, str]) -> Any:
    """Parses the parameters; UsageError, in one line, if they are invalid."""
    kinds = get_type_hints(route.asked)
    known = {field.name: field for field in fields(route.asked)}
    if unknown := sorted(given.keys() - known.keys()):
        raise UsageError(f"there is no parameter {plain(unknown[0], 60)!r}; there are {', '.join(known) or 'none'}")
    return route.asked(**{name: _value(field, kinds[name], given.get(name)) for name, field in known.items()})


def _value(field: Field[Any], kind: Any, text: str | None) -> Any:
    if text is None:
        if field.default is MISSING:
            raise UsageError(f"the parameter {field.name!r} is missing")
        return field.default
    if len(text) > LONGEST_PARAMETER:
        raise UsageError(f"{field.name!r} is longer than {LONGEST_PARAMETER:,} characters")
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            known = ", ".join(repr(choice) for choice in get_args(kind))
            raise UsageError(f"{field.name} must be one of {known}, not {plain(text, 60)!r}")
        return text
    return _number(field.name, text) if kind is int else text


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise UsageError(f"{name} must be a whole number, not {plain(text, 60)!r}")
    if name == "limit" and not 1 <= int(text) <= MOST_AT_ONCE:
        raise UsageError(f"limit must be from 1 to {MOST_AT_ONCE}, not {text}")
    return int(text)

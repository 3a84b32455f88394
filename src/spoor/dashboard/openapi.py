"""The OpenAPI document, generated from the routes and the dataclasses of their parameters and responses."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from spoor import __version__
from spoor.actions import NAMES
from spoor.dashboard.reading import MOST_AT_ONCE
from spoor.dashboard.routes import ROUTES, Route

PREFIX = "/api/v1/crawls/{crawl}"
Schema = dict[str, Any]
_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
}
_CRAWL = {"name": "crawl", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 1}}
_ERROR: Schema = {
    "type": "object",
    "description": "Why there is no answer, in one line.",
    "properties": {"error": {"type": "string"}},
    "required": ["error"],
}


def document() -> Schema:
    schemas: dict[str, Schema] = {"Error": _ERROR, "Action": _action(), "Receipt": _RECEIPT}
    paths: dict[str, Schema] = {PREFIX + route.path: {"get": _operation(route, schemas)} for route in ROUTES}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "spoor",
            "version": __version__,
            "description": "Crawls: what they found, and steering them.",
        },
        "paths": {**_own_paths(schemas), **paths, **_others()},
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route, schemas: dict[str, Schema]) -> Schema:
    row = schema_of(route.answers, schemas)
    answer = row
    if route.listed:
        part = {"items": {"type": "array", "items": row}, "cursor": {"type": ["string", "null"]}}
        answer = {"type": "object", "properties": part, "required": list(part)}
    content: Schema = {"application/json": {"schema": answer}}
    if route.listed:
        content |= {kind: {"schema": {"type": "string"}} for kind in ("text/csv", "application/jsonl")}
    return {
        "summary": route.summary,
        "operationId": "get" + route.path.replace("{", "").replace("}", "").title().replace("/", ""),
        "parameters": [_CRAWL, *_parameters(route)],
        "responses": {"200": {"description": route.summary, "content": content}, **_ERRORS},
    }


def _parameters(route: Route) -> Iterator[Schema]:
    kinds = get_type_hints(route.asked)
    for field in fields(route.asked):
        in_path = f"{{{field.name}}}" in route.path
        schema = dict(schema_of(kinds[field.name], {}))
        if field.default is not MISSING:
            schema["default"] = field.default
        if field.name == "limit":
            schema |= {"minimum": 1, "maximum": MOST_AT_ONCE}
        place = "path" if in_path else "query"
        yield {"name": field.name, "in": place, "required": field.default is MISSING, "schema": schema}
    if route.listed:
        formats = {"type": "string", "enum": ["json", "csv", "jsonl"], "default": "json"}
        yield {"name": "format", "in": "query", "required": False, "schema": formats}


def schema_of(kind: Any, schemas: dict[str, Schema]) -> Schema:
    """Adds dataclasses to `schemas`, and refers to them."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(one, schemas) for one in inner]}
    if origin is tuple:
        return {"type": "array", "items": schema_of(inner[0], schemas)}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(inner[1], schemas)}
    assert is_dataclass(kind), kind
    return _record(kind, schemas)


def _record(kind: Any, schemas: dict[str, Schema]) -> Schema:
    name = kind.__name__
    if name not in schemas:
        schemas[name] = {}
        hints = get_type_hints(kind)
        properties = {field.name: schema_of(hints[field.name], schemas) for field in fields(kind)}
        about = " ".join((kind.__doc__ or "").split())
        schemas[name] = {"type": "object", "description": about, "properties": properties, "required": list(properties)}
    return {"$ref": f"#/components/schemas/{name}"}


def _own_paths(schemas: dict[str, Schema]) -> dict[str, Schema]:
    overviews = {"type": "array", "items": {"$ref": "#/components/schemas/Overview"}}
    csrf = {"type": "object", "properties": {"csrf": {"type": "string"}}, "required": ["csrf"]}
    return {
        "/api/v1/crawls": {"get": _simple("All crawls", "application/json", overviews, "getCrawls")},
        "/api/v1/session": {"get": _simple("The token for actions", "application/json", csrf, "getSession")},
        "/api/v1/openapi.json": {"get": _simple("This document", "application/json", {"type": "object"}, "getOpenapi")},
        "/api/v1/stream": {
            "get": _simple(
                "All crawls, whenever they change: server-sent events", "text/event-stream", _TEXT, "getStream"
            )
        },
    }


_TEXT: Schema = {"type": "string"}
_ERRORS: Schema = {
    status: {"description": about, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    for status, about in {"400": "The question is wrong", "404": "There is no such thing"}.items()
}
_RECEIPT: Schema = {
    "type": "object",
    "description": "An action that was submitted; `done` is false while no crawl has seen it, `refused` says why not.",
    "properties": {"id": _TEXT, "done": {"type": "boolean"}, "refused": _TEXT},
    "required": ["id", "done", "refused"],
}


def _simple(summary: str, content: str, schema: Schema, name: str) -> Schema:
    answer = {"200": {"description": summary, "content": {content: {"schema": schema}}}}
    return {"summary": summary, "operationId": name, "responses": answer}


def _others() -> dict[str, Schema]:
    charts = [{"name": name, "in": "query", "required": False, "schema": _TEXT} for name in ("what", "over", "crawls")]
    page = {"name": "page", "in": "path", "required": True, "schema": {"type": "integer"}}
    preview = _simple("The archived page, made harmless", "text/html", _TEXT, "getPreview")
    act = _simple(
        "Ask a crawl for something", "application/json", {"$ref": "#/components/schemas/Receipt"}, "postAction"
    )
    body = {"application/json": {"schema": {"$ref": "#/components/schemas/Action"}}}
    csrf = {"name": "X-Spoor-CSRF", "in": "header", "required": True, "schema": _TEXT}
    drawn = _simple("A chart of one crawl or several", "image/svg+xml", _TEXT, "getChart")
    return {
        "/api/v1/chart": {"get": {**drawn, "parameters": charts}},
        f"{PREFIX}/pages/{{page}}/preview": {"get": {**preview, "parameters": [_CRAWL, page]}},
        f"{PREFIX}/actions": {
            "post": {**act, "parameters": [_CRAWL, csrf], "requestBody": {"required": True, "content": body}}
        },
    }


def _action() -> Schema:
    """From the dataclasses of `spoor.actions`."""
    kinds = []
    for name, kind in NAMES.items():
        hints = get_type_hints(kind)
        properties = {field.name: schema_of(hints[field.name], {}) for field in fields(kind)}
        required = [field.name for field in fields(kind) if field.default is MISSING]
        about = " ".join((kind.__doc__ or "").split())
        properties = {"action": {"const": name}, **properties}
        kinds.append(
            {"type": "object", "description": about, "properties": properties, "required": ["action", *required]}
        )
    return {"oneOf": kinds}

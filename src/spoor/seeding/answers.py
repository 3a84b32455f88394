"""What does a source say? Bodies that are whole, and JSON that somebody else wrote."""

from __future__ import annotations

import json
from typing import Any

from spoor.records import Failure, Response

_NOT_WHOLE = {"time": "takes too long", "length": "gives too much"}


def whole_body(answer: Response | Failure) -> bytes | Failure:
    if isinstance(answer, Failure):
        return answer
    return Failure(_NOT_WHOLE.get(answer.cut, "breaks off")) if answer.cut else answer.body


def json_in(body: bytes) -> Any | Failure:
    """Or what the bytes are instead. Never fails."""
    try:
        return json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        what = "HTML or XML" if body.lstrip()[:1] == b"<" else "something else" if body.strip() else "nothing"
        return Failure(f"gives {what} instead of JSON")


def objects_in(said: Any) -> list[dict[str, Any]]:
    """The objects in a list; none where there is no list."""
    return [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []

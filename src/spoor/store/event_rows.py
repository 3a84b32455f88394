"""Converts an event to a row of the journal: common fields as columns, those of its kind as JSON."""

from __future__ import annotations

import base64
import json
import math
from dataclasses import asdict
from typing import Any

from spoor.actions import Mark, as_json
from spoor.events import (
    Aside,
    ClockSet,
    Excused,
    Failed,
    Held,
    HostDemoted,
    HostOpened,
    HttpsPaused,
    HttpsResumed,
    Paused,
    Redirected,
    Refused,
    Resumed,
    SitemapRead,
    Steered,
    Taught,
    Troubled,
    result_of,
)
from spoor.records import Visit
from spoor.urls import host_of

WHILE_IT_RUNS = "kind NOT IN ('steered', 'taught')"
"""SQL condition on events of a running crawl: persons can steer and teach a crawl after its end, too."""


def event_row(event: Redirected | Failed | HostOpened | SitemapRead | Aside) -> tuple[Any, ...]:
    return (*_row(event), result_of(event) or "")


def _row(event: Redirected | Failed | HostOpened | SitemapRead | Aside) -> tuple[Any, ...]:
    match event:
        case Redirected(visit, at, to, because, waiting, again):
            said = {"to": to, "because": because, "again": again, "waiting": waiting}
            return _visit_row(visit, at, "redirected", said)
        case Failed(visit, at, reason, again_at, waiting, excused, trouble):
            known = {} if again_at is None or visit.purpose != "page" else {"known": _known(visit)}
            detail = {"reason": reason, "again_at": again_at, "waiting": waiting, **known}
            detail |= {"excused": True} if excused else {}
            detail |= {"internal": True} if trouble is not None else {}
            return _visit_row(visit, at, "failed", detail)
        case HostOpened(visit, at, delay):
            return _visit_row(visit, at, "host opened", {"delay": delay})
        case SitemapRead(visit, at, kind, listed, foreign, added, _, claims, cut):
            counts = {"listed": listed, "foreign": foreign, "added": added}
            claimed = {url: [language, date] for url, language, date in claims}
            return _visit_row(visit, at, "sitemap read", {"kind": kind, **counts, "cut": cut, "claims": claimed})
        case Refused(at, refusal):
            return _aside_row(at, "refused", refusal.url, {"because": refusal.because, "parked": refusal.parked})
        case Excused(at, url, because, before):
            return _aside_row(at, "excused", url, {"because": because, "before": before or ""})
        case Troubled(at, url, reason):
            return _aside_row(at, "trouble", url, {"reason": reason})
        case Paused(at, since, reason):
            return _aside_row(at, "paused", "", {"since": since, "reason": reason})
        case HttpsPaused(at, since, reason):
            return _aside_row(at, "https paused", "", {"since": since, "reason": reason})
        case HttpsResumed(at, seconds):
            return _aside_row(at, "https resumed", "", {"seconds": round(seconds, 3)})
        case ClockSet(at, seconds):
            return _aside_row(at, "clock set", "", {"seconds": round(seconds, 3)})
        case Resumed(at, seconds):
            return _aside_row(at, "resumed", "", {"seconds": round(seconds, 3)})
        case HostDemoted(at, host, because):
            kind, detail = ("host demoted", {"because": because}) if because else ("host restored", {})
            return None, None, at, kind, "", host, storable(json.dumps(detail, ensure_ascii=False))
        case Steered(at, submission, who, action, refused):
            detail = {"id": submission, "who": who, **as_json(action), "refused": refused}
            return _aside_row(at, "steered", action.url if isinstance(action, Mark) else "", detail)
        case Taught(at):
            return _aside_row(at, "taught", "", {name: count for name, count in asdict(event).items() if name != "at"})
        case Held(at, seconds, cpu, url, where):
            return _aside_row(at, "held", url, {"seconds": round(seconds, 3), "cpu": round(cpu, 3), "where": where})


def _known(visit: Visit) -> list[Any]:
    """The link as it was when the fetch failed; see `journal._as_known`. JSON has no infinity, the key of a seed."""
    key = [part if math.isfinite(part) else "inf" for part in visit.key]
    return [key, dict(visit.evidence), visit.trail, base64.b64encode(visit.hints).decode()]


def _aside_row(at: float, kind: str, url: str, detail: dict[str, Any]) -> tuple[Any, ...]:
    text = storable(json.dumps(detail, ensure_ascii=False))
    return None, None, at, kind, url, host_of(url) if url else "", text


def _visit_row(visit: Visit, at: float, kind: str, detail: dict[str, Any]) -> tuple[Any, ...]:
    number = visit.number if visit.purpose == "page" else None
    text = storable(json.dumps({"purpose": visit.purpose, "tries": visit.tries, **detail}, ensure_ascii=False))
    return number, visit.at, at, kind, visit.url, visit.host, text


def storable(text: str) -> str:
    """Replaces lone surrogates, which SQLite cannot store, by question marks."""
    return text if text.isascii() else text.encode("utf8", "replace").decode("utf8")

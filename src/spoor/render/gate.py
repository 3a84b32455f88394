"""Decides which requests of a page are fulfilled. The browser itself sends nothing to the network."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from spoor.records import Failure, Response, SubRequest
from spoor.render.pipe import Content, Pipe
from spoor.roles import SubResources

NEEDED = frozenset({"Script", "XHR", "Fetch"})
"""Resource types, as named by the protocol, that can change the text or the links of a page. All others are refused:
images, fonts, media, frames, prefetches, beacons, server-sent events."""
EMPTY = frozenset({"Stylesheet"})
"""Fulfilled with an empty body: a script that waits for a style sheet would not continue after a refusal."""
TRACKERS = frozenset(
    {
        "amplitude.com",
        "clarity.ms",
        "criteo.com",
        "doubleclick.net",
        "facebook.net",
        "google-analytics.com",
        "googleadservices.com",
        "googlesyndication.com",
        "googletagmanager.com",
        "hotjar.com",
        "mixpanel.com",
        "nr-data.net",
        "outbrain.com",
        "quantserve.com",
        "scorecardresearch.com",
        "segment.io",
        "sentry.io",
        "taboola.com",
    }
)
"""Domains of trackers and advertisers."""
OURS = frozenset({"cookie", "host", "user-agent", "connection", "accept-encoding"})
"""Request headers that our fetcher sets."""
NOT_PASSED_ON = frozenset(
    {
        "alt-svc",
        "clear-site-data",
        "connection",
        "content-disposition",
        "content-encoding",
        "content-length",
        "keep-alive",
        "link",
        "nel",
        "report-to",
        "reporting-endpoints",
        "set-cookie",
        "speculation-rules",
        "strict-transport-security",
        "transfer-encoding",
    }
)
"""Response headers that concern the transfer, store something, or make the browser send requests of its own."""


@dataclass(frozen=True, slots=True)
class GateLimits:
    """Limits for one page: requests that are sent, and bytes of all responses together."""

    requests: int = 60
    bytes: int = 20_000_000


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request of a page, and why it was refused; "" if it was fulfilled."""

    url: str
    kind: str
    refused: str = ""


class Gate:
    """Handles the requests of one page. Every request of the browser is paused and passed to `hear`; it is fulfilled
    from the response that was already fetched or by `answers`, or refused. `requests` has them in the order of these
    decisions, `forwards` the URLs to which the page tried to navigate."""

    def __init__(self, pipe: Pipe, response: Response, answers: SubResources, limits: GateLimits) -> None:
        self._pipe = pipe
        self._response = response
        self._answers = answers
        self._limits = limits
        self._sent = 0
        self._received = 0
        self._has_document = False
        self._under_way: set[asyncio.Task[None]] = set()
        self.requests: list[PageRequest] = []
        self.forwards: list[str] = []

    @property
    def is_asking(self) -> bool:
        """Whether responses are pending."""
        return bool(self._under_way)

    def hear(self, session: str, frame: str, paused: Content) -> None:
        """Handles a paused request of a session. `frame` is the main frame of the page."""
        url, kind = paused["request"]["url"], paused.get("resourceType", "")
        number = paused["requestId"]
        if kind == "Document" and paused.get("frameId") == frame and session:
            self._go(session, number, url)
        elif kind in EMPTY:
            self._note(url, kind, "not needed")
            self._fulfil(session, number, 200, {"content-type": "text/css"}, b"", paused)
        elif refused := self._refusal(_real_kind(kind, paused["request"]["headers"]), paused["request"]):
            self._refuse(session, number, url, kind, refused)
        elif kind == "Preflight" or paused["request"]["method"] == "OPTIONS":
            self._fulfil(session, number, 204, {}, b"", paused)
        else:
            self._sent += 1
            task = asyncio.create_task(self._ask(session, number, kind, paused))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    def _go(self, session: str, number: str, url: str) -> None:
        """The page itself is fulfilled from the response we have. Later navigations become links, not requests."""
        if not self._has_document:
            self._has_document = True
            response = self._response
            self._fulfil(session, number, response.status, response.headers, response.body)
        else:
            self.forwards.append(url)
            self._refuse(session, number, url, "Document", "the page navigated away")

    def _refusal(self, kind: str, request: Content) -> str:
        parts = urlsplit(request["url"])
        if parts.scheme not in {"http", "https"}:
            return f"not an http(s) URL: {request['url'][:80]}"
        if kind == "Preflight":
            return ""
        if kind not in NEEDED:
            return "not needed"
        if _domains(parts.hostname or "") & TRACKERS:
            return "a tracker"
        if request["method"] not in {"GET", "OPTIONS"}:
            return f"{request['method']} may change something on the server"
        if self._sent >= self._limits.requests:
            return f"more than {self._limits.requests} requests"
        return f"more than {self._limits.bytes} bytes" if self._received >= self._limits.bytes else ""

    async def _ask(self, session: str, number: str, kind: str, paused: Content) -> None:
        url = paused["request"]["url"]
        headers = {name.lower(): value for name, value in paused["request"]["headers"].items()}
        allowed = {name: value for name, value in headers.items() if name not in OURS and not name.startswith("sec-")}
        method, page = paused["request"]["method"], self._response.url
        answer = await self._answers.answer(SubRequest(url, method, allowed, page, kind.lower()))
        if isinstance(answer, Failure):
            self._refuse(session, number, url, kind, answer.reason)
        else:
            self._received += len(answer.body)
            self._note(url, kind)
            self._fulfil(session, number, answer.status, answer.headers, answer.body, paused)

    def _note(self, url: str, kind: str, refused: str = "") -> None:
        if len(self.requests) < 10 * self._limits.requests:
            self.requests.append(PageRequest(url, kind, refused))

    def _refuse(self, session: str, number: str, url: str, kind: str, refused: str) -> None:
        """Refuses a request. Aborting a navigation keeps the current document."""
        self._note(url, kind, refused)
        reason = "Aborted" if kind == "Document" else "BlockedByClient"
        self._pipe.tell("Fetch.failRequest", session, requestId=number, errorReason=reason)

    def _fulfil(
        self,
        session: str,
        number: str,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        paused: Content | None = None,
    ) -> None:
        passed = {name: value for name, value in headers.items() if name not in NOT_PASSED_ON}
        if paused is not None:
            passed |= _open_to(paused["request"]["headers"])
        self._pipe.tell(
            "Fetch.fulfillRequest",
            session,
            requestId=number,
            responseCode=status,
            responseHeaders=_listed(passed.items()),
            body=base64.b64encode(body).decode(),
        )

    async def close(self) -> None:
        """Cancels pending requests."""
        for task in (under_way := list(self._under_way)):
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


def _real_kind(kind: str, headers: Mapping[str, str]) -> str:
    """The actual type: the protocol calls prefetches `Fetch`, server-sent events `XHR`, and scripts of workers
    `Other`."""
    asked = {name.lower(): value for name, value in headers.items()}
    if "sec-purpose" in asked or "purpose" in asked:
        return "Prefetch"
    if asked.get("accept") == "text/event-stream":
        return "EventSource"
    return "Script" if kind == "Other" and asked.get("accept") == "*/*" else kind


def _domains(host: str) -> set[str]:
    """A host name and all its parent domains."""
    labels = host.split(".")
    return {".".join(labels[place:]) for place in range(len(labels))}


def _open_to(asked: Mapping[str, str]) -> dict[str, str]:
    """CORS headers that let a page read the response of another host. Our requests carry no cookies and reach only
    public content, and servers that do not receive the origin do not state whether it is allowed."""
    origin = next((value for name, value in asked.items() if name.lower() == "origin"), "*")
    custom = next((value for name, value in asked.items() if name.lower() == "access-control-request-headers"), "*")
    names = ("origin", origin), ("methods", "GET"), ("headers", custom), ("credentials", "true")
    return {f"access-control-allow-{name}": value for name, value in names}


def _listed(headers: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Headers in the form of the protocol, which allows no line breaks and only latin-1."""
    clean = ((name, value.encode("latin-1", "ignore").decode("latin-1").split("\n")[0]) for name, value in headers)
    return [{"name": name, "value": value} for name, value in clean]

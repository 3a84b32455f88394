"""Which pages that need scripts are rendered: what the settings say, and what rendering gained on their host."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.checks import above_0, at_least, one_of, setting, share, text

AUTO, NEVER, ALWAYS = "auto", "never", "always"
MOST_TABS = 64
"""Each takes some forty megabytes."""
SAMPLE = 5
"""Pages of a host that are rendered before it is known whether that gains anything."""
LEAST_GAINED = 0.2
"""The share of rendered pages that must have gained text or links for others of the host to be rendered, too."""
SELDOM = 20
"""Otherwise one of so many is: a host may change."""
ALLOWANCE = 60.0
"""Seconds of each tab before the share of time counts."""


@dataclass(frozen=True)
class RenderSettings:
    """Whether pages are rendered in a browser, which one, and how much that may take."""

    mode: str = setting(
        AUTO,
        one_of(AUTO, NEVER, ALWAYS),
        "which pages are rendered: those that need scripts (auto), none (never), or all (always)",
    )
    browser: str = setting("", text, "browser, by name or path; empty: the first known one on PATH")
    tabs: int = setting(4, at_least(1, MOST_TABS), "pages rendered concurrently")
    render_share: float = setting(
        0.5, share, "share of the time in which tabs may be busy, unless all pages are rendered"
    )
    renders_per_host: int | None = setting(None, at_least(1), "largest number of pages of one host that are rendered")
    render_seconds: float = setting(
        30.0, above_0, "time limit for rendering a page, requests of its scripts included; then it is used as it is"
    )


USUAL_RENDERING = RenderSettings()


@dataclass(frozen=True, slots=True)
class HostRenders:
    """Of one host so far: pages that were to be rendered by what they are (`flagged`), those for which a browser was
    asked (`rendered`), those of them that are `finished`, and those of these that `gained` text or links."""

    flagged: int = 0
    rendered: int = 0
    finished: int = 0
    gained: int = 0


def refusal(settings: RenderSettings, host: HostRenders) -> str:
    """Why the next page of a host is not rendered; "": it is."""
    if settings.renders_per_host is not None and host.rendered >= settings.renders_per_host:
        return f"{settings.renders_per_host:,} pages of its host were rendered"
    pays = host.gained >= LEAST_GAINED * host.finished
    if settings.mode == ALWAYS or host.rendered < SAMPLE or pays or host.flagged % SELDOM == SELDOM - 1:
        return ""
    return f"rendering gained something on {host.gained} of {host.finished} pages of its host"


def is_spent(settings: RenderSettings, busy: float, elapsed: float) -> bool:
    """Whether tabs have been busy for too long: `busy` seconds together, in `elapsed` seconds."""
    return settings.mode != ALWAYS and busy > settings.tabs * (settings.render_share * elapsed + ALLOWANCE)

"""Which pages that need scripts are rendered, by the settings and by what rendering has gained on their host so far."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.checks import above_0, at_least, one_of, setting, share, text

AUTO, NEVER, ALWAYS = "auto", "never", "always"
MOST_TABS = 64
"""Each takes about 40 MB."""
SAMPLE = 5
"""Number of pages of a host that are rendered before the gain is evaluated."""
LEAST_GAINED = 0.2
"""The share of rendered pages that must have gained text or links; below it, few others of the host are rendered."""
SELDOM = 20
"""In that case, one page in this many is rendered: a host may change."""
ALLOWANCE = 60.0
"""Seconds per tab before the limit on the share of time applies."""


@dataclass(frozen=True)
class RenderSettings:
    """Whether pages are rendered, in which browser, and how much time that may take."""

    mode: str = setting(
        AUTO,
        one_of(AUTO, NEVER, ALWAYS),
        "which pages are rendered: those that need scripts (auto), none (never), or all (always)",
    )
    browser: str = setting("", text, "browser, by name or path; empty: the first known one on PATH", permits="programs")
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
    """Counts of one host: pages that qualified for rendering (`flagged`), those sent to a browser (`rendered`), those
    of them that are `finished`, and those of these that `gained` text or links."""

    flagged: int = 0
    rendered: int = 0
    finished: int = 0
    gained: int = 0


def is_for_browser(mode: str, needs_scripts: bool) -> bool:
    """Whether a page is rendered, as far as the `mode` of the settings decides."""
    return mode == ALWAYS or (mode == AUTO and needs_scripts)


def refusal(settings: RenderSettings, host: HostRenders) -> str:
    """Why the next page of a host is not rendered; "" if it is."""
    if settings.renders_per_host is not None and host.rendered >= settings.renders_per_host:
        return f"{settings.renders_per_host:,} pages of its host were rendered"
    pays = host.gained >= LEAST_GAINED * host.finished
    if settings.mode == ALWAYS or host.rendered < SAMPLE or pays or host.flagged % SELDOM == SELDOM - 1:
        return ""
    return f"rendering gained something on {host.gained} of {host.finished} pages of its host"


def is_spent(settings: RenderSettings, busy: float, elapsed: float) -> bool:
    """Whether tabs have used up their share of time: `busy` seconds in total, within `elapsed` seconds."""
    return settings.mode != ALWAYS and busy > settings.tabs * (settings.render_share * elapsed + ALLOWANCE)

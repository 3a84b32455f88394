"""Admissions: rules about which links may be queued and which may be fetched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from spoor.errors import UsageError
from spoor.records import ADMIT, Evidence, Link, Ruling, TrailState, Visit
from spoor.roles import Admission, HostBounds
from spoor.strategy import AdmitAll, fresh_part, some_reads_content

# Several rules at once: a link must pass all of them.


@dataclass
class AllOf:
    """The first refusal wins, whether it parks or drops. Put permanent rules first: links that they drop use no memory.

    Parts are copied without their learned state, so a copy of the whole is untrained too.
    """

    parts: tuple[Admission, ...]

    def __post_init__(self) -> None:
        self.parts = tuple(fresh_part(part) for part in self.parts)

    @property
    def reads_content(self) -> bool:
        return some_reads_content(self.parts)

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return _first_refusal(part.at_offer(link, evidence, trail) for part in self.parts)

    def at_pop(self, visit: Visit) -> Ruling:
        return _first_refusal(part.at_pop(visit) for part in self.parts)

    def covers(self, host: str) -> bool:
        return all(part.covers(host) for part in self.parts if isinstance(part, HostBounds))


def _first_refusal(rulings: Iterable[Ruling]) -> Ruling:
    return next((ruling for ruling in rulings if ruling.decision != "admit"), ADMIT)


# A minimum for one evidence.


@dataclass(frozen=True)
class AtLeast(AdmitAll):
    """Drops a link whose `evidence` is below `least` when it is offered; it may be admitted when it is found again."""

    evidence: str
    least: float

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        if evidence[self.evidence] >= self.least:
            return ADMIT
        return Ruling("drop", f"{self.evidence} is {evidence[self.evidence]:g}, below {self.least:g}")


# A maximum for one evidence.


@dataclass(frozen=True)
class AtMost(AdmitAll):
    """Drops a link whose `evidence` is above `most` when it is offered; it may be admitted when it is found again."""

    evidence: str
    most: float

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        if evidence[self.evidence] <= self.most:
            return ADMIT
        return Ruling("drop", f"{self.evidence} is {evidence[self.evidence]:g}, above {self.most:g}")


# A minimum for the key.


REFUSED = ("park", "drop")


class OneNumber(Protocol):
    """A scorer whose keys are numbers."""

    def key(self, evidence: Evidence) -> float: ...


@dataclass(frozen=True)
class KeyAbove(AdmitAll):
    """Admits a link whose key is above `threshold`. Others are parked, so that evidence from later pages can admit them
    (`refused="park"`), or dropped, so that they are new when they are found again ("drop")."""

    scorer: OneNumber
    threshold: float
    refused: str = "park"

    def __post_init__(self) -> None:
        if self.refused not in REFUSED:
            raise UsageError(
                f"refused={self.refused} is not known; those below the threshold are for {' or '.join(REFUSED)}"
            )
        if self.threshold != self.threshold:
            raise UsageError("threshold=nan is not a number to be above")

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        key = self.scorer.key(evidence)
        if key > self.threshold:
            return ADMIT
        because = f"{key:.3g} is not above {self.threshold:g}"
        if key == self.threshold:
            because = f"{key:g} equals the threshold"
        elif f"{key:.3g}" == f"{self.threshold:g}":
            because = f"{float(key)!r} is below {self.threshold!r}"
        return Ruling("park" if self.refused == "park" else "drop", because)


# Tunnelling with a limit: at most n irrelevant pages in a row.


@dataclass(frozen=True)
class LimitedDistance(AdmitAll):
    """For the trail `SinceRelevant`. Admits links at most `n` irrelevant pages away from a relevant one."""

    n: int

    def __post_init__(self) -> None:
        if self.n < 0:
            raise UsageError(f"limited distance needs n of 0 or more, not {self.n}")

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        if trail <= self.n:
            return ADMIT
        return Ruling("drop", f"{trail} irrelevant pages in a row, at most {self.n} allowed")


# One of two scores must be above its threshold when the link is popped.


@dataclass(frozen=True)
class TwoThresholds(AdmitAll):
    """Two kinds of evidence, each with a threshold. A link above neither is parked when it is popped, not when it is
    offered: by then it has the evidence of all pages visited before. Later pages may bring it back."""

    first: str
    above_first: float
    second: str
    above_second: float

    def __post_init__(self) -> None:
        for threshold in (self.above_first, self.above_second):
            if threshold != threshold:
                raise UsageError("a threshold is nan, which is not a number to be above")

    def at_pop(self, visit: Visit) -> Ruling:
        first, second = visit.evidence.get(self.first, 0.0), visit.evidence.get(self.second, 0.0)
        if first > self.above_first or second > self.above_second:
            return ADMIT
        reason = f"{self.first} {first:.3g} is not above {self.above_first:g}"
        return Ruling("park", f"{reason}, nor {self.second} {second:.3g} above {self.above_second:g}")


# Links marked nofollow.


NOFOLLOW = Ruling("drop", "nofollow: the page forbids following this link")


@dataclass(frozen=True)
class RespectNofollow(AdmitAll):
    """Drops a link marked nofollow; another page may still link to the same URL without nofollow."""

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return NOFOLLOW if link.nofollow else ADMIT


# Generic links: to the start page, the next page, the login, an advertisement.


SHORTEST = 2
"""Minimum length of a meaningful anchor, in characters."""

_WHOLE_ANCHORS = """
    home; home page; homepage; main page; top; back; back to top; skip to content; next; next page; prev; previous
    previous page; login; log in; logout; log out; sign in; sign out; sign up; register; contact; contact us; about
    about us; sitemap; site map; advertisement; advertise; sponsored; ad; ads; privacy; privacy policy; terms
    terms of use; terms of service; copyright; print; rss
    startseite; weiter; zurück; anmelden; abmelden; registrieren; kontakt; über uns; impressum; datenschutz; anzeige
    werbung; accueil; suivant; précédent; connexion; s'inscrire; à propos; publicité
    inicio; siguiente; anterior; iniciar sesión; registrarse; contacto; publicidad
    главная; далее; назад; вход; войти; регистрация; контакты; о нас; реклама
    首页; 首頁; 下一页; 下一頁; 上一页; 上一頁; 登录; 登錄; 注册; 註冊; 广告; 廣告; 联系我们; 关于我们; 返回
    ホーム; 次へ; 前へ; ログイン; 会員登録; お問い合わせ; 広告
    หน้าแรก; ถัดไป; ก่อนหน้า; เข้าสู่ระบบ; สมัครสมาชิก; ติดต่อเรา; โฆษณา
"""
SAID_OF_ANYTHING = frozenset(anchor.strip() for line in _WHOLE_ANCHORS.splitlines() for anchor in line.split(";"))
"""In lower case."""

_AROUND = " \t\n»›→>«‹←<|·•[](){}.:…-–—"


@dataclass(frozen=True)
class NoNoise(AdmitAll):
    """Drops noise links; one that is found again with a meaningful anchor is admitted."""

    reads_content: ClassVar[bool] = True

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        noise = noise_in(link)
        return Ruling("drop", f"noise: {noise}") if noise else ADMIT


def noise_in(link: Link) -> str:
    """Why a link is noise; "" if it is not."""
    if "sponsored" in link.rel.lower().split():
        return "it is sponsored"
    anchor = link.anchor.strip(_AROUND)
    if len(anchor) < SHORTEST:
        return f"its anchor {link.anchor!r} describes nothing" if link.anchor or _is_anchor(link) else ""
    return f"{link.anchor!r} is generic" if anchor.casefold() in SAID_OF_ANYTHING else ""


def _is_anchor(link: Link) -> bool:
    """Redirects, frames and links in the head of a page have no anchor; they are not noise for that."""
    return "body" in link.path.split("/")

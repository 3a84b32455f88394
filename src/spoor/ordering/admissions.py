"""Which links may wait and which may be fetched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from spoor.errors import UsageError
from spoor.records import ADMIT, Evidence, Link, Ruling, TrailState, Visit
from spoor.roles import Admission, HostBounds
from spoor.strategy import AdmitAll, fresh_part, some_reads_content

# Several rules at once: a link needs the consent of all.


@dataclass
class AllOf:
    """The first refusal wins, whether it parks or drops. Put the lasting rules first: what they drop is not remembered.

    The parts are copied without what they learned, so that a copy of the whole has learned nothing either.
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


# Only with enough of one evidence.


@dataclass(frozen=True)
class AtLeast(AdmitAll):
    """Drops a link whose `evidence` is below `least` when it is offered; a later sighting may bring it in."""

    evidence: str
    least: float

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        if evidence[self.evidence] >= self.least:
            return ADMIT
        return Ruling("drop", f"{self.evidence} is {evidence[self.evidence]:g}, below {self.least:g}")


# Only with little enough of one evidence.


@dataclass(frozen=True)
class AtMost(AdmitAll):
    """Drops a link whose `evidence` is above `most` when it is offered; a later sighting may bring it in."""

    evidence: str
    most: float

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        if evidence[self.evidence] <= self.most:
            return ADMIT
        return Ruling("drop", f"{self.evidence} is {evidence[self.evidence]:g}, above {self.most:g}")


# Only links that stand high enough in the queue.


REFUSED = ("park", "drop")


class OneNumber(Protocol):
    """A scorer whose keys are numbers."""

    def key(self, evidence: Evidence) -> float: ...


@dataclass(frozen=True)
class KeyAbove(AdmitAll):
    """Admits a link whose key is more than `threshold`. The others are remembered with their evidence, so that a later
    sighting can lift them (`refused` is "park"), or forgotten, so that the next sighting is the first ("drop")."""

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
        return Ruling("park" if self.refused == "park" else "drop", f"{key:.3g} is not above {self.threshold:g}")


# Only so many irrelevant pages in a row: tunnelling with a limit.


@dataclass(frozen=True)
class LimitedDistance(AdmitAll):
    """Goes with the trail `SinceRelevant`. Admits links at most `n` irrelevant pages away from a relevant one."""

    n: int

    def __post_init__(self) -> None:
        if self.n < 0:
            raise UsageError(f"limited distance needs n of 0 or more, not {self.n}")

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        if trail <= self.n:
            return ADMIT
        return Ruling("drop", f"{trail} irrelevant pages in a row, at most {self.n} allowed")


# Only links that one of two scores speaks for, when their turn comes.


@dataclass(frozen=True)
class TwoThresholds(AdmitAll):
    """Two kinds of evidence, each with what it must be above. A link that is above neither is parked
    when its turn comes: every page that was visited until then has had its say, and a later one may bring it back."""

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


# Links that their author asked not to follow.


NOFOLLOW = Ruling("drop", "nofollow: the page forbids following this link")


@dataclass(frozen=True)
class Manners(AdmitAll):
    """Drops a link marked nofollow; another page may still recommend the same URL."""

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return NOFOLLOW if link.nofollow else ADMIT


# Links that lead nowhere in particular: to the start page, the next page, the login, an advertisement.


SHORTEST = 2
"""Characters of an anchor that can mean something."""

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
"""In small letters."""

_AROUND = " \t\n»›→>«‹←<|·•[](){}.:…-–—"


@dataclass(frozen=True)
class NoNoise(AdmitAll):
    """Drops noise links; found again with an anchor that says something, one comes in."""

    reads_content: ClassVar[bool] = True

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        noise = noise_in(link)
        return Ruling("drop", f"noise: {noise}") if noise else ADMIT


def noise_in(link: Link) -> str:
    """What makes a link noise, in words; "" when nothing does."""
    if "sponsored" in link.rel.lower().split():
        return "it is sponsored"
    anchor = link.anchor.strip(_AROUND)
    if len(anchor) < SHORTEST:
        return f"its anchor {link.anchor!r} describes nothing" if link.anchor or _is_anchor(link) else ""
    return f"{link.anchor!r} is generic" if anchor.casefold() in SAID_OF_ANYTHING else ""


def _is_anchor(link: Link) -> bool:
    """Redirects, frames and what a page names in its head have no anchor, and are none the worse for it."""
    return "body" in link.path.split("/")

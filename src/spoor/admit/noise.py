"""Links that lead nowhere in particular: to the start page, the next page, the login, an advertisement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spoor.records import ADMIT, Evidence, Link, Ruling, TrailState, Visit

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
class NoNoise:
    """Drops noise links; met again with an anchor that says something, one comes in."""

    reads_content: ClassVar[bool] = True

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        noise = noise_in(link)
        return Ruling("drop", f"noise: {noise}") if noise else ADMIT

    def at_pop(self, visit: Visit) -> Ruling:
        return ADMIT


def noise_in(link: Link) -> str:
    """What makes a link noise, in words; "" when nothing does."""
    if "sponsored" in link.rel.lower().split():
        return "it is sponsored"
    anchor = link.anchor.strip(_AROUND)
    if len(anchor) < SHORTEST:
        return f"its anchor {link.anchor!r} says nothing" if link.anchor or _is_anchor(link) else ""
    return f"{link.anchor!r} is said of anything" if anchor.casefold() in SAID_OF_ANYTHING else ""


def _is_anchor(link: Link) -> bool:
    """Redirects, frames and what a page names in its head have no anchor, and are none the worse for it."""
    return "body" in link.path.split("/")

"""Links that lead nowhere in particular."""

from __future__ import annotations

import pytest

from spoor.ordering.admissions import NoNoise, noise_in
from spoor.parse.html import read_page
from spoor.records import Link

URL = "http://a.test/"


@pytest.mark.parametrize(
    "anchor", ["Home", "NEXT", " next » ", "Log in", "About us", "下一页", "首页", "广告", "ログイン"]
)
def test_what_is_said_of_anything_is_noise(anchor: str) -> None:
    assert noise_in(Link(URL, anchor))


@pytest.mark.parametrize("anchor", ["Next year's harvest", "Home economics", "奶酪", "EU", "登录新闻"])
def test_what_says_something_is_not(anchor: str) -> None:
    assert noise_in(Link(URL, anchor)) == ""


@pytest.mark.parametrize("anchor", ["»", "2", " · ", "..."])
def test_an_anchor_of_less_than_two_characters_is_noise(anchor: str) -> None:
    assert noise_in(Link(URL, anchor)) == f"its anchor {anchor!r} describes nothing"


def test_so_is_an_empty_one_in_the_body_of_a_page() -> None:
    assert noise_in(Link(URL, path="html/body/ul/li"))


def test_a_link_that_cannot_have_an_anchor_is_not_noise() -> None:
    redirect, frame, alternate = Link(URL), Link(URL, path="html/frameset"), Link(URL, path="html/head", hreflang="de")
    assert not any(map(noise_in, (redirect, frame, alternate)))


def test_the_description_of_an_image_counts_as_its_anchor() -> None:
    page = read_page("http://p.test/", b'<a href="/a"><img alt="A heron"></a> <a href="/b"><img></a>', "text/html")
    assert [bool(noise_in(link)) for link in page.links] == [False, True]


def test_a_sponsored_link_is_noise_whatever_it_says() -> None:
    assert noise_in(Link(URL, "The best horses", rel="nofollow sponsored")) == "it is sponsored"


def test_noise_is_dropped_and_the_reason_told() -> None:
    ruling = NoNoise().at_offer(Link(URL, "next"), {}, None)
    assert (ruling.decision, ruling.because) == ("drop", "noise: 'next' is generic")

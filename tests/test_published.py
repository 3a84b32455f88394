"""When a page was published, as it says itself; "" rather than a guess."""

from __future__ import annotations

from datetime import date

import pytest

from spoor.parse.published import published

META = '<meta property="article:published_time" content="2019-11-18T23:30:00-05:00">'
JSON = '<script type="application/ld+json">{"@type": "NewsArticle", "datePublished" : "2019-11-17T08:00:00Z"}</script>'
TIME = '<time datetime="2019-11-16 10:00">Saturday</time>'
URL = "https://news.test/2019/11/15/riders.html"


@pytest.mark.parametrize(
    "html",
    [
        META,
        "<META NAME='DC.Date' CONTENT='2019-11-18'>",
        "<meta content=2019-11-18 name=pubdate />",
        '<meta itemprop="datePublished" content="2019-11-18T10:00">',
        '<meta name="date" content="Mon, 18 Nov 2019 10:00:00 GMT">',
        '<meta name="dcterms.issued" content="November 18th, 2019">',
        '<meta name="publish-date" content="20191118T100000">',
        '<meta name="publish_date" content="18.11.2019 10:00">',
        '<script>{"datePublished":"2019\\/11\\/18"}</script>',
        "<time datetime='2019-11-18'>yesterday</time>",
        "<TIME>18 November 2019</TIME>",
        "<time>2019年11月18日</time>",
        "<time>2019년 11월 18일</time>",
    ],
)
def test_a_page_says_when_it_was_published_in_many_ways(html: str) -> None:
    assert published(html) == "2019-11-18"


@pytest.mark.parametrize(
    "path", ["2019/11/18/riders", "2019-11-18-riders", "a/20191118/b", "2019/nov/18/riders", "2019/11/18"]
)
def test_the_url_may_say_it(path: str) -> None:
    assert published("", f"https://news.test/{path}") == "2019-11-18"


@pytest.mark.parametrize(
    "html",
    [
        "<h1>Riders</h1><p>By A. Rider, November 18, 2019, 9:02 AM</p>",
        "<h1>骑手</h1><div>2019年11月18日 10:22 来源：新闻网</div>",
        "<h1>Riders</h1><span>[&nbsp;2019-11-18 15:24 ]</span>",
        "<p>Riders</p><p>18 NOV 2019</p>",
        "<p>Wednesday November 20, 2019</p><h1>Riders</h1><p>Monday, November 18, 2019</p>",
        "<h1>Riders</h1><!-- <p>2019-11-17</p> --><script>'<b>2019-11-16</b>'</script><p>2019-11-18</p>",
    ],
)
def test_a_page_may_say_it_in_words_below_its_headline(html: str) -> None:
    assert published(html) == "2019-11-18"


@pytest.mark.parametrize(
    "html",
    [
        "<h1>Riders</h1><p>Riders who came to the river on November 18, 2019 saw that it had risen by a metre.</p>",
        "<p>2019-11-20</p><h1>Riders</h1><p>at the river</p>",
        "<h1>Riders</h1><p>http://other.test/2019/11/18/rivers</p>",
        "<h1>Riders</h1><script>var day = 1 < 2 ? '2019-11-18' : ''; '<b>2019-11-18</b>'",
        f"<h1>Riders</h1>{'<p>at the river</p>' * 2_000}<p>2019-11-18</p>",
    ],
)
def test_not_every_date_in_the_text_is_when_it_was_published(html: str) -> None:
    assert published(html) == ""


def test_metadata_come_first_then_json_then_the_time_element_then_the_url_then_the_text() -> None:
    told = [META, JSON, TIME, ""]
    text = "<h1>Riders</h1><p>2019-11-14</p>"
    assert [published(" ".join(told[k:]) + text, URL)[-2:] for k in range(4)] == ["18", "17", "16", "15"]
    assert published(text) == "2019-11-14"


def test_a_time_element_that_is_marked_comes_before_others() -> None:
    assert published(f'{TIME}<time itemprop="datePublished" datetime="2019-11-12">') == "2019-11-12"


def test_the_day_is_the_one_that_is_written_whatever_the_time_zone() -> None:
    assert published(META) == "2019-11-18"


def test_a_page_is_not_published_after_it_came() -> None:
    assert published(META + TIME, came=date(2019, 11, 16)) == "2019-11-16"
    assert published(META, came=date(2019, 11, 16)) == ""


def test_a_clock_further_east_may_show_the_next_day() -> None:
    assert published(META, came=date(2019, 11, 17)) == "2019-11-18"


def test_the_far_future_is_never_told() -> None:
    assert published('<meta name="date" content="2519-11-18">') == ""


@pytest.mark.parametrize(
    "said", ["2019-13-45", "0000-00-00", "1875-05-01", "11/12/2019", "1574071200", "soon", "", "2019-11"]
)
def test_what_is_no_date_of_a_web_page_is_not_taken_for_one(said: str) -> None:
    assert published(f'<meta name="date" content="{said}">') == ""


@pytest.mark.parametrize(
    "url", ["https://a.test/1234/56/78/", "https://a.test/item/123456789", "http://[", "no url", "//[x"]
)
def test_a_url_without_a_date_says_nothing(url: str) -> None:
    assert published("", url) == ""


@pytest.mark.parametrize(
    "html",
    [
        "<meta " * 50_000,
        '"datePublished" ' * 50_000,
        "<time>" * 50_000,
        "<meta a=" + '"' * 50_000,
        f"<meta {'a' * 1_000_000}>",
    ],
)
def test_hostile_pages_say_nothing(html: str) -> None:
    assert published(html) == ""

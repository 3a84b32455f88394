"""crawl.toml: what is right round-trips, what is wrong is refused by key and value."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor import registry
from spoor.errors import BadInput, SpoorError, UsageError
from spoor.naming import warn_of_rename
from spoor.settings import MAIN_TEXTS, SECTIONS, SETTINGS, Config, checked, dumps, load, loads, seeds_in, target_in
from spoor.strategy import prior_of

SMALL = """
[target]
charset = "th"
[crawl]
seeds = ["HTTP://Example.ORG", "http://a.test/x#part", "http://example.org/"]
"""


def table(section: str, **values: Any) -> dict[str, dict[str, Any]]:
    """A right table with one section changed."""
    right: dict[str, dict[str, Any]] = {"target": {"charset": "th"}, "crawl": {"seeds": ["http://a.test/"]}}
    return right | {section: right.get(section, {}) | values}


def test_what_is_left_out_has_its_default_and_seeds_are_normalised() -> None:
    config = loads(SMALL)
    assert config.crawl.seeds == ("http://example.org/", "http://a.test/x")
    assert config.politeness == Config().politeness
    assert config.target.named() == {"charset": "th"}


def test_a_setting_is_read_by_its_earlier_name_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    warn_of_rename.cache_clear()
    for _ in range(2):
        assert loads(SMALL + "[politeness]\nrest = 2.5\n").politeness.host_delay == 2.5
    assert caplog.messages == ["the setting rest is now called host_delay; the old name is still accepted"]
    with pytest.raises(UsageError, match="has host_delay and rest, its earlier name; leave out rest"):
        loads(SMALL + "[politeness]\nrest = 2.5\nhost_delay = 1\n")


@pytest.mark.parametrize(
    ("section", "key", "value", "complaint"),
    [
        ("crawl", "max_pages", 0, "[crawl] max_pages = 0: must be a whole number, 1 or more"),
        ("crawl", "max_pages", True, "[crawl] max_pages = true: must be a whole number, 1 or more"),
        ("crawl", "max_pages", 10**30, "must be a whole number from 1 to 1,000,000,000,000,000"),
        ("crawl", "workers", 100_000, "[crawl] workers = 100000: must be a whole number from 0 to 256"),
        ("crawl", "connections", 10**6, "[crawl] connections = 1000000: must be a whole number from 1 to 10,000"),
        ("politeness", "host_delay", 10**400, "must be a number from 0 to 1,000,000,000,000,000"),
        ("crawl", "max_minutes", -1, "[crawl] max_minutes = -1: must be a number, 0 or more"),
        ("crawl", "max_minutes", 0.0, "[crawl] max_minutes = 0.0: must be a number above 0"),
        ("crawl", "contact", "nobody", '[crawl] contact = "nobody": must be a URL or an e-mail address'),
        ("crawl", "proxy", "localhost:8080", '[crawl] proxy = "localhost:8080": must be an http(s) URL'),
        (
            "crawl",
            "accept_language",
            "th;q=2",
            '[crawl] accept_language = "th;q=2": must be languages as in the header',
        ),
        ("crawl", "accept_language", "th\r\nCookie: a=b", "must be a string of one line"),
        ("crawl", "user_agent", "a\nHost: b", "must be a string of one line"),
        ("crawl", "allow_private", "yes", '[crawl] allow_private = "yes": must be true or false'),
        ("crawl", "seeds", "http://a.test/", "[crawl] seeds = "),
        (
            "crawl",
            "seeds",
            ["nonsense", "http://"],
            'not an http(s) URL: "nonsense", "http://"',
        ),
        ("crawl", "seeds", [], "no seeds are given"),
        ("crawl", "max_page", 3, "unknown key 'max_page' in [crawl]; did you mean 'max_pages'?"),
        ("crawl", "max_depth", 3, "unknown key 'max_depth' in [crawl]; did you mean [scope] max_depth?"),
        ("scope", "include", ["("], "[scope] include = [\"(\"]: holds '(', which is not a regular expression"),
        ("scope", "max_depth", 1.5, "[scope] max_depth = 1.5: must be a whole number, 0 or more"),
        ("politeness", "obey_robots", False, "[politeness] obey_robots = false: cannot be switched off"),
        ("politeness", "host_delay", float("nan"), "[politeness] host_delay = NaN: must be a number"),
        ("limits", "body_bytes", "10 MB", '[limits] body_bytes = "10 MB": must be a whole number'),
        ("parse", "main_text", "", '[parse] main_text = "": must be one of quick, best, node-ratio'),
        ("translate", "endpoint", "127.0.0.1:5000", "must be an http(s) URL, such as http://localhost:8080"),
        ("translate", "endpoint", "http://me:pass@a.test/", "must be a URL without user, password and query"),
        ("translate", "endpoint", "http://a.test/?api_key=x", "must be a URL without user, password and query"),
        ("translate", "key_variable", "a1b2-c3", "must be the name of an environment variable in capitals"),
        ("translate", "answer_seconds", 0, "must be a number above 0"),
        ("parse", "context", -1, "[parse] context = -1: must be a whole number, 0 or more"),
        ("target", "least", 1.5, "[target] least = 1.5: must be a share between 0 and 1"),
        ("target", "require", "charset and", "require = 'charset and' is not made of names"),
        ("target", "require", "charset or script", "names 'script', which is not set; set are charset"),
        ("target", "charset", "", "[target] does not say what is relevant; set language or charset or script"),
        ("crawling", "seeds", [], "unknown section [crawling]; did you mean [crawl]?"),
    ],
)
def test_a_wrong_setting_is_refused_by_key_and_value(section: str, key: str, value: Any, complaint: str) -> None:
    with pytest.raises(UsageError) as refused:
        checked(table(section, **{key: value}))
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_section_is_not_a_value() -> None:
    with pytest.raises(UsageError, match=r"crawl = 3: crawl is a section, written as \[crawl\]"):
        loads("crawl = 3")


def test_the_seeds_of_a_file_follow_and_are_written_down(tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("# mine\n\nhttp://b.test\nhttp://a.test/x\n")
    (tmp_path / "crawl.toml").write_text(SMALL + 'seeds_file = "seeds.txt"\n')
    config = load(tmp_path / "crawl.toml")
    assert config.crawl.seeds == ("http://example.org/", "http://a.test/x", "http://b.test/")
    (tmp_path / "seeds.txt").unlink()
    assert loads(dumps(config)) == config


def test_an_earlier_crawl_is_looked_for_beside_the_file_and_written_down_with_its_whole_path(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text(SMALL + 'warm = "earlier"\n')
    assert load(tmp_path / "crawl.toml").crawl.warm == str(tmp_path.resolve() / "earlier")


def test_a_seeds_file_of_rubbish_is_refused_with_examples(tmp_path: Path) -> None:
    rubbish = tmp_path / "seeds.txt"
    rubbish.write_text("\n".join(["http://a.test/", "one", "two", "three", "four", "five"]))
    with pytest.raises(UsageError, match=r'seeds\.txt: .* URL: "one", "two", "three" and 2 more'):
        seeds_in(rubbish)
    rubbish.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="cannot read the seeds file"):
        seeds_in(rubbish)
    rubbish.write_text("# nothing\n")
    with pytest.raises(UsageError, match="holds no URL; a crawl needs at least one"):
        checked(table("crawl", seeds=[], seeds_file="seeds.txt"), tmp_path)


def test_a_file_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot read the settings file .*crawl\.toml: No such file"):
        load(tmp_path / "crawl.toml")
    (tmp_path / "crawl.toml").write_text("[crawl\n")
    with pytest.raises(BadInput, match=r"crawl\.toml cannot be read as TOML"):
        load(tmp_path / "crawl.toml")


def test_every_setting_has_a_meaning_and_a_default_that_is_right() -> None:
    assert {setting.section for setting in SETTINGS} == set(SECTIONS)
    for setting in SETTINGS:
        assert setting.meaning
        assert setting.default is None or setting.check(setting.default) == setting.default


one_line = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" ")).filter(str.isprintable)
counts = st.integers(1, 10**9)
numbers = st.floats(0.001, 1e6)
web_addresses = st.sampled_from(["http://a.test/", "https://b.test:8443/x?y=ä", "http://Пример.рф", "http://[::1]/"])
OWN: dict[str, st.SearchStrategy[Any]] = {
    "seeds": st.lists(web_addresses, min_size=1),
    "accept_language": st.sampled_from(["", "*", "th, en-GB;q=0.5,*;q=0.1"]),
    "contact": st.sampled_from(["", "http://a.test/us", "me@a.test"]),
    "proxy": st.sampled_from(["", "http://127.0.0.1:8080"]),
    "least": st.floats(0.0, 1.0),
    "keywords": st.lists(st.sampled_from(["horse", "hemorrhagic fever", "ข้าว"])),
    "gold": st.sampled_from(["", "best.html", "/pages/best.html"]),
    "pattern": st.sampled_from(["", "/recipes?/"]),
    "include": st.lists(st.sampled_from([r"\.pdf$", '"quoted"', "é|\\\\"])),
    "exclude": st.lists(st.sampled_from([r"^https?://", "'", "#"])),
    "obey_robots": st.just(True),
    "charset": st.just("th"),
    "require": st.sampled_from(["", "charset", "not charset"]),
    "seeds_file": st.just(""),
    "max_pages": counts,
    "tries": st.integers(1, 100),
    "workers": st.integers(0, 256),
    "connections": st.integers(1, 10_000),
    "connections_per_host": st.integers(1, 10_000),
    "body_bytes": st.integers(1, 250_000_000),
    "header_bytes": st.integers(1, 1_000_000),
    "max_minutes": numbers,
    "until": st.sampled_from(["", "fewer than 5 in 500"]),
    "effort": st.floats(0.0, 1.0),
    "max_depth": counts,
    "pages_per_host": counts,
    "keep": st.sampled_from(["all", "relevant"]),
    "mode": st.sampled_from(["auto", "never", "always"]),
    "tabs": st.integers(1, 64),
    "render_share": st.floats(0.0, 1.0),
    "renders_per_host": counts,
    "main_text": st.sampled_from(MAIN_TEXTS),
    "endpoint": st.sampled_from(["", "http://127.0.0.1:5000", "https://translate.test/base"]),
    "dictionary": st.sampled_from(["", "hindi.tsv", "/words/hindi.tsv"]),
    "key_variable": st.sampled_from(["", "TRANSLATE_KEY"]),
    "context": st.integers(0, 10_000),
    "url": st.sampled_from(["", "http://127.0.0.1:8080/v1"]),
    "max_calls": counts,
    "max_cost": numbers,
    "precision": st.floats(0.1, 1.0),
    "recall": st.floats(0.1, 1.0),
    "model_tokens": st.integers(1, 1000),
    "key_env": st.sampled_from(["", "MODEL_KEY"]),
}


def right_value(name: str, default: Any) -> st.SearchStrategy[Any]:
    if name in OWN:
        return OWN[name]
    kinds = {bool: st.booleans(), int: counts, float: numbers, str: one_line, tuple: st.lists(one_line)}
    return kinds[type(default)]


@st.composite
def right_tables(draw: st.DrawFn) -> dict[str, dict[str, Any]]:
    obligatory = {"seeds", "charset"}
    made: dict[str, dict[str, Any]] = {}
    for setting in SETTINGS:
        if setting.name in obligatory or draw(st.booleans()):
            made.setdefault(setting.section, {})[setting.name] = draw(right_value(setting.name, setting.default))
    return made


@given(right_tables())
def test_what_ran_can_be_written_down_and_read_again(right: dict[str, dict[str, Any]]) -> None:
    config = checked(right)
    assert loads(dumps(config)) == config


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
)


@given(st.sampled_from(SETTINGS), anything)
def test_any_value_is_right_or_refused_in_one_line(setting: Any, value: Any) -> None:
    try:
        checked(table(setting.section, **{setting.name: value}))
    except SpoorError as refused:
        assert "\n" not in str(refused)


def test_a_target_in_a_file_is_a_judge_without_seeds_and_with_files_beside_it(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("horses on the steppe, horses in the stable, and a rider of horses")
    relevant = tmp_path / "wanted.toml"
    relevant.write_text('[target]\nlanguage = "th"\ngold = "good.txt"\n')
    assert target_in(relevant).gold == str(tmp_path.resolve() / "good.txt")
    assert prior_of(registry.judge(str(relevant))).language == "th"


def test_a_file_that_asks_for_nothing_is_no_judge(tmp_path: Path) -> None:
    (tmp_path / "wanted.toml").write_text("[target]\n")
    with pytest.raises(UsageError, match="target"):
        registry.judge(str(tmp_path / "wanted.toml"))


def test_a_seeds_file_may_have_a_byte_order_mark_and_comments(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_bytes(b"\xef\xbb\xbfhttp://a.test/ # the first\r\n# a comment\r\n\r\nhttp://b.test/#part\r\n")
    assert seeds_in(file) == ("http://a.test/", "http://b.test/")


@pytest.mark.parametrize(
    ("seed", "remedy"),
    [
        ("http://a.test/, a comment", "a URL has no spaces (write %20), and a comment begins with #"),
        ("example.org", "did you mean https://example.org/?"),
    ],
)
def test_a_seed_that_is_no_url_is_refused_with_the_remedy(seed: str, remedy: str, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text(f"{seed}\n")
    with pytest.raises(UsageError, match=re.escape(remedy)):
        seeds_in(tmp_path / "seeds.txt")
    with pytest.raises(UsageError, match=re.escape(remedy)):
        checked({"target": {"script": "thai"}, "crawl": {"seeds": [seed]}}, tmp_path)

"""Which robots.txt holds for a URL: through redirects, with times, and never without end."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from spoor.robots import MOST_REDIRECTS, NeededFile, RobotsFile, delay_for, holding_for

A, B, C = (f"http://{host}.test/robots.txt" for host in "abc")


def known(*files: RobotsFile) -> dict[str, RobotsFile]:
    return {file.url: file for file in files}


def test_a_file_that_is_not_known_or_too_old_is_wanted() -> None:
    assert holding_for(known().get, A, 0.0) == NeededFile(A)
    files = known(RobotsFile(A, 10.0))
    assert holding_for(files.get, A, 9.9) == files[A] and holding_for(files.get, A, 10.0) == NeededFile(A)


def test_the_first_file_that_is_not_known_is_wanted() -> None:
    files = known(RobotsFile(A, inf, leads_to=B), RobotsFile(B, 5.0, leads_to=C), RobotsFile(C, 9.0))
    assert holding_for(files.get, A, 0.0) == files[C]
    assert holding_for(files.get, A, 5.0) == NeededFile(B)


def test_a_file_elsewhere_than_at_robots_txt_is_under_the_rules_of_its_host() -> None:
    elsewhere = "http://b.test/rules"
    files = known(RobotsFile(A, inf, leads_to=elsewhere))
    assert holding_for(files.get, A, 0.0) == NeededFile(B)
    files[B] = RobotsFile(B, inf, leads_to=C)
    assert holding_for(files.get, A, 0.0) == NeededFile(C)
    files[C] = RobotsFile(C, inf)
    assert holding_for(files.get, A, 0.0) == NeededFile(elsewhere, under=C)
    files[B] = RobotsFile(B, inf, leads_to=elsewhere)
    assert holding_for(files.get, A, 0.0) == NeededFile(elsewhere)
    files[B] = RobotsFile(B, inf, failed="no such host")
    assert holding_for(files.get, A, 0.0) == files[B]


def test_a_host_waits_as_long_as_the_slower_of_its_files_asks() -> None:
    files = known(
        RobotsFile(A, 0.0, delay=2.0),
        RobotsFile("https://a.test/robots.txt", 0.0, leads_to=B),
        RobotsFile(B, 0.0, delay=3.0),
    )
    assert delay_for(files.get, "a.test") == 3.0 and delay_for(files.get, "c.test") == 0.0


URLS = [A, B, C, *(f"http://{host}.test/{page}" for host in "abc" for page in (1, 2))]
FILES = st.builds(RobotsFile, st.just(""), st.sampled_from([0.0, inf]), leads_to=st.sampled_from(["", *URLS]))


@given(st.dictionaries(st.sampled_from(URLS), FILES))
def test_it_always_ends(files: dict[str, RobotsFile]) -> None:
    asked: list[str] = []

    def known(url: str) -> RobotsFile | None:
        asked.append(url)
        return files.get(url)

    for robots in (A, B, C):
        found = holding_for(known, robots, 1.0)
        if isinstance(found, NeededFile):
            assert found.url not in files or files[found.url].until <= 1.0
    assert len(asked) <= 3 * (MOST_REDIRECTS + 1) * (2 * MOST_REDIRECTS + 1)

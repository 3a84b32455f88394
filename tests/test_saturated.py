"""Saturated links: what one process notes, another one sees, and no link is taken for another."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.live import saturated
from spoor.live.saturated import SaturatedLinks, saturated_links, saturated_links_in
from spoor.records import Link

A, B = Link("http://a.test/"), Link("http://b.test/")


@pytest.fixture
def links() -> Iterator[SaturatedLinks]:
    with saturated_links() as links:
        assert links is not None
        yield links


def test_a_link_is_left_out_for_the_pages_for_which_it_was_noted(links: SaturatedLinks) -> None:
    links.add(A.url, relevant=True)
    assert links.without([A, B], relevant=True) == [B]
    assert links.without([A, B], relevant=False) == [A, B]
    links.add(A.url, relevant=False)
    assert links.without([A, B], relevant=True) == links.without([A, B], relevant=False) == [B]


def test_another_process_sees_what_was_noted(links: SaturatedLinks) -> None:
    with saturated_links_in(os.dup(links.file)) as others:
        links.add(A.url, relevant=True)
        assert others.without([A, B], relevant=True) == [B]


def test_a_link_that_replaces_another_in_its_slot_is_not_taken_for_it(
    links: SaturatedLinks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saturated, "_hashed", lambda url: (len(url) << 2, 7))
    one, longer = Link("http://a.test/1"), Link("http://a.test/12")
    links.add(one.url, relevant=True)
    links.add(longer.url, relevant=False)
    assert links.without([one, longer], relevant=True) == [one, longer]
    assert links.without([one, longer], relevant=False) == [one]


@given(st.lists(st.tuples(st.text(max_size=20), st.booleans()), max_size=30), st.text(max_size=20), st.booleans())
def test_only_what_was_noted_is_left_out(noted: list[tuple[str, bool]], url: str, relevant: bool) -> None:
    with saturated_links() as links:
        assert links is not None
        for one, by_relevant in noted:
            links.add(one, by_relevant)
        assert links.without([Link(url)], relevant) == ([] if (url, relevant) in noted else [Link(url)])


SHARED = """
from spoor.live.saturated import saturated_links
with saturated_links() as links:
    links.add("http://a.test/", relevant=True)
"""


def test_a_container_may_have_hardly_any_shared_memory() -> None:
    """A file system of its own at /dev/shm, of 1 MB; the table takes 8."""
    mounting = "mount -t tmpfs -o size=1m tmpfs /dev/shm"
    if subprocess.run(["unshare", "-m", "sh", "-c", mounting], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    command = ["unshare", "-m", "sh", "-c", f'{mounting} && exec "$0" -c "$1"', sys.executable, SHARED]
    assert subprocess.run(command, capture_output=True, text=True).stderr == ""


def test_without_room_for_the_table_links_are_read_again(caplog: pytest.LogCaptureFixture) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with saturated_links() as links:
            assert links is None
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "workers read some links again" in caplog.text

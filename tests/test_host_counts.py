"""Pages are counted by host as a plain counter counts them, in little space."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.errors import BadInput
from spoor.ordering import scope as host_counts
from spoor.ordering.scope import HostCounts

HOSTS = [f"h{number}.test" for number in range(12)]


@given(st.lists(st.sampled_from(HOSTS), max_size=60), st.integers(1, 5), st.integers(0, 60))
def test_counts_are_those_of_a_plain_counter_whenever_they_are_merged_or_restored(
    visited: list[str], recent: int, restored_after: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_counts, "RECENT", recent)
        counts = HostCounts()
        for number, host in enumerate(visited):
            counts.count(host)
            if number == restored_after:
                again = HostCounts()
                again.restore(counts.state())
                counts = again
        expected = Counter(visited)
        assert {host: counts.of(host) for host in HOSTS} == {host: expected[host] for host in HOSTS}


def test_a_snapshot_with_names_is_understood() -> None:
    counts = HostCounts()
    counts.restore({"hosts": ["a.test", "b.test"], "pages": np.array([3, 1], np.int64)})
    assert (counts.of("a.test"), counts.of("b.test"), counts.of("c.test")) == (3, 1, 0)


@pytest.mark.parametrize(
    "state",
    [
        {"hashes": np.array([1, 1], np.int64), "pages": np.array([3, 1], np.int64)},
        {"hashes": np.array([1, 2], np.int64), "pages": np.array([3], np.int64)},
        {"hashes": np.array([1, 2], np.int64), "pages": np.array([3, -1], np.int64)},
        {"pages": np.array([3], np.int64)},
    ],
)
def test_what_no_crawl_counted_is_refused(state: dict[str, np.ndarray]) -> None:
    with pytest.raises(BadInput):
        HostCounts().restore(state)

"""Random little webs for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from spoor.lab.worlds import WrittenWorld


def address(page: int) -> str:
    return f"http://p{page}.test/"


@st.composite
def random_worlds(draw: st.DrawFn, max_pages: int = 14) -> WrittenWorld:
    """Pages p0, p1, … with distinct links in any order, some of them relevant."""
    pages = draw(st.integers(1, max_pages))
    targets = st.lists(st.integers(0, pages - 1), max_size=6, unique=True)
    links = {page: [t for t in draw(targets) if t != page] for page in range(pages)}
    relevant = draw(st.sets(st.integers(0, pages - 1)))
    addresses = {address(page): [address(target) for target in found] for page, found in links.items()}
    return WrittenWorld.of_links(addresses, frozenset(map(address, relevant)))

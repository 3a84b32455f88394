"""What every source of back links promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.link_graph import WebBacklinks
from spoor.lab.web import Web
from spoor.roles import BacklinkSource
from tests.written_links import corridors


@pytest.fixture(params=["web", "written"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> BacklinkSource:
    if request.param == "written":
        return corridors()
    generate(Request("topical", 100, 1), tmp_path / "web", lambda pages: None)
    return WebBacklinks(Web.open(tmp_path / "web"))


class TestEveryBacklinkSource:
    def test_numbers_each_page_once_and_rising(self, source: BacklinkSource) -> None:
        assert len(source.pages()) > 1 and (np.diff(source.pages()) > 0).all()

    def test_tells_for_some_pages_what_it_tells_of_them_for_all(self, source: BacklinkSource) -> None:
        some = source.pages()[::3]
        linking, linked = source.links_to(source.pages())
        held = np.isin(linked, some)
        few = source.links_to(some)
        assert sorted(zip(*few, strict=True)) == sorted(zip(linking[held], linked[held], strict=True))
        assert 0 < len(few[0]) < len(linking)

    def test_knows_only_its_own_pages(self, source: BacklinkSource) -> None:
        assert np.isin(np.concatenate(source.links_to(source.pages())), source.pages()).all()

    def test_has_something_to_read(self, source: BacklinkSource) -> None:
        title, text = source.said(int(source.pages()[0]))
        assert title and text

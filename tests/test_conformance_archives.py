"""Archives of others, broken and odd ones among them: each is read, or refused in one line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from spoor.cli.main import main
from tests.suites import members, needs_suite, stated

SUITES = {"warc-odd": (41, 4), "warc-warcio": (13, 9), "warc-jwarc": (2, 1)}
"""Their archives, and how many of them hold a page; the others are refused."""


@pytest.mark.parametrize("suite", [pytest.param(suite, marks=needs_suite(suite)) for suite in SUITES])
def test_archives_are_read_or_refused_in_one_line(
    suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = Counter[int]()
    for number, (name, body) in enumerate(members(suite).items()):
        if ".warc" not in name and not name.endswith(".gz"):
            continue
        file = tmp_path / f"{number}{''.join(Path(name).suffixes[-2:])}"
        file.write_bytes(body)
        code = main(["web", "build", str(file), "--out", str(tmp_path / f"web{number}"), "--quiet"])
        said = capsys.readouterr().err
        assert code == 0 or len([line for line in said.splitlines() if line.startswith("spoor")]) == 1, (name, said)
        assert "Traceback" not in said
        outcomes[code] += 1
    assert (outcomes.total(), outcomes[0]) == SUITES[suite]


def test_the_page_of_docs_counts_them() -> None:
    archives, read = map(sum, zip(*SUITES.values(), strict=True))
    assert stated("archives of jhove, warcio and jwarc: read, or refused in one line") == [
        str(archives),
        str(read),
        str(archives - read),
        "",
    ]

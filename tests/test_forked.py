"""The processes that tests fork."""

from __future__ import annotations

from pathlib import Path

from tests.forked import LEFT_OPEN, forked


def leaves_a_file_open() -> None:
    Path(__file__).open()  # noqa: SIM115


def test_a_process_that_leaves_a_file_open_fails_and_says_which(tmp_path: Path) -> None:
    said = tmp_path / "said"
    assert forked(leaves_a_file_open, stderr=said).wait(60) == LEFT_OPEN
    assert said.read_text().startswith("unclosed file <") and "test_forked.py" in said.read_text()

"""A file that is written anew is complete, or as it was before."""

from __future__ import annotations

from pathlib import Path

import pytest

from spoor.result_files import replacing


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize("partial", ["", ".partial"])
def test_a_file_is_replaced_when_all_of_it_is_written(tmp_path: Path, partial: str, durable: bool) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    with replacing(file, partial, durable) as part:
        part.write_text("new")
        assert file.read_text() == "old"
    assert file.read_text() == "new" and list(tmp_path.iterdir()) == [file]


def test_a_file_stays_as_it_was_when_something_goes_wrong(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(file) as part:
        part.write_text("half")
        raise ZeroDivisionError
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]


def test_what_a_killed_process_left_is_overwritten_where_only_one_writes(tmp_path: Path) -> None:
    (tmp_path / ".partial").write_text("half of something else, and longer")
    with replacing(tmp_path / "file", ".partial") as part:
        part.write_text("new")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["new"]

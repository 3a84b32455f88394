"""Dictionaries: which column means what, which sense is taken, and what happens to lines that say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from spoor.errors import BadInput, UsageError
from spoor.judging.dictionary import Dictionary, Source, read_dictionary
from tests.shared_data import SHARED, needs_shared


def read(folder: Path, *lines: str, source: Source = "foreign") -> Dictionary:
    (folder / "dictionary.tsv").write_text("\n".join(lines), "utf8")
    return read_dictionary(folder / "dictionary.tsv", source)


def meanings(found: Dictionary) -> dict[str, str]:
    return {" ".join(term): sense for term, sense in found.entries.items()}


def test_a_line_is_a_term_a_tab_and_what_it_means(tmp_path: Path) -> None:
    found = read(tmp_path, "कंप्यूटर विज्ञान\tcomputer science", "# a comment", "", "भाषा\tlanguage")
    assert found == Dictionary({("कंप्यूटर", "विज्ञान"): "computer science", ("भाषा",): "language"})


@pytest.mark.parametrize(
    "senses", ["water|rain", "water; rain", "water, rain", "water {to drink}; rain", "(wet) water"]
)
def test_of_many_senses_the_first_is_taken_without_its_notes(tmp_path: Path, senses: str) -> None:
    assert meanings(read(tmp_path, f"पानी\t{senses}")) == {"पानी": "water"}


def test_a_part_of_speech_may_stand_between(tmp_path: Path) -> None:
    found = read(tmp_path, "agua\tnoun\twater; rain", "correr\tverb\tto run")
    assert meanings(found) == {"agua": "water", "correr": "to run"}


def test_lines_may_be_json_as_extracts_from_wiktionary_are(tmp_path: Path) -> None:
    water = '{"word": "पानी", "pos": "noun", "senses": [{"tags": ["x"]}, {"glosses": ["water (drink)", "rain"]}]}'
    found = read(tmp_path, water, '{"word": "no senses"}', '{"word": "x", "senses": [{"glosses": 1}]}', "{]", "[1]")
    assert (meanings(found), found.broken) == ({"पानी": "water"}, 4)


def test_the_first_line_of_a_term_tells_its_first_sense(tmp_path: Path) -> None:
    assert meanings(read(tmp_path, "चल\tverb\tmove", "चल\tadjective\tmovable")) == {"चल": "move"}


def test_the_column_in_foreign_letters_is_translated_from_wherever_it_stands(tmp_path: Path) -> None:
    assert meanings(read(tmp_path, "water\tपानी|जल")) == {"पानी": "water", "जल": "water"}
    assert meanings(read(tmp_path, "पानी\twater|rain")) == {"पानी": "water"}
    assert meanings(read(tmp_path, "water\tagua")) == {"water": "agua"}


def test_either_column_can_be_asked_for(tmp_path: Path) -> None:
    assert meanings(read(tmp_path, "water\tपानी|जल", source="left")) == {"water": "पानी"}
    assert meanings(read(tmp_path, "water\tagua", source="right")) == {"agua": "water"}


def test_turned_a_word_means_the_commonest_of_those_that_mean_it_first(tmp_path: Path) -> None:
    lines = ["affair\tव्यापार", "department store\tभंडार", "bureau\tविभाग", "department\tविभाग", "division\tभाग|विभाग"]
    assert meanings(read(tmp_path, *lines))["विभाग"] == "department"


def test_broken_lines_are_counted_and_told_and_the_rest_is_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = ["पानी\twater", "no tab", "\tno term", "no sense\t", "no sense\t{note}", "a\tb\tc\td"]
    (tmp_path / "dictionary.tsv").write_bytes("\r\n".join(lines).encode() + b"\n\xff\xfe\tlatin")
    found = read_dictionary(tmp_path / "dictionary.tsv")
    assert (meanings(found), found.broken) == ({"पानी": "water"}, 6)
    (warning,) = caplog.messages
    assert warning.startswith("6 of 7 lines of the dictionary")
    assert "are not entries (term, tab, translation)" in warning


def test_a_whole_file_gives_no_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert read(tmp_path, "पानी\twater").broken == 0
    assert not caplog.messages


def test_a_file_without_entries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no entries; write one a line: term, tab, translation"):
        read(tmp_path, "<html>", "not a dictionary")
    with pytest.raises(BadInput, match=r"cannot read the dictionary .*missing.tsv: No such file"):
        read_dictionary(tmp_path / "missing.tsv")
    with pytest.raises(UsageError, match="unknown source 'middle' of a dictionary; known are foreign, left, right"):
        read_dictionary(tmp_path / "dictionary.tsv", "middle")  # type: ignore[arg-type]


@needs_shared
def test_the_english_hindi_dictionary_works_in_both_directions() -> None:
    path = SHARED / "texts" / "english-hindi.tsv"
    hindi, english = meanings(read_dictionary(path)), meanings(read_dictionary(path, "left"))
    assert len(hindi) > 20_000 and len(english) > 20_000
    assert (hindi["विज्ञान"], hindi["विभाग"], hindi["उच्च प्रौद्योगिकी"]) == ("science", "department", "high technology")
    assert (english["science"], english["abet"]) == ("विज्ञान", "उकसाना")

"""Legacy font encodings: tables of letters, the way to Unicode letters and back, and what a bad table is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.errors import BadInput
from spoor.judging.encodings import (
    collapse,
    encoded,
    encodings_in,
    load,
    read,
    readings,
    share_inside,
    shipped,
    shipped_for,
)
from spoor.judging.profile_search import trained
from spoor.judging.profiles import learned
from tests.shared_data import SHARED

MENKSOFT, SAIYIN = shipped()["menksoft"], shipped()["saiyin"]
WORD = "\ue2c1\ue27f\ue317\ue27e\ue2e8"  # "bichig", writing, as Menksoft has it

RUNIC = """
name = "smith"
language = "got"
letters = ["F0000-F002F", "F0040"]
unicode = ["16A0-16EA"]
ends = ["F0030"]

[blocks]
F0000 = "ᚠ"
F0008 = "ᚢ"
F0010 = ""
F0020 = "ᚦᚨ"
F0040 = "ᚱ"
"""


def test_the_letters_of_menksoft_and_saiyin_are_the_intervals_of_the_paper() -> None:
    assert MENKSOFT.letters == ((57956, 58191),)
    assert SAIYIN.letters == ((57924, 58003),)


def test_menksoft_has_a_block_for_each_of_35_letters_in_their_unicode_order() -> None:
    assert [ord(letter) for _, letter in MENKSOFT.blocks] == list(range(0x1820, 0x1843))
    assert [code for code, _ in MENKSOFT.blocks] == sorted(code for code, _ in MENKSOFT.blocks)


def test_both_write_mongolian_in_its_own_script() -> None:
    assert shipped_for("mn-Mong") == (MENKSOFT, SAIYIN)
    assert shipped_for("mn") == ()


def test_glyphs_become_letters() -> None:
    assert collapse(WORD, MENKSOFT) == "ᠪᠢᠴᠢᠭ"
    assert collapse("\ue34f a \ue236", MENKSOFT) == "ᡂ a \ue236"


def test_letters_become_a_glyph_of_their_block() -> None:
    assert encoded("ᠪᠢᠴᠢᠭ, 5", MENKSOFT) == "\ue2c1\ue279\ue315\ue279\ue2e1, 5"
    assert encoded("ᠠᠡᠢ", SAIYIN) == "\ue244\ue245\ue246"


@pytest.mark.parametrize("name", shipped())
@given(text=st.text(st.characters(min_codepoint=0x1820, max_codepoint=0x1842) | st.characters(categories=["L", "Zs"])))
def test_what_was_encoded_collapses_to_what_it_was(name: str, text: str) -> None:
    assert collapse(encoded(text, shipped()[name]), shipped()[name]) == text


def test_the_share_inside_leaves_white_space_out() -> None:
    assert share_inside(f"{WORD} \n\u3000", MENKSOFT.letters) == 1.0
    assert share_inside(f"{WORD} abcde", MENKSOFT.letters) == 0.5
    assert share_inside(" \n", MENKSOFT.letters) == 0.0
    assert share_inside("a-]^\\", [(ord("]"), ord("^"))]) == 0.4


def test_a_text_tells_which_encodings_have_letters_in_it() -> None:
    both = list(shipped().values())
    assert encodings_in("\ue34f", both) == [MENKSOFT]
    assert encodings_in("\ue244", both) == [SAIYIN]
    assert encodings_in("\ue270", both) == [MENKSOFT, SAIYIN]
    assert encodings_in("ᠪᠢᠴᠢᠭ bichig", both) == []


def test_a_text_is_read_as_it_is_and_as_each_encoding_would_have_it() -> None:
    both = list(shipped().values())
    assert readings("ᠪᠢᠴᠢᠭ bichig", both) == ["ᠪᠢᠴᠢᠭ bichig"]
    assert readings(f"{WORD} ᠨᠣᠮ", both) == [f"{WORD} ᠨᠣᠮ", "ᠪᠢᠴᠢᠭ ᠨᠣᠮ", collapse(f"{WORD} ᠨᠣᠮ", SAIYIN)]


def test_a_table_of_ones_own_describes_another_font(tmp_path: Path) -> None:
    (tmp_path / "smith.toml").write_text(RUNIC, "utf8")
    smith = load(tmp_path / "smith.toml")
    assert collapse("\U000f0000\U000f0007\U000f000f \U000f0041\U000f0040", smith) == "ᚠᚠᚢ \U000f0041ᚱ"
    assert encoded("ᚠᚢᚱᛗ", smith) == "\U000f0000\U000f0008\U000f0040ᛗ"
    assert share_inside("\U000f0000 \U000f0030", smith.letters) == 0.5


def test_the_example_of_the_documentation_is_a_table() -> None:
    page = (Path(__file__).parents[1] / "docs" / "encodings.md").read_text("utf8")
    attic = read(page.partition("```toml\n")[2].partition("```")[0], "encodings.md")
    assert collapse("\uf1b2\uf1b5\uf1b7\uf1b9", attic) == "αβ\uf1b7δι"


def test_a_glyph_may_stand_for_several_letters_or_for_one_that_is_not_known() -> None:
    smith = read(RUNIC, "smith")
    assert collapse("\U000f0020\U000f002f", smith) == "ᚦᚨᚦᚨ"
    assert collapse("\U000f0010\U000f001f", smith) == "\U000f0010\U000f001f"


ATTIC = """
name = "attic"
language = "el"
letters = ["F1B1-F1C9"]
unicode = ["0370-03FF"]
ends = ["F100"]

[blocks]
""" + "".join(f'F1{code - 0x300:02X} = "{chr(code)}"\n' for code in range(0x3B1, 0x3CA))

GREEK = """
η βιβλιοθηκη ανοιγει το πρωι και κλεινει το βραδυ. οι αναγνωστες καθονται κοντα στα παραθυρα και διαβαζουν τις
εφημεριδες της ημερας. το χειμωνα ερχονται περισσοτεροι, γιατι εξω κανει κρυο και μεσα εχει ζεστη. τα παιδια διαλεγουν
βιβλια με εικονες και τα πηγαινουν στο σπιτι για δυο εβδομαδες. καθε παρασκευη μια κυρια διαβαζει παραμυθια και ολοι την
ακουνε με προσοχη. στην πανω αιθουσα υπαρχουν παλιοι χαρτες της πολης και φωτογραφιες απο το λιμανι. οποιος θελει μπορει
να γραψει τις αναμνησεις του σε ενα μεγαλο τετραδιο που βρισκεται διπλα στην πορτα.
"""
MORE_GREEK = (
    "το καλοκαιρι η βιβλιοθηκη κλεινει νωρις και τα παιδια παιζουν στην πλατεια κοντα στο λιμανι μεχρι το βραδυ"
)


def test_a_profile_is_trained_on_a_font_of_ones_own_and_recognises_it() -> None:
    attic = read(ATTIC, "attic")
    pages = encoded(GREEK, attic)
    profile = learned(attic.language, attic.name, pages.replace(".", "\n"), "two dozen lines")
    recogniser = trained(attic.language, (profile,), (2,))
    same_font, real_letters, icons = recogniser.similarities([encoded(MORE_GREEK, attic), MORE_GREEK, "\uf1b3" * 90])
    assert same_font > recogniser.threshold
    assert real_letters == 0.0
    assert icons == 0.0


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("letters = [", "smith.toml cannot be read as TOML"),
        ("", "smith.toml lacks name; write, for example, name = "),
        ('name = "a"\nlanguage = "b"\nletters = []', "smith.toml lacks letters"),
        ("leters = 1", "unknown key 'leters'; an encoding table has name, language, letters, unicode, ends, blocks"),
        ('name = "a"\nlanguage = "b"\nletters = "E264"', "letters: 'E264' is not a list"),
        ('name = "a"\nlanguage = "b"\nletters = [57956]', "letters: 57956 is not an interval of hexadecimal"),
        ('name = "a"\nlanguage = "b"\nletters = ["E34F-E264"]', "'E34F-E264' is not an interval"),
        ('name = "a"\nlanguage = "b"\nletters = ["110000"]', "'110000' is not an interval"),
        ('name = "a"\nlanguage = "b"\nletters = ["E264"]\nblocks = 1', "blocks: 1 is not a table"),
        ('name = "a"\nlanguage = "b"\nletters = ["E264"]\n[blocks]\nE265 = "a"', "blocks: E265 is outside of letters"),
        ('name = "a"\nlanguage = "b"\nletters = ["E264"]\n[blocks]\nE264 = 5', "5 is not a letter in quotes"),
        ('name = ["a"]\nlanguage = "b"\nletters = ["E264"]', "name: ['a'] is not a word in quotes"),
    ],
)
def test_a_bad_table_is_told_in_one_line_what_is_wrong(tmp_path: Path, wrong: str, told: str) -> None:
    path = tmp_path / "smith.toml"
    path.write_text(wrong, "utf8")
    with pytest.raises(BadInput) as caught:
        load(path)
    assert told in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_that_is_not_there_or_no_text_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot read the encoding table .*absent\.toml: No such file"):
        load(tmp_path / "absent.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="cannot read the encoding table"):
        load(tmp_path / "bytes.toml")


@pytest.mark.skipif(not (SHARED / "texts").is_dir(), reason=f"no texts at {SHARED}; set SPOOR_DATA")
def test_all_but_a_few_characters_of_real_words_are_letters_of_the_table() -> None:
    words = (SHARED / "texts" / "mongolian-menksoft-words.txt").read_text("utf8")
    assert share_inside(words, MENKSOFT.letters) > 0.9999
    assert share_inside(collapse(words, MENKSOFT), MENKSOFT.unicode) > 0.9999

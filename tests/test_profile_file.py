"""Profiles on disk: what is written is read again, and what is wrong with a file is said in one line."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.errors import BadInput
from spoor.judging.profiles import Profile, learned, open_profiles, shipped, shipped_profiles, write_profiles

PROFILE = learned("x-a", "one", "the quick brown fox; jumps over the lazy dog", "a text")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.spoor"
    write_profiles(path, [PROFILE, learned("x-a", "two", "ᠮᠣᠩᠭᠣᠯ \ue2c1\U0001f600", "another")])
    return path


def same(one: Profile, other: Profile) -> bool:
    arrays = ((one.alphabet, other.alphabet), (one.windows, other.windows), (one.counts, other.counts))
    said = (one.tag, one.name, one.trained_on, one.unit) == (other.tag, other.name, other.trained_on, other.unit)
    return said and all(a.tolist() == b.tolist() for a, b in arrays)


@given(text=st.text(min_size=1).filter(lambda text: learned("x-a", "a", text, "").size > 0))
def test_every_profile_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("profiles") / "model.spoor"
    profile = learned("x-a", "a", text, "hypothesis")
    write_profiles(path, [profile])
    assert same(open_profiles(path).profile(0), profile)


def test_the_same_profiles_make_the_same_bytes(file: Path, tmp_path: Path) -> None:
    write_profiles(tmp_path / "again.spoor", open_profiles(file).profiles())
    assert (tmp_path / "again.spoor").read_bytes() == file.read_bytes()


def test_two_profiles_of_the_same_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="two profiles of x-a have the same name 'one'"):
        write_profiles(tmp_path / "model.spoor", [PROFILE, PROFILE])


def test_a_model_of_another_version_is_refused(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"profiles 1\n", b"profiles 2\n", 1))
    with pytest.raises(BadInput, match="is of version 2, this spoor reads 1; train it again"):
        open_profiles(file)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\xff" * 500, b"spoor language profiles"])
def test_another_kind_of_file_is_refused(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(BadInput, match="is not a file of language profiles"):
        open_profiles(file)


@pytest.mark.parametrize("listed", ["", "{}", "[1]", "[[]]", '[{"bytes": 0}]', "[" * 100_000, '[{"bytes": "x"}]'])
def test_a_damaged_list_is_refused(file: Path, listed: str) -> None:
    file.write_text(f"spoor language profiles 1\n{listed}\n")
    with pytest.raises(BadInput, match=r"damaged|holds no profile"):
        open_profiles(file)


def test_a_file_that_was_cut_is_refused(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(BadInput, match="it is incomplete"):
        open_profiles(file)


def test_whatever_happened_to_its_bytes_a_file_is_read_or_refused(file: Path) -> None:
    whole, chance = file.read_bytes(), random.Random(5)
    for _ in range(300):
        broken = bytearray(whole)
        broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
        file.write_bytes(broken)
        try:
            open_profiles(file).profiles()
        except BadInput as error:
            assert "\n" not in str(error)


def test_counts_that_the_block_does_not_hold_are_refused(file: Path) -> None:
    first, listed, body = file.read_bytes().split(b"\n", 2)
    entries = json.loads(listed)
    entries[0]["windows"] = 40_000_000
    file.write_bytes(b"\n".join([first, json.dumps(entries).encode(), body]))
    with pytest.raises(BadInput, match="profile 1 is damaged"):
        open_profiles(file).profiles()


class TestTheShippedProfiles:
    def test_are_hundreds_in_five_megabytes(self) -> None:
        assert len(shipped().entries) > 500
        assert shipped().path.stat().st_size < 5_000_000

    def test_say_what_they_were_trained_on(self) -> None:
        assert all(entry["trained_on"] for entry in shipped().entries)

    def test_hold_enough_text_each(self) -> None:
        assert min(profile.size for profile in shipped_profiles()) >= 2_000

    def test_have_traditional_mongolian_in_unicode_and_in_menksoft(self) -> None:
        traditional = [entry["name"] for entry in shipped().entries if entry["tag"] == "mn-Mong"]
        assert traditional == ["mongolian-traditional", "mongolian-menksoft-words"]

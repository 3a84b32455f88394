"""Judges of languages: who is asked for which tag, pages in several encodings, and what is no language."""

from __future__ import annotations

import random
from itertools import groupby
from pathlib import Path

import pytest

from spoor.errors import UsageError
from spoor.judging.detector import MOSTLY, PARTLY, Detector, DetectorOrProfiles, language_judge
from spoor.judging.language_judges import Charset, NearestProfile, NgramRank
from spoor.judging.profile_search import deciding, identifier
from spoor.judging.profiles import Profile, learned, shipped_profiles, write_profiles
from spoor.records import Page, Verdict
from spoor.registry import judge, judge_of
from spoor.roles import Judge
from spoor.settings import Target
from spoor.strategy import prior_of

ENGLISH = "All human beings are born free and equal in dignity and rights, and this is what the page goes on about. "
GERMAN = "Der Hund läuft über die Straße, und die Katze schaut ihm dabei aus dem Fenster des Hauses zu. "
UNICODE = "ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ ᠪᠣᠯ ᠮᠣᠩᠭᠣᠯ ᠦᠨᠳᠦᠰᠦᠲᠡᠨ ᠦ ᠬᠡᠯᠡ ᠮᠥᠨ ᠪᠠᠢᠨ᠎ᠠ "


@pytest.mark.parametrize(
    ("language", "label", "relevant"),
    [
        ("th", "TIS-620", True),
        ("th", "windows-874", True),
        ("th", "iso8859-11", True),
        ("ja", "x-sjis", True),
        ("ja", "iso-2022-jp", True),
        ("ja", "tis-620", False),
        ("ko", "euc-kr", True),
        ("zh", "gb2312", True),
        ("th", "utf-8", False),
        ("th", "nonsense", False),
    ],
)
def test_a_charset_label_is_read_as_browsers_read_it(language: str, label: str, relevant: bool) -> None:
    (verdict,) = Charset(language).judge([Page("http://a.test/", meta_charset=label)])
    means = "means" if relevant else "does not mean"
    assert verdict == Verdict(float(relevant), relevant, f"meta charset {label.lower()} {means} {language}")


def written_as(profile: Profile, letters: int) -> str:
    """Made up from the n-grams of a profile: each goes on where the last three letters of the one before stand."""
    grams, chance, text = sorted(profile.as_words(4)), random.Random(9), ""
    beginning = {first: list(those) for first, those in groupby(grams, key=lambda gram: gram[:3])}
    while len(text) < letters:
        fitting = beginning.get(text[-3:])
        text += chance.choice(fitting)[3] if fitting else " " + chance.choice(grams)
    return text


MENKSOFT = written_as(next(profile for profile in shipped_profiles() if "menksoft" in profile.name), 200)


def said(judge: Judge, text: str) -> Verdict:
    (verdict,) = judge.judge([Page("http://a.test/", text=text)])
    return verdict


class TestWhoIsAsked:
    def test_cld2_where_it_knows_the_language(self) -> None:
        assert language_judge("jpn") == Detector("ja", least=PARTLY)

    def test_english_must_be_most_of_a_page(self) -> None:
        assert language_judge("en") == Detector("en", least=MOSTLY)

    def test_the_profiles_where_it_does_not(self) -> None:
        assert language_judge("gsw") == NearestProfile("gsw")

    def test_the_profiles_for_a_script_that_is_not_the_one_of_cld2(self) -> None:
        assert language_judge("uz-Cyrl") == NearestProfile("uz-Cyrl")

    def test_both_where_the_language_has_a_script_of_its_own(self) -> None:
        assert language_judge("mn") == DetectorOrProfiles(Detector("mn", least=PARTLY), NearestProfile("mn-Mong"))

    def test_nobody_for_a_language_of_which_nothing_is_known(self) -> None:
        with pytest.raises(UsageError, match="'ff' is shipped; train one"):
            language_judge("ff")

    def test_nobody_for_what_is_no_tag(self) -> None:
        with pytest.raises(UsageError, match="'klingonian' is shipped; give a BCP-47 tag such as mn"):
            language_judge("klingonian")

    def test_a_setting_a_judge_by_name_and_the_function_agree(self) -> None:
        assert judge("language:mn") == language_judge("mn")
        assert prior_of(judge_of(Target(language="mn"))).language == "mn"


@pytest.mark.parametrize("relevant", ["mn", "mn-Mong"])
class TestTraditionalMongolian:
    @pytest.mark.parametrize(
        "text",
        [UNICODE, MENKSOFT, UNICODE + MENKSOFT, MENKSOFT + ENGLISH[:60]],
        ids=["unicode", "menksoft", "both", "with English"],
    )
    def test_is_recognised(self, relevant: str, text: str) -> None:
        assert said(language_judge(relevant), text).relevant

    @pytest.mark.parametrize(("first", "last"), [(0xE000, 0xEB4C), (0xF000, 0xF2E0), (0xE264, 0xE34F)])
    @pytest.mark.parametrize("around", ["", ENGLISH])
    def test_is_not_seen_in_the_icons_of_a_font(self, relevant: str, first: int, last: int, around: str) -> None:
        chance = random.Random(3)
        icons = " ".join(chr(chance.randint(first, last)) for _ in range(120))
        assert not said(language_judge(relevant), around + icons).relevant


def test_a_wanted_language_without_script_takes_all_of_them() -> None:
    assert said(
        language_judge("mn"), "Хүн бүр төрж мэндлэхэд эрх чөлөөтэй, адилхан нэр төртэй, ижил эрхтэй байдаг."
    ).relevant
    assert not said(
        language_judge("mn-Mong"), "Хүн бүр төрж мэндлэхэд эрх чөлөөтэй, адилхан нэр төртэй байдаг."
    ).relevant


class TestTheNearestProfile:
    def test_names_the_language_found_and_the_runner_up(self) -> None:
        verdict = said(NearestProfile("de"), GERMAN)
        assert verdict.relevant and verdict.label == "de"
        assert verdict.because.startswith("nearest profile is de (0.")

    def test_names_the_language_found_when_another_was_wanted(self) -> None:
        verdict = said(NearestProfile("fr"), GERMAN)
        assert (verdict.relevant, verdict.label) == (False, "de")

    def test_is_half_sure_of_a_text_as_near_to_a_rival(self) -> None:
        assert said(NearestProfile("de"), GERMAN).relevance > 0.5 > said(NearestProfile("fr"), GERMAN).relevance

    def test_says_that_a_text_is_too_short(self) -> None:
        assert said(NearestProfile("de"), "Guten Tag").because == "too short: 8 characters, the profiles need 20"

    def test_competes_with_a_model_of_ones_own(self, tmp_path: Path) -> None:
        model = tmp_path / "mine.spoor"
        write_profiles(model, [learned("x-mine", "mine", "ba da ga ma na pa ta ka sa la ra " * 50, "made up")])
        verdict = said(NearestProfile(str(model)), "ga ma na pa ta ka sa la ra ba da")
        assert verdict.relevant and verdict.label == "x-mine"
        assert not said(NearestProfile(str(model)), GERMAN).relevant


class TestNgramRank:
    def test_is_relevant_above_the_threshold(self) -> None:
        similar = said(NgramRank("de"), GERMAN).relevance
        assert said(NgramRank("de", least=similar - 0.01), GERMAN).relevant
        assert not said(NgramRank("de", least=similar), GERMAN).relevant

    def test_keeps_what_is_far_away_when_taken_as_printed(self) -> None:
        printed = NgramRank("de", orientation="as_printed")
        assert said(printed, UNICODE).relevant and not said(printed, GERMAN).relevant
        assert said(printed, GERMAN).relevance == pytest.approx(1 - said(NgramRank("de"), GERMAN).relevance)

    def test_blurs_when_the_profiles_of_all_encodings_are_merged(self) -> None:
        assert (
            said(NgramRank("mn-Mong", profiles="merged"), MENKSOFT).relevance
            < said(NgramRank("mn-Mong"), MENKSOFT).relevance
        )

    @pytest.mark.parametrize(
        ("spec", "complaint"),
        [
            ("ngram:de:n=5", "n=5: n-grams have 1 to 4 letters"),
            ("ngram:de:least=2", "least=2 is not a similarity between 0 and 1"),
            ("ngram:de:profiles=all", "profiles=all: must be each or merged"),
            ("ngram:de:orientation=up", "orientation=up: must be similarity or as_printed"),
        ],
    )
    def test_refuses_what_makes_no_sense(self, spec: str, complaint: str) -> None:
        with pytest.raises(UsageError, match=complaint):
            judge(spec)


def test_the_ngrams_that_decided_add_up_to_the_lead() -> None:
    known = identifier()
    near = known.similarities([GERMAN])[0]
    winner, rival = (next(k for k, p in enumerate(known.profiles) if p.tag == tag) for tag in ("de", "nl"))
    leads = deciding(GERMAN, known.profiles[winner], known.profiles[rival])
    assert sum(lead for _, lead in leads) == pytest.approx(near[winner] - near[rival])
    assert {"ä", "ü"} < {gram for gram, _ in leads[:5]}

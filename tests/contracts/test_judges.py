"""What every judge promises."""

from __future__ import annotations

import pytest

from spoor.judge.agreement import Agreement
from spoor.judge.charset import Charset
from spoor.judge.code_interval import CodeInterval
from spoor.judge.detector import Detector
from spoor.judge.language import language_judge
from spoor.judge.nearest_profile import NearestProfile
from spoor.judge.ngram_rank import NgramRank
from spoor.judge.script_share import ScriptShare
from spoor.judge.truth import Truth
from spoor.records import Page
from spoor.roles import Judge

PAGES = [
    Page("http://a.test/", meta_charset="TIS-620", text="ภาษาไทย เป็นภาษา"),
    Page("http://b.test/", header_charset="utf-8", text="plain English words"),
    Page("http://c.test/", detected_charset="euc-jp", text="ひらがな と 漢字"),
    Page("http://d.test/"),
    Page("http://e.test/", content_type="image/png", text="\x00\ufffd"),
]
JUDGES: list[Judge] = [
    Truth("relevant", {"http://a.test/", "http://c.test/"}.__contains__),
    Charset("th"),
    Charset("ja", ("detected",)),
    ScriptShare("thai"),
    ScriptShare("kana", least=0.1),
    Detector("th"),
    Detector("en", library="py3langid", least=0.9),
    NgramRank("th"),
    NgramRank("mn-Mong", 2, 0.1, "merged", "as_printed"),
    NearestProfile("gsw"),
    language_judge("mn"),
    CodeInterval(),
    CodeInterval(preset="ratio", include_unicode=True),
    Agreement("charset or not script", {"charset": Charset("th"), "script": ScriptShare("thai")}),
    Agreement("charset and label", {"charset": Charset("th"), "label": Truth("relevant", "http://a.test/".__eq__)}),
]


@pytest.mark.parametrize("judge", JUDGES, ids=repr)
class TestEveryJudge:
    def test_gives_one_verdict_a_page(self, judge: Judge) -> None:
        assert len(judge.judge(PAGES)) == len(PAGES)
        assert judge.judge([]) == []

    def test_never_lets_a_verdict_depend_on_the_rest_of_the_batch(self, judge: Judge) -> None:
        together = judge.judge(PAGES)
        assert together == [judge.judge([page])[0] for page in PAGES]
        assert together[::-1] == judge.judge(PAGES[::-1])

    def test_keeps_relevance_between_0_and_1_and_gives_a_reason(self, judge: Judge) -> None:
        for verdict in judge.judge(PAGES):
            assert 0.0 <= verdict.relevance <= 1.0
            assert verdict.because

    def test_says_whether_it_reads_texts(self, judge: Judge) -> None:
        """One that does not must give the same verdict when the texts are missing."""
        if not judge.reads_content:
            bare = [
                Page(p.url, p.status, p.content_type, p.header_charset, p.meta_charset, p.detected_charset)
                for p in PAGES
            ]
            assert judge.judge(bare) == judge.judge(PAGES)

"""What every judge promises."""

from __future__ import annotations

import numpy as np
import pytest

from spoor.judging.classifiers import Examples, Taxonomy, TaxonomyModel, TopicModel
from spoor.judging.classifiers import learned as learned_classes
from spoor.judging.combined import CombinedJudge, Remembered, Truth
from spoor.judging.detector import Detector, language_judge
from spoor.judging.dictionary import Dictionary, Transcriber
from spoor.judging.language_judges import Charset, CodeInterval, NearestProfile, NgramRank, ScriptShare
from spoor.judging.ontology import Ontology, Term
from spoor.judging.ontology_judge import OntologyTerms
from spoor.judging.similar_words import learned
from spoor.judging.term_finder import Finder
from spoor.judging.topic_judges import Gold, Keywords, Pattern, TagWeighted, VectorSpaceModel
from spoor.lab.papers.experiment import OnceJudged
from spoor.parse.words import PLACES, Words, place
from spoor.records import Page, Verdict
from spoor.roles import Comparing, HasTargetPrior, Judge
from spoor.teaching.beginning import beginner

PAGES = [
    Page("http://a.test/", meta_charset="TIS-620", text="ภาษาไทย เป็นภาษา"),
    Page("http://b.test/", header_charset="utf-8", text="plain English words"),
    Page("http://c.test/", detected_charset="euc-jp", text="ひらがな と 漢字"),
    Page("http://d.test/"),
    Page("http://e.test/", content_type="image/png", text="\x00\ufffd"),
]
TEXTS = ["plain words about English", "漢字 と ひらがな", "more English words", "ภาษาไทย"]
OTHERS = ["ships and sails", "sails and masts", "masts", "ships"]
WEIGHTS = np.zeros(PLACES, np.float32)
WEIGHTS[[place("words"), place("漢字")]] = 2.0, -1.0
WORDS = Ontology("words", (Term("words", 0.5, ("words", "plain English")), Term("漢字", 1.0, ("漢字",))))
JUDGES: list[Judge] = [
    Truth("relevant", {"http://a.test/", "http://c.test/"}.__contains__),
    Charset("th"),
    Charset("ja", ("detected",)),
    ScriptShare("thai"),
    ScriptShare("kana", least=0.1),
    Detector("th"),
    Detector("en", tool="py3langid", least=0.9),
    NgramRank("th"),
    NgramRank("mn-Mong", 2, 0.1, "merged", "as_printed"),
    NearestProfile("gsw"),
    OnceJudged(ScriptShare("thai")),
    Remembered("script:thai", lambda url: Verdict(0.5, url == "http://a.test/", "judged before")),
    language_judge("mn"),
    Keywords(("words", "ภาษา", "plain English")),
    TagWeighted(("words", "ひらがな"), normalise=False),
    Gold("gold.txt", TEXTS[0]),
    VectorSpaceModel("field", learned(TEXTS, OTHERS, Words()).topic(20)),
    VectorSpaceModel("similar", learned(TEXTS, [], Words(), semantic=True).topic(3), 0.3),
    Pattern("en.*sh|b[.]test"),
    Examples(TopicModel("words", "", 0.4, -0.5, ("words",), WEIGHTS)),
    Taxonomy(
        TaxonomyModel("texts", "", ("words",), learned_classes({"words": [TEXTS[0].split()], "ships": [["ships"]]}))
    ),
    beginner([Page("http://e.test/", title="words", text=TEXTS[0])], "ภาษาไทย"),
    OntologyTerms(Finder(WORDS)),
    OntologyTerms(Finder(WORDS, "longest"), 0.2, Transcriber(Dictionary({("ภาษาไทย",): "words"}))),
    CodeInterval(),
    CodeInterval(preset="ratio", include_unicode=True),
    CombinedJudge("charset or not script", {"charset": Charset("th"), "script": ScriptShare("thai")}),
    CombinedJudge("charset and label", {"charset": Charset("th"), "label": Truth("relevant", "http://a.test/".__eq__)}),
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


@pytest.mark.parametrize("judge", [judge for judge in JUDGES if isinstance(judge, Comparing)], ids=repr)
class TestEveryJudgeThatCompares:
    TEXTS = ("plain English words", "", "ภาษาไทย", "\x00 …", "漢字")

    def test_says_how_near_each_text_is_between_0_and_1_and_0_for_one_that_says_nothing(self, judge: Comparing) -> None:
        near = judge.similarities(self.TEXTS)
        assert len(near) == len(self.TEXTS)
        assert all(0.0 <= similarity <= 1.0 for similarity in near)
        assert near[1] == near[3] == 0.0
        assert judge.similarities([]) == []

    def test_compares_each_text_by_itself(self, judge: Comparing) -> None:
        assert list(judge.similarities(self.TEXTS)) == [judge.similarities([text])[0] for text in self.TEXTS]

    def test_says_beforehand_what_it_looks_for(self, judge: Comparing) -> None:
        assert isinstance(judge, HasTargetPrior)
        assert judge.target_prior.words

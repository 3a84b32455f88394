"""The experiments of the papers, on webs small enough for a test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spoor.cli.main import main
from spoor.errors import BadInput
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.generate.pages import TEXT_LIMIT
from spoor.lab.measures import Collected, Information
from spoor.lab.papers import ahmm, core, correlation, language_specific, mongolian
from spoor.lab.papers.correlation import PUBLISHED
from spoor.lab.papers.experiment import (
    STARTS,
    Claim,
    Estimate,
    OnceJudged,
    Table,
    all_hold,
    by_seed,
    claim_lines,
    draw,
    within,
)
from spoor.lab.papers.language_specific import SEEDS, STRATEGIES
from spoor.lab.papers.mongolian import ACCURACY, CORRECT, MEGABYTES, PUBLISHED_PAGES
from spoor.lab.web import Web
from spoor.records import Page, Verdict


def test_the_interval_of_a_mean_is_students() -> None:
    """Checked against t.interval(0.95, 4, loc=3, scale=sem([1, 2, 3, 4, 5])) of scipy."""
    low, high = Estimate((1.0, 2.0, 3.0, 4.0, 5.0)).interval or (0.0, 0.0)
    assert (round(low, 3), round(high, 3)) == (1.037, 4.963)


def test_a_single_seed_has_no_interval() -> None:
    assert Estimate((0.5,)).interval is None
    assert Estimate((0.5,)).shown(".2f") == "0.50"


@pytest.mark.parametrize(
    ("margins", "answer"),
    [
        ((0.3, 0.31, 0.29), "yes"),
        ((-0.3, -0.31, -0.29), "no"),
        ((0.001, 0.2, -0.19), "undecided"),
        ((0.3,), "undecided"),
        ((0.0, 0.0, 0.0), "no"),
    ],
)
def test_a_claim_is_answered_by_the_interval_over_the_seeds(margins: tuple[float, ...], answer: str) -> None:
    assert Claim("a above b", (by_seed(margins),)).answer == answer


def test_of_at_least_as_much_equal_is_enough() -> None:
    assert Claim("a at least b", (by_seed((0.0, 0.0), or_equal=True),)).answer == "yes"


def test_a_claim_of_several_comparisons_holds_if_all_do_and_fails_if_one_fails() -> None:
    holds, fails, open_ = by_seed((0.3, 0.3)), by_seed((-0.3, -0.3)), by_seed((0.3, -0.3))
    answers = [Claim("", margins).answer for margins in ((holds, holds), (holds, open_), (holds, open_, fails))]
    assert answers == ["yes", "undecided", "no"]


def test_a_claim_shows_its_closest_comparison() -> None:
    claim = Claim("pigs fly", (by_seed((0.2, 0.4)), by_seed((-0.3, -0.1))))
    assert claim.line() == "undecided  -0.200 (-1.471 to +1.071)      0 of 2  pigs fly"


def test_what_was_tested_and_what_was_forced_are_told_apart_and_only_the_first_counts() -> None:
    tested, forced = (
        Claim("pigs fly", (by_seed((-1, -1)),)),
        Claim("pigs are pigs", (by_seed((1, 1)),), "by definition"),
    )
    assert claim_lines([forced, tested])[1:] == [
        "  no         -1.000 (-1.000 to -1.000)      0 of 2  pigs fly",
        "forced, not counted:",
        "  yes        +1.000 (+1.000 to +1.000)      2 of 2  pigs are pigs: by definition",
    ]
    assert not all_hold([tested, forced])
    assert all_hold([replace(tested, forced="they have no wings"), forced])
    assert not all_hold([Claim("perhaps", (by_seed((1, -1)),))])


def test_tables_have_text_for_people_and_numbers_for_programs() -> None:
    table = Table("t", {"name": "", "ours": ".2f", "theirs": ".1f"}, [["a", Estimate((0.5, 0.5)), None]])
    assert table.as_text() == [["a", "0.50 (0.50 to 0.50)", ""]]
    figure = {"mean": 0.5, "low": 0.5, "high": 0.5, "by_seed": [0.5, 0.5]}
    assert table.as_json() == {"title": "t", "columns": ["name", "ours", "theirs"], "rows": [["a", figure, None]]}


def answers_in(said: str) -> tuple[list[str], list[str]]:
    """Of the claims that were tested, and of those that were forced."""
    tested, _, forced = said.partition("\ntested: ")[2].partition("forced, not counted:\n")
    return _answers(tested.partition("\n")[2]), _answers(forced)


def _answers(lines: str) -> list[str]:
    return [line.split()[0] for line in lines.strip().splitlines()]


def test_the_acceptance_seeds_are_those_agreed_on() -> None:
    assert tuple(range(401, 411)) == SEEDS == mongolian.SEEDS == correlation.SEEDS == ahmm.SEEDS == core.SEEDS


def test_the_whole_experiment_prints_every_strategy_and_every_claim(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "language-specific", "--seeds", "5-5", "--pages", "1000", "--workers", "1"]
    words += ["--keep", str(tmp_path)]
    code = main([*words, "--plot", str(tmp_path / "figures.svg")])
    said = capsys.readouterr().out
    assert all(f"Thai-like {strategy} " in said for strategy in STRATEGIES)
    answers, forced = answers_in(said)
    assert (len(answers), len(forced)) == (10, 4)
    assert set(answers) == {"undecided"} and code == 1, "of a single seed"
    assert main([*words, "--json"]) == code
    told = json.loads(capsys.readouterr().out)
    assert [claim["answer"] for claim in told["claims"] if not claim["forced"]] == answers
    alike = [claim for claim in told["claims"] if "at equal visits the same for all N" in claim["claim"]]
    assert [margin["by_seed"] for claim in alike for margin in claim["margins"]] == [[0.01]] * 6, "no gap at all"
    figures = [figure for row in told["tables"][0]["rows"] for figure in row[1:]]
    assert all(isinstance(figure["mean"], float) for figure in figures)
    assert len(told["tables"]) == 1 and len(told["charts"]) == 10
    drawn = (tmp_path / "figures.svg").read_text()
    assert all(f"<!-- {chart['title']} -->" in drawn for chart in told["charts"])
    assert "soft-focused, published" in drawn


def test_seeds_that_are_no_numbers_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "language-specific", "--seeds", "one"]) == 2
    assert capsys.readouterr().err == "spoor: --seeds one: give two numbers, as in 401-410\n"


def test_the_accuracy_rates_of_the_paper_follow_from_its_counts_but_for_one() -> None:
    cells = [
        (hour, correct / pages, rate)
        for hour, row in enumerate(zip(CORRECT, PUBLISHED_PAGES, ACCURACY, strict=True), 1)
        for correct, pages, rate in zip(*row, strict=True)
    ]
    wrong = [(hour, round(share, 3), rate) for hour, share, rate in cells if abs(share - rate) > 0.0051]
    assert wrong == [(3, 0.782, 0.79)]


def test_the_last_accuracy_rates_of_the_paper() -> None:
    assert [round(n / of, 4) for n, of in zip(CORRECT[-1], PUBLISHED_PAGES[-1], strict=True)] == [
        0.3171,
        0.5056,
        0.8321,
    ]


def test_the_information_sums_of_the_paper_are_ten_kilobytes_a_page() -> None:
    sizes = [mb / n * 1000 for row in zip(MEGABYTES, PUBLISHED_PAGES, strict=True) for mb, n in zip(*row, strict=True)]
    assert min(sizes) > 9.95 and max(sizes) < 10.03


SPEEDS = {"B_C": 9.0, "G_C": 31.0, "N_C": 47.0}


def experiment(
    final: dict[str, int], before: dict[str, int], speeds: dict[str, float] = SPEEDS
) -> mongolian.Experiment:
    """Two seeds alike; of a hundred pages each, so many were right at the end, and at every tick before it."""

    def collected(correct: int) -> Information:
        everything = Collected(100, correct, correct / 10, 10 - correct / 10)
        return Information(everything, everything)

    histories = {
        name: (*[collected(before[name])] * (mongolian.TICKS - 1), collected(final[name]))
        for name in mongolian.CRAWLERS
    }
    return mongolian.Experiment((1, 2), (mongolian.Outcome(histories, speeds),) * 2, None)


def test_the_claims_of_the_mongolian_paper_look_at_every_tick_and_at_the_end() -> None:
    rising = {"B_C": 30, "G_C": 50, "N_C": 80}
    narrow = {"B_C": 30, "G_C": 50, "N_C": 54}
    level = {"B_C": 30, "G_C": 30, "N_C": 80}

    def held(final: dict[str, int], before: dict[str, int], speeds: dict[str, float] = SPEEDS) -> list[bool]:
        return [claim.answer == "yes" for claim in mongolian.claims(experiment(final, before, speeds))]

    assert held(rising, rising) == [True, True, True, True, True]
    assert held(narrow, rising) == [True, False, True, True, True]
    assert held(rising, level) == [False, True, True, True, True]
    assert held(level, rising) == [False, True, True, True, False]
    assert held(rising | {"N_C": 30}, rising) == [False, False, True, False, False]
    assert held(rising, rising, SPEEDS | {"G_C": 50.0}) == [True, True, False, True, True]


def test_the_mongolian_experiment_prints_every_table_and_every_claim(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "mongolian", "--seeds", "5-6", "--pages", "1000", "--workers", "1"]
    code = main([*words, "--keep", str(tmp_path)])
    said = capsys.readouterr().out
    assert "Mongolian pages are made of" in said
    assert said.count("table 3, ") == 3 and "table 4, accuracy rate" in said and "table 5, summary" in said
    assert "N_C, a profile for each encoding" in said, "beside the single model of the paper"
    answers, forced = answers_in(said)
    assert (len(answers), len(forced)) == (3, 2)
    assert code == (0 if all(answer == "yes" for answer in answers) else 1)


def test_the_crawler_of_the_mongolian_paper_has_a_single_model() -> None:
    assert all("profiles=merged" in part for part in mongolian.CRAWLERS["N_C"])


# Correlation analysis


def test_v_5_the_rates_of_the_paper_follow_from_its_counts_if_recall_counts_what_is_truly_relevant() -> None:
    assert round(PUBLISHED.recall, 6) == 0.919492 and round(PUBLISHED.accuracy, 6) == 0.756757
    assert round(PUBLISHED.f1, 3) == 0.830
    assert PUBLISHED.taken / PUBLISHED.relevant > 1.2, "as printed, formula 5 gives more than there is"


def test_a_crawler_that_takes_nothing_has_no_accuracy() -> None:
    assert correlation.Collected(0, 0, 10).accuracy == 0.0


def correlated(
    right: int = 90, plain: int = 90, two_levels: float = 0.8, best: int = 90, generated: bool = False
) -> correlation.Experiment:
    """Two draws alike: a hundred pages taken, a hundred relevant."""
    areas = {"two levels": two_levels, "graded": 0.8, "first in, first out": 0.7}
    before, after, best_f1 = (correlation.Collected(100, number, 100) for number in (plain, right, best))
    outcome = correlation.Outcome(500, before, after, best_f1, areas)
    return correlation.Experiment((1, 2), (outcome, outcome), generated)


@pytest.mark.parametrize(
    ("experiment", "held"),
    [
        (correlated(), [True, True, True, True, True, True]),
        (correlated(right=80), [False, True, True, True, False, True]),
        (correlated(right=60, plain=60), [False, False, False, True, True, True]),
        (correlated(two_levels=0.7), [True, True, True, True, True, False]),
        (correlated(best=70), [True, True, True, False, True, True]),
    ],
)
def test_the_claims_of_the_correlation_paper(experiment: correlation.Experiment, held: list[bool]) -> None:
    assert [claim.answer == "yes" for claim in correlation.claims(experiment)] == held


def test_the_recall_to_which_the_threshold_is_set_does_not_count() -> None:
    forced = [claim.text for claim in correlation.claims(correlated()) if claim.forced]
    assert forced == ["recall at least .85"]


def test_on_generated_texts_only_the_order_of_the_queue_counts() -> None:
    tested = [claim.text for claim in correlation.claims(correlated(generated=True)) if not claim.forced]
    assert tested == ["area under the harvest curve: two levels above first in, first out"]


@pytest.fixture(scope="module")
def topical(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("webs") / "topical"
    generate(Request("topical", 2000, 5, text=True), folder, lambda pages: None)
    return folder


def test_what_is_learned_from_is_neither_calibrated_by_nor_begun_at(topical: Path) -> None:
    web = Web.open(topical)
    relevant = web.labelled("relevant")
    drawn = draw(relevant, web.answers(), seed=3)
    assert not (drawn.to_learn & drawn.to_calibrate).any()
    assert drawn.to_learn.sum() == drawn.to_calibrate.sum() == 200
    assert len(set(drawn.seeds)) == STARTS
    assert all(relevant[seed] and not drawn.sample[seed] for seed in drawn.seeds)


def test_a_field_with_too_few_pages_is_refused(topical: Path) -> None:
    web = Web.open(topical)
    few = np.arange(web.pages) < 20
    with pytest.raises(BadInput, match="20 relevant pages are too few to train on some and start from 20"):
        draw(few, web.answers(), seed=3)


def test_the_scope_is_what_is_so_many_links_from_a_seed(topical: Path) -> None:
    web = Web.open(topical)
    (none, one) = (within(web, [7], depth) for depth in (0, 1))
    assert np.flatnonzero(none).tolist() == [7]
    assert set(np.flatnonzero(one).tolist()) == {7, *web.targets(7)}


def test_a_page_is_judged_once_however_often_it_is_met() -> None:
    class Counting:
        reads_content = False
        seen = 0

        def judge(self, pages: Sequence[Page]) -> list[Verdict]:
            self.seen += len(pages)
            return [Verdict(1.0, True, page.url) for page in pages]

    counting = Counting()
    judge, a, b = OnceJudged(counting), Page("http://a.test/"), Page("http://b.test/")
    assert [v.because for v in [*judge.judge([a]), *judge.judge([b, a])]] == [a.url, b.url, a.url]
    assert counting.seen == 2


def test_the_correlation_experiment_prints_the_paper_beside_ours_and_every_claim(
    topical: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(
        ["reproduce", "correlation", "--seeds", "5-5", "--web", str(topical), "--field", "relevant", "--workers", "1"]
    )
    said = capsys.readouterr().out
    assert "the field: pages labelled relevant of the web topical" in said
    assert "paper" in said and "0.919" in said and "ours, words as they are" in said and "two levels" in said
    answers, forced = answers_in(said)
    assert (len(answers), len(forced)) == (5, 1)
    assert set(answers) == {"undecided"} and code == 1, "of a single draw"


def test_without_the_data_folder_correlation_says_what_its_figures_are_worth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPOOR_DATA", str(tmp_path / "nowhere"))
    words = ["reproduce", "correlation", "--seeds", "5-6", "--pages", "1000", "--workers", "1"]
    main([*words, "--keep", str(tmp_path / "webs")])
    said = capsys.readouterr().out
    first = f"there is no {tmp_path / 'nowhere' / 'webs' / 'wikispeedia'}: webs are generated, of so few words that"
    assert said.startswith(first)
    answers, forced = answers_in(said)
    assert (len(answers), len(forced)) == (1, 5)


def test_large_webs_of_two_languages_are_made_without_texts() -> None:
    """Whatever `spoor reproduce language-specific --pages` accepts can be generated."""
    requests = [language_specific.request_for("thai", seed=1, pages=pages) for pages in (TEXT_LIMIT, TEXT_LIMIT + 1)]
    assert [request.text for request in requests] == [True, False]


def test_more_pages_than_can_have_texts_are_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "mongolian", "--pages", "200001"]) == 2
    assert capsys.readouterr().err == "spoor: --pages 200001: at most 200000\n"


WORKER = """
import os, time
from spoor.pools import processes
print(processes(1).submit(os.getpid).result(), flush=True)
time.sleep(60)
"""


def gone(process: int) -> bool:
    """Or waits only to be collected by its new parent."""
    try:
        return "State:\tZ" in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return True


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("waited for half a minute")


def test_workers_end_with_the_process_they_work_for_even_if_it_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", WORKER], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        worker = int(parent.stdout.readline())
        parent.kill()
    wait_for(lambda: gone(worker))


def test_a_reproduction_ends_at_sigterm_with_its_workers_and_its_temporary_files(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "spoor", "reproduce", "core", "--seeds", "1-9", "--workers", "2"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as running:
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
        wait_for(lambda: len(children.read_text().split()) == 3 and any(tmp_path.glob("*/courses-*")))
        workers = list(map(int, children.read_text().split()))
        running.terminate()
        _, said = running.communicate()
    assert said.endswith("spoor: interrupted\n")
    assert "Traceback" not in said
    assert running.returncode == 130
    wait_for(lambda: all(map(gone, workers)))
    assert list(tmp_path.iterdir()) == []

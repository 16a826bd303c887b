"""The benchmarks: each runs at tiny sizes, both sides agree, and the reports say what was measured."""

import csv
import math
from pathlib import Path

import pytest

from benchmarks import ALL, against, agreement, report, runner
from benchmarks.against import QUICK
from benchmarks.published_terms import delta_of_blanket, delta_on_a_grid
from shufflelib import Certified, Status, randomizers, shuffle
from shufflelib.sgd import accounting

ROOT = Path(__file__).resolve().parents[2]
NAMES = [one.name for one in ALL]


@pytest.mark.parametrize("benchmark", ALL, ids=NAMES)
def test_both_sides_agree_at_tiny_sizes(benchmark, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    lines = []
    rows = runner.measure(benchmark, quick=True, say=lines.append)
    assert len(lines) == len(benchmark.quick) and not list(tmp_path.iterdir())
    assert {row["size"] for row in rows} == set(benchmark.quick)
    for row in rows:
        assert row["agrees"] is (None if row["implementation"] == runner.OURS else True), row
        assert 0.0 < row["cost"] < math.inf and row["turns"] == 1
        assert row.get("lower", 0.0) <= row.get("upper", 1.0)
    assert {row["implementation"] for row in rows} > {runner.OURS}  # nothing is measured alone


def test_a_disagreement_is_reported():
    def case(size):
        brackets = Certified(1.0, 2.0, Status.CERTIFIED, "a test"), (2.5, 3.0)
        return runner.Case(lambda: brackets[0], (runner.Peer("term by term", lambda answer: brackets[1]),))

    wrong = runner.Benchmark("wrong", "Wrong", "users", (1, 2, 3), (1, 2, 3), case)
    lines = []
    rows = runner.measure(wrong, quick=True, say=lines.append)
    assert [row["agrees"] for row in rows] == [None, False] * 3 and "DISAGREES" in lines[0]
    assert report.table(rows).rstrip().endswith("no |")


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
def test_growth_is_the_slope_over_the_larger_half(exponent):
    rows = [{"size": 10.0**k, "cost": 7.0 + 1e-3 * 10.0 ** (k * exponent)} for k in range(13)]
    expected = 0.0 if exponent == 0.0 else exponent
    assert runner.growth(rows) == pytest.approx(expected, abs=0.2)
    rows = [{"size": 10.0**k, "cost": 10.0 ** (k * exponent)} for k in range(4)]
    assert runner.growth(rows) == pytest.approx(exponent, abs=1e-9)
    assert math.isnan(runner.growth(rows[:2]))


def test_the_peers_of_the_blanket_are_the_blanket():
    rr = shuffle(randomizers.generalized_rr(eps0=1.0, d=4), n=6)
    delta = rr.dominating_pairs[0].delta(0.3)
    assert delta.lower * (1 - 1e-9) <= delta_of_blanket(0.3, 1.0, 4, 6) <= delta.upper * (1 + 1e-9)
    assert delta.lower <= delta_on_a_grid(0.3, 1.0, 4, 6) <= 1.05 * delta.upper


def test_what_is_committed_is_of_these_benchmarks():
    with (ROOT / "benchmarks/results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(dict.fromkeys(row["benchmark"] for row in rows)) == NAMES
    assert {row["agrees"] for row in rows} == {"", "True"}
    for one in ALL:
        sizes = {float(row["size"]) for row in rows if row["benchmark"] == one.name}
        assert sizes == set(map(float, one.sizes))
    page = (ROOT / "benchmarks/results.md").read_text()
    assert all(name in page for name in NAMES) and (ROOT / "benchmarks/results.png").exists()


def test_a_commit_beside_itself_answers_alike():
    (row,) = against.measure("HEAD", quick=True)
    for end in ("lower", "upper"):
        assert row[f"{end} before"] == pytest.approx(row[end], rel=1e-3)
    assert "| epsilon | few atoms | 1 |" in against.table([row]) and QUICK[0] in against.moved([row])
    assert {sort for _, sort, _ in against.questions()} >= {"few atoms", "continuous noise", "other"}


with (ROOT / "benchmarks/agreement.csv").open(newline="") as file:
    ANSWERS = list(csv.DictReader(file))
ASTRAY = {
    ("autodp", "gaussian_epsilon", "Fourier accountant"),
    ("autodp", "gaussian_delta", "ExactGaussianMechanism"),
}


@pytest.mark.parametrize("question", agreement.QUESTIONS)
def test_ours_lies_where_it_must_beside_the_others(question):
    rows = [row for row in ANSWERS if row["question"] == question]
    assert len({row["tool"] for row in rows}) >= 3 and {row["relation"] for row in rows} == {
        agreement.QUESTIONS[question][1]
    }
    answer = agreement.QUESTIONS[question][2]()
    for row in filter(lambda row: row["number"], rows):
        right = agreement.lies(row["side"], float(row["number"]), answer.lower, answer.upper)
        assert right == (row["lies"] == "True"), row
        assert right == ((row["tool"], question, row["method"]) not in ASTRAY), row
    printed = 1.0 + 1e-9  # ten digits
    assert float(rows[0]["lower"]) <= answer.upper * printed
    assert answer.lower <= float(rows[0]["upper"]) * printed


def test_the_pair_of_random_allocation_costs_less_than_replacing_an_example():
    replaced = accounting.RandomAllocation(1.0, agreement.BLOCKS).epsilon(agreement.DELTA)
    assert agreement.allocation().epsilon(agreement.DELTA).upper < replaced.lower


def test_the_page_of_agreement_has_every_answer():
    page = (ROOT / "benchmarks/agreement.md").read_text()
    assert set(agreement.TOOLS) <= {row["tool"] for row in ANSWERS}
    assert all(
        f"| {row['tool']} | {row['version']} | {row['method']} |" in page
        for row in ANSWERS
        if row["question"]
    )
    assert page.count("**no**") == len(ASTRAY)

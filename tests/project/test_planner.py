"""The page without a server: its table is proved, its rule ends on the safe side, and a browser shows it."""

import bisect
import csv
import json
import math
import os
import re
import shutil
import subprocess
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

import planner_table
from shufflelib import randomizers, shuffle
from shufflelib.numerics.side_by_side import answers
from shufflelib.profiles import Gaussian
from shufflelib.profiles.cautions import belief, breach
from shufflelib.profiles.questions import in_both_directions
from shufflelib.profiles.worst_epsilon import asking_epsilon
from statement_words import MECHANISMS as MECHANISMS_IN_WORDS
from statement_words import promised

FOLDER = Path(__file__).resolve().parents[2] / "book/planner"
TABLE = json.loads((FOLDER / "table.js").read_text().removeprefix("const TABLE = ").removesuffix(";\n"))
MECHANISMS = pytest.mark.parametrize("name", planner_table.MECHANISMS)


@cache
def entries(name):
    found = TABLE["mechanisms"][name]
    shape = len(found["budgets"]), len(TABLE["users"]), len(TABLE["deltas"])
    return planner_table.unpacked(found["entries"], shape)


def looked_up(name, eps0, n, delta):
    """Return the page's answer: the entry of the next larger budget and the next smaller number of users."""
    budget = bisect.bisect_left(TABLE["mechanisms"][name]["budgets"], eps0)
    users = bisect.bisect_right(TABLE["users"], n) - 1
    entry = int(entries(name)[budget, users, TABLE["deltas"].index(delta)])
    return min(eps0, planner_table.decoded(entry))


def drawn(rng):
    """Return a local budget, a number of users and a δ of the table."""
    eps0 = float(np.exp(rng.uniform(math.log(0.1), math.log(8.0))))
    return eps0, round(10.0 ** rng.uniform(2.0, 8.0)), float(rng.choice(TABLE["deltas"]))


def upper_end(mechanism, n, delta):
    """Return the upper end of ε, without a look at attacks."""
    pairs = shuffle(mechanism, n).dominating_pairs
    (found,) = answers([asking_epsilon(pairs, pairs, math.log(delta))])
    return min(found[1], mechanism.eps0)


def largest(eps):
    """Return the answer that the page allows itself where the package says ε."""
    return np.maximum(1.1 * eps, eps + 1e-3)


def test_the_table_has_what_the_page_asks_for():
    assert list(TABLE["mechanisms"]) == list(planner_table.MECHANISMS)
    for name in ("deltas", "users", "smallest", "step"):
        assert TABLE[name] == getattr(planner_table, name.upper())
    for name, one in TABLE["mechanisms"].items():
        assert (one["budgets"][0], one["budgets"][-1]) == (0.1, 8.0)
        assert one["budgets"] == sorted(one["budgets"])
        whole = entries(name).astype(int)
        budgets, users, deltas = (np.diff(whole, axis=axis) for axis in range(3))
        assert budgets.min() >= 0 and users.max() <= 0 and deltas.min() >= 0


@MECHANISMS
def test_epsilon_changes_little_across_a_cell(name):
    eps = np.where(entries(name), planner_table.SMALLEST * np.exp(planner_table.STEP * entries(name)), 0.0)
    high, low = eps[1:, :-1], eps[:-1, 1:]
    asked = (high <= 2.0) & (np.outer(TABLE["users"][:-1], TABLE["deltas"]) <= 1.0)
    assert np.all(high <= largest(low), where=asked)


def response_table(d):
    """Return the page's table for randomized response with d options."""
    tables = {f"generalized_rr_{one}": one for one in range(3, d + 1)}
    return max((name for name in TABLE["mechanisms"] if name in tables), key=tables.get, default="generic")


@pytest.mark.parametrize("d", [3, 5, 9, 12, 31, 99, 100])
def test_the_table_of_fewer_options_bounds_randomized_response_with_more(d):
    rng = np.random.default_rng(d)
    for _ in range(5):
        eps0, n, delta = drawn(rng)
        upper = upper_end(randomizers.generalized_rr(eps0=eps0, d=d), n, delta)
        answer = looked_up(response_table(d), eps0, n, delta)
        assert upper * (1.0 - 1e-12) <= answer
        if answer <= 2.0 and delta <= 1.0 / n:
            assert answer <= max(2.0 * upper, upper + 1e-3)


MANY = int(os.environ.get("SHUFFLELIB_FUZZ", 5_000))


@MECHANISMS
def test_an_answer_is_proved_and_little_larger_than_needed(name):
    """At the answer δ is proved; the package proves no ε that is smaller by more than a tenth."""
    rng = np.random.default_rng(2)
    build, others = planner_table.MECHANISMS[name]
    for _ in range(MANY):
        eps0, n, delta = drawn(rng)
        answer = looked_up(name, eps0, n, delta)
        pairs = shuffle(build(eps0=eps0, **others), n).dominating_pairs
        less = min(answer / 1.1, answer - 1e-3)
        asked = np.array([answer, less] if answer <= 2.0 and delta <= 1.0 / n and less > 0.0 else [answer])
        curves = (pair.log_hockey_stick(asked, planner_table.ACCURACY) for pair in in_both_directions(pairs))
        needed, *more = np.maximum.reduce([curve.upper for curve in curves]).tolist()
        assert answer == eps0 or needed <= math.log(delta), (name, eps0, n, delta)
        assert all(one > math.log(delta) for one in more), (name, eps0, n, delta, answer)


@pytest.mark.parametrize("name", ["generic", "binary_rr"])
def test_an_entry_is_computed_as_the_committed_one(name):
    """It may be smaller: what is proved for fewer users or a larger budget holds too.

    A search ends within 0.4 % of the root of δ, so that two may differ by that much.
    """
    spare = math.ceil(math.log(1.004) / planner_table.STEP)
    build, others = planner_table.MECHANISMS[name]
    for eps0, n in ((TABLE["mechanisms"][name]["budgets"][40], planner_table.COARSE[15]), (8.0, 100)):
        found = planner_table.entries(build(eps0=eps0, **others), n)
        place = TABLE["mechanisms"][name]["budgets"].index(eps0), TABLE["users"].index(n)
        above = np.subtract(found, entries(name)[place].astype(int))
        assert np.all(above >= -spare) and np.all(above < 40)


def test_the_curve_is_drawn_in_steps_that_the_rule_proves():
    """Between two numbers of users the answer is the entry on the left, up to the next number."""
    (line,) = re.findall(r'label: "shuffled, ε at most".*', (FOLDER / "understand.js").read_text())
    assert "uPlot.paths.stepped({ align: 1 })" in line  # which holds a value to the right
    for left, right in zip(TABLE["users"], TABLE["users"][1:], strict=False):
        assert looked_up("binary_rr", 2.0, right - 1, 1e-6) == looked_up("binary_rr", 2.0, left, 1e-6)


# without a browser

NODE = shutil.which("node")
ONE_BIT = r"one random bit \(Duchi et al.\)"
PLANS = [
    {"task": "histogram", "d": 2, "n": 3000, "eps": 0.7, "delta": 1e-5},
    {"task": "histogram", "d": 16, "n": 20_000, "eps": 0.3, "delta": 1e-6},
    {"task": "histogram", "d": 100, "n": 10**6, "eps": 1.0, "delta": 1e-8},
    {"task": "mean", "d": 2, "n": 638_080, "eps": 0.0258, "delta": 1e-5},
]


@pytest.fixture(scope="module")
def script():
    """Return a function that evaluates an expression with the page's table and formulas."""
    if NODE is None:
        pytest.skip("no node here: apt-get install nodejs")
    files = [(FOLDER / name).read_text() for name in ("table.js", "lookup.js", "plan.js")]

    def evaluated(expression):
        then = f"unpackAll().then(() => console.log(JSON.stringify({expression})));"
        code = "\n".join([*files, then])
        done = subprocess.run([NODE, "-"], input=code, capture_output=True, text=True, check=True, timeout=60)
        return json.loads(done.stdout)

    return evaluated


def test_every_statement_of_the_page_holds_for_what_its_words_describe(script):
    found = script(f"{json.dumps(PLANS)}.map((one) => plans(one).map((row) => [statement(row, one), row]))")
    tight = {ONE_BIT: one_bit, "randomized response": response}
    for asked, rows in zip(PLANS, found, strict=True):
        assert len(rows) == (3 if asked["task"] == "mean" else 2)
        for statement, row in rows:
            profile, eps, delta = promised(statement, MECHANISMS_IN_WORDS | tight)
            assert (eps, delta) == (asked["eps"], asked["delta"])
            assert profile.epsilon(delta).upper <= eps, statement
            assert f"at eps0 = {row['eps0']}," in statement and "once, with" in statement


def test_a_statement_of_the_page_states_the_belief_as_the_package_does(script):
    asked = [
        PLANS[1] | {"eps": eps, "delta": delta} for eps in (0.05, 0.3, 1.0, 2.5) for delta in (1e-4, 1e-8)
    ]
    nothing = "[belief({ eps: 7.5, delta: 1e-6 }), belief({ eps: 1, delta: 0.1 })]"
    each = f"{json.dumps(asked)}.map((one) => statement(plans(one)[0], one))"
    found, no_protection = script(f"[{each}, {nothing}]")
    for one, statement in zip(asked, found, strict=True):
        expected = belief(one["eps"], one["delta"], "this value")
        said = statement[statement.index("To somebody") : statement.index("If the shuffler fails")]
        number = re.compile(r"[0-9][0-9.e-]*[0-9]")
        assert number.sub("", said) == number.sub("", expected)
        assert [*map(float, number.findall(said))] == [*map(float, number.findall(expected))], said
    assert no_protection == ["", ""]


def one_bit(eps0):
    """Return binary randomized response, which one bit of a randomly rounded number is."""
    return randomizers.binary_rr(eps0=eps0)


def response(eps0, d):
    """Return randomized response, with the exact profile that two options have."""
    return one_bit(eps0) if d == 2 else randomizers.generalized_rr(eps0=eps0, d=d)


def test_each_share_is_drawn_with_its_own_error(script):
    asked = json.dumps(PLANS[1])
    (shares, errors, drawn), best = script(f"[surveys(plans({asked})[0], {asked}), plans({asked})[0]]")
    one = randomizers.generalized_rr(eps0=best["eps0"], d=16)
    assert len(shares) == 10 and sum(shares) < 1.0 - 0.75**10 + 0.02
    assert errors == pytest.approx([math.sqrt(one.variance(share, n=20_000)) for share in shares])
    seen = np.subtract(drawn, np.array(shares)[:, None]).std(axis=1) / errors
    assert (
        np.shape(drawn) == (10, 20)
        and np.all((0.6 < seen) & (seen < 1.5))
        and max(errors) > 1.7 * min(errors)
    )


def test_a_target_that_nobody_means_is_warned_of_in_the_answer_and_in_the_statement(script):
    words = {
        "Warning: δ = 10⁻³ is not below 1 / users": {"delta": 1e-3},
        "δ = 10⁻³ is larger than ε = 0.0005: are the two exchanged?": {"eps": 5e-4, "delta": 1e-3},
        "ε = 7.5 lets a result be 1,810 times as likely": {"eps": 7.5},
        "too large to be useful": {"n": 150, "eps": 0.15},
        "": {},
    }
    asked = json.dumps([PLANS[1] | changed for changed in words.values()])
    each = "[warning(one, plans(one)[0].usual), plans(one).map((row) => statement(row, one))]"
    answers = script(f"{asked}.map((one) => {each})")
    for expected, (said, statements) in zip(words, answers, strict=True):
        assert expected in said and statements and (said == "") == (expected == "")
        assert all(one.startswith("Warning: ") == (said != "") and expected in one for one in statements)
    lost = f"{breach(math.log(1000.0))}."
    assert lost.startswith("one report can reveal its sender's value: no meaningful")
    assert answers[2][1][0].endswith(lost) and not answers[-1][1][0].endswith(lost)


# in a browser

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def page():
    """Open the page from its file; fail at the end if it logged an error or asked for anything else."""
    driver = pytest.importorskip("playwright.sync_api", reason="no playwright: make browser installs it")
    if BROWSER is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    with driver.sync_playwright() as run:
        browser = run.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        tab, wrong = browser.new_page(), []
        tab.on("console", lambda message: wrong.append(message.text))
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("request", lambda request: request.url.startswith("file:") or wrong.append(request.url))
        tab.goto(f"{(FOLDER / 'index.html').as_uri()}#mechanism=generic")
        tab.click("[data-door=understand]")  # before the table is unpacked
        tab.wait_for_selector("#understand-answer:not(:empty)")
        yield tab
        browser.close()
    assert not wrong


def test_the_page_shows_the_answers_of_the_rule(page):
    rng = np.random.default_rng(3)
    for _ in range(20):
        name, delta = str(rng.choice(list(TABLE["mechanisms"]))), float(rng.choice(TABLE["deltas"]))
        eps0, n = float(f"{rng.uniform(0.1, 8.0):.3f}"), round(10.0 ** rng.uniform(2.0, 8.0))
        page.select_option("[name=mechanism]", name)
        page.select_option("[name=delta2]", index=TABLE["deltas"].index(delta))
        page.fill("[name=eps0]", str(eps0))
        page.fill("[name=users]", f"{n:,}")
        asked = [name, eps0, n, delta]
        shown = page.evaluate("asked => centralEpsilon(...asked)", asked)
        assert shown == pytest.approx(looked_up(*asked), rel=1e-13)
        words = page.inner_text("#understand-answer")
        value = float(words.removeprefix("ε ≤ ").replace(",", ""))
        assert shown * (1.0 - 1e-9) <= value <= 1.1001 * shown + 1e-15
        assert f"mechanism={name}&" in page.url
    page.fill("[name=eps0]", "much")
    assert "between 0.1 and 8" in page.inner_text("#understand-answer")


@pytest.mark.parametrize("d", [3, 12, 32])
def test_a_plan_meets_its_target(page, d):
    page.click("[data-door=plan]")
    page.fill("[name=n]", "1e5")
    page.fill("[name=eps]", "0.25")
    page.fill("[name=d]", str(d))
    rows = page.evaluate("plans(planAsked())")
    builds = {response_table(d): randomizers.generalized_rr, "optimized_unary": randomizers.optimized_unary}
    assert {row["mechanism"] for row in rows} == set(builds)
    for row in rows:
        build = builds[row["mechanism"]]
        one = build(eps0=row["eps0"], d=d)
        assert shuffle(one, 10**5).epsilon(1e-6).upper <= 0.25
        worst = math.sqrt(max(one.variance([0.0, 1.0], n=10**5)))
        assert row["usual"] == pytest.approx(math.sqrt(one.variance(1 / d, n=10**5)), rel=1e-9)
        assert row["worst"] == pytest.approx(worst, rel=1e-9)
        assert row["alone"] == pytest.approx(
            math.sqrt(build(eps0=0.25, d=d).variance(1 / d, n=10**5)), rel=1e-9
        )
        page.click(f"#plan-table button:text('{row['text']}')")
        assert row["text"].lower() in page.inner_text(".copy").lower()
        assert page.locator("#dots circle").count() == 20 * min(d, 10)
        shell = f"shufflelib recommend --n 100000 --eps 0.25 --delta 0.000001 --d {d}"
        assert shell in page.text_content("pre")
        probability = 1.0 - one.pmf()[0, 0] if build is randomizers.generalized_rr else one.noise[0]
        (said,) = re.findall(r"with probability (0\.\d+)", page.inner_text("#plan-row"))
        assert probability <= float(said) <= 1.01 * probability
    page.fill("[name=rounds]", "30")
    assert "for one round" in page.inner_text("#plan-answer")
    assert page.inner_text("#plan-row") == f"{shell} --rounds 30"
    page.fill("[name=rounds]", "1")
    page.fill("[name=d]", "101")
    assert "between 2 and 100" in page.inner_text("#plan-answer")
    page.select_option("[name=task]", "mean")
    assert "average" in page.inner_text("#plan-answer") and not page.is_visible("[name=d]")
    page.select_option("[name=task]", "histogram")


def test_the_page_s_formulas_are_those_of_the_library(page):
    assert page.evaluate("[-9, -3.1, -2.9, -1, 0, 2].map(normal)") == pytest.approx(
        norm.cdf([-9, -3.1, -2.9, -1, 0, 2]), rel=1e-10
    )
    noise = page.evaluate("centralNoise(0.5, 1e-6)")
    assert Gaussian(1.0 / noise).delta(0.5).upper == pytest.approx(1e-6, rel=1e-6)
    rng = np.random.default_rng(4)
    values = rng.uniform(0.0, 1.0, 10**5)
    one_bit, laplace = randomizers.duchi(eps0=1.0), randomizers.laplace(eps0=1.0)
    piecewise = randomizers.piecewise(eps0=1.0)
    errors = {
        "piecewise": (piecewise.sample(2.0 * values - 1.0, rng) + 1.0) / 2.0 - values,
        "duchi": (one_bit.sample(2.0 * values - 1.0, rng) / one_bit.beta + 1.0) / 2.0 - values,
        "laplace": laplace.sample(values, rng) - values,
    }
    for kind, error in errors.items():
        assert page.evaluate(f"variances('{kind}', 1, 2)[0]") == pytest.approx(np.mean(error**2), rel=0.03)
    assert page.evaluate("variances('piecewise', 1, 2)") == pytest.approx(piecewise.variances())
    assert page.evaluate("variances('duchi', 1, 2)[1]") == pytest.approx(0.25 / math.tanh(0.5) ** 2)
    assert page.evaluate("[0.0244, 1.96, 12345.6].map((one) => written(one))") == ["0.025", "2", "13,000"]
    assert page.evaluate("['1e5', '.5', '2.'].map((one) => typed(one))") == [1e5, 0.5, 2.0]
    assert page.evaluate("['1e5', '100,000', '50k'].map((one) => typed(one, 'count'))") == [1e5, 1e5, 5e4]
    assert page.evaluate("['', 'x', '0,5', '0x10', '-1', '1,00'].every((one) => isNaN(typed(one)))")


@pytest.mark.parametrize("name", ["n", "d", "rounds"])
def test_what_counts_something_is_whole(page, name):
    usual = {"n": "10,000", "d": "10", "rounds": "1"}
    page.click("[data-door=plan]")
    for field, text in usual.items():
        page.fill(f"[name={field}]", text)
    for text in ("30.7", "0,5", "30.000"):
        page.fill(f"[name={name}]", text)
        assert "must be a whole number between" in page.inner_text("#plan-answer")
    page.fill(f"[name={name}]", usual[name])
    assert "must be" not in page.inner_text("#plan-answer")


def test_back_and_a_pasted_link_move_what_is_shown(page):
    page.click("[data-door=understand]")
    page.fill("[name=eps0]", "1")
    for n in ("5,000", "7,000"):
        page.fill("[name=users]", n)
        page.press("[name=users]", "Tab")
    slider = page.input_value("[name=users-slider]")
    page.go_back()
    page.get_by_text("with the reports of 5,000 users").wait_for()
    assert page.input_value("[name=users]") == "5,000"
    page.go_forward()
    page.get_by_text("with the reports of 7,000 users").wait_for()
    page.evaluate("location.hash = 'door=understand&users=90,000&eps0=2'")
    page.get_by_text("ε₀ = 2; shuffled with the reports of 90,000 users").wait_for()
    assert page.input_value("[name=users]") == "90,000"
    assert int(page.input_value("[name=users-slider]")) > int(slider)


@pytest.mark.parametrize("door, name", [("plan", "plan-table"), ("understand", "chart-table")])
def test_a_table_of_the_page_can_be_saved(page, door, name):
    page.click(f"[data-door={door}]")
    page.fill("[name=eps0]", "1") if door == "understand" else page.fill("[name=n]", "10,000")
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    with page.expect_download() as saved:
        page.click(f"#{name}-csv")
    rows = list(csv.reader(saved.value.path().read_text(encoding="utf-8").splitlines()))
    shown = page.locator(f"#{name} tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(c => c.textContent))"
    )
    assert rows == [[cell.strip() for cell in row] for row in shown] and len(rows) > 2


def test_the_piecewise_mechanism_is_randomized_response_with_more_options_for_a_larger_budget():
    for options in (3, 5, 12):
        eps0 = 2.0 * math.log(options - 1)
        response, piecewise = (
            shuffle(one, 300).epsilon(1e-5).upper
            for one in (randomizers.generalized_rr(eps0=eps0, d=options), randomizers.piecewise(eps0=eps0))
        )
        assert piecewise == pytest.approx(response, rel=1e-6)


def test_the_positive_parts_behind_the_piecewise_mechanism_grow_with_its_budget():
    """E(X - t)₊ and E(t - X)₊ of its loss X in exact fractions, which carries an entry to smaller budgets."""
    odds, roots = Fraction(5, 4), [Fraction(one, 4) for one in range(5, 40)]

    def parts(u, t):
        p = 1 / (u * u + u)
        atoms = {u * u - odds: p, 1 - u * u * odds: p, 0: (u * u - 1) * p}
        atoms[1 - odds] = atoms.get(1 - odds, 0) + 1 - sum(atoms.values())
        return [sum(mass * max(sign * (x - t), 0) for x, mass in atoms.items()) for sign in (1, -1)]

    for t in (Fraction(one, 7) for one in range(-300, 300)):
        grown = [parts(u, t) for u in roots]
        assert all(x <= y for side in zip(*grown, strict=True) for x, y in pairwise(side))


@pytest.mark.parametrize("eps0", [0.3, 2.0, 7.0])
def test_one_table_serves_several_mechanisms(eps0):
    """Unary encoding is tabulated for 100 options, one bit (Duchi et al.) as binary randomized response."""

    def answer(build, **others):
        return shuffle(build(eps0=eps0, **others), 1000).epsilon(1e-6)

    most = answer(randomizers.optimized_unary, d=100).upper
    assert all(answer(randomizers.optimized_unary, d=d).upper <= most * (1 + 1e-12) for d in (2, 4, 10, 32))
    one_bit, binary = answer(randomizers.duchi), answer(randomizers.binary_rr)
    assert (one_bit.lower, one_bit.upper) == (binary.lower, binary.upper)


def test_the_plan_of_one_bit_is_proved_by_the_package():
    """The page looks one random bit up as binary response: its ε₀ meets the target in the package as well."""
    assert 'kind: "duchi", mechanism: "binary_rr"' in (FOLDER / "plan.js").read_text()
    assert upper_end(randomizers.duchi(eps0=3.966), 638_080, 1e-5) <= 0.0258
    rng = np.random.default_rng(5)
    for _ in range(20):
        eps0, n, delta = drawn(rng)
        proved = upper_end(randomizers.duchi(eps0=eps0), n, delta)
        assert proved * (1.0 - 1e-12) <= looked_up("binary_rr", eps0, n, delta)

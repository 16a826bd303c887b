"""`recommend`: what it proposes is proved, its errors are the true ones, and the table is in order."""

import functools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from shufflelib import aggregate, estimation, randomizers, recommend, shuffle, shuffling
from shufflelib.calibration.tasks import TASKS
from shufflelib.profiles import DiscretePair, Gaussian
from shufflelib.profiles.cautions import belief
from statement_words import promised

HISTOGRAM = {"n": 20_000, "eps": 0.5, "delta": 1e-6, "d": 12}
MEAN = {"n": 2000, "eps": 1.0, "delta": 1e-6, "task": "mean"}
SETS = {"n": 10_000, "eps": 0.7, "delta": 1e-6, "task": "sets", "d": 10, "s": 2}
HEAVY = {"n": 5000, "eps": 1.0, "delta": 1e-6, "task": "heavy_hitters", "d": 1500}
ORDERED = {"n": 8000, "eps": 1.0, "delta": 1e-6, "d": 64}
SETTINGS = {
    "key-value": SETS | {"task": "key_value"},
    "location": HISTOGRAM | {"task": "location", "d": 3},
    "range": ORDERED | {"task": "range"},
    "quantile": ORDERED | {"task": "quantile", "d": 50},
    "distribution": ORDERED | {"task": "distribution"},
    "heavy hitters": HEAVY,
    "histogram": HISTOGRAM,
    "mean": MEAN,
    "sets": SETS,
    "rounds": HISTOGRAM | {"rounds": 5},
    "rate": MEAN | {"rounds": 3, "rate": 0.2},
    "dropout": HISTOGRAM | {"dropout": 0.25},
    "sums": HISTOGRAM | {"analyst": "sums", "dropout": 0.1},
    "sums drawn": MEAN | {"analyst": "sums", "rate": 0.2},
    "sums in rounds": MEAN | {"analyst": "sums", "rounds": 3},
}
STATED = SETTINGS | {
    "few": {"n": 300, "eps": 0.1234564, "delta": 1.00000004e-6, "d": 40},
    "two": HISTOGRAM | {"d": 2, "eps": 1.5, "dropout": 0.1, "rate": 0.3},
    "odd rate": MEAN | {"n": 20, "rate": 0.6, "dropout": 0.2},
}


@functools.cache
def found(name):
    return recommend(**STATED[name])


@pytest.mark.parametrize("name", SETTINGS)
def test_each_line_of_python_proves_the_target_and_is_not_far_below_it(name):
    for place, row in enumerate(found(name)):
        names = {
            "aggregate": aggregate,
            "shuffle": shuffle,
            "shuffling": shuffling,
            "randomizers": randomizers,
        }
        upper = eval(row["python"], names).upper
        assert upper <= SETTINGS[name]["eps"]
        assert row["parameter"] == "messages" or upper > 0.95 * SETTINGS[name]["eps"]
        assert row["proved delta"] <= SETTINGS[name]["delta"]
        upper = found(name).profile(place).delta(SETTINGS[name]["eps"]).upper
        assert upper <= 1.002 * row["proved delta"], row["mechanism"]  # known to 0.2 % in the search


DATA = {
    "key-value": {
        "keys": [[i % 12 % 10, (i + 1) % 10][: 1 + (i % 12 < 9)] for i in range(SETS["n"])],
        "values": [[0.5, -0.5][: 1 + (i % 12 < 9)] for i in range(SETS["n"])],
    },
    "location": {"places": (np.arange(HISTOGRAM["n"])[:, None] // [1, 3] % 3 + 0.5) / 3},
    "histogram": {"values": np.arange(HISTOGRAM["n"]) % HISTOGRAM["d"]},
    "mean": {"values": np.linspace(0.0, 1.0, MEAN["n"])},
    "range": {"values": np.arange(ORDERED["n"]) % 64},
    "distribution": {"values": np.linspace(0.0, 1.0, ORDERED["n"])},
    "sets": {"sets": [[i % 10, (i + 1) % 10][: 1 + i % 2] for i in range(SETS["n"])]},
}
TRUTH = {
    "location": 1 / 9,
    "range": 22 / 64,
    "distribution": 1 / 64,
    "histogram": 1 / 12,
    "mean": 0.5,
    "sets": 0.2,
}
OWN_SPREAD = {"mean": math.sqrt(1 / 12 / MEAN["n"])}  # of the values, which the intervals of means include


@pytest.mark.parametrize("name", DATA)
def test_each_line_that_runs_estimates_within_its_intervals(name):
    for row in found(name):
        names = {"estimation": estimation, "randomizers": randomizers, "np": np}
        first = eval(row["run"], names | DATA[name] | {"rng": np.random.default_rng(1)})[0]
        scale = 2.0 if "2 * values - 1" in row["run"] else 1.0
        spread = (first["upper"] - first["lower"]) / (2 * 1.96)
        usual = scale * math.hypot(row["standard error"], OWN_SPREAD.get(name, 0.0))
        if name not in ("range", "distribution", "key-value"):  # there the data are others
            assert 0.9 < spread / usual < 1.15, (row["mechanism"], spread)
        truth = scale * TRUTH.get(name, first["estimate"]) - (scale - 1.0)
        assert first["lower"] - spread < truth < first["upper"] + spread, row["mechanism"]


def test_mean_errors_of_keys_are_those_of_simulated_reports():
    d, s, n, rng = SETS["d"] + SETS["s"], SETS["s"], SETS["n"], np.random.default_rng(3)
    first = np.arange(n) % d
    keys = np.column_stack([first, (first + 1) % d])
    held = np.column_stack([np.linspace(-1.0, 1.0, n)] * 2)
    for row in found("key-value"):
        one = getattr(randomizers, row["mechanism"])(eps0=row["value"], d=d, s=s)
        shares, sums = np.array([one.estimate(one.sample((keys, held), rng)) for _ in range(60)]).swapaxes(
            0, 1
        )
        assert row["mean error"] == pytest.approx(np.std(sums, axis=0).mean() * d / s, rel=0.1)
        assert row["standard error"] == pytest.approx(np.std(shares, axis=0).mean(), rel=0.1)


def test_pairs_are_filled_up_with_dummies_of_value_0():
    keys, held = estimation.padded_pairs([[], [2]], [[], [-0.5]], d=3, s=2)
    assert keys.tolist() == [[3, 4], [2, 3]] and held.tolist() == [[0.0, 0.0], [-0.5, 0.0]]
    for wrong in ([[1.0]], [[2.0]], [[0.5], [0.5]]):
        with pytest.raises(ValueError, match="values_of_keys must"):
            estimation.padded_pairs([[1]] if wrong != [[1.0]] else [[0, 1]], wrong, d=3, s=2)


def test_errors_of_sets_are_those_of_simulated_reports():
    d, s, rng = SETS["d"] + SETS["s"], SETS["s"], np.random.default_rng(3)
    first = np.arange(SETS["n"]) % d
    sets = np.column_stack([first, (first + 1) % d])  # all items equally frequent, dummies too
    for row in found("sets"):
        one = getattr(randomizers, row["mechanism"])(eps0=row["value"], d=d, s=s)
        estimates = [one.estimate(one.sample(sets, rng)) for _ in range(40)]
        assert row["standard error"] == pytest.approx(np.std(estimates, axis=0).mean(), rel=0.1)


@pytest.mark.parametrize("place", range(4))
def test_no_item_that_nobody_holds_is_listed_and_those_above_the_limit_are(place):
    row, n, d, runs = found("heavy hitters")[place], HEAVY["n"], HEAVY["d"], 80
    counts = np.zeros(d, int)
    counts[0] = math.ceil(row["found from"] * n)
    counts[1] = n - counts[0]
    if row["parameter"] == "messages":
        one = estimation.MultiMessageProtocol(randomizers.balls_into_bins(d=d), n=n, each=row["value"])
        shares = one.repeat(np.repeat(np.arange(d), counts), runs, np.random.default_rng(7))
    else:
        one = getattr(randomizers, row["mechanism"])(eps0=row["value"], d=d)
        shares = estimation.simulate(one, counts=counts, repetitions=runs, rng=np.random.default_rng(7))
    listed = shares >= row["threshold"] - 1e-12
    assert listed[:, 2:].any(axis=1).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert listed[:, 0].mean() >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / runs)
    lower = shares >= 0.7 * row["threshold"]
    assert lower[:, 2:].any(axis=1).mean() > 0.1  # the threshold is not far too high


def test_the_list_names_the_items_held_by_many_with_intervals_for_all():
    rng, holds = np.random.default_rng(2), np.random.default_rng(1).integers(0, HEAVY["d"], HEAVY["n"])
    holds[:1500], holds[1500:2500] = 3, 1200
    for row in found("heavy hitters"):
        names = {"estimation": estimation, "randomizers": randomizers, "values": holds, "rng": rng}
        listed = eval(row["run"], names)
        if row["found from"] > 0.2:
            continue
        assert [one["item"] for one in listed][:2] == [3, 1200], row["mechanism"]
        assert all(
            one["lower"] < share < one["upper"] for one, share in zip(listed, (0.3, 0.2), strict=False)
        )


@pytest.mark.parametrize("name", ["range", "quantile", "distribution"])
def test_errors_of_values_in_order_are_those_of_simulated_reports(name):
    rng, n = np.random.default_rng(4), ORDERED["n"]
    for row in (found(name)[0], found(name)[-1]):
        one = eval(row["python"].split("shuffle(")[1].split(", n=")[0], {"randomizers": randomizers})
        d = STATED[name]["d"]
        held = np.arange(n) % d
        first, last = np.zeros(d, int), np.arange(d)
        if name == "range":
            first, last = np.sort(rng.integers(0, d, size=(2, 400)), axis=0)
        truth = (last - first + 1) / d
        answers = np.array(
            [one.range_shares(one.estimate(one.sample(held, rng)), first, last) for _ in range(60)]
        )
        if name == "distribution":
            measured = np.abs(answers - truth).max(axis=1).mean()
        else:
            covered = slice(None, -1) if name == "quantile" else slice(None)
            measured = np.sqrt(np.mean((answers - truth)[:, covered] ** 2))
        assert row["standard error"] == pytest.approx(measured, rel=0.12), row["mechanism"]
        assert row["standard error"] <= row["worst case"]


def test_a_set_is_filled_up_with_dummies_that_count_the_missing_items():
    filled = estimation.padded([[0, 3], [1], [], (2,)], d=4, s=3)
    assert filled.tolist() == [[0, 3, 4], [1, 4, 5], [4, 5, 6], [2, 4, 5]]
    for wrong, words in (
        ([[0, 0]], "distinct"),
        ([[0, 1, 2, 3]], "at most s = 3"),
        ([], "must not be empty"),
    ):
        with pytest.raises(ValueError, match=words):
            estimation.padded(wrong, d=4, s=3)
    with pytest.raises(ValueError, match="sets must be"):
        estimation.padded([[4]], d=4, s=3)


def test_the_note_on_slots_asks_for_the_histogram_whose_errors_are_those_of_its_estimate():
    (note,) = (one for one in found("sets").notes if "slots" in one)
    assert "d = 11 and rounds = 2, whose error for sets is 1.41 times" in note and note in str(found("sets"))
    (note,) = (one for one in recommend(**SETS, rounds=3).notes if "slots" in one)
    assert "d = 11 and rounds = 6" in note
    drawn = recommend(**SETS, rate=0.5)  # the users drawn would send all their slots
    assert not any("slots" in one for one in drawn.notes)
    histogram = recommend(**{one: SETS[one] for one in ("n", "eps", "delta")}, d=11, rounds=2)
    (row,) = (one for one in histogram if one["mechanism"] == "generalized_rr")
    mechanism, rng = randomizers.generalized_rr(eps0=row["value"], d=11), np.random.default_rng(5)
    first = np.arange(SETS["n"]) % 11
    sums = [
        sum(mechanism.estimate(mechanism.sample(held, rng)) for held in (first, (first + 1) % 11))
        for _ in range(60)
    ]
    assert math.sqrt(2.0) * row["standard error"] == pytest.approx(np.std(sums, axis=0).mean(), rel=0.1)


def test_errors_of_frequencies_are_those_of_the_protocols():
    evenly, rng = np.arange(HISTOGRAM["n"]) % HISTOGRAM["d"], np.random.default_rng(1)
    for row in found("histogram"):
        if row["parameter"] == "messages":
            one = randomizers.balls_into_bins(d=HISTOGRAM["d"], s=1)
            protocol = estimation.MultiMessageProtocol(one, n=HISTOGRAM["n"], each=row["value"])
        else:
            one = getattr(randomizers, row["mechanism"])(eps0=row["value"], d=HISTOGRAM["d"])
            protocol = estimation.HistogramProtocol(one, n=HISTOGRAM["n"])
        measured = protocol.repeat(evenly, 1000, rng).std(axis=0).mean()
        assert row["standard error"] == pytest.approx(measured, rel=0.05), row["mechanism"]


def test_the_comparison_is_with_gaussian_noise_at_the_same_target():
    best = found("histogram")[0]
    sigma = best["standard error"] / best["x central"]
    central = Gaussian(math.sqrt(2.0) / (HISTOGRAM["n"] * sigma))
    assert 0.97 * HISTOGRAM["eps"] < central.epsilon(HISTOGRAM["delta"]).upper <= HISTOGRAM["eps"]


def test_the_sentence_counts_all_rounds_and_every_message():
    proposed = recommend(n=100_000, eps=0.5, delta=1e-8, d=64, rounds=5)
    said, row = proposed.sentence, proposed[0]
    assert (
        row["parameter"] == "messages"
        and f"once its value, one of 64 options, and {row['value']} ran" in said
    )
    assert "any one user in all 5 rounds together" in said and "taking part does not depend" in said
    assert any(note.startswith("messages: random ones") for note in proposed.notes)
    assert "Whoever sees the shuffled messages learns" in said
    few = recommend(n=10_000, eps=1.0, delta=1e-6, d=64, mechanism="balls_into_bins").sentence
    assert "and 1 random message, an option drawn uniformly, and a shuffler mixes the messages" in few
    said, row = found("mean").sentence, found("mean")[0]
    assert f"the piecewise mechanism at eps0 = {row['value']:g}," in said and "any one user's value" in said
    odds = float(said.split("at most ")[-1].split(" times")[0])
    assert math.exp(row["value"]) <= odds <= 1.01 * math.exp(row["value"])


def test_the_plan_says_what_the_numbers_of_exposure_notifications_mean():
    page = " ".join((Path(__file__).parents[1] / "book/plan.md").read_text(encoding="utf-8").split())
    flip = 1.0 / (1.0 + math.exp(8.0))
    bits = randomizers.unary(d=5, p=flip, q=1.0 - flip)
    for neighbours, words in (
        ("coordinate", "at most {} % likely if it is about one bit,"),
        ("replace", "at most {} % if it is about the bin, except with probability at most 10⁻⁴."),
    ):
        proved = aggregate(bits, 100_000, neighbours=neighbours).epsilon(1e-5).upper
        printed = max(proved, 0.84) if neighbours == "coordinate" else proved
        percent, rare = re.findall(r"at most (\S+?)(?: %|\. )", belief(printed, 1e-5, ""))
        assert words.format(percent) in page and float(rare) == 1e-4


def test_the_belief_in_a_statement_holds_and_no_much_rarer_exception_would():
    said = found("histogram").sentence
    percent, rare = re.search(
        r"at most (\S+) % likely, except with probability at most (\S+)\. If", said
    ).groups()
    loss = math.log(float(percent) / (100 - float(percent)))
    eps, delta, rare = HISTOGRAM["eps"], HISTOGRAM["delta"], float(rare)
    mu = brentq(lambda mu: Gaussian(mu).delta(eps).upper / delta - 1.0, 0.01, 0.5)
    assert norm.sf(loss / mu - mu / 2) < rare
    for share, holds in ((0.98, True), (1.01, False)):  # a pair whose loss exceeds this with such a share
        first = np.array([share * rare, 1.0 - share * rare])
        second = first[0] * math.exp(-1.0001 * loss)
        pair = DiscretePair(np.log(first), np.log([second, 1.0 - second]))
        assert (pair.delta(eps).upper <= delta) == holds
    assert belief(8.0, 1e-6, "") == belief(0.5, 0.1, "") == ""  # no protection, of which others warn


@pytest.mark.parametrize("name", STATED)
def test_a_statement_names_all_that_its_guarantee_depends_on(name):
    """At other numbers of options the same ε₀ gives another ε."""
    for row in found(name):
        profile, eps, delta = promised(row["sentence"])
        assert profile.epsilon(delta).upper <= eps, row["sentence"]
        assert (eps, delta) == (STATED[name]["eps"], STATED[name]["delta"])


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"delta": 1e-2}, "delta = 0.01 is not below 1/users = 5e-05"),
        ({"delta": 1 / 20_000, "dropout": 0.25}, "from all 20,000, has this delta too"),
        ({"delta": 1 / 100_000, "rate": 0.2}, "from all 100,000, has this delta too"),
        (
            {"eps": 1e-7, "delta": 0.5},
            "Warning: delta = 0.5 is larger than eps = 1e-07: are the two exchanged?",
        ),
        ({"n": 2, "eps": 0.01, "delta": 1e-12}, "n = 2: is that the number of users who report?"),
        ({"n": 2, "eps": 0.01, "delta": 1e-12}, "The standard error of a share between 0 and 1 is "),
        ({"eps": 8.0}, "eps = 8 lets a result be 2,990 times as likely"),
    ],
)
def test_a_target_that_nobody_means_is_warned_of_in_the_first_line_and_in_every_statement(asked, words):
    answered = recommend(**(HISTOGRAM | asked))
    assert words in str(answered).splitlines()[0] and words in answered.to_dict()["warning"]
    for row in answered:
        assert row["sentence"].startswith(row["warning"]) and row["warning"].startswith("Warning: ")
        assert words.split(" is ")[0] in row["sentence"]


def test_thousands_of_messages_are_left_out_unless_asked_for_and_then_warned_of():
    asked = {"n": 200, "eps": 0.1, "delta": 1e-6, "d": 500}
    many = recommend(**asked, mechanism="balls-into-bins")
    (row,) = (row for row in many if row["parameter"] == "messages")
    words = f"Every user sends {row['value'] + 1:,} messages"
    assert row["value"] > 1000 and words in row["sentence"]
    assert many.warning == row["warning"] and str(many).startswith("Warning: ") and words in many.warning
    few = recommend(**asked)
    assert "balls_into_bins" not in [row["mechanism"] for row in few]
    said = f"Left out: balls_into_bins: every user would send {row['value'] + 1:,} messages"
    assert any(note.startswith(said) for note in few.notes)
    usual = recommend(**HISTOGRAM)
    assert usual.warning == "" and str(usual).startswith("histogram of 12 items: ")
    assert not any("Warning" in row["sentence"] for row in usual)


def test_the_mechanism_asked_for_is_explained_and_recorded():
    asked = recommend(**HISTOGRAM, mechanism="hr")
    row = asked[asked.chosen]
    assert (
        row["mechanism"] == "hadamard"
        and asked.chosen > 0
        and list(asked.rows) == list(found("histogram").rows)
    )
    assert asked.sentence == row["sentence"] and asked.notes[-2:] == (
        f"On data: {row['run']}",
        f"Python: {row['python']}",
    )
    assert asked.profile().epsilon(1e-6) == asked.profile(asked.chosen).epsilon(1e-6)
    with pytest.raises(ValueError, match="mechanism='subset' has no row; at this target sets of one item"):
        recommend(n=20_000, eps=1.0, delta=1e-6, d=3, mechanism="subset")


def test_a_breach_is_said_in_words_once_odds_say_nothing():
    three = recommend(**MEAN, rounds=3)
    assert all(
        "all 3 reports together can reveal their sender's values: no meaningful protection remains"
        in row["sentence"]
        for row in three
    )
    assert "times as likely" not in recommend(**(MEAN | {"n": 10**9}))[0]["sentence"]


def test_dropouts_leave_fewer_users_and_a_condition():
    fewer = recommend(**(HISTOGRAM | {"n": 15_000}))
    assert [row["value"] for row in found("dropout")] == [row["value"] for row in fewer]
    assert any("does not depend on the values" in note for note in found("dropout").notes)


def test_a_sample_is_said_to_be_one_and_secret():
    drawn = found("rate")
    assert "2,000 users, 3 rounds, drawn for each from 10,000" in drawn.title
    assert "drawn at random from 10,000" in drawn.sentence and "in secret" in drawn.sentence


def test_mechanisms_that_cannot_meet_the_target_are_named():
    few = recommend(n=300, eps=0.01, delta=1e-9, d=4)
    assert len(few) + len(few.left_out) == 7 and len(few) > 0
    left_out = [f"Left out: {name}: {reason}" for name, reason in few.left_out.items()]
    assert left_out == [note for note in few.notes if note.startswith("Left out: ")]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"task": "sum"}, "task must be one of histogram, mean, sets"),
        ({"analyst": "sum"}, "analyst must be"),
        ({"d": None}, "d must be given for the task 'histogram': the number of items"),
        ({"s": 2}, "left out for the task 'histogram', got 2; the tasks 'sets' and 'key_value' take it"),
        ({"task": "sets"}, "s must be given for the task 'sets': how many items a user may hold"),
        ({"task": "sets", "s": 0}, "s must be"),
        ({"task": "sets", "s": 13}, "s must be finite and >= 1 and <= 12, got 13"),
        ({"task": "location", "d": 4000}, "d must be"),
        ({"task": "distribution", "d": 10**6}, "d must be"),
        ({"task": "mean"}, "d must be left out"),
        ({"dropout": 1.0}, "dropout must be"),
        ({"mechanism": "duchi"}, "mechanism must be one for the task 'histogram', got 'duchi'; known: gen"),
        ({"mechanism": 3}, "mechanism must be one"),
        ({"n": 3, "dropout": 0.9}, "leaves none"),
    ],
)
def test_bad_input_is_refused(wrong, words):
    with pytest.raises((TypeError, ValueError), match=words):
        recommend(**(HISTOGRAM | wrong))


def test_the_tasks_that_take_a_size_are_those_that_the_refusal_names():
    assert [name for name, one in TASKS.items() if "s" in one.sizes] == ["sets", "key_value"]
    assert [name for name, one in TASKS.items() if "d" not in one.sizes] == ["mean"]


def test_sets_of_one_item_do_not_repeat_randomized_response():
    three = recommend(n=20_000, eps=1.0, delta=1e-6, d=3)
    assert "generalized_rr" in [row["mechanism"] for row in three.rows]
    assert "subset" not in [row["mechanism"] for row in three.rows]
    assert any("subset" in note and "generalized_rr" in note for note in three.notes)


def test_secure_aggregation_needs_nearly_as_little_noise_as_a_trusted_curator():
    for name in ("sums", "sums in rounds"):
        for place, row in enumerate(found(name)):
            assert 0.97 < row["x central"] < 1.15, row
            upper = found(name).profile(place).epsilon(STATED[name]["delta"]).upper
            assert 0.95 * STATED[name]["eps"] < upper <= STATED[name]["eps"]
    assert [row["mechanism"] for row in found("sums")] == ["skellam", "rappor"]
    shuffled = recommend(**(HISTOGRAM | {"dropout": 0.1}))
    assert found("sums")[0]["standard error"] < shuffled[0]["standard error"]
    assert "sums of reports" in found("sums").title and "Secure aggregation" in str(found("sums"))
    assert "On data" not in str(found("sums")) and "On data" in str(shuffled)


def test_errors_of_noise_are_those_of_the_protocol():
    rng, n = np.random.default_rng(2), 18_000
    (row,) = (row for row in found("sums") if row["mechanism"] == "skellam")
    noise = randomizers.skellam(mu=row["value"])
    held = (np.arange(n) % 12 == 0).astype(int)
    off = [noise.estimate(noise.sample(held, rng)) - held.mean() for _ in range(1000)]
    assert row["standard error"] == pytest.approx(np.std(off), rel=0.1)
    gaussian = next(row for row in found("sums in rounds") if row["mechanism"] == "gaussian")
    assert gaussian["standard error"] == pytest.approx(gaussian["value"] / math.sqrt(2000), rel=1e-9)


def test_sums_of_a_square_have_a_number_for_each_of_its_cells():
    found = recommend(**SETTINGS["location"] | {"analyst": "sums"})
    assert {row["bytes"] for row in found} == {8 * 3 * 3}
    assert all(one in found.sentence for one in ("as 9 numbers, a one and zeros", "added to each"))

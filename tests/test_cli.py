"""The command line: what it prints, and one line with status 2 for whatever is wrong."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from shufflelib import aggregate, estimation, randomizers, recommend, shuffle
from shufflelib.__main__ import main
from shufflelib.calibration import fewest_users, largest_eps0, most_rounds

TEN = ["--randomizer", "generalized-rr", "--eps0", "1", "--d", "10", "--n", "100000"]
FEW = ["--randomizer", "binary-rr", "--eps0", "2", "--n", "50"]
QUESTIONS = {
    "epsilon": ("delta", 1e-8),
    "delta": ("eps", 0.005),
    "renyi": ("order", 4.0),
    "tradeoff": ("fpr", 0.05),
}


def profile():
    return shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=100_000)


@pytest.mark.parametrize(("quantity", "argument", "value"), [(q, *v) for q, v in QUESTIONS.items()])
def test_a_question_has_the_answer_of_the_library_as_a_statement_and_as_json(
    capsys, quantity, argument, value
):
    assert main([quantity, *TEN, f"--{argument}", repr(value)]) == 0
    out, err = capsys.readouterr()
    expected = getattr(profile(), quantity)(value)
    assert err == "" and out == f"{expected}\n"
    for words in ("n = 100000", f"{argument} = ", "replace one", "privacy blanket", "trusted", "certified"):
        assert words in out
    assert main([quantity, *TEN, f"--{argument}", repr(value), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["lower"], record["upper"]) == (expected.lower, expected.upper)
    assert (record["quantity"], record[argument], record["n"]) == (quantity, value, 100_000)
    assert {"statement", "source", "assumptions", "status", "randomizer"} <= record.keys()


GENERIC = ["--randomizer", "generic", "--eps0", "1"]


TARGET = ["--eps", "0.5", "--delta", "1e-6"]
ITEMS = ["--randomizer", "generalized-rr", "--d", "10"]
CALIBRATED = {
    "eps0": (
        [*ITEMS, "--n", "5000"],
        lambda: largest_eps0(randomizers.generalized_rr, d=10, n=5000, eps=0.5, delta=1e-6),
    ),
    "users": (
        [*ITEMS, "--eps0", "2"],
        lambda: fewest_users(randomizers.generalized_rr, eps0=2.0, d=10, eps=0.5, delta=1e-6),
    ),
    "users --rounds=3": (
        [*ITEMS, "--eps0", "0.3"],
        lambda: fewest_users(randomizers.generalized_rr, eps0=0.3, d=10, eps=0.5, delta=1e-6, rounds=3),
    ),
    "rounds": (
        [*ITEMS, "--eps0", "0.1", "--n", "5"],
        lambda: most_rounds(randomizers.generalized_rr, eps0=0.1, d=10, n=5, eps=0.5, delta=1e-6),
    ),
}


@pytest.mark.parametrize(("wanted", "options", "question"), [(w, *q) for w, q in CALIBRATED.items()])
def test_calibrate_gives_the_answers_of_the_library(capsys, wanted, options, question):
    found, command = question(), ["calibrate", *wanted.split(), *options, *TARGET]
    assert main([*command, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.count("\n") == 1
    record = json.loads(out)
    assert (record["quantity"], record["answer"]) == (f"calibrate {wanted.split()[0]}", found.answer)
    assert (record["unproved"], record["fails"]) == (found.unproved, found.fails)
    assert (record["lower"], record["upper"]) == (found.certificate.lower, found.certificate.upper)
    assert (record["eps"], record["delta"]) == (0.5, 1e-6) and record["upper"] <= 0.5
    assert {"statement", "source", "assumptions", "status", "randomizer"} <= record.keys()
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert err == "" and out == f"{found}\n{found.certificate}\n"
    for words in ("replace one", "privacy blanket", "trusted", "certified"):
        assert words in out
    assert ("in each round" in out) == ("rounds" in wanted)


BAD = {
    "no command": ([], "command"),
    "missing delta": (["epsilon", *TEN], "--delta"),
    "missing parameter": (["epsilon", *GENERIC[:2], "--n", "10", "--delta", "0.1"], "--eps0"),
    "unknown randomizer": (["epsilon", "--randomizer", "coin", "--n", "10", "--delta", "0.1"], "coin"),
    "text for a number": (["epsilon", *TEN, "--delta", "tiny"], "tiny"),
    "delta of two": (["epsilon", *TEN, "--delta", "2"], "delta must be"),
    "foreign option": (
        ["epsilon", *GENERIC, "--d", "10", "--n", "10", "--delta", "0.1"],
        "--d is no parameter",
    ),
    "calibrate nothing": (["calibrate"], "eps0|sigma|users|rounds"),
    "calibrate what is given": (
        ["calibrate", "eps0", *GENERIC, "--n", "10", *TARGET],
        "--eps0 is what this command looks for; leave it out",
    ),
    "calibrate users by n": (["calibrate", "users", *GENERIC, "--n", "10", *TARGET], "--n"),
    "no budget to find": (
        ["calibrate", "eps0", "--randomizer", "gaussian", "--n", "10", *TARGET],
        "gaussian has no eps0",
    ),
    "a near miss": (["epsilon", "--randomizer", "laplase", "--n", "9", "--delta", "0.1"], "mean laplace?"),
    "no items": (["recommend", "--n", "10", *TARGET], "d must be"),
    "two formats": (["epsilon", *TEN, "--delta", "0.1", "--json", "--csv"], "--csv"),
    "target out of reach": (
        ["calibrate", "users", *GENERIC, "--eps", "1e-9", "--delta", "1e-99"],
        "out of reach",
    ),
}


@pytest.mark.parametrize(("arguments", "words"), BAD.values(), ids=BAD)
def test_bad_input_ends_with_status_2_and_one_line(capsys, arguments, words):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\n") and err.count("\n") == 1, err
    assert words in err
    assert "Traceback" not in err


def test_every_question_takes_rounds_and_a_rate_and_prints_csv(capsys):
    command = ["epsilon", *TEN, "--delta", "1e-8", "--rounds", "3", "--rate", "0.1", "--csv"]
    assert main(command) == 0
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    expected = profile().subsample(0.1).compose(3).epsilon(1e-8)
    assert (float(row["lower"]), float(row["upper"])) == (expected.lower, expected.upper)


def test_sums_of_reports_are_answered_as_by_aggregate(capsys):
    noise, items = ["--randomizer", "skellam", "--mu", "0.1"], ["--randomizer", "rappor", "--eps0=1", "--d=8"]
    numbers = ["--randomizer", "gaussian", "--sigma", "1", "--changed", "2", "--rounds", "3"]
    for options, mechanism, changed, rounds in (
        (numbers, randomizers.gaussian(sigma=1.0), 2, 3),
        (noise, randomizers.skellam(mu=0.1), None, 1),
        (items, randomizers.rappor(eps0=1.0, d=8), None, 1),
    ):
        command = [*options, "--n", "1000", "--analyst", "sums", "--json"]
        profile = aggregate(mechanism, 1000, changed=changed).compose(rounds)
        assert main(["epsilon", "--delta", "1e-6", *command]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["upper"], found["statement"]) == (
            profile.epsilon(1e-6).upper,
            profile.epsilon(1e-6).statement,
        )
        assert main(["delta", "--eps", "0.5", *command]) == 0
        assert json.loads(capsys.readouterr().out)["upper"] == profile.delta(0.5).upper
    for options, words in (
        (noise, "analyst must be sums for skellam, got reports"),
        ([*items, "--changed", "2"], "analyst must be sums for changed = 2"),
        (["--randomizer", "krr", "--eps0=1", "--d=8", "--analyst", "sums"], "must flip bits independently"),
        ([*noise, "--analyst", "sum"], "sum is unknown (did you mean sums?)"),
    ):
        assert main(["epsilon", *options, "--n", "1000", "--delta", "1e-6"]) == 2
        assert words in capsys.readouterr().err
    assert main(["error", *items, "--n", "10", "--analyst", "sums"]) == 2
    assert "--analyst belongs to epsilon, delta" in capsys.readouterr().err


def test_calibration_for_sums_is_that_of_the_profiles_of_aggregate(capsys):
    target = ["--eps", "0.5", "--delta", "1e-6", "--analyst", "sums", "--json"]
    noise = ["--randomizer", "gaussian", "--changed", "2", "--n", "1000", *target]
    assert main(["calibrate", "sigma", *noise]) == 0
    sigma = json.loads(capsys.readouterr().out)["answer"]

    def central(sigma, n=1000):
        return aggregate(randomizers.gaussian(sigma=sigma), n, changed=2).epsilon(1e-6)

    assert central(sigma).upper <= 0.5 < central(sigma * 0.999).lower
    given = ["--randomizer", "gaussian", "--sigma", str(sigma), "--changed", "2", *target]
    assert main(["calibrate", "users", *given]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["answer"] in (999, 1000) and central(sigma, found["answer"] - 2).lower > 0.5
    assert main(["calibrate", "rounds", *given, "--n", "9500"]) == 0
    rounds = json.loads(capsys.readouterr().out)["answer"]
    rounds_of = aggregate(randomizers.gaussian(sigma=sigma), 9500, changed=2).compose
    assert (
        rounds == 9
        and rounds_of(rounds).epsilon(1e-6).upper <= 0.5 < rounds_of(rounds + 1).epsilon(1e-6).lower
    )
    bits = ["--randomizer", "binary_rr", "--n", "1000", *target]
    assert main(["calibrate", "eps0", *bits]) == 0
    eps0 = json.loads(capsys.readouterr().out)["answer"]
    assert aggregate(randomizers.binary_rr(eps0=eps0), 1000).epsilon(1e-6).upper <= 0.5
    assert aggregate(randomizers.binary_rr(eps0=1.001 * eps0), 1000).epsilon(1e-6).lower > 0.5


def test_a_mechanism_of_one_s_own_comes_from_a_file(tmp_path, capsys):
    rows = [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    path = tmp_path / "own.csv"
    path.write_text("\ufeffyes;no;maybe\n" + "\n".join(";".join(map(str, row)) for row in rows))
    profile = shuffle(randomizers.from_pmf(rows), 1000)
    assert main(["epsilon", "--pmf", str(path), "--n", "1000", "--delta", "1e-6", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["upper"] == profile.epsilon(1e-6).upper
    assert main(["calibrate", "users", "--pmf", str(path), "--eps", "1", "--delta", "1e-3", "--json"]) == 0
    found = fewest_users(randomizers.from_pmf(rows), eps=1.0, delta=1e-3)
    assert json.loads(capsys.readouterr().out)["answer"] == found.answer
    for text, words in (
        ("1, 0\n0.5, 0.6", "row 2 sums to 1.1; the probabilities of a row must sum to 1"),
        (
            "0.333, 0.333, 0.333\n0.2, 0.3, 0.5",
            "row 1 sums to 0.999; the probabilities of a row must sum to 1; ",
        ),
        ("1, 0\n1.5, -0.5", "row 2 holds 1.5; probabilities lie between 0 and 1"),
        ("1, 0\n1", "row 2 has 1 number, row 1 has 2"),
        ("1, 0\n0, one", "row 2 must hold numbers, got 'one'"),
        ("0.5, O.5\n0.4, 0.6\n0.3, 0.7", "row 1 must hold numbers, got 'O.5'"),
        ("0.5,,0.5\n,0.5,0.5", "row 1 must hold numbers, one is missing; write 0"),
        ("1, 0", "at least two inputs"),
        ("", "the text is empty"),
    ):
        path.write_text(text)
        assert main(["epsilon", "--pmf", str(path), "--n", "9", "--delta", "0.1"]) == 2
        err = capsys.readouterr().err
        assert words in err and str(path) in err and err.count("\n") == 1, err
    for question, words in (
        (["error"], "no formula for its error"),
        (["calibrate", "eps0", "--eps", "1", "--delta", "0.1"], "calibration.largest_eps0 takes a function"),
    ):
        assert main([*question, "--pmf", str(path), "--n", "9"]) == 2
        err = capsys.readouterr().err
        assert words in err and err.count("\n") == 1, err
    assert main(["epsilon", "--pmf", str(tmp_path / "none"), "--n", "9", "--delta", "0.1"]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_a_protocol_of_several_messages_is_refused_with_what_answers_in_python(capsys):
    assert main(["epsilon", "--randomizer", "balls-into-bins", "--n", "1000", "--delta", "1e-6"]) == 2
    err = capsys.readouterr().err
    assert "shuffle_messages(randomizers.balls_into_bins(d=d, s=s), n=n, dummy_messages=n*k)" in err


def test_help_names_the_parameters_of_the_chosen_mechanism_alone(capsys):
    assert main(["epsilon", "--randomizer", "generalized_rr", "--help"]) == 0
    out = capsys.readouterr().out
    assert "Number of options, at least 2." in out and "--sigma" not in out
    assert main(["epsilon", "--help"]) == 0
    assert "shufflelib mechanisms" in capsys.readouterr().out


def test_mechanisms_are_listed_with_parameters_domains_and_sources(capsys):
    assert main(["mechanisms"]) == 0
    out = capsys.readouterr().out
    for words in (
        "generalized_rr",
        "--sigma",
        "Number of options, at least 2.",
        "--branching Chi",
        "Wang 2024, Table 1 [35]",
    ):
        assert words in out
    assert main(["mechanisms", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert all(one["what"] and all(one["parameters"].values()) for one in listed.values())


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["epsilon", *TEN, "--delta", "1e-3"], "delta = 0.001 is not below 1/users = 1e-05"),
        (["epsilon", *TEN, "--delta", "1e-6", "--rate", "0.1"], "drawn at random from all 1,000,000"),
        (["epsilon", *TEN, "--delta", "0.5"], "epsilon is (nearly) 0: delta = 0.5 covers whatever"),
        (["calibrate", "users", *TEN[:-2], "--eps", "0.01", "--delta", "0.3"], "are the two exchanged?"),
        (["calibrate", "users", *TEN[:-2], "--eps", "0.01", "--delta", "0.3"], "n = 1: is that the number"),
        (["calibrate", "eps0", *TEN[:2], *TEN[4:], "--eps", "1", "--delta", "1e-5"], "1/users = 1e-05"),
        (["calibrate", "rounds", *FEW, "--eps", "3", "--delta", "0.2"], "1/users = 0.02"),
        (["recommend", "--n", "1000", "--eps", "1", "--delta", "0.1", "--task", "mean"], "1/users = 0.001"),
    ],
)
def test_a_target_that_nobody_means_is_warned_of_in_the_first_line(capsys, command, words):
    assert main(command) == 0
    out = capsys.readouterr().out
    first = out.splitlines()[0]
    assert first.startswith("Warning: ") and words in first
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warning"] == first


def test_an_option_given_twice_is_refused(capsys):
    for again in (["--eps0", "2"], ["--eps0=2"]):
        assert main(["epsilon", *TEN, "--delta", "1e-6", *again]) == 2
        assert capsys.readouterr().err == "shufflelib: --eps0 is given twice; keep one\n"


def test_recommend_names_tasks_with_a_hyphen_too(capsys):
    command = ["recommend", "--n", "1000", "--eps", "1", "--delta", "1e-6", "--d", "20", "--s", "2", "--json"]
    assert main([*command, "--task", "key-value"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["asked"]["task"] == "key_value" and "mean error" in found["rows"][0]


def test_recommend_publishes_the_mechanism_asked_for(capsys):
    command = ["recommend", "--n", "1000", "--eps", "1", "--delta", "1e-6", "--task", "mean"]
    assert main([*command, "--mechanism", "duchi"]) == 0
    assert "with one random bit (Duchi et al.) at eps0 = " in capsys.readouterr().out


def test_recommend_prints_the_table_and_the_sentence(capsys):
    command = ["recommend", "--n", "1000", "--eps", "1", "--delta", "1e-6", "--task", "mean"]
    assert main(command) == 0
    out = capsys.readouterr().out
    found = recommend(n=1000, eps=1, delta=1e-6, task="mean")
    assert out == f"{found}\nTo publish: {found.sentence}\n"
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == found.rows
    assert main([*command, "--csv"]) == 0
    assert capsys.readouterr().out == found.to_csv()


GRID = "quantity: delta\nrandomizer: binary-rr\neps0: [1, 2]\nn: 10\neps: 0.2\n"


def changed(**lines):
    """Return the grid with other lines; None takes a line away."""
    kept = [line for line in GRID.splitlines() if line.split(":")[0] not in lines]
    return "\n".join([*kept, *(f"{key}: {value}" for key, value in lines.items() if value is not None)])


def test_sweep_writes_a_table_of_the_library_s_numbers(tmp_path, capsys):
    (tmp_path / "grid.yaml").write_text(GRID)
    options = ["--output", str(tmp_path / "table.csv"), "--cache", str(tmp_path / "kept"), "--jobs", "1"]
    for found in (0, 2):
        assert main(["sweep", str(tmp_path / "grid.yaml"), *options]) == 0
        out, err = capsys.readouterr()
        assert err == "" and f"table.csv: 2 rows, {found} of them from" in out and out.count("\n") == 1
    with open(tmp_path / "table.csv") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("# ")))
    for eps0, row in zip((1.0, 2.0), rows, strict=True):
        expected = shuffle(randomizers.binary_rr(eps0=eps0), n=10).delta(0.2)
        low, high = float(row["lower"]), float(row["upper"])
        assert low <= expected.lower <= expected.upper <= high and len(row["upper"]) <= 14
        assert (low, high) == pytest.approx((expected.lower, expected.upper), rel=1.1e-9)
        assert (row["quantity"], row["eps0"], row["status"]) == ("delta", f"{eps0:.0f}", "certified")


def test_a_sweep_reads_numbers_as_people_write_them(tmp_path, capsys):
    path = tmp_path / "grid.yaml"
    path.write_text(changed(eps="[2e-1, 1E-8, 0.3]", n="1e2"))
    assert main(["sweep", str(path), "--json", "--jobs", "1"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["eps"] for row in rows[:3]] == [0.2, 1e-8, 0.3] and {row["n"] for row in rows} == {100}


def test_the_error_of_an_estimate(capsys):
    asked = ["error", "--eps0", "1", "--n", "1000", "--json", "--randomizer"]
    assert main([*asked, "subset", "--d", "10"]) == 0
    found = json.loads(capsys.readouterr().out)
    variance = estimation.frequency_variance(randomizers.subset(eps0=1, d=10), [0.1, 0.0, 1.0], n=1000)
    assert found["standard error"] == pytest.approx(variance[0] ** 0.5, rel=1e-12)
    assert found["worst case"] == pytest.approx(max(variance[1:]) ** 0.5, rel=1e-12)
    for name, words in (("generic", "whose errors differ"), ("harmony", "has no formula for its error")):
        assert main([*asked, name, *["--d", "2"][: 2 * (name == "harmony")]]) == 2
        assert words in capsys.readouterr().err


BAD_GRIDS = {
    "no grid": ("", "a grid must be"),
    "no YAML": ("a: [1,", "no YAML: line"),
    "code": ("!!python/object/apply:os.getcwd []", "no YAML: line 1"),
    "a key given twice": (GRID + "n: 20", "no YAML: line 6: n is given twice; keep one"),
    "a list as key": (GRID + "? [1, 2]\n: 5", "no YAML: line 6"),
    "a number as key": (GRID + "1: 2", "a key must be text, got 1"),
    "no quantity": (changed(quantity=None), "quantity is missing; give one of epsilon"),
    "unknown randomizer": (changed(randomizer="binari-rr"), "got 'binari-rr' (did you mean binary_rr?)"),
    "foreign key": (changed(d=3), "d is not a key of this grid"),
    "missing key": (changed(eps=None), "eps is missing: binary_rr takes eps0; delta takes n, eps"),
    "text": (changed(eps="'1e-8'"), "eps must be a number, got the string '1e-8'"),
    "text in a range": (changed(eps="{from: e-8, to: 1, points: 3}"), "eps: from must be a number"),
    "truth": (changed(n="true"), "n must be a number, got True"),
    "empty list": (changed(n="[]"), "n must not be empty"),
    "half a user": (changed(n=10.5), "n must be a whole number, got 10.5"),
    "thousands with a point": (changed(n="100.000"), "line 5: n must be a number read in one way"),
    "thousands in a range": (changed(n="{from: 1, to: 1.000, points: 2}"), "one way, got 1.000; write thous"),
    "thousands in a list": (changed(n="[1, 1.000]"), "n must be a number read in one way, got 1.000"),
    "a zero in front": (changed(n="0100"), "got 0100; write thousands as 100000, and no zero in front"),
    "base sixty": (changed(eps="1:30"), "line 5: eps must be a number read in one way, got 1:30"),
    "decimal comma": (changed(eps="0,5"), "eps must be a number, got the string '0,5'"),
    "range without an end": (changed(n="{from: 1, points: 3}"), "n has the keys ['from', 'points']"),
    "range of too many": (changed(n="{from: 1, to: 2, points: 1000000000}"), "n: points must be"),
    "log from zero": (changed(eps="{from: 0, to: 2, points: 3, log: true}"), "eps: from must be"),
    "too many points": (
        changed(n="&a {from: 1, to: 9000, points: 5000}", eps="{from: 1, to: 9, points: 5000}"),
        "50,000,000 points, more than",
    ),
    "calibrate what is given": (
        changed(quantity="calibrate eps0", delta=1.0e-3),
        "eps0 is not a key of this grid",
    ),
}


def test_a_sweep_leaves_a_parameter_out_where_a_mechanism_has_none_and_says_so_once(tmp_path, capsys):
    (tmp_path / "grid.yaml").write_text(
        changed(randomizer="[laplace, binary-rr, generalized-rr]", d="[3, 4]")
    )
    assert main(["sweep", str(tmp_path / "grid.yaml"), "--jobs", "1", "--rounds", "2", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == "shufflelib: d is left out for laplace, binary_rr, which does not take it\n"
    rows = json.loads(out)
    assert [row["randomizer"] for row in rows] == 2 * ["laplace"] + 2 * ["binary_rr"] + 4 * ["generalized_rr"]
    assert all(row["rounds"] == 2 for row in rows)
    expected = shuffle(randomizers.laplace(eps0=1.0), 10).compose(2).delta(0.2)
    assert (rows[0]["lower"], rows[0]["upper"]) == (expected.lower, expected.upper)


@pytest.mark.parametrize(("text", "words"), BAD_GRIDS.values(), ids=BAD_GRIDS)
def test_a_wrong_grid_ends_with_status_2_and_one_line_before_anything_is_written(
    tmp_path, capsys, text, words
):
    path = tmp_path / "grid.yaml"
    path.write_text(text)
    assert main(["sweep", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and words in err, err
    assert err.startswith(f"shufflelib: {path}")
    assert os.listdir(tmp_path) == ["grid.yaml"]


def test_files_that_cannot_be_read_or_written_are_said_in_one_line(tmp_path, capsys):
    path = tmp_path / "grid.yaml"
    path.write_text(GRID)
    os.mkfifo(tmp_path / "pipe")
    bad = [
        ([str(tmp_path / "none.yaml")], "cannot read"),
        ([str(tmp_path)], "cannot read"),
        ([str(path), "--output", str(tmp_path)], "output must be a file"),
        ([str(path), "--output", str(path)], "output must be a file"),
        ([str(path), "--output", str(path / "table.csv")], "cannot write"),
        ([str(path), "--cache", str(path)], "cannot write"),
        ([str(path), "--cache", ""], "cache must be the name"),
        ([str(path), "--jobs", "0"], "--jobs must be"),
        ([str(path), "--output", str(tmp_path / "pipe")], "output must be a file"),
        ([str(path), "--output", str(tmp_path / "t.cache")], "output must be a file"),
        ([str(path), "--jobs", "many"], "--jobs"),
        ([str(path), "--scheduler", "localhost"], "scheduler must be an address"),
        ([], "SPEC.yaml"),
    ]
    for arguments, words in bad:
        assert main(["sweep", *arguments]) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.count("\n") == 1 and words in err, (arguments, err)
    assert not (tmp_path / "grid.csv").exists() and (tmp_path / "pipe").is_fifo()


def command(path, *options, **how):
    arguments = [sys.executable, "-m", "shufflelib", "sweep", str(path), "--jobs", "1", *options]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)


def test_a_sweep_stopped_from_the_keyboard_keeps_what_is_done(tmp_path, capsys):
    path = tmp_path / "grid.yaml"
    path.write_text(changed(n="{from: 10, to: 4000, points: 1000}"))
    heard = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}  # ignored in background
    running = command(path, start_new_session=True, **heard)
    deadline = time.monotonic() + 60
    rows = tmp_path / "grid.cache" / "rows.jsonl"
    while not rows.exists() or rows.read_text().count("\n") < 5:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=100)
    assert running.returncode == 130 and out == "" and err.count("\n") == 1, err
    assert "stopped; what is done is kept in" in err and "goes on from there" in err
    kept = rows.read_text().count("\n")
    assert 5 <= kept < 2000 and sorted(os.listdir(tmp_path)) == ["grid.cache", "grid.yaml"]
    path.write_text(changed(n="{from: 10, to: 4000, points: 1000}", eps0="[1]"))
    assert main(["sweep", str(path), "--jobs", "1"]) == 0
    assert f"1000 rows, {kept} of them from" in capsys.readouterr().out


def test_a_reader_who_stops_early_is_no_error():
    command = f"{sys.executable} -m claims | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == "" and done.stdout.count("\n") == 1


@pytest.mark.parametrize(("after", "status"), [("> /dev/full", 2), ("> /dev/null", 0)])
@pytest.mark.parametrize(
    "asked",
    [
        "shufflelib mechanisms",
        "shufflelib --help",
        "shufflelib --version",
        "claims --paper gspa24",
        "claims --help",
    ],
)
def test_output_that_cannot_be_written_or_encoded(asked, after, status):
    command = f"PYTHONIOENCODING=ascii {sys.executable} -m {asked} {after}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert done.returncode == status and "Traceback" not in done.stderr

"""The command line: what it prints, and one line with status 2 for whatever is wrong."""

import json
import subprocess
import sys
from functools import partial

import pytest

from shufflelib import randomizers, shuffle
from shufflelib.calibration import fewest_users, largest_eps0, most_rounds
from shufflelib.cli import main

TEN = ["--randomizer", "generalized-rr", "--eps0", "1", "--d", "10", "--n", "100000"]
QUESTIONS = {"epsilon": ("delta", 1e-8), "delta": ("eps", 0.005), "renyi": ("order", 4.0)}


def profile():
    return shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=100_000)


@pytest.mark.parametrize(("quantity", "argument", "value"), [(q, *v) for q, v in QUESTIONS.items()])
def test_json_has_the_numbers_of_the_library(capsys, quantity, argument, value):
    assert main([quantity, *TEN, f"--{argument}", repr(value), "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.count("\n") == 1
    record, expected = json.loads(out), getattr(profile(), quantity)(value)
    assert (record["lower"], record["upper"]) == (expected.lower, expected.upper)
    assert (record["quantity"], record[argument], record["n"]) == (quantity, value, 100_000)
    assert {"adjacency", "proof", "hypotheses", "status", "randomizer"} <= record.keys()


@pytest.mark.parametrize(("quantity", "argument", "value"), [(q, *v) for q, v in QUESTIONS.items()])
def test_the_statement_names_value_side_users_adjacency_proof_and_hypotheses(
    capsys, quantity, argument, value
):
    assert main([quantity, *TEN, f"--{argument}", repr(value)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith(f"{quantity} <= ")
    for words in ("n = 100,000", "not below", "replace one", "privacy blanket", "trusted", "certified"):
        assert words in out


@pytest.mark.parametrize("users", ["100000", "1e5", "100000.0"])
def test_numbers_of_users_may_be_written_as_1e5(capsys, users):
    assert main(["delta", *TEN[:-1], users, "--eps", "0.005", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["n"] == 100_000
    assert record["upper"] == profile().delta(0.005).upper


GENERIC = ["--randomizer", "generic", "--eps0", "1"]


TARGET = ["--eps", "0.5", "--delta", "1e-6"]
ITEMS = ["--randomizer", "generalized-rr", "--d", "10"]
CALIBRATED = {
    "eps0": (
        [*ITEMS, "--n", "5000"],
        lambda: largest_eps0(partial(randomizers.generalized_rr, d=10), n=5000, eps=0.5, delta=1e-6),
    ),
    "users": (
        [*ITEMS, "--eps0", "2"],
        lambda: fewest_users(randomizers.generalized_rr(eps0=2.0, d=10), eps=0.5, delta=1e-6),
    ),
    "rounds": (
        [*ITEMS, "--eps0", "0.1", "--n", "5"],
        lambda: most_rounds(shuffle(randomizers.generalized_rr(eps0=0.1, d=10), n=5), eps=0.5, delta=1e-6),
    ),
}


@pytest.mark.parametrize(("wanted", "options", "question"), [(w, *q) for w, q in CALIBRATED.items()])
def test_calibrate_gives_the_answers_of_the_library(capsys, wanted, options, question):
    found = question()
    assert main(["calibrate", wanted, *options, *TARGET, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.count("\n") == 1
    record = json.loads(out)
    assert (record["quantity"], record["answer"]) == (wanted, found.answer)
    assert (record["unproved"], record["fails"]) == (found.unproved, found.fails)
    assert (record["lower"], record["upper"]) == (found.certificate.lower, found.certificate.upper)
    assert record["target"] == {"eps": 0.5, "delta": 1e-6} and record["upper"] <= 0.5
    assert {"adjacency", "proof", "hypotheses", "status", "randomizer"} <= record.keys()
    assert main(["calibrate", wanted, *options, *TARGET]) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.startswith(str(found))
    for words in ("not below", "replace one", "privacy blanket", "trusted", "certified"):
        assert words in out
    assert ("in each round" in out) == (wanted == "rounds")


def test_calibrate_takes_a_number_of_rounds(capsys):
    options = ["--randomizer", "binary-rr", "--eps0", "0.5", "--eps", "1", "--delta", "1e-5", "--rounds", "3"]
    assert main(["calibrate", "users", *options, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    found = fewest_users(randomizers.binary_rr(eps0=0.5), eps=1.0, delta=1e-5, rounds=3)
    assert (record["answer"], record["rounds"]) == (found.answer, 3)
    assert record["hypotheses"].startswith("in each round")


BAD = {
    "no command": ([], "quantity"),
    "unknown command": (["sigma", *TEN], "sigma"),
    "missing delta": (["epsilon", *TEN], "--delta"),
    "missing n": (["epsilon", *GENERIC, "--delta", "1e-6"], "--n"),
    "missing randomizer": (["epsilon", "--n", "10", "--delta", "1e-6"], "--randomizer"),
    "missing parameter": (["epsilon", *GENERIC[:2], "--n", "10", "--delta", "0.1"], "--eps0"),
    "missing d": (["epsilon", *TEN[:4], "--n", "10", "--delta", "0.1"], "--d"),
    "unknown randomizer": (["epsilon", "--randomizer", "coin", "--n", "10", "--delta", "0.1"], "coin"),
    "text for a number": (["epsilon", *TEN, "--delta", "tiny"], "tiny"),
    "text for n": (["epsilon", *GENERIC, "--n", "many", "--delta", "0.1"], "many"),
    "delta of two": (["epsilon", *TEN, "--delta", "2"], "delta must be"),
    "delta of zero": (["epsilon", *TEN, "--delta", "0"], "delta must be"),
    "delta not a number": (["epsilon", *TEN, "--delta", "nan"], "delta must be"),
    "no users": (["epsilon", *GENERIC, "--n", "0", "--delta", "0.1"], "n must be"),
    "half a user": (["epsilon", *GENERIC, "--n", "1.5", "--delta", "0.1"], "n must be"),
    "too many users": (["epsilon", *GENERIC, "--n", "1e16", "--delta", "0.1"], "n must be"),
    "infinitely many users": (["epsilon", *GENERIC, "--n", "inf", "--delta", "0.1"], "n must be"),
    "foreign option": (
        ["epsilon", *GENERIC, "--d", "10", "--n", "10", "--delta", "0.1"],
        "--d is no parameter",
    ),
    "unknown option": (["epsilon", *TEN, "--delta", "0.1", "--colour", "7"], "--colour"),
    "wrong quantity's option": (["epsilon", *TEN, "--eps", "0.1"], "--"),
    "negative eps0": (["epsilon", *GENERIC[:3], "-1", "--n", "10", "--delta", "0.1"], "eps0 must be"),
    "huge eps0": (["epsilon", *GENERIC[:3], "701", "--n", "10", "--delta", "0.1"], "eps0 must be"),
    "one item": (["epsilon", *TEN[:4], "--d", "1", "--n", "10", "--delta", "0.1"], "d must be"),
    "negative eps": (["delta", *TEN, "--eps", "-0.1"], "eps must be"),
    "calibrate nothing": (["calibrate"], "eps0|users|rounds"),
    "calibrate the unknown": (["calibrate", "sigma", *ITEMS, *TARGET], "sigma"),
    "calibrate what is given": (["calibrate", "eps0", *GENERIC, "--n", "10", *TARGET], "--eps0"),
    "calibrate without n": (["calibrate", "eps0", *ITEMS, *TARGET], "--n"),
    "calibrate without a target": (["calibrate", "users", *GENERIC, "--eps", "1"], "--delta"),
    "calibrate users by n": (["calibrate", "users", *GENERIC, "--n", "10", *TARGET], "--n"),
    "calibrate without d": (["calibrate", "users", *ITEMS[:2], "--eps0", "1", *TARGET], "--d"),
    "no budget to find": (
        ["calibrate", "eps0", "--randomizer", "gaussian", "--n", "10", *TARGET],
        "gaussian has no eps0",
    ),
    "no round": (["calibrate", "users", *GENERIC, *TARGET, "--rounds", "0"], "rounds must be"),
    "target of zero": (["calibrate", "users", *GENERIC, "--eps", "0", "--delta", "0.1"], "eps must be"),
    "delta of one": (["calibrate", "users", *GENERIC, "--eps", "1", "--delta", "1"], "delta must be"),
    "target out of reach": (
        ["calibrate", "users", *GENERIC, "--eps", "1e-9", "--delta", "1e-99"],
        "out of reach",
    ),
    "order of one": (["renyi", *TEN, "--order", "1"], "order must be"),
}


@pytest.mark.parametrize(("arguments", "words"), BAD.values(), ids=BAD)
def test_bad_input_ends_with_status_2_and_one_line(capsys, arguments, words):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\n") and err.count("\n") == 1, err
    assert words in err
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [["--help"], ["epsilon", "--help"], ["calibrate", "eps0", "--help"]])
def test_help_works_as_a_module(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "shufflelib", *arguments], capture_output=True, text=True, check=True
    )
    assert "shufflelib" in done.stdout and done.stderr == ""


def test_the_module_passes_on_the_exit_status():
    done = subprocess.run([sys.executable, "-m", "shufflelib", "epsilon"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1

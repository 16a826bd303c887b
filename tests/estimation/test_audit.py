"""The audit of a sampler: correct ones pass, slips are named, and bounds keep their confidence."""

import math

import numpy as np
import pytest

from shufflelib import randomizers
from shufflelib.__main__ import main
from shufflelib.estimation import audit

GRR = randomizers.generalized_rr(eps0=1.0, d=10)
RAPPOR = randomizers.rappor(eps0=2.0, d=16)
LAPLACE = randomizers.laplace(eps0=1.0)
CORRECT = {
    "generalized_rr": (GRR, None),
    "binary_rr": (randomizers.binary_rr(eps0=2.0), None),
    "rappor": (RAPPOR, None),
    "subset": (randomizers.subset(eps0=1.0, d=16), [0, 7]),
    "hadamard": (randomizers.hadamard(eps0=1.0, d=16), [0, 7]),
    "laplace": (LAPLACE, [0.0, 1.0]),
    "piecewise": (randomizers.piecewise(eps0=1.0), [-1.0, 1.0]),
    "gaussian": (randomizers.gaussian(sigma=2.0), None),
}


@pytest.mark.parametrize(("mechanism", "values"), CORRECT.values(), ids=CORRECT)
def test_the_package_s_own_samplers_pass(mechanism, values):
    found = audit(mechanism.sample, values, like=mechanism, draws=20_000)
    assert not found.refuted and found.slip == ""
    assert found.lower <= mechanism.eps0 and "no number of them shows" in str(found)


def redrawn(x, rng):
    keep = rng.random(len(x)) < math.e / (math.e + 9)
    return np.where(keep, x, rng.integers(10, size=len(x)))


SLIPS = {
    "redraw": (redrawn, GRR, None, "the true one included"),
    "half": (randomizers.generalized_rr(eps0=0.5, d=10).sample, GRR, None, "halved"),
    "double": (randomizers.generalized_rr(eps0=2.0, d=10).sample, GRR, None, "doubled"),
    "bits": (randomizers.generalized_rr(eps0=math.log(2), d=10).sample, GRR, None, "power of two"),
    "plain": (lambda x, rng: x, GRR, None, "reported as they are"),
    "each bit": (randomizers.rappor(eps0=4.0, d=16).sample, RAPPOR, None, "doubled"),
    "flipped": (lambda x, rng: 1 - RAPPOR.sample(x, rng), RAPPOR, None, "exchanged"),
    "one side": (randomizers.laplace(eps0=2.0).sample, LAPLACE, [0.0, 1.0], "doubled"),
    "variance": (
        randomizers.gaussian(sigma=math.sqrt(2.0)).sample,
        randomizers.gaussian(sigma=2.0),
        None,
        "the deviation is taken for the variance",
    ),
}


@pytest.mark.parametrize(("sample", "like", "values", "words"), SLIPS.values(), ids=SLIPS)
def test_a_slip_is_named(sample, like, values, words):
    found = audit(sample, values, like=like, draws=20_000)
    assert found.refuted and words in found.slip and found.slip in str(found)


def test_what_no_slip_explains_is_said():
    found = audit(lambda x, rng: 0 * x, like=GRR, draws=2_000)
    assert found.refuted and found.slip == "" and "no slip that was tried explains them" in str(found)
    assert found.lower == 0.0


def test_the_lower_bound_is_above_the_truth_as_rarely_as_it_says():
    """Of 400 audits of binary response at confidence 0.9, 40 may be expected to miss."""
    coin = randomizers.binary_rr(eps0=0.5)
    lower = [audit(coin.sample, [0, 1], draws=1000, confidence=0.9, seed=seed).lower for seed in range(400)]
    misses = sum(one > 0.5 for one in lower)
    assert misses <= 40 + 3 * 6 and np.mean(lower) > 0.2


def test_many_draws_come_close_to_the_truth():
    assert audit(redrawn, [0, 1], draws=400_000).lower > 0.97 * math.log(1 + 10 * math.e / 9)


def test_labels_and_rows_are_reports():
    found = audit(lambda x, rng: np.where(rng.random(len(x)) < 0.5, x, "ab"), ["ab", "cd"], draws=2_000)
    assert found.lower > 4 and set(found.values) == {"ab", "cd"} and found.stated is None


WRONG = {
    "no function": ((0.5, [0, 1]), TypeError, "sample must be a function"),
    "no values": ((redrawn,), ValueError, "values must be given"),
    "one value": ((redrawn, [0]), ValueError, "values must be 2 to 16, got 1"),
    "one report": ((lambda x, rng: 1, [0, 1]), ValueError, "one report for each of 100000 values"),
    "hashed": ((randomizers.local_hash(eps0=1.0, d=4).sample, [0, 1]), ValueError, "of a hashed report"),
}


@pytest.mark.parametrize(("given", "kind", "words"), WRONG.values(), ids=WRONG)
def test_wrong_input_is_refused(given, kind, words):
    with pytest.raises(kind, match=words):
        audit(*given)


SAMPLER = """
def sample(x, rng):
    return (x + rng.integers(2, size=len(x))) % 2
VALUES = [0, 1]
"""


def test_the_command_line_runs_a_file(tmp_path, capsys):
    path = tmp_path / "sampler.py"
    path.write_text(SAMPLER)
    asked = ["audit", str(path), "--draws", "2000"]
    assert main(asked) == 0
    assert "eps0 of one report is at least 0, " in capsys.readouterr().out
    assert main([*asked, "--randomizer", "rr", "--eps0", "1", "--json"]) == 1
    assert '"refuted": true' in capsys.readouterr().out
    path.write_text("")
    assert main(asked) == 2 and "must define sample(x, rng)" in capsys.readouterr().err
    assert main(["audit", str(tmp_path / "none.py")]) == 2 and "cannot read" in capsys.readouterr().err

"""Tables of certified numbers: those of the library, each computed once."""

import math

import numpy as np
import pytest

from shufflelib import aggregate, calibration, randomizers, recommend, shuffle
from shufflelib.sweeps import table, tabulate

SPEC = {"quantity": "epsilon", "randomizer": "binary-rr", "eps0": [1, 2.0], "n": [10, 50], "delta": 1e-3}


def test_a_table_has_the_numbers_of_the_library(tmp_path):
    asked = {"quantity": "delta", "randomizer": "binary-rr", "eps0": [1, 2.0], "n": [10, 20], "eps": 0.3}
    rows = tabulate(asked, n_jobs=1)
    assert [(row["eps0"], row["n"]) for row in rows] == [(1, 10), (1, 20), (2.0, 10), (2.0, 20)]
    rows += tabulate(asked | {"eps0": 1, "n": 5, "rounds": 2, "rate": 0.5}, n_jobs=1)
    for row in rows:
        profile = shuffle(randomizers.binary_rr(eps0=row["eps0"]), n=row["n"])
        profile = profile.subsample(rate=row.get("rate", 1)).compose(rounds=row.get("rounds", 1))
        expected = profile.delta(0.3)
        assert (row["lower"], row["upper"], row["status"]) == (expected.lower, expected.upper, "certified")
    rows = rows[-1:]
    assert list(rows[0]) == "quantity randomizer eps0 n eps rounds rate lower upper status".split()


def test_a_table_of_calibrated_settings_looks_like_no_privacy_where_there_is_no_answer():
    asked = {"quantity": "calibrate users", "randomizer": "binary-rr", "eps0": 1.0, "delta": 1e-99}
    row, refused = tabulate(asked | {"eps": [0.5, 1e-9]}, n_jobs=1)
    found = calibration.fewest_users(randomizers.binary_rr(eps0=1.0), eps=0.5, delta=1e-99)
    assert (row["answer"], row["unproved"], row["fails"]) == (found.answer, found.unproved, found.fails)
    assert (row["lower"], row["upper"]) == (found.certificate.lower, found.certificate.upper)
    assert ("answer" in refused, refused["lower"], refused["upper"]) == (False, 0.0, math.inf)
    assert refused["status"].startswith("refused: ") and "out of reach" in refused["status"]


def test_ranges_and_several_randomizers():
    points = table.grid_points(
        SPEC
        | {
            "randomizer": ["binary-rr", "laplace"],
            "n": {"from": 10, "to": 1e5, "points": 5, "log": True},
            "eps0": {"from": 0.5, "to": 1.5, "points": 3},
            "rounds": {"from": 1, "to": 3, "points": 9},
        }
    )
    assert len(points) == 2 * 5 * 3 * 3
    assert list(dict.fromkeys(point["n"] for point in points)) == [10, 100, 1000, 10**4, 10**5]
    assert list(dict.fromkeys(point["eps0"] for point in points)) == [0.5, 1.0, 1.5]
    assert list(dict.fromkeys(point["rounds"] for point in points)) == [1, 2, 3]
    assert all(type(point["n"]) is int for point in points)


def test_points_answered_side_by_side_are_those_answered_one_by_one():
    spec = {
        "quantity": "epsilon",
        "randomizer": ["binary_rr", "generic"],
        "n": [50, 10**5],
        "delta": [1e-6, 1e-3],
    }
    points = table.grid_points(spec | {"eps0": [0.5, 1.0, 3.0]})
    points.append(points[0] | {"eps0": 800.0})  # refused
    alone = [table._answer(**point) for point in points]
    assert table._rows(points) == alone
    fine = [point for point in points if point["eps0"] < 800.0]
    assert table._rows(fine) == [row for row in alone if not row[0]["status"].startswith("refused")]


ROWS = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]
OWN = {"quantity": "epsilon", "n": [50, 200], "delta": 1e-3}


def test_tables_and_mechanisms_stand_beside_names(tmp_path):
    np.save(tmp_path / "own.npy", ROWS)
    (tmp_path / "own.csv").write_text("\n".join(", ".join(map(str, row)) for row in ROWS))
    expected = [shuffle(randomizers.from_pmf(ROWS), n).epsilon(1e-3).upper for n in (50, 200)]
    files = [tmp_path / "own.csv", str(tmp_path / "own.npy"), np.array(ROWS)]
    rows = tabulate(OWN | {"pmf": files, "randomizer": randomizers.laplace(eps0=1.0)}, n_jobs=1)
    named = ["laplace(eps0=1.0)", *map(str, files[:2]), "table 4"]
    assert [row["randomizer"] for row in rows] == [name for name in named for _ in range(2)]
    assert [row["upper"] for row in rows[2:]] == 3 * expected
    assert tabulate(OWN | {"pmf": ROWS}, n_jobs=1)[1]["upper"] == expected[1]
    same = [randomizers.from_pmf([[0.8, 0.2], [0.2, 0.8]]), randomizers.from_pmf([[0.2, 0.8], [0.8, 0.2]])]
    assert repr(same[0]) == repr(same[1])
    assert len({row["randomizer"] for row in tabulate(OWN | {"randomizer": same}, n_jobs=1)}) == 2
    with pytest.warns(UserWarning, match="eps0 is left out for laplace"):
        both = {"randomizer": ["binary-rr", randomizers.laplace(eps0=1.0)], "eps0": [1.0, 2.0]}
        assert len(tabulate(OWN | both, n_jobs=1)) == 6


def test_files_of_tables_are_refused_as_on_the_command_line(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("1, 0\n0.5, 0.6")
    searched = {"quantity": "calibrate eps0", "eps": 1.0}
    for asked, kind, words in (
        ({"pmf": path}, ValueError, f"{path}: row 2 sums to 1.1; the probabilities of a row must sum to 1"),
        ({"pmf": "none.csv"}, OSError, "cannot read none.csv: No such file or directory; name a CSV file"),
        ({"pmf": path, "quantity": "error"}, ValueError, "no formula for its error"),
        ({"pmf": path} | searched, ValueError, "calibration.largest_eps0 takes a function"),
        ({"pmf": 3}, ValueError, "entries are probabilities"),
        ({}, ValueError, "randomizer is missing; give one of binary_rr"),
        ({"randomizer": randomizers.laplace(eps0=1.0)} | searched, ValueError, "no eps0 to calibrate"),
        ({"randomizer": [["binary-rr"]]}, ValueError, "randomizer must be a known one, got a list"),
    ):
        with pytest.raises(kind) as raised:
            tabulate(OWN | asked)
        assert words in str(raised.value) and "\n" not in str(raised.value)


def test_a_grid_of_sums_has_the_numbers_of_aggregate():
    asked = {"quantity": "epsilon", "n": 1000, "delta": 1e-6}
    spec = asked | {"randomizer": "gaussian", "sigma": [1.0, 2.0], "analyst": "sums", "changed": 2}
    rows = tabulate(spec, n_jobs=1)
    sums = [aggregate(randomizers.gaussian(sigma=row["sigma"]), 1000, changed=2) for row in rows]
    assert [row["upper"] for row in rows] == [one.epsilon(1e-6).upper for one in sums] and len(rows) == 2
    assert tabulate(asked | {"randomizer": "skellam", "mu": 0.1}, n_jobs=1)[0]["status"].startswith(
        "refused: analyst must be sums for skellam"
    )


def test_every_column_of_recommend_is_in_its_grid():
    asked = {"n": 1000, "eps": 1.0, "delta": 1e-6}
    spec = asked | {"quantity": "recommend", "task": ["mean", "sets"], "d": 8, "s": [2, 9]}
    with pytest.warns(UserWarning, match="[ds] is left out for mean"):
        rows = tabulate(spec, n_jobs=1)
    for task, sizes in (("mean", {}), ("sets", {"d": 8, "s": 2})):
        found = [row for row in rows if row["task"] == task and row.get("s") != 9]
        assert all("value" in row for row in found)
        expected = recommend(task=task, **sizes, **asked).rows
        assert [row["mechanism"] for row in found] == [row["mechanism"] for row in expected]
        for row, one in zip(found, expected, strict=True):
            assert {*one} - {*row} == {"python", "run", "sentence"}
            assert all(row[name] == one[name] for name in one if name in row)
            assert row["status"] == "certified; standard error exact"
    assert rows[-1]["status"].startswith("refused: s must be") and "value" not in rows[-1]
    few = {"n": 300, "eps": 0.01, "delta": 1e-9, "d": 4}
    left_out = recommend(**few).left_out
    rows = [row for row in tabulate(few | {"quantity": "recommend"}, n_jobs=1) if "value" not in row]
    assert {row["mechanism"]: row["status"] for row in rows} == {
        name: f"refused: {reason}" for name, reason in left_out.items()
    }
    assert left_out and all(row["n"] == 300 for row in rows)
    for wrong, words in (
        ({"task": "means"}, "task must be one of histogram, .*did you mean mean"),
        ({"analyst": "sum"}, "analyst must be one of reports, sums, got 'sum'"),
        ({"d": 1}, "d must be finite and >= 2"),
        (
            {"randomizer": "grr"},
            "randomizer is not a key of this grid: sets takes d, s; recommend takes n",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            tabulate(spec | {"task": "sets"} | wrong)

"""Tables of certified numbers: those of the library, each computed once."""

import math

from shufflelib import calibration, randomizers, shuffle
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
    alone = [table._row(**point) for point in points]
    assert table._rows(points) == alone
    fine = [point for point in points if point["eps0"] < 800.0]
    assert table._rows(fine) == [row for row in alone if not row["status"].startswith("refused")]

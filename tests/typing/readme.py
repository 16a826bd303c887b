"""A user's file: what README shows, and what a strict type checker says of it; `make lint` checks it."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from shufflelib import (
    Certified,
    LocalRandomizer,
    Status,
    aggregate,
    calibration,
    randomizers,
    recommend,
    record,
    registry,
    shuffle,
)
from shufflelib.profiles import PrivacyProfile
from shufflelib.published import closed_form
from shufflelib.shuffling import personal


def in_python() -> None:
    daily = shuffle(randomizers.generalized_rr(eps0=0.5, d=10), n=100_000)
    assert_type(daily, PrivacyProfile)
    assert_type(daily.epsilon(delta=1e-8), Certified[float])
    assert_type(daily.epsilon(delta=1e-8).upper, float)
    assert_type(daily.compose(rounds=30).epsilon(delta=1e-8).upper, float)
    assert_type(daily.epsilon(delta=1e-8).status, Status)
    assert_type(daily.compose(rounds=30).subsample(rate=0.1).delta(eps=0.5).upper, float)
    assert_type(daily.tradeoff([0.05, 0.1]).lower, NDArray[np.float64])
    assert_type(daily.renyi(np.arange(2, 10)).upper, NDArray[np.float64])


def published() -> None:
    bits = randomizers.unary.rappor(d=128, h=2, f=0.0, p=0.35, q=0.65)
    found = record(shuffle(bits, n=100_000, labels=100), delta=1e-8)
    assert_type(found, dict[str, Any])
    assert_type(registry.check(found).verdict, str)
    assert_type(registry.to_yaml(found), str)


def which_bound(n: int, eps0: float, table: list[list[float]]) -> None:
    mechanism: LocalRandomizer = randomizers.binary_rr(eps0=eps0)
    assert_type(shuffle(randomizers.laplace(eps0=1.0), n=n), PrivacyProfile)
    assert_type(shuffle(randomizers.from_pmf(table), n=n), PrivacyProfile)
    assert_type(shuffle(randomizers.generic(eps0=eps0), n=n), PrivacyProfile)
    assert_type(shuffle(randomizers.mixture([mechanism, mechanism], [0.5, 0.5]), n=n), PrivacyProfile)
    assert_type(personal.PersonalRandomizedResponse([0.5, 1.0], d=2).epsilon(user=0, delta=1e-6).upper, float)
    bits = randomizers.unary(d=5, p=0.1, q=0.9)
    assert_type(aggregate(bits, n=n, neighbours="zero").epsilon(1e-6).upper, float)
    assert_type(closed_form.stronger_clones_fmt23(eps0=eps0, n=n, delta=1e-8), float)


def plan() -> None:
    best = recommend(n=100_000, eps=0.5, delta=1e-8, d=64, rounds=30)
    assert_type(best.sentence, str)
    found = calibration.fewest_users(randomizers.binary_rr, eps0=1.0, eps=0.1, delta=1e-6)
    assert_type(found.certificate.upper, float)


def refused(bracket: Certified[float]) -> Any:
    """Show that the checker refuses what raises: a bracket is not a number, and names are not guessed."""
    number = float(bracket)  # type: ignore[arg-type]
    small = bracket < 1.0  # type: ignore[operator]
    return number, small, randomizers.laplase  # type: ignore[attr-defined]

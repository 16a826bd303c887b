"""What a profile looks like where nobody asked it a question."""

import re

import numpy as np
import pytest

from shufflelib import randomizers, shuffle
from shufflelib.profiles import DiscretePair, Gaussian, compose

TEN = shuffle(randomizers.generalized_rr(eps0=1.0, d=10), 1000)
SHOWN = {
    "shuffle(generalized_rr(eps0=1.0, d=10), n=1000)": TEN,
    "shuffle(generalized_rr(eps0=1.0, d=10), n=1000).compose(rounds=30)": TEN.compose(30),
    "shuffle(generalized_rr(eps0=1.0, d=10), n=1000).subsample(rate=0.1)": TEN.subsample(0.1),
    "Gaussian(mu=0.5).subsample(rate=0.1)": Gaussian(0.5).subsample(0.1),
    "Gaussian(mu=0.5).subsample(rate=0.1).reversed": Gaussian(0.5).subsample(0.1).reversed,
    "compose([Gaussian(mu=0.5), Gaussian(mu=1).compose(rounds=2)])": compose(
        [Gaussian(0.5), Gaussian(1.0).compose(2)]
    ),
    "<DiscretePair: a finite pair (P, Q)>": DiscretePair([0.0], [0.0]),
}


@pytest.mark.parametrize(("text", "profile"), SHOWN.items(), ids=SHOWN)
def test_a_profile_is_the_line_that_makes_it_and_a_small_table_with_a_curve(text, profile):
    assert repr(profile) == text
    html = profile._repr_html_()
    for delta in (1e-4, 1e-6, 1e-8):
        assert f"{delta:.0e}" in html and f"{profile.epsilon(delta):.4g}" in html
    assert html.count("<svg") == 1 and "nan" not in html
    xs = [float(x) for x in re.findall(r"([\d.]+),[\d.]+", html.split("polyline")[1])]
    assert xs == sorted(xs) and len(xs) == 482


def test_a_dictionary_of_a_profile_has_its_numbers_and_assumptions():
    found = TEN.to_dict()
    assert [one["upper"] for one in found["epsilon"]] == [TEN.epsilon(d).upper for d in (1e-4, 1e-6, 1e-8)]
    assert "trusted" in found["assumptions"]


MANY = shuffle(randomizers.laplace(eps0=1.0), 10**4)  # losses


@pytest.mark.parametrize(("profile", "width"), [(TEN, 1e-9), (MANY, 1e-4)], ids=["few", "many"])
def test_a_plot_draws_both_ends(profile, width):
    axes = profile.plot()
    (line,) = axes.lines
    assert line.get_ydata()[0] == pytest.approx(profile.delta(0.0).upper, rel=width)
    assert axes.get_title() == profile.statement
    eps, drawn = (one[::3] for one in line.get_data())  # also between computed points
    exact = profile.delta(eps)
    seen = exact.upper > 1e-8
    assert (exact.upper * (1.0 - width) <= drawn).all() and (drawn[seen] <= 1.3 * exact.upper[seen]).all()
    computed = np.linspace(0.0, line.get_xdata()[-1], 25)[:-1]
    exact = profile.delta(computed).upper
    assert np.interp(computed, *line.get_data()) == pytest.approx(exact, rel=2.0 * width)
    assert line.get_xdata()[-1] == pytest.approx(profile.epsilon(1e-8).upper, rel=0.01)

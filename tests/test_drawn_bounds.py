"""What is drawn as certified is proved wherever it is drawn: points at random places of all pictures."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection

from shufflelib import randomizers, shuffle
from shufflelib.numerics.between import between, convex
from shufflelib.profiles import DiscretePair

ROUNDING = 1e-9  # of the arithmetic of drawing
POINTS = 100  # random places of a curve
rng = np.random.default_rng(20)


def line_at(ax, line, x):
    """Height of a drawn line over x, as displayed, NaN where there is none."""
    if line.get_linestyle() == "None":
        return np.nan
    points = line.get_xydata()
    with np.errstate(divide="ignore"):
        shown = ax.transScale.transform(points)
        (here, _) = ax.transScale.transform((x, 1.0))
    for (x0, y0), (x1, y1) in zip(shown[:-1], shown[1:], strict=True):
        if x0 < here < x1:
            height = y0 if y0 == y1 else y0 + (y1 - y0) * (here - x0) / (x1 - x0)
            return ax.transScale.inverted().transform((here, height))[1]
    return np.nan


def shade_at(ax, shade, x):
    """Lowest and highest height of a shade over x, NaN where there is none above the edge of the picture."""
    if isinstance(shade, LineCollection):
        return np.nan, np.nan
    (path,) = shade.get_paths()
    low, high = ax.get_ylim()
    least = low if low > 0.0 else 0.0
    with np.errstate(divide="ignore"):
        ends = ax.transScale.transform([(x, least), (x, high)])
    corners = ax.transScale.transform(np.clip(path.vertices, [-np.inf, least], np.inf))
    heights = [
        y0 + (y1 - y0) * (ends[0, 0] - x0) / (x1 - x0)
        for (x0, y0), (x1, y1) in zip(corners[:-1], corners[1:], strict=True)
        if min(x0, x1) < ends[0, 0] < max(x0, x1)
    ]
    if not heights or max(heights) <= ends[0, 1]:
        return np.nan, np.nan
    back = ax.transScale.inverted().transform([(ends[0, 0], min(heights)), (ends[0, 0], max(heights))])
    return tuple(back[:, 1])


def line_of(ax, name):
    return next(line for line in ax.get_lines() if line.get_label() == name)


def random_pairs():
    """Finite pairs, one whose δ(ε) is convex on the logarithmic scale between 0 and 4."""
    yield DiscretePair(np.log([0.5, 0.49, 0.01]), np.log([0.55, 0.4499, 0.0001]))
    for size in (2, 3, 5, 8):
        p, q = rng.dirichlet(np.full(size, 0.4), 2) + 1e-9
        yield DiscretePair(np.log(p / p.sum()), np.log(q / q.sum()))


PROFILES = [
    *random_pairs(),
    shuffle(randomizers.generalized_rr(eps0=2.0, d=5), 30),
    shuffle(randomizers.from_pmf([[0.9, 0.1], [0.3, 0.7]]), 200).subsample(0.3),
    next(random_pairs()).compose(3),
]


@pytest.mark.parametrize("profile", PROFILES, ids=repr)
def test_a_profile_draws_both_bounds_where_they_are_proved(profile):
    ax = profile.plot()
    (line,), (shade,) = ax.lines, ax.collections
    end = line.get_xdata()[-1]
    places = np.append(rng.uniform(0.0, end, POINTS), 0.1151 if end > 0.1151 else end / 3.0)
    found = profile.delta(places)
    least = ax.get_ylim()[0] * (1.0 + ROUNDING)
    for x, lower, upper in zip(places, found.lower, found.upper, strict=True):
        assert line_at(ax, line, x) >= lower * (1.0 - ROUNDING), x
        low, high = shade_at(ax, shade, x)
        assert low <= max(upper * (1.0 + ROUNDING), least), x
        assert high >= lower * (1.0 - ROUNDING), x


def test_bounds_of_a_convex_function_hold_between_the_points():
    for _ in range(20):
        x = np.sort(rng.uniform(0.0, 1.0, 6))
        power, wide = rng.uniform(1.0, 6.0), rng.uniform(0.0, 0.05, 6)
        at = np.sort(rng.uniform(x[0], x[-1], POINTS))
        there, truth = (1.0 - x) ** power, (1.0 - at) ** power
        lower, upper = convex(x, there - wide, there + 2.0 * wide, at)
        assert np.all(lower <= truth + 1e-12) and np.all(truth <= upper + 1e-12)
        joined = np.interp(at, x, there)
        assert np.all(upper <= joined + 2.0 * wide.max() + 1e-12) and np.all(joined - lower < 1.0)


def test_points_without_a_bound_are_left_out():
    lower, upper = convex([0.0, 1.0, 2.0], [4.0, np.nan, 0.0], [4.0, np.inf, 0.0], [1.0])
    assert (lower.tolist(), upper.tolist()) == ([0.0], [2.0])
    assert np.isnan(convex([0.0, 1.0], [np.nan] * 2, [np.nan] * 2, [0.5])).all()
    _, lower, upper = between([1, 2, 3], [3, np.nan, 1], [4, np.nan, 2], "falls")
    assert np.isnan(lower).tolist() == [False, True, True, False, False, False]
    assert np.isnan(upper).tolist() == [False, False, False, True, True, False]
    with pytest.raises(ValueError, match="known must be one of falls, rises, got 'up'; draw"):
        between([1, 2], [3, 2], [3, 2], "up")

"""All bounds on one question: which of them apply, what they prove, and the two gaps."""

import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pytest

from shufflelib import randomizers, shuffle
from shufflelib.published import comparison, renyi
from shufflelib.shuffling import VariationRatioPair
from viz.looks import LOOKS

ASKED = {"n": 3000, "delta": 1e-6}
PURE = {
    "2-RR": randomizers.binary_rr(eps0=1.0),
    "10-RR": randomizers.generalized_rr(eps0=0.4, d=10),
    "subset": randomizers.subset(eps0=2.0, d=12),
    "Laplace": randomizers.laplace(eps0=1.0),
    "generic": randomizers.generic(eps0=1.0),
}


def answers(randomizer, **asked):
    return {one.bound.name: one for one in comparison.compare(randomizer, **(asked or ASKED))}


@pytest.mark.parametrize("name", PURE)
def test_what_is_not_refuted_or_a_limit_stays_above_the_truth(name):
    found = answers(PURE[name])
    lower = found["certified lower"].eps
    assert lower <= found["certified upper"].eps
    for answer in found.values():
        if not ("refuted" in answer.bound.says or "limit" in answer.bound.says or math.isnan(answer.eps)):
            assert answer.eps >= lower


def test_each_answer_is_that_of_its_own_function():
    found = answers(PURE["10-RR"])
    ends = shuffle(PURE["10-RR"], n=3000).epsilon(1e-6)
    assert (found["certified lower"].eps, found["certified upper"].eps) == (ends.lower, ends.upper)
    assert "1/2" not in found["EFMRTT'19"].reason and found["EFMRTT'19"].eps < 0.4
    # 12 eps0 sqrt(log(1/delta) / n)
    assert math.isclose(found["EFMRTT'19"].eps, 12 * 0.4 * math.sqrt(math.log(1e6) / 3000), rel_tol=1e-12)
    assert found["variation-ratio pair"].eps < found["certified lower"].eps  # refuted, and shown to be
    for name, pair in (
        ("stronger clones FMT'23, pair", renyi.generic_pair(eps0=0.4, n=3000)),
        ("clones FMT'21, pair", renyi.clones_pair_fmt21(eps0=0.4, n=3000)),
        ("variation-ratio pair", VariationRatioPair.of(PURE["10-RR"], n=3000)),
    ):
        assert found[name].eps == pair.epsilon(1e-6).upper


def test_the_answers_have_looks_and_their_words_agree_with_them():
    for bound in comparison.ALL:
        worth = LOOKS[bound.name][2]
        assert (worth == "limit") == ("limit" in bound.says)
        assert worth != "proved" or "certified" in bound.says
    assert len({bound.name for bound in comparison.ALL}) == len(comparison.ALL)


@pytest.mark.parametrize("name", PURE)
def test_the_gaps_add_up_to_the_bracket(name):
    gaps = comparison.gaps(PURE[name], **ASKED)
    ends = shuffle(PURE[name], n=3000).epsilon(1e-6)
    assert gaps.attack_lower <= gaps.attack_upper and gaps.bound_lower <= gaps.bound_upper
    np.testing.assert_allclose((gaps.attack_lower, gaps.bound_upper), (ends.lower, ends.upper), rtol=1e-5)
    assert gaps.numerical < 1e-4
    assert gaps.theory < 0.5
    total = gaps.bound_upper / gaps.attack_lower - 1.0
    assert math.isclose(gaps.theory + gaps.numerical, total, abs_tol=1e-4)


def test_a_local_budget_that_holds_for_one_pair_only_is_not_taken_for_that_of_all_inputs():
    metric = randomizers.metric_laplace(d01=1.0, dmax=2.0)
    answers = {one.bound.name: one for one in comparison.compare(metric, **ASKED)}
    for name, one in answers.items():
        if "clones" in name or "blanket, " in name and "index" not in name:
            assert math.isnan(one.eps) and "for the pair alone" in one.reason, name
    # the stronger clones at eps0 = d01 would have claimed less than an attack finds
    claimed = renyi.generic_pair(eps0=1.0, n=ASKED["n"]).epsilon(ASKED["delta"]).upper
    assert claimed < answers["certified lower"].eps
    near = comparison.compare(randomizers.metric_laplace(d01=1.0, dmax=1.0), **ASKED)
    assert not any("for the pair alone" in one.reason for one in near)


@pytest.mark.parametrize(
    "randomizer",
    [
        randomizers.generic(eps0=1.3e-6),  # (p - 1)/(p + 1) falls below the published beta in rounding
        randomizers.generic(eps0=1e-10),
        randomizers.generic(eps0=400.0),
        randomizers.generic(eps0=30.0),  # the normal limit's mu exceeds what is computed
        randomizers.privkv(eps0=2.7, d=3, s=3),  # a published beta above 1
        randomizers.witch_hat(d01=1.0, dmax=1.0, brim=1.0, height=0.3679),  # and one below 0
    ],
    ids=repr,
)
def test_a_bound_that_cannot_answer_does_not_silence_the_others(randomizer):
    answers = comparison.compare(randomizer, n=50, delta=0.01)
    assert len(answers) == len(comparison.ALL)
    assert all(math.isnan(one.eps) == bool(one.reason) for one in answers)
    assert not answers[0].reason and not answers[1].reason


def test_a_comparison_is_a_table_wherever_it_is_shown():
    asked = comparison.compare(randomizers.laplace(eps0=1.0), n=1000, delta=1e-6)
    text, html = repr(asked), asked._repr_html_()
    for one in asked:
        assert one.bound.name in text and (one.reason or one.bound.says) in text
        assert html.count("<tr>") == len(asked) + 1
    assert len(asked.to_dict()["rows"]) == len(asked)
    assert len(asked.plot().patches) == sum(one.reason == "" for one in asked)


def _labels_overlap(axes):
    """Return whether labels of one axis run into each other."""
    axes.figure.canvas.draw()
    for axis in (axes.xaxis, axes.yaxis):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels(which="both") if label.get_text()]
        if any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2)):
            return True
    return False


@pytest.mark.parametrize("farthest", [1.001, 3.0, 12.0, 40.0, 1e3, 1e12])
@pytest.mark.parametrize("count", [1, 4, 16, 60])
def test_names_and_ticks_of_many_bounds_keep_apart(count, farthest):
    bounds = [comparison.Bound(f"{place} of a long name", "", None) for place in range(count)]
    sizes = 0.21 * np.geomspace(1.0, 1.0 / farthest, count)
    drawn = comparison.Comparison(map(comparison.Answer, bounds, sizes, [""] * count)).plot()
    assert len(drawn.patches) == count and not _labels_overlap(drawn)
    plt.close(drawn.figure)


def test_a_comparison_of_bounds_that_do_not_apply_is_drawn_empty():
    early = [bound for bound in comparison.ALL if bound.name == "EFMRTT'19"]
    drawn = comparison.compare(randomizers.laplace(eps0=1.0), n=1000, delta=1e-6, bounds=early).plot()
    assert not drawn.patches
    plt.close(drawn.figure)

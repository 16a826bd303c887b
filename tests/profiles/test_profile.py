"""A profile made by hand: which of its bounds answer which question, and when they are built."""

import math

import pytest

from shufflelib.profiles import Bounds, Gaussian, PrivacyProfile, Profile
from shufflelib.profiles.questions import repeated, sampled

FAR, NEAR = Gaussian(1.0), Gaussian(0.5)


def made(**bounds):
    """Return a profile between two Gaussian pairs."""
    return Profile(bounds=lambda: Bounds((FAR,), (NEAR,), **bounds), statement="an example")


def test_pairs_above_bound_from_above_and_pairs_below_from_below():
    profile = made()
    for question, argument in (("delta", 0.3), ("epsilon", 1e-3), ("renyi", 2.0)):
        found, above, below = (getattr(one, question)(argument) for one in (profile, FAR, NEAR))
        assert [found.lower, found.upper] == pytest.approx([below.lower, above.upper], rel=1e-9)
    found = profile.tradeoff(0.1)
    assert (found.lower, found.upper) == (FAR.tradeoff(0.1).lower, NEAR.tradeoff(0.1).upper)


def test_what_is_attained_at_each_epsilon_counts_for_delta_and_epsilon_alone():
    plain, better = made(), made(attained=(Gaussian(0.9),))
    for question, argument in (("delta", 0.3), ("epsilon", 1e-3)):
        found = getattr(better, question)(argument)
        assert found.lower == pytest.approx(getattr(Gaussian(0.9), question)(argument).lower, rel=1e-9)
        assert found.upper == getattr(plain, question)(argument).upper
    for question, argument in (("renyi", 2.0), ("tradeoff", 0.1)):
        assert getattr(better, question)(argument) == getattr(plain, question)(argument)
    assert better.compose(3).delta(0.5) == plain.compose(3).delta(0.5)


def test_a_further_bound_on_renyi_divergences_counts_for_these_alone():
    plain, better = made(), made(renyi=lambda order: 0.3 * order)
    assert plain.renyi(2.0).upper > 0.6 == better.renyi(2.0).upper
    assert better.renyi(2.0).lower == plain.renyi(2.0).lower
    assert better.compose(3).renyi(2.0).upper < 1.8 * (1 + 1e-12)
    assert better.delta(0.3) == plain.delta(0.3)


def test_a_pure_guarantee_known_without_the_pairs_counts():
    profile = made(pure_epsilon=0.2)
    assert profile.pure_epsilon == 0.2 and profile.delta(0.3).upper == 0.0
    assert math.isclose(profile.compose(3).pure_epsilon, 0.6)


def test_bounds_are_built_once_and_only_for_a_question():
    built = []

    def bounds():
        built.append(1)
        return Bounds((FAR,), (NEAR,))

    profile = Profile(bounds=bounds, statement="an example")
    rounds = profile.subsample(0.1).compose(3)
    assert not built and repr(rounds) == "<Profile: an example>.subsample(rate=0.1).compose(rounds=3)"
    rounds.delta(0.01)
    profile.delta(0.1)
    assert built == [1]


def kinds(base):
    """Return all classes below one that are defined so far, and itself."""
    return [base, *(kind for below in base.__subclasses__() for kind in kinds(below))]


@pytest.mark.parametrize("verb", [sampled, repeated])
def test_every_kind_of_profile_has_rounds_and_samples(verb):
    """Both are set for classes where these are known, and no class is left to the default."""
    missing = [kind for kind in kinds(PrivacyProfile)[1:] if verb.dispatch(kind) is verb.dispatch(object)]
    assert not missing

"""An answer depends on the question alone, not on earlier ones or a fork; nothing keeps a profile alive."""

import copy
import dataclasses
import gc
import os
import pickle
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from shufflelib import profiles, randomizers, shuffle
from shufflelib.interop import to_dp_accounting
from shufflelib.profiles import DiscretePair, Gaussian
from shufflelib.shuffling import PersonalizedPair
from shufflelib.shuffling.personal import permute_then_randomize

CROOKED = np.log([0.6, 0.3, 0.1]), np.log([0.3, 0.3, 0.4])


def daily(n=300):
    """Return one round of a mechanism."""
    return shuffle(randomizers.generalized_rr(eps0=1.0, d=3), n=n)


MAKERS = {
    "a mechanism": daily,
    "several pairs": lambda: shuffle(
        randomizers.joint([randomizers.binary_rr(eps0=0.5), randomizers.generalized_rr(eps0=1.0, d=3)]), n=50
    ),
    "rounds": lambda: daily().compose(5),
    "rounds of a pair": lambda: DiscretePair(*CROOKED).compose(4),
    "unequal rounds": lambda: profiles.compose([daily(), Gaussian(0.1)]),
    "a sample": lambda: daily().subsample(0.1),
    "rounds of samples": lambda: daily().subsample(0.1).compose(5),
    "a sample of rounds": lambda: daily().compose(5).subsample(0.1),
    "a sample of rounds of pairs": lambda: profiles.compose([Gaussian(0.3), Gaussian(0.2)]).subsample(0.2),
    "a sample of rounds of samples": lambda: daily().subsample(0.5).compose(3).subsample(0.2),
    "personal budgets": lambda: PersonalizedPair(np.linspace(0.1, 1.0, 60)),
}


def ends(found):
    """Return both ends of an answer."""
    return float(found.lower), float(found.upper)


@pytest.mark.parametrize("made", MAKERS)
def test_an_answer_is_the_same_after_other_questions(made):
    fresh, used = MAKERS[made](), MAKERS[made]()
    used.epsilon(1e-9)
    used.epsilon(0.3)
    assert ends(used.delta(0.02)) == ends(fresh.delta(0.02))
    assert ends(used.epsilon(1e-3)) == ends(fresh.epsilon(1e-3))


def test_a_converted_profile_is_the_same_after_other_questions():
    fresh, used = daily().compose(5), daily().compose(5)
    used.dominating_pairs[0].log_hockey_stick(1.0)
    one, two = (
        to_dp_accounting(profile, value_discretization_interval=1e-2).get_epsilon_for_delta(1e-6)
        for profile in (fresh, used)
    )
    assert one == two


def test_a_converted_sample_is_the_same_after_other_questions():
    fresh, used = (MAKERS["a sample of rounds"]() for _ in range(2))
    used.epsilon(1e-7)
    one, two = (
        to_dp_accounting(profile, value_discretization_interval=1e-2).get_epsilon_for_delta(1e-4)
        for profile in (fresh, used)
    )
    assert one == two


FORKED = """
import os, signal, threading, time
from shufflelib.profiles import Gaussian
slow = threading.Thread(target=lambda: Gaussian(0.1).compose(7).renyi(2.0) and [
    Gaussian(0.1 + 1e-3 * i).compose(5).epsilon(1e-6) for i in range(100)], daemon=True)
slow.start()
time.sleep(0.5)
for _ in range(3):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        Gaussian(0.5).compose(4).delta(0.5)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        os._exit(1)
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_while_a_thread_computes_gets_its_answer():
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], timeout=120)
    assert ran.returncode == 0


@pytest.mark.parametrize("made", MAKERS)
def test_a_profile_is_freed_with_its_last_reference(made):
    profile = MAKERS[made]()
    profile.delta(0.02)
    seen = [weakref.ref(profile), *(weakref.ref(pair) for pair in profile.dominating_pairs)]
    del profile
    gc.collect()
    assert [one() for one in seen] == [None] * len(seen)


@pytest.mark.parametrize("made", MAKERS)
def test_a_profile_is_a_value(made):
    """Questions leave its fields as they were; a copy, pickled or not, gives the same answers."""
    profile = MAKERS[made]()
    fields = {} if not dataclasses.is_dataclass(profile) else dict(vars(profile))
    answer = ends(profile.delta(0.02))
    assert all(vars(profile)[name] is value for name, value in fields.items())
    for other in (copy.copy(profile), pickle.loads(pickle.dumps(profile))):
        assert repr(other) == repr(profile) and ends(other.delta(0.02)) == answer
    for name in fields:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(profile, name, None)


def test_threads_that_share_a_profile_get_its_answers():
    shared, asked = daily().compose(3), [0.1, 0.2, 0.1, 0.2]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda eps: ends(shared.delta(eps)), asked))
    assert found == [ends(daily().compose(3).delta(eps)) for eps in asked]


def test_another_thread_may_replace_what_is_kept_at_any_time(monkeypatch):
    made, expected = daily().compose(3), ends(daily().compose(3).delta(0.3))
    sides = made._directions
    anew = property(lambda _: [[copy.copy(pair) for pair in side] for side in sides])
    monkeypatch.setattr(profiles.PrivacyProfile, "_directions", anew)
    assert ends(made.delta(0.3)) == expected


def test_personal_budgets_that_were_rounded_are_freed(monkeypatch):
    monkeypatch.setattr(permute_then_randomize, "MOST_KINDS", 20)
    pair = MAKERS["personal budgets"]()
    pair.delta(0.02)
    seen = weakref.ref(pair)
    del pair
    gc.collect()
    assert seen() is None

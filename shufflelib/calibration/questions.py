"""What can be asked of a mechanism by name: each question takes a constructor, and numbers by name."""

from shufflelib.calibration import targets
from shufflelib.shuffling.shuffled import shuffle


def profile(randomizer, *, n, rounds=1, rate=1.0, **parameters):
    """Return the profile of n shuffled reports, drawn at a rate, over some rounds."""
    return shuffle(randomizer(**parameters), n).subsample(rate).compose(rounds)


def epsilon(randomizer, *, n, delta, rounds=1, rate=1.0, **parameters):
    """Enclose ε at δ."""
    return profile(randomizer, n=n, rounds=rounds, rate=rate, **parameters).epsilon(delta)


def delta(randomizer, *, n, eps, rounds=1, rate=1.0, **parameters):
    """Enclose δ at ε."""
    return profile(randomizer, n=n, rounds=rounds, rate=rate, **parameters).delta(eps)


def renyi(randomizer, *, n, order, rounds=1, rate=1.0, **parameters):
    """Enclose the Rényi divergence of an order."""
    return profile(randomizer, n=n, rounds=rounds, rate=rate, **parameters).renyi(order)


def tradeoff(randomizer, *, n, fpr, rounds=1, rate=1.0, **parameters):
    """Enclose the smallest false-negative rate at a false-positive rate."""
    return profile(randomizer, n=n, rounds=rounds, rate=rate, **parameters).tradeoff(fpr)


QUESTIONS = {
    "epsilon": epsilon,
    "delta": delta,
    "renyi": renyi,
    "tradeoff": tradeoff,
    "calibrate eps0": targets.largest_eps0,
    "calibrate sigma": targets.smallest_sigma,
    "calibrate users": targets.fewest_users,
    "calibrate rounds": targets.most_rounds,
}
LOOKED_FOR = {"calibrate eps0": "eps0", "calibrate sigma": "sigma"}  # what the question finds

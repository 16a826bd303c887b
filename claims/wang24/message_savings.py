"""What multi-message protocols save by the variation-ratio paper's bounds: Figures 3 and 4."""

import math

import numpy as np

from claims.claim import Check, reproduced_if, smaller_if
from claims.exact_count_pair import counts_pair, evenly
from shufflelib import randomizers
from shufflelib.published import closed_form
from shufflelib.published import multi_message as published_messages


def _bins_pair(target, d=16, delta=1e-6):
    """Return the pair of balls into bins, with as many balls as the original lemma asks for, and its δ."""
    balls = published_messages.balls_into_bins_blanket(d=d, s=1, eps=target, delta=delta)
    return {"p": math.inf, "beta": 1.0, "q": float(d), "n": balls + 1, "delta": delta}


def _fake_users_pair(target, messages=10_000):
    delta = 0.01 / messages
    flip = published_messages.cheu_zhilyaev_flip(messages=messages, eps=target, delta=delta)
    one = randomizers.cheu_zhilyaev(d=16, flip=flip)
    return {"p": one.p, "beta": one.beta, "q": one.q, "n": messages + 1, "delta": delta}


FIGURES_34 = ((_fake_users_pair, 0.42, 1.5), (_bins_pair, 0.01, 1.5))


def _savings(effort, epsilon):
    return {
        protocol.__name__: [
            1.0 - epsilon(**protocol(target)) / target for target in evenly(effort, low, high)
        ]
        for protocol, low, high in FIGURES_34
    }


def _numerical(p, beta, q, n, delta):
    return counts_pair(n, p, beta, q).epsilon(delta).upper


def _at_least(share, epsilon):
    def check(effort):
        found = sum(_savings(effort, epsilon).values(), [])
        evidence = f"{min(found):.1%} to {max(found):.1%} saved at {len(found)} targets of Figures 3 and 4"
        return reproduced_if(min(found) >= share, evidence)

    return check


def _tighter(effort):
    analytic = sum(_savings(effort, closed_form.variation_ratio_analytic).values(), [])
    asymptotic = closed_form.variation_ratio_asymptotic
    fake = _savings(effort, asymptotic)["_fake_users_pair"]
    left = asymptotic(**_bins_pair(0.01))
    last = next(t for t in np.linspace(0.01, 0.2, 96) if asymptotic(**_bins_pair(float(t))) < t)
    steps = (
        f"balls into bins, d = 16, delta = 1e-6, target 0.01: Theorem 4.8 gives epsilon <= {left:.6g}",
        f"it is below the target from {last:.3g} on; Cheu and Zhilyaev: saves {fake[0]:.1%} and more",
        f"Theorem 4.7 saves at least {min(analytic):.1%}",
    )
    ok = min(analytic) > 0.0 and left > 0.01 and min(fake) > 0.0
    evidence = (
        f"Theorem 4.8 at the left end of Figure 4 gives {left:.5f} for a target of 0.01; tighter from "
        f"{last:.3g} on"
    )
    return smaller_if(ok, evidence, steps)


def _axis(effort):
    starts = {}
    for messages in (10**4, 10**5):
        low, high = 0.01, 1.5
        while high - low > 1e-4:
            middle = (low + high) / 2.0
            try:
                published_messages.cheu_zhilyaev_flip(messages=messages, eps=middle, delta=0.01 / messages)
                high = middle
            except closed_form.OutOfRegime:
                low = middle
        starts[messages] = high
    steps = tuple(
        f"N = {n}: no f <= 1/2 gives the original guarantee below {x:.3f}" for n, x in starts.items()
    )
    evidence = (
        f"the original guarantee exists from {starts[10**4]:.3f} (10^4 messages) and {starts[10**5]:.3f} "
        "(10^5) on"
    )
    return reproduced_if(max(starts.values()) <= 0.01 + 1e-4, evidence, steps)


CHECKS = {
    "wang24-figures-3-4": Check(_at_least(0.73, _numerical)),
    "wang24-multi-message-70": Check(_at_least(0.70, _numerical)),
    "wang24-theorem-4.7-saves-50": Check(_at_least(0.50, closed_form.variation_ratio_analytic)),
    "wang24-closed-forms-tighter": Check(_tighter),
    "wang24-figure-3-axis": Check(_axis),
}

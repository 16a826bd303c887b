"""Multi-message protocols in the variation-ratio paper: Table 3, bounds with it, tightness."""

import math
from fractions import Fraction

from claims import exact_channels as channels
from claims.claim import Check, Finding, Verdict, refuted_if, smaller_if
from claims.exact_count_pair import both_ways, counts_delta, printed, witness
from claims.failure_curve import Along, within
from shufflelib import randomizers
from shufflelib.shuffling import multi_message
from shufflelib.shuffling.variation_ratio import VariationRatioPair


def _message_row(build, formula, settings):
    """Return the check of p, β and q in exact fractions; the last row of a channel is the blanket."""

    def found(*setting):
        *own, blanket = build(*setting)
        p = max(
            math.inf if b == 0 else a / b for r in own for s in own for a, b in zip(r, s, strict=True) if a
        )
        q = max(a / b for r in own for a, b in zip(r, blanket, strict=True))
        return p, channels.total_variation(own), q

    def check(effort):
        for setting in settings:
            if found(*setting) != formula(*setting):
                return Finding(Verdict.REFUTED, f"{setting}: p, beta, q = {found(*setting)}")
        p, beta, q = found(*settings[0])
        evidence = f"{len(settings)} settings in exact fractions, all as printed; the first: "
        return Finding(Verdict.HOLDS, f"{evidence}p = {p}, beta = {beta}, q = {q}")

    return check


def _coin(chance):
    return [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)], [1 - chance, chance]]


SHARES = [Fraction(x, 20) for x in (4, 2, 5, 8, 10, 15)]

TABLE_3 = {
    "wang24-table3-biased-coin": Check(
        _message_row(_coin, lambda c: (math.inf, 1, max(1 / c, 1 / (1 - c))), [(c,) for c in SHARES])
    ),
    "wang24-table3-fair-coin": Check(_message_row(_coin, lambda c: (math.inf, 1, 2), [(Fraction(1, 2),)])),
    "wang24-table3-cheu-zhilyaev": Check(
        _message_row(
            channels.fake_users,
            lambda f, d: ((1 - f) ** 2 / f**2, 1 - 2 * f, (1 - f) / f),
            [(f, d) for f in SHARES[:5] for d in (2, 3)],
        )
    ),
    "wang24-table3-balls-into-bins": Check(
        _message_row(
            channels.bins,
            lambda d, s: (math.inf, 1, Fraction(d, s)),
            [(6, 2), (4, 1), (4, 2), (6, 3), (9, 3)],
        )
    ),
    "wang24-table3-mixdump": Check(
        _message_row(
            channels.mixed_dummies,
            lambda f, d: ((1 - f) * (d - 1) / f, ((1 - f) * (d - 1) - f) / (d - 1), (1 - f) * d),
            [(f, d) for f in SHARES for d in (4, 6)],
        )
    ),
}


def _user_1_among(channel, others, blanket, ratio):
    """Return δ of user 1, with item 0 or 1, among the items ``others`` and ``blanket`` noise messages."""
    return both_ways(channel, 0, 1, (*others, *[len(channel) - 1] * blanket), ratio)


def _messages_count(effort):
    tried = 0
    protocols = (channels.bins(4, 1), channels.bins(6, 2), channels.mixed_dummies(Fraction(1, 5), 4))
    for channel in (*protocols, channels.fake_users(Fraction(1, 10), 2)):
        for blanket in (1, 2):
            for ratio in (Fraction(1), Fraction(3, 2), Fraction(4)):
                alone = _user_1_among(channel, (), blanket, ratio)
                for x in range(len(channel) - 1):
                    tried += 1
                    if _user_1_among(channel, (x,), blanket, ratio) > alone:
                        return Finding(Verdict.REFUTED, f"{channel}: more messages reveal more")
    return Finding(
        Verdict.HOLDS, f"{tried} exact cases; proved by revealing which messages carry the others' items"
    )


def _bins_are_exact(effort):
    cases = [(channels.bins(4, 1), 4, x) for x in range(4)] + [(channels.bins(6, 2), 3, x) for x in range(3)]
    for channel, q, x in cases:
        for ratio in (Fraction(1), Fraction(3, 2), Fraction(3)):
            pair = counts_delta(3, ratio, p=math.inf, beta=1, q0=q)
            if _user_1_among(channel, (x,), 2, ratio) != pair:
                return Finding(Verdict.REFUTED, f"d/s = {q}, other holds {x}, e^eps = {ratio}: not {pair}")
    return Finding(Verdict.HOLDS, f"{3 * len(cases)} exact equalities, whatever the other user holds")


def _dummies_are_exact_alone(effort):
    channel, ratio = channels.mixed_dummies(Fraction(1, 5), 4), Fraction(2)
    pair = counts_delta(3, ratio, p=12, beta=Fraction(11, 15), q0=Fraction(16, 5))
    alone = _user_1_among(channel, (), 2, ratio)
    shared = max(_user_1_among(channel, (x,), 2, ratio) for x in range(4))
    steps = (
        "mixDUMP, d = 4, f = 1/5, two users with one blanket message each, e^epsilon = 2",
        f"the pair: {printed(pair)}; with the other user's message revealed: {printed(alone)}",
        f"with it in the shuffle, worst of four items: {printed(shared)}",
    )
    evidence = (
        f"exact if the others' messages are revealed; else the pair is {float(pair / shared):.4g} times "
        "the truth"
    )
    return smaller_if(shared < alone == pair, evidence, steps)


def _two_fake_users(ratio):
    """Return (true δ, the pair's) for f = 1/10, d = 3, two users with one blanket message each."""
    truth = _user_1_among(channels.fake_users(Fraction(1, 10), 3), (2,), 2, ratio)
    return truth, counts_delta(3, ratio, p=81, beta=Fraction(4, 5), q0=9)


def _tight_fake_users(effort):
    steps, apart = [], []
    for ratio in (Fraction(2), Fraction(10), Fraction(80)):
        truth, pair = _two_fake_users(ratio)
        apart.append(pair / truth)
        steps.append(f"e^epsilon = {ratio}: the pair {printed(pair)}, the truth {printed(truth)}")
    evidence = (
        f"the pair is {', '.join(f'{float(x):.4g}' for x in apart)} times the truth at e^epsilon = 2, 10, 80"
    )
    lines = ("f = 1/10, d = 3, two users with one blanket message each, the other one holds the third item",)
    return refuted_if(
        min(apart) < 1 < max(apart), f"f = 1/10, d = 3, three messages hide: {evidence}", (*lines, *steps)
    )


def _fake_users_certified(blanket):
    """Return (true δ, the pair's) at e^ε = 9/2 for f = 1/4 and two users, lower bound and upper bound."""
    protocol, eps = randomizers.cheu_zhilyaev(d=3, flip=0.25), math.log(4.5)
    truth = multi_message.shuffle_messages(protocol, n=2, dummy_messages=blanket).delta(eps).lower
    return truth, multi_message.published_pair(protocol, dummy_messages=blanket).delta(eps).upper


STAND_IN = 10**5  # what the released code puts for an infinite p


def _with_and_without(blanket):
    """Return balls into 16 bins with p infinite, beta = 1, and as in the released code."""
    return (
        VariationRatioPair(n=blanket + 1, p=math.inf, beta=1.0, q0=16.0),
        VariationRatioPair(n=blanket + 1, p=STAND_IN, beta=(STAND_IN - 1) / (STAND_IN + 1), q0=16.0),
    )


def _large_for_infinite():
    many = [one.epsilon(1e-6) for one in _with_and_without(3301)]
    values = {"none": (15 / 16) ** 100, "released": many[1].upper, "meant": many[0].lower}
    return *_at_a_hundred(math.log(STAND_IN)), values


def _large_for_infinite_exactly():
    """Return δ at e^ε = 10⁵ of every dataset, four blanket messages in four bins, and as released."""
    p = Fraction(STAND_IN)
    as_released = counts_delta(5, p, p=p, beta=(p - 1) / (p + 1), q0=4)
    return counts_delta(5, p, p=math.inf, beta=1, q0=4), as_released


def _at_a_hundred(eps):
    """Return δ of a hundred blanket messages in 16 bins: with p infinite, and as released."""
    few = _with_and_without(100)
    return few[0].delta(eps).lower, few[1].delta(eps).upper


CHECKS = {
    **TABLE_3,
    "wang24-blanket-messages": Check(_messages_count),
    "wang24-cheu-zhilyaev-bound": Check(
        witness(lambda: _two_fake_users(Fraction(10))),
        witness(lambda: _fake_users_certified(4)),
        Along((2, 4, 6, 8, 12, 16, 24, 32, 48), _fake_users_certified),
    ),
    "wang24-tight-cheu-zhilyaev": Check(
        _tight_fake_users,
        witness(lambda: _fake_users_certified(4)),
        Along(
            [Fraction(x) for x in (1, 2, 3, 4, 6, 8, 10, 15, 20, 30, 45, 60, 80)],
            _two_fake_users,
            within(1e-6),
        ),
    ),
    "wang24-tight-balls-into-bins": Check(_bins_are_exact),
    "wang24-tight-mixdump": Check(_dummies_are_exact_alone),
    "wang24-released-infinite-p": Check(
        witness(_large_for_infinite),
        witness(_large_for_infinite_exactly),
        Along([*range(1, 12), 11.2, 11.4, 11.5], _at_a_hundred),
    ),
}

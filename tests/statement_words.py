"""What a statement to publish promises, read from its words alone: a mechanism, a crowd, ε and δ."""

import re
from functools import partial

from shufflelib import aggregate, randomizers, shuffle
from shufflelib.shuffling.multi_message import shuffle_messages


def one_block(eps0, d, order):
    """Return Hadamard response with one block, which fixes its order."""
    found = randomizers.hadamard(eps0=eps0, d=d)
    assert (found.K, found.B) == (order, 1)
    return found


MECHANISMS = {
    r"randomized response": randomizers.generalized_rr,
    r"basic RAPPOR": randomizers.rappor,
    r"optimized unary encoding": randomizers.optimized_unary,
    r"subset selection of (?P<k>[\d,]+) options": randomizers.subset,
    r"local hashing to (?P<l>[\d,]+) values": randomizers.local_hash,
    r"Hadamard response with one block of order (?P<order>[\d,]+)": one_block,
    r"one random bit \(Duchi et al.\)": randomizers.duchi,
    r"the piecewise mechanism": randomizers.piecewise,
    r"Laplace noise of scale 1/eps0": randomizers.laplace,
    r"PrivSet, which reports (?P<k>[\d,]+) of the options and dummies,": randomizers.subset_exponential,
    r"the collision mechanism with (?P<l>[\d,]+) values": randomizers.collision,
    r"the wheel mechanism with arcs of length (?P<arc>\S+)": randomizers.wheel,
    r"basic RAPPOR of one item drawn": randomizers.sampled_rappor,
    r"PCKV-GRR": randomizers.pckv_grr,
    r"PrivKV with half of eps0 for the key": randomizers.privkv,
    r"randomized response on a random level of a hierarchy with (?P<branching>[\d,]+) children of each node "
    r"and (?P<d>[\d,]+) values": randomizers.hierarchical,
}
NOISE = {"Skellam": randomizers.skellam, "Gaussian": randomizers.gaussian}


def whole(words):
    return int(words.replace(",", ""))


def search(pattern, statement):
    found = re.search(pattern, statement)
    assert found, (pattern, statement)
    return found


def promised(statement, mechanisms=MECHANISMS):
    """Return the profile that the words describe, and the ε and δ that they promise."""
    crowd = search(
        r"(?:mixes|reveals the sums of) the \w+ of (?:at least ([\d,]+) (?:of |users))?([\d,]+ users drawn)?",
        statement,
    )
    drawn = re.search(r"([\d,]+) users drawn at random from ([\d,]+)\.", statement)
    n = whole(crowd[1]) if crowd[1] else whole(drawn[1])
    one_of, a_set = (
        r"one of ([\d,]+) (?:options|values in order|bins of a number in \[0, 1\])",
        r"a set of up to ([\d,]+) of ([\d,]+) options, filled up to \2",
    )
    pairs = r"up to ([\d,]+) of ([\d,]+) keys with a number in \[-1, 1\] each, filled up to \4 with dummies"
    cells = r"one of ([\d,]+) by \6 cells of a square"
    kinds = f"{one_of}|{a_set} with dummies|{pairs}|{cells}|a number in \\[0, 1\\]"
    held = search(rf"its value, (?:{kinds}),", statement)
    d = {"d": whole(held[1])} if held[1] else {}
    if held[4]:
        d = {"d": whole(held[4]) + whole(held[5]), "s": whole(held[4])}
    if held[6]:
        d = {"d": whole(held[6]) ** 2}
    if held[2]:
        d = {"d": whole(held[2]) + whole(held[3]), "s": whole(held[2])}
    joined, seen = shuffle, "shuffled messages" if " sends once " in statement else "shuffled reports"
    if "secure aggregation reveals the sums" in statement:
        joined, seen = partial(aggregate, changed=2 if d else 1), "sums"
    search(f"Whoever sees the {seen} learns", statement)
    if sent := re.search(
        r"sends once .* and (1(?= random message, an)|[\d,]+(?= random messages, each an)) ", statement
    ):
        one = shuffle_messages(randomizers.balls_into_bins(**d), n=n, dummy_messages=n * whole(sent[1]))
    elif added := re.search(r", once, with (\w+) noise of (mu|sigma) = (\S+) added( to each)?,", statement):
        assert bool(added[4]) == bool(d)
        one = joined(NOISE[added[1]](**{added[2]: float(added[3])}), n)
    else:
        with_what = search(r", once, with (.*?) at eps0 = (\S+), and", statement)
        ((match, build),) = (
            (found, build)
            for words, build in mechanisms.items()
            if (found := re.fullmatch(words, with_what[1]))
        )
        sizes = {
            name: float(size) if "." in size else whole(size) for name, size in match.groupdict().items()
        }
        one = joined(build(eps0=float(with_what[2]), **(d | sizes)), n)
    rounds = re.search(r"In each of ([\d,]+) rounds every ", statement)
    assert rounds or "Each " in statement
    rate = whole(drawn[1]) / whole(drawn[2]) if drawn else 1.0
    says = search(r"at most epsilon = (\S+) at delta = (\S+) about", statement)
    profile = one.subsample(rate).compose(whole(rounds[1]) if rounds else 1)
    return profile, float(says[1]), float(says[2])

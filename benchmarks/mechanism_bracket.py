"""One ε of a mechanism, 10-ary randomized response at δ = 1e-8: cost, and how wide the bracket is.

The theory gap is what the blanket and the best attack leave open; the numeric share is the width of the
blanket's own bracket, floating point and search.  Both peers evaluate the blanket alone, from one input to
another, where ours finds both bounds in both directions; one evaluation is timed and counted as often as a
bisection to 1e-5 needs it.  "Term by term" is exact; the released code's grid rounds every loss up, so its δ
must not lie below ours.
"""

from benchmarks.published_terms import delta_of_blanket, delta_on_a_grid
from benchmarks.runner import Benchmark, Case, Peer
from shufflelib import randomizers, shuffle

EPS0, D, DELTA = 1.0, 10, 1e-8
EVALUATIONS = 17  # of δ, until [0, eps0] is down to 1e-5
MOST_TERMS, MOST_CELLS = 3000, 10**4
MOST_ABOVE = 3.0  # times our δ, which rounding up each of 1e4 losses may reach


def case(n):
    """Compute ε of a mechanism without cached results; the peers' δ at our upper bound is checked."""

    def fresh():
        return shuffle(randomizers.generalized_rr(eps0=EPS0, d=D), n=n)

    def exact(answer, delta):
        known = [pair.delta(answer.upper) for pair in fresh().dominating_pairs]
        return any(ends.lower * (1 - 1e-6) <= delta <= ends.upper * (1 + 1e-6) for ends in known)

    def above(answer, delta):
        return (
            1.0
            <= delta / max(pair.delta(answer.upper).lower for pair in fresh().dominating_pairs)
            < MOST_ABOVE
        )

    def facts(answer):
        blanket = [pair.epsilon(delta=DELTA) for pair in fresh().dominating_pairs]
        numeric = max(one.upper for one in blanket) / max(one.lower for one in blanket) - 1.0
        return {"relative width": answer.upper / answer.lower - 1.0, "numeric share": numeric}

    peers = []
    if n <= MOST_TERMS:
        terms = lambda answer: delta_of_blanket(answer.upper, EPS0, D, n)  # noqa: E731
        peers += [Peer("term by term", terms, exact, EVALUATIONS)]
    if n <= MOST_CELLS:
        grid = lambda answer: delta_on_a_grid(answer.upper, EPS0, D, n)  # noqa: E731
        peers += [Peer("released grid", grid, above, EVALUATIONS)]
    return Case(ours=lambda: fresh().epsilon(delta=DELTA), peers=tuple(peers), facts=facts)


BENCHMARK = Benchmark(
    name="mechanism_bracket",
    title=r"$\varepsilon$ of 10-ary response",
    grows="users",
    sizes=(100, 300, 1000, 3000, 10**4, 10**5, 10**6, 10**8, 10**10, 10**12),
    quick=(100,),
    case=case,
)

"""How fast the package is and how its cost grows, beside peers that do the same job in the same run.

    python -m benchmarks [--quick] [name ...]

Each file has one question: the task, its sizes, and the peers that also solve it.  `runner` measures,
`report` writes `results.csv`, `results.md` and `results.png`.  `latency` has no peers: it says in seconds how
long one waits for single questions, and writes `latency.csv` and the last table of `results.md`.
`python -m benchmarks.agreement` installs other packages and asks them the same questions: `agreement.md`.
"""

from benchmarks import (
    composition,
    fresh_interpreter,
    mechanism_bracket,
    pair_delta,
    pair_vs_terms,
    personalized,
    renyi_orders,
    sgd_epoch,
    sgd_step,
)

ALL = (
    pair_delta.BENCHMARK,
    pair_vs_terms.BENCHMARK,
    mechanism_bracket.BENCHMARK,
    renyi_orders.BENCHMARK,
    composition.BY_ROUNDS,
    composition.BY_USERS,
    personalized.BENCHMARK,
    sgd_step.BENCHMARK,
    sgd_epoch.BENCHMARK,
    fresh_interpreter.BENCHMARK,
)

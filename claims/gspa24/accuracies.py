"""Accuracies of training with personal budgets that GSPA prints, beside those of the committed runs."""

from claims.claim import Check, reproduced_if
from claims.committed_runs import CLOSE, committed, last_accuracies, told

ORDER = ("Unif 3, U(0.5, 1)", "Constant, 0.5", "Unif 2, U(0.01, 2)")


def _by_budgets(name, **columns):
    return last_accuracies(name, "accuracy, %", "budgets", **columns)


def _beside(published, budgets):
    """Return the check that compares a published accuracy with that of the committed runs."""

    def check(effort):
        ours = _by_budgets("gspa24_fig4_mnist")
        runs = len({row["run"] for row in committed("gspa24_fig4_mnist")})
        evidence = f"published {published} %, ours {ours[budgets]:.1f} % ({budgets}), without noise "
        evidence += f"{ours['no noise']:.1f} %, test; {told(runs)}"
        steps = (
            "MNIST, 50 epochs, 1000 hidden units, noise for 2C/m with m examples of a client",
            evidence,
        )
        return reproduced_if(abs(published - ours[budgets]) <= CLOSE, evidence, steps)

    return check


def _order_of_budgets(effort):
    found = {"1000 hidden units": _by_budgets("gspa24_fig4_mnist")}
    for noise in ("for 2C/m, m clients", "for 2C/m, m examples"):
        found[f"linear, {noise}"] = _by_budgets("gspa24_noise_mnist", noise=noise)
    values = {name: [ours[budgets] for budgets in ORDER] for name, ours in found.items()}
    steps = tuple(f"MNIST, {name}: " + " > ".join(f"{x:.1f}" for x in some) for name, some in values.items())
    holds = all(three > constant > two for three, constant, two in values.values())
    best = all(max(ours, key=ours.get) in (ORDER[0], "no noise") for ours in found.values())
    return reproduced_if(holds and best, "; ".join(steps), steps)


CHECKS = {
    "gspa24-accuracy-best": Check(_beside(96.78, ORDER[0])),
    "gspa24-accuracy-constant": Check(_beside(94.8, ORDER[1])),
    "gspa24-accuracy-spread": Check(_beside(93.5, ORDER[2])),
    "gspa24-figure-4-order": Check(_order_of_budgets),
}

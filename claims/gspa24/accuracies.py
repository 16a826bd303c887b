"""Accuracies of training with personal budgets that GSPA prints, beside those of the committed runs."""

from claims.claim import Check, reproduced_if
from claims.committed_runs import CLOSE, COUNTS, ONE, committed, last_accuracies, told

ORDER = ("Unif 3, U(0.5, 1)", "Constant, 0.5", "Unif 2, U(0.01, 2)")


def _told(row):
    """Return in words an accuracy of the committed table: its spread, and what m means."""
    return f"{told(row['ours, %'], row['least'], row['most'], row['runs'])}, m {row['m']}"


def _beside(published, budgets):
    """Return the check that compares a published accuracy with those of all meanings of m."""

    def check(effort):
        table = committed("gspa24_accuracies")
        ours = [row for row in table if row["budgets"] == budgets]
        plain = next(row for row in table if row["budgets"] == "no noise")
        found = "; ".join(map(_told, ours))
        evidence = f"published {published} %, ours {found}; without noise {_told(plain)}; {COUNTS}"
        steps = ("MNIST, test images, 50 epochs, 1000 hidden units, noise for 2C/m", evidence)
        close = [row for row in ours if abs(published - float(row["ours, %"])) <= CLOSE]
        return reproduced_if(any(row["runs"] != ONE for row in close), evidence, steps)

    return check


def _in_order(ours):
    three, constant, two = (ours[budgets] for budgets in ORDER)
    return three > constant > two and max(ours, key=ours.get) in (ORDER[0], "no noise")


def _order_of_budgets(effort):
    """The means of each meaning of m, and a linear model; beside them each run of Figure 4."""
    found, runs = {}, {}
    for row in committed("gspa24_accuracies"):
        found.setdefault(f"m {row['m']}", {})[row["budgets"]] = float(row["ours, %"])
    for noise in ("m clients", "m examples", "m a batch"):
        where = {"noise": f"for 2C/m, {noise}"}
        found[f"linear, {noise}"] = last_accuracies("gspa24_noise_mnist", "accuracy, %", "budgets", **where)
    for run in sorted({row["run"] for row in committed("gspa24_fig4_mnist")}):
        runs[f"run {run}"] = last_accuracies("gspa24_fig4_mnist", "accuracy, %", "budgets", run=run)
    steps = tuple(
        f"MNIST, {name}: " + ", ".join(f"{ours[budgets]:.1f}" for budgets in ORDER)
        for name, ours in (found | runs).items()
    )
    kept = f"this order in {sum(map(_in_order, runs.values()))} of {len(runs)} runs"
    evidence = f"Unif 3, Constant, Unif 2; {kept}; {'; '.join(steps)}"
    return reproduced_if(all(map(_in_order, found.values())), evidence, steps)


CHECKS = {
    "gspa24-accuracy-best": Check(_beside(96.78, ORDER[0])),
    "gspa24-accuracy-constant": Check(_beside(94.8, ORDER[1])),
    "gspa24-accuracy-spread": Check(_beside(93.5, ORDER[2])),
    "gspa24-figure-4-order": Check(_order_of_budgets),
}

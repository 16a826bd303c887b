"""Answer questions read from standard input with the package that is importable: time, memory and ends."""

import inspect
import json
import sys
import time

import numpy as np

from shufflelib import calibration, randomizers, recommend, shuffle
from shufflelib.interop import to_dp_accounting
from shufflelib.shuffling import personal
from shufflelib.shuffling.multi_message import shuffle_messages


def peak(reset=False):
    """Return the largest resident memory since it was reset, in MB; 0 where the system does not tell."""
    try:
        if reset:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))
    except OSError:
        return 0.0


def ends(answer):
    """Return both bounds of an answer as floats, or None twice."""
    answer = getattr(answer, "certificate", answer)
    if hasattr(answer, "lower") and np.ndim(answer.lower) == 0:
        return float(answer.lower), float(answer.upper)
    return (float(answer), float(answer)) if isinstance(answer, float) else (None, None)


def main():
    """Answer line by line."""
    rng = np.random.default_rng(60)
    names = {"shuffle": shuffle, "shuffle_messages": shuffle_messages, "randomizers": randomizers, "np": np}
    names |= {"calibration": calibration, "personal": personal, "recommend": recommend}
    names |= {"to_dp_accounting": to_dp_accounting, "budgets": rng.uniform(0.1, 2.0, 2000)}
    if "dummy_messages" not in inspect.signature(shuffle_messages).parameters:  # its name until 1.0.0
        names["shuffle_messages"] = lambda mechanism, n, dummy_messages: shuffle_messages(
            mechanism, n=n, blanket=dummy_messages
        )
    names["table"] = rng.dirichlet(np.full(60, 5.0), 60)
    shuffle(randomizers.laplace(eps0=1.0), n=1000).compose(2).epsilon(1e-3)  # loads what is loaded once
    for line in sys.stdin:
        peak(reset=True)
        begun = time.process_time()
        try:
            answer = eval(json.loads(line), names)
        except ValueError:  # a target may be out of reach
            answer = None
        took = time.process_time() - begun
        lower, upper = ends(answer)
        print(json.dumps({"seconds": took, "MB": peak(), "lower": lower, "upper": upper}), flush=True)


if __name__ == "__main__":
    main()

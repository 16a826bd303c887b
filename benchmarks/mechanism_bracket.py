"""Cost and width of one ε of a mechanism: 10-ary randomized response, 1e8 users, δ = 1e-10.

    python benchmarks/mechanism_bracket.py

Every time is the best of five fresh interpreters, so that nothing is remembered; the memory is the peak of
such an interpreter, package and scipy included.  The theory gap is what the blanket and the best attack leave
open; the numeric share is the width of the blanket's own bracket, floating point and search.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

TIMED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
NAMES = "import shufflelib", "from shufflelib import randomizers, shuffle"


def measure(eps0, d, n, delta):
    """Return what one interpreter finds: seconds, both ends, both ends of the blanket's pair, memory."""
    from shufflelib import randomizers, shuffle

    mechanism = shuffle(randomizers.generalized_rr(eps0=eps0, d=d), n=n)
    start = time.perf_counter()
    ends = mechanism.epsilon(delta=delta)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    blanket = [pair.epsilon(delta=delta) for pair in mechanism.above]
    numeric = max(one.upper for one in blanket) / max(one.lower for one in blanket) - 1.0
    return {
        "seconds": seconds,
        "lower": ends.lower,
        "upper": ends.upper,
        "theory gap": ends.upper / ends.lower - 1.0,
        "numeric share": numeric,
        "bytes": memory,
    }


def fresh(*arguments):
    """Return what a new interpreter prints."""
    return subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--eps0", type=float, default=1.0)
    options.add_argument("--d", type=int, default=10)
    options.add_argument("--n", type=int, default=10**8)
    options.add_argument("--delta", type=float, default=1e-10)
    options.add_argument("--once", action="store_true", help="measure in this interpreter, print JSON")
    given = options.parse_args()
    setting = {name: getattr(given, name) for name in ("eps0", "d", "n", "delta")}
    if given.once:
        print(json.dumps(measure(**setting)))
        sys.exit()
    here = [__file__, "--once", *(f"--{name}={value}" for name, value in setting.items())]
    runs = [json.loads(fresh(*here)) for _ in range(5)]
    small = [json.loads(fresh(*here, f"--n={given.n // 10**4 or 1}")) for _ in range(5)]
    imports = {name: min(float(fresh("-c", TIMED.format(name))) for _ in range(5)) for name in NAMES}
    best, best_small = (min(run["seconds"] for run in group) for group in (runs, small))
    one = runs[0]
    print("randomized response, " + ", ".join(f"{name} = {value:g}" for name, value in setting.items()))
    print(f"  cost at n over cost at n/10^4   {best / best_small:.2f}")
    print(f"  theory gap, upper/lower - 1     {one['theory gap']:.2e}")
    print(f"  numeric share of the upper end  {one['numeric share']:.2e}")
    print(f"  eps                             {one['lower']:.9g} to {one['upper']:.9g}")
    print(f"  seconds for eps                 {best:.3f}   ({best_small:.3f} at n/10^4)")
    for name, seconds in imports.items():
        print(f"  seconds for {name}: {seconds:.3f}")
    print(f"  peak memory                     {max(run['bytes'] for run in runs) / 1e6:.0f} MB")

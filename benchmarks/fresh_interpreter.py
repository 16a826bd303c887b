"""What a fresh interpreter pays, itself included: importing the package, its first ε, and the memory held.

The first ε is that of 10-ary randomized response with 1e8 users at δ = 1e-10.  Peers are an interpreter that
does nothing, numpy with scipy's special functions, on which the package rests, and both accountants.
"""

import subprocess
import sys
from functools import partial

from benchmarks.runner import Benchmark, Case, Peer

OURS = "import shufflelib"
FIRST = (
    "from shufflelib import randomizers, shuffle;"
    "shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=10**8).epsilon(delta=1e-10)"
)
PEERS = {
    "nothing": "pass",
    "names of shufflelib": "from shufflelib import randomizers, shuffle",
    "first epsilon": FIRST,
    "numpy and scipy": "import numpy, scipy.special",
    "dp-accounting": "import dp_accounting",
    "prv-accountant": "import prv_accountant",
}
QUICK = ("nothing", "numpy and scipy")
HEAVY = ("sklearn", "dp_accounting", "matplotlib", "ipywidgets", "scipy")
MEMORY = """
import re, sys
loaded = list(sys.modules)
try:
    peak = re.search("VmHWM: *(.*) kB", open("/proc/self/status").read().replace("\\t", " "))[1]
except OSError:
    peak = 0  # elsewhere the peak that can be asked for includes that of the parent
print(peak, *loaded)
"""


def fresh(statement):
    """Return the peak memory of a new interpreter and the modules it has loaded."""
    command = [sys.executable, "-W", "ignore", "-c", f"{statement}\n{MEMORY}"]
    memory, *modules = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return {"memory": int(memory), "modules": modules}


def light(ours, theirs):
    """Return whether importing the package loads no heavy module."""
    return not set(HEAVY) & set(ours["modules"])


def case(size):
    """Import; the only size is 1, and 0 leaves the slow peers out."""
    names = PEERS if size else QUICK
    nothing = fresh("pass")["memory"]

    def memory(answer):
        return {"memory over nothing": answer["memory"] / nothing} if nothing else {}

    peers = [Peer(name, lambda answer, run=PEERS[name]: fresh(run), light, facts=memory) for name in names]
    return Case(ours=partial(fresh, OURS), peers=tuple(peers), facts=memory)


BENCHMARK = Benchmark(
    name="fresh_interpreter",
    title="A fresh interpreter",
    grows="interpreters",
    sizes=(1,),
    quick=(0,),
    case=case,
)

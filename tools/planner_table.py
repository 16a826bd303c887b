"""Compute the table behind the page without a server: ``python tools/planner_table.py``, or ``make planner``.

For each mechanism the table holds ε at a grid of local budgets, users and δ.  Every entry is proved: at that
ε the upper bound on δ was computed and is at most the δ of the column.  An answer between the points stays a
proof: a report with a smaller budget is a noisier report of a larger one, and more users are the same users
and some whose values are known.  Entries are whole numbers on a logarithmic scale, written with the scale to
``book/planner/table.js``, so that the page opens from a file.

Randomized response with more options has a smaller δ at the same ε₀.  With p = 1/(e^ε₀ + d - 1) its bound is
E[(X₁ + … + Xₙ)₊]/n, where X is e^ε₀ - e^ε or 1 - e^(ε₀ + ε) with probability p each, 0 with probability
(e^ε₀ - 1) p, and otherwise 1 - e^ε, its mean.  A larger d moves mass to the mean, so that X becomes smaller
in convex order.  For d = 2 this is the bound of ``generic``.

Laplace noise of a larger scale is that of a smaller scale plus independent noise, so a smaller budget is a
noisier report of a larger one for it too.

The piecewise mechanism has the X of randomized response with 1 + u options, u = e^(ε₀/2): p = 1/(u² + u).
As u grows, so does E(X - t)₊ for every t: it is (u² - e^ε - t) p for t ≥ 0, to which (1 - u²) p t is added
for t < 0, and E(t - X)₊ is (u² e^ε - 1 + t) p for small t; E X stays.  So a smaller budget has a smaller δ.
"""

import base64
import io
import json
import math
import sys
import zlib
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from tqdm import tqdm

from shufflelib import randomizers, shuffle
from shufflelib.numerics.atomic_files import replace
from shufflelib.profiles.questions import in_both_directions

ROOT = Path(__file__).resolve().parents[1]
TABLE, KEPT = ROOT / "book/planner/table.js", ROOT / "build/planner"
DELTAS = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12]
COARSE = [round(10 ** (k / 26)) for k in range(2 * 26, 8 * 26 + 1)]
FINE = [*range(100, 160), *(round(10 ** (k / 104)) for k in range(2 * 104, 550))]  # ε may fall by jumps
USERS = sorted({*COARSE, *FINE})
LEAST_BUDGET, MOST_BUDGET = 0.1, 8.0
GROWTH = 0.04  # of log ε between two budgets of the grid
WIDE = 1.095  # ratio of ε across a cell from which it is divided
SMALLEST, STEP = 1e-7, 3e-4  # entry k > 0 stands for ε = SMALLEST · exp(STEP · k), entry 0 for ε = 0
ACCURACY = 1e-3  # relative, of δ
MISSING = 2**16 - 1  # stands for the entry of a point not computed
SPARE = 1e-12  # entries are proved a little below, so that a browser's exp may round otherwise

MECHANISMS = {
    "generic": (randomizers.generic, {}),
    "binary_rr": (randomizers.binary_rr, {}),
    **{f"generalized_rr_{d}": (randomizers.generalized_rr, {"d": d}) for d in (4, 10, 32, 100)},
    "optimized_unary": (randomizers.optimized_unary, {"d": 100}),  # proved for fewer options too
    "laplace": (randomizers.laplace, {}),
    "piecewise": (randomizers.piecewise, {}),
}


def decoded(entry):
    """Return the ε that an entry stands for, or each of several."""
    return np.where(entry, SMALLEST * np.exp(STEP * np.asarray(entry, dtype=float)), 0.0)[()]


def entries(mechanism, n, deltas=DELTAS, near=None):
    """Return the entry of each δ for one mechanism and n users, each proved, and about 0.5 % too large.

    The search begins at the entries ``near``, if given.  All δ are asked at once; each answer helps all.
    """
    pairs, last = in_both_directions(shuffle(mechanism, n).dominating_pairs), _last(mechanism.eps0)
    targets, known = np.log(deltas), {}  # of ε, the shape of its δ

    def at(eps):
        """Return the upper end of log δ at each ε, and remember the finite ones."""
        inside = eps < mechanism.eps0  # beyond, δ is 0
        value = np.full(eps.shape, -math.inf)
        if inside.any():
            curves = [pair.log_hockey_stick(eps[inside], ACCURACY) for pair in pairs]
            value[inside] = np.max([curve.upper for curve in curves], axis=0)
        finite = np.isfinite(value)
        known.update(zip(eps[finite], _shape(value[finite]), strict=True))
        return value

    asked = np.flatnonzero(at(np.zeros(1)) > targets)
    found = np.zeros(len(targets), dtype=int)
    found[asked] = last
    eps = _roots(known, targets, mechanism.eps0) if near is None else 1.001 * decoded(near)
    for _ in range(30):
        if len(asked) == 0:
            break
        entry = np.clip(np.ceil(np.log(eps[asked] / SMALLEST) / STEP).astype(int), 1, last)
        eps[asked] = decoded(entry) * (1.0 - SPARE)
        value = at(eps[asked])
        proved = value <= targets[asked]
        found[asked[proved]] = np.minimum(found[asked[proved]], entry[proved])
        root = _roots(known, targets, mechanism.eps0)[asked]
        further = ~proved | (eps[asked] > 1.004 * root)
        eps[asked] = np.where(proved, 1.002 * root, np.maximum(1.002 * root, 1.001 * eps[asked]))
        asked = asked[further]
    return found.tolist()


def _last(eps0):
    return math.ceil(math.log(eps0 / SMALLEST) / STEP)


def _shape(log_delta):
    return np.copysign(np.sqrt(np.abs(log_delta)), -log_delta)


def _roots(known, targets, last):
    """Guess where √(−log δ), nearly linear in ε, reaches its goals, from the shapes known so far."""
    goals, (eps, shape) = _shape(targets), np.array(sorted(known.items())).T
    shape = np.maximum.accumulate(shape)
    if len(eps) == 1:
        guess = eps[0] + 2.5 * math.exp(-(shape[0] ** 2)) * math.sqrt(2.0) * goals
        return np.clip(guess, 1e-7, last)
    after = np.clip(np.searchsorted(shape, goals), 1, len(eps) - 1)
    x, y, low, high = eps[after - 1], eps[after], shape[after - 1], shape[after]
    flat = high - low < 1e-9
    root = np.where(flat, 1.1 * y, x + (goals - low) * (y - x) / np.where(flat, 1.0, high - low))
    return np.minimum(last, np.maximum(root, 1.0001 * x))


def budgets(build, others):
    """Return local budgets from which ε grows by about `GROWTH` a step, where users are many."""
    fine = np.geomspace(LEAST_BUDGET, MOST_BUDGET, 400)
    eps = [math.log(decoded(entries(build(eps0=eps0, **others), 10**6)[3])) for eps0 in fine]
    steps = np.arange(eps[0], eps[-1] + GROWTH, GROWTH)
    return [float(f"{eps0:.4g}") for eps0 in np.interp(steps, np.maximum.accumulate(eps), fine)]


def _row(build, others, eps0, points, near=None):
    """Return a row of the table with the entries at some points, `MISSING` elsewhere."""
    mechanism, found = build(eps0=eps0, **others), np.full(points.shape, MISSING)
    before = None  # the place computed last, from which ε falls like 1/√n
    for place in np.flatnonzero(points.any(axis=1)):
        asked = np.flatnonzero(points[place])
        guess = None if near is None else near[place, asked]
        if guess is None and before is not None:
            fall = math.log(USERS[place] / USERS[before]) / (2.0 * STEP)
            guess = np.maximum(1, found[before, asked] - fall)
        found[place, asked] = entries(mechanism, USERS[place], [DELTAS[column] for column in asked], guess)
        before = place if near is None else None
    return found


def _computed(name, rows):
    """Return rows of the table, each given as the arguments of `_row`, computed on all cores."""
    build, others = MECHANISMS[name]
    run = Parallel(n_jobs=-1, return_as="generator")(delayed(_row)(build, others, *row) for row in rows)
    return list(tqdm(run, total=len(rows), desc=name, disable=None))


def coarse(name):
    """Return budgets and entries of a mechanism, `MISSING` for the users between those of the coarse grid."""
    grid = budgets(*MECHANISMS[name])
    points = np.zeros((len(USERS), len(DELTAS)), dtype=bool)
    points[np.searchsorted(USERS, COARSE)] = True
    return np.array(grid), np.stack(_computed(name, [(eps0, points) for eps0 in grid]))


def refined(name):
    """Return budgets and entries of a mechanism, with points added where ε changes too much across a cell."""
    kept = KEPT / f"{name}.npz"
    if kept.exists():
        grid, entries = (np.load(kept, allow_pickle=False)[part] for part in ("budgets", "entries"))
    else:
        grid, entries = coarse(name)
    while True:
        bounds = _bounds(entries)
        wide = _wide(*bounds)
        points = np.zeros(entries.shape, dtype=bool)
        points[1:, :-1] |= wide
        points[:-1, 1:] |= wide
        points &= entries == MISSING
        rows = np.flatnonzero(points.any(axis=(1, 2)))
        if len(rows) == 0:
            rows = np.flatnonzero(wide.any(axis=(1, 2)) & (np.diff(grid) > 3e-4 * grid[1:]))
            if len(rows) == 0:
                break
            between = [float(f"{math.sqrt(grid[row] * grid[row + 1]):.5g}") for row in rows]
            grid, entries = np.insert(grid, rows + 1, between), np.insert(entries, rows + 1, MISSING, axis=0)
            continue
        near = sum(bounds) // 2
        found = np.stack(_computed(name, [(grid[row], points[row], near[row]) for row in rows]))
        entries[rows] = np.minimum(entries[rows], found)
        KEPT.mkdir(parents=True, exist_ok=True)
        with io.BytesIO() as data:
            np.savez_compressed(data, budgets=grid, entries=entries)
            replace(kept, data.getvalue())
    computed = (entries < MISSING).any(axis=(1, 2))
    return grid[computed].tolist(), _monotone(entries[computed])


def _monotone(entries):
    """Return the least that holds at a point, as it does for more users, a smaller budget or a larger δ."""
    entries = np.minimum.accumulate(entries[::-1], axis=0)[::-1]
    entries = np.minimum.accumulate(entries, axis=1)
    return np.minimum.accumulate(entries[..., ::-1], axis=2)[..., ::-1]


def _bounds(entries):
    """Return what holds at every point, and the largest entry of a smaller budget or more users."""
    least = np.where(entries == MISSING, 0, entries)[:, ::-1]
    least = np.maximum.accumulate(np.maximum.accumulate(least, axis=0), axis=1)[:, ::-1]
    return _monotone(entries), least


def _wide(most, least):
    """Whether ε ≤ 2 changes by more than `WIDE` and 0.001 across a cell where δ ≤ 1/n."""
    high, low = (
        np.where(some > 0, SMALLEST * np.exp(STEP * some), 0.0)
        for some in (most[1:, :-1], np.minimum(most, least)[:-1, 1:])
    )
    asked = (np.outer(USERS[:-1], DELTAS) <= 1.0) & (high <= 2.0)
    return (high > WIDE * low) & (high > low + 1e-3) & asked


def packed(entries):
    """Return entries as text, a block for each δ: differences between numbers of users, compressed."""
    differences = np.diff(entries.transpose(2, 0, 1), prepend=0).astype("<u2")  # modulo 2¹⁶
    return base64.b64encode(zlib.compress(differences.tobytes(), 9)).decode()


def unpacked(text, shape):
    """Return the entries of `packed`, whose shape counts budgets, users and δ."""
    budgets, users, deltas = shape
    differences = np.frombuffer(zlib.decompress(base64.b64decode(text)), "<u2")
    return np.cumsum(differences.reshape(deltas, budgets, users), axis=2, dtype="<u2").transpose(1, 2, 0)


def main():
    """Write the table of all mechanisms."""
    found = {}
    for name in MECHANISMS:
        grid, entries = refined(name)
        found[name] = {"budgets": grid, "entries": packed(entries)}
    whole = {"deltas": DELTAS, "users": USERS, "smallest": SMALLEST, "step": STEP, "mechanisms": found}
    replace(TABLE, f"const TABLE = {json.dumps(whole)};\n".encode())


if __name__ == "__main__":
    sys.exit(main())

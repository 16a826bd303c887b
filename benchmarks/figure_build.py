"""A figure as PNG, PDF, SVG and CSV: `save_figure` beside matplotlib and the csv module alone.

Ours lays the figure out once for all pictures and writes bytes that do not change from run to run.  The
numbers in both CSV files must be the same.
"""

import csv
import os
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.runner import Benchmark, Case, Peer
from shufflelib import plotting

CURVES = 4


def curves(points):
    """Return users and the values of some curves."""
    n = np.geomspace(1e2, 1e12, points)
    return n, [(k + 1.0) / np.sqrt(n) for k in range(CURVES)]


def ours(points, folder):
    """Draw and save with the package; return the numbers in the CSV."""
    n, values = curves(points)
    fig, ax = plotting.figure(width=3.4, xscale="log", yscale="log", xlabel="users $n$")
    for value in values:
        ax.plot(n, value)
    data = [
        {"n": float(at), **{f"eps{k}": float(v[i]) for k, v in enumerate(values)}} for i, at in enumerate(n)
    ]
    before = os.environ.get("SHUFFLELIB_FIGURES")
    os.environ["SHUFFLELIB_FIGURES"] = folder
    try:
        saved = plotting.save_figure(fig, data, "00_benchmark")
    finally:
        del os.environ["SHUFFLELIB_FIGURES"]
        if before is not None:
            os.environ["SHUFFLELIB_FIGURES"] = before
    return numbers(saved.paths[-1])


def alone(points, folder):
    """Draw and save with matplotlib and csv; return the numbers in the CSV."""
    from matplotlib.figure import Figure

    n, values = curves(points)
    fig = Figure(figsize=(3.4, 0.4 + 0.62 * 3.4), layout="constrained")
    ax = fig.subplots()
    ax.set(xscale="log", yscale="log", xlabel="users $n$")
    for value in values:
        ax.plot(n, value)
    path = Path(folder, "alone.csv")
    fig.savefig(path.with_suffix(".png"), dpi=200)
    fig.savefig(path.with_suffix(".pdf"))
    fig.savefig(path.with_suffix(".svg"))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["n", *(f"eps{k}" for k in range(CURVES))])
        writer.writerows(zip(n, *values, strict=True))
    return numbers(path)


def numbers(path):
    """Return the numbers of a CSV file."""
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def case(points):
    """Draw so many points on each of four curves, in a folder that is gone afterwards."""

    def drawn(draw):
        with tempfile.TemporaryDirectory() as folder:
            return draw(points, folder)

    peer = Peer(
        "matplotlib alone",
        lambda answer: drawn(alone),
        lambda answer, theirs: bool(np.allclose(answer, theirs, rtol=1e-11)),
    )
    return Case(ours=lambda: drawn(ours), peers=(peer,))


BENCHMARK = Benchmark(
    name="figure_build",
    title="A figure, as PNG, PDF, SVG, CSV",
    grows="points on each curve",
    sizes=(10, 30, 100, 300, 1000, 3000, 10**4),
    quick=(10,),
    case=case,
)

"""Show what was measured: a table of rows, a table of ratios and growth exponents, a figure."""

import csv
import io
from collections import defaultdict
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import viz
from benchmarks.runner import OURS, growth
from shufflelib.numerics.atomic_files import replace

HEAD = """# Benchmarks

Running times relative to each other, within one run; `make bench` measures them again.
"Growth" is the exponent b if the time grows as size^b over the larger half of the sizes measured; 0 means
that it does not grow.
"Times ours" is the time of the other implementation divided by ours, at the largest size of the other.
"Agrees" says whether the two answers are equal within their error bounds, at every size.
The file named after a benchmark says what is computed, and how each implementation does it.
`results.csv` has all rows.
Whether other packages give the same numbers is in [agreement.md](agreement.md).
The composition accountants get a precomputed table of one round, which is not timed; ours computes its own.

![Cost against size, one panel for each benchmark](results.png)

"""
LOOKS = {
    OURS: {"color": "#000000", "linewidth": 2.0, "marker": "o", "markersize": 3.0},
    "term by term": {"color": "#d55e00", "linestyle": "--", "marker": "s"},
    "12 deviations": {"color": "#e69f00", "linestyle": (0, (6, 1.5, 1, 1.5)), "marker": "D"},
    "released grid": {"color": "#cc79a7", "linestyle": "--", "marker": "X"},
    "dp-accounting": {"color": "#0072b2", "linestyle": (0, (9, 2)), "marker": "^"},
    "prv-accountant": {"color": "#56b4e9", "linestyle": (0, (3, 1.5)), "marker": "v"},
    "without privacy": {"color": "#8c8c8c", "linestyle": ":", "marker": "P"},
}


def by_implementation(rows):
    """Return the rows of each benchmark and implementation, in the order of their first row."""
    found = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[row["benchmark"]][row["implementation"]].append(row)
    return found


def summary(rows):
    """Return one row for each benchmark and implementation: sizes, growth, ratio, agreement."""
    for benchmark, sides in by_implementation(rows).items():
        for name, mine in sides.items():
            last, exponent = mine[-1], growth(mine)
            yield {
                "benchmark": benchmark,
                "implementation": name,
                "sizes": f"{mine[0]['size']:g} to {last['size']:g} {last['grows']}" if len(mine) > 1 else "",
                "growth": "" if np.isnan(exponent) else f"{exponent:.2f}".replace("-0.00", "0.00"),
                "times ours": "" if name == OURS else f"{last['times ours']:.3g}",
                "agrees": "" if name == OURS else "yes" if all(row["agrees"] for row in mine) else "no",
            }


def table(rows):
    """Return the summary as a table."""
    lines = list(summary(rows))
    columns = list(lines[0])
    cells = [columns, ["---"] * len(columns), *([line[column] for column in columns] for line in lines)]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def as_csv(rows):
    """Return all rows, numbers to four digits where they are times."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    digits = {"lower": 12, "upper": 12}
    for row in rows:
        writer.writerow(
            {key: f"{v:.{digits.get(key, 4)}g}" if isinstance(v, float) else v for key, v in row.items()}
        )
    return out.getvalue()


def as_figure(benchmarks, rows):
    """Return one panel for each benchmark: cost in units of our own first size."""
    found = by_implementation(rows)
    shown = [one for one in benchmarks if one.name in found]
    columns = 3
    lines = -(-(len(shown) + 1) // columns)
    viz.theme()
    fig = Figure(figsize=(7.0, 0.3 + 1.9 * lines), layout="constrained")
    axes = list(np.ravel(fig.subplots(lines, columns)))
    for benchmark, ax in zip(shown, axes, strict=False):
        ax.set_title(benchmark.title)
        (_draw if len(benchmark.sizes) > 1 else _bars)(ax, benchmark, found[benchmark.name])
    names = list(dict.fromkeys(name for ax in axes for name in ax.get_legend_handles_labels()[1]))
    handles = {name: h for ax in axes for h, name in zip(*ax.get_legend_handles_labels(), strict=True)}
    for ax in axes[len(shown) :]:
        ax.set_axis_off()
    axes[-1].legend([handles[name] for name in names], names, loc="center", handlelength=3.5)
    return fig


def _draw(ax, benchmark, sides):
    for name, mine in sides.items():
        look = {"markersize": 3.5, "markerfacecolor": "white", "linewidth": 1.2} | LOOKS[name]
        ax.plot([row["size"] for row in mine], [row["cost"] for row in mine], label=name, **look)
    ax.set(xscale="log", yscale="log", xlabel=benchmark.grows, ylabel="cost")
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, 0.1), max(high, 10.0))  # a cost that does not grow looks flat


def _bars(ax, benchmark, sides):
    names = list(sides)
    ax.barh(names, [sides[name][0]["cost"] for name in names], color="#8c8c8c", height=0.6)
    for place, name in enumerate(names):
        ax.annotate(
            f"{sides[name][0]['cost']:.2g}", (sides[name][0]["cost"], place), (2, 0),
            textcoords="offset points", va="center", fontsize=6,
        )  # fmt: skip
    ax.set(xscale="log", xlabel="cost")
    ax.set_xlim(0.3)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0, labelsize=6)


def write(benchmarks, rows, folder):
    """Write results.csv, results.md and results.png."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "results.csv": as_csv(rows).encode(),
        "results.md": (HEAD + table(rows)).encode(),
        "results.png": viz.picture_of(as_figure(benchmarks, rows)),
    }
    for name, data in content.items():
        replace(folder / name, data)

"""The picture of a table: its longest axis from left to right, a colour for each of the other settings."""

import math

from shufflelib.numerics.optional import remedy
from shufflelib.sweeps.table import COLUMNS

MOST_LINES = 8
SHOWN = ("answer", "standard error", "upper")  # the first of these that a table has
NAMES = {
    "calibrate eps0": "largest local ε₀",
    "calibrate users": "fewest users",
    "calibrate rounds": "most rounds",
    "delta": "central δ",
    "eps": "central ε",
    "eps0": "local ε₀",
    "epsilon": "central ε",
    "error": "standard error",
    "n": "number of users",
    "order": "Rényi order",
    "renyi": "Rényi divergence",
}


def drawn(rows):
    """Return a table drawn as PNG: dots at the upper bounds, bars down to the lower ones, no lines between.

    Parameters
    ----------
    rows : list of dict
        As from `shufflelib.sweeps.tabulate`.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        If no parameter varies, more than eight lines would be needed, or every point was refused.
    ImportError
        If matplotlib is missing; it says what to install.

    Examples
    --------
    >>> from shufflelib import sweeps
    >>> from shufflelib.sweeps.picture import drawn
    >>> spec = {"quantity": "epsilon", "randomizer": "binary-rr", "eps0": 1, "n": [100, 1000], "delta": 1e-6}
    >>> drawn(sweeps.tabulate(spec, n_jobs=1))[1:4]
    b'PNG'
    """
    plotting = plotting_tools()
    along, others = layout(rows)
    lines = {}
    for row in rows:
        lines.setdefault(tuple(row.get(name) for name in others), []).append(row)
    answered = [row for row in rows if not row["status"].startswith("refused")]
    if not answered:
        raise ValueError("there is nothing to draw: every point was refused, see their status")
    if missing := next((row["randomizer"] for row in rows if row.get(along) is None), None):
        raise ValueError(
            f"a picture over {along} needs it in every row, and {missing} has none: sweep it apart"
        )
    height = next(name for name in SHOWN if name in answered[0])
    scales = {
        "xscale": _scale([row[along] for row in rows]),
        "yscale": _scale([row[height] for row in answered]),
    }
    what, by = _name(rows[0]["quantity"]), _name(along)
    label = f"{what} (upper bound)" if height == "upper" else what
    fig, ax = plotting.figure(width=6.0, xlabel=by, ylabel=label, **scales)
    colours = (plotting.BLACK, plotting.BLUE, plotting.VERMILLION, plotting.GREEN)
    for number, (values, points) in enumerate(lines.items()):
        points = [row for row in points if row in answered]
        pairs = zip(others, values, strict=True)
        name = ", ".join(f"{_name(other)} = {_text(value)}" for other, value in pairs if value is not None)
        name = name.replace("randomizer = ", "")
        how = {"color": colours[number % 4], "marker": "o" if number < 4 else "s", "label": name}
        x, y = [row[along] for row in points], [row[height] for row in points]
        ax.plot(x, y, linestyle="none", ms=3, mfc=None if number < 4 else "white", **how)
        if height == "upper":
            ax.vlines(x, [row["lower"] for row in points], y, color=how["color"], alpha=0.4, lw=2)
    if len(lines) > 1:
        plotting.label_directly(ax, {line.get_label(): line.get_label() for line in ax.lines})
    fixed = [
        f"{_name(name)} = {_text(row[name])}"
        for name in row
        if name not in ("quantity", along, *others, *COLUMNS)
    ]
    plotting.headline(ax, f"{what[0].upper()}{what[1:]} by {by}", ", ".join(fixed))
    return plotting.png(fig, dpi=200)


def plotting_tools():
    """Return `shufflelib.plotting`, or say that matplotlib is missing."""
    with remedy("a plot needs it: pip install matplotlib"):
        from shufflelib import plotting
    return plotting


def layout(points):
    """Return the parameter from left to right, and those that tell lines apart; refuse too many lines."""
    names = dict.fromkeys(key for point in points for key in point if key not in (*COLUMNS, "quantity"))
    values = {name: {point[name] for point in points if name in point} for name in names}
    varying = sorted((name for name in names if len(values[name]) > 1), key=lambda name: -len(values[name]))
    if not (numeric := [name for name in varying if name != "randomizer"]):
        raise ValueError("a plot needs a parameter with at least two values; give a list or a range")
    others = [name for name in varying if name != numeric[0]]
    lines = len({tuple(point.get(name) for name in others) for point in points})
    if lines > MOST_LINES:
        raise ValueError(
            f"a plot would need {lines} lines, more than {MOST_LINES}; "
            f"give fewer values of {', '.join(others)}"
        )
    return numeric[0], others


def _name(key):
    return NAMES.get(key, key)


def _text(value):
    return value if isinstance(value, str) else f"{value:g}"


def _scale(values):
    low, high = min(values), max(values)
    return "log" if 0.0 < 30.0 * low <= high < math.inf else "linear"

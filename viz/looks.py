r"""One look for each bound, mechanism and role, by name; the same in every figure.

Colour says where a line comes from, the stroke what it is worth:

==========  ========================  ============================================================
worth       stroke                    meaning
==========  ========================  ============================================================
proved      thick, solid              certified, error of floating point and of grids included
pair        thinner, solid            a published reduction, its divergence computed
formula     dashed                    a closed form, evaluated as its paper prints it
limit       dotted                    an approximation; proves nothing for a finite n
reference   hairline, dashed          a landmark, such as the local budget
==========  ========================  ============================================================

Markers tell lines of one colour apart, in grey print as well.
"""

import zlib

import numpy as np

from viz.theme import BLACK, BLUE, FAMILY, GREEN, GREY, INVISIBLE, OCHRE, PURPLE, RED

STROKE = {  # dash and width
    "proved": ("", 2.2),
    "pair": ("", 1.6),
    "formula": ((5, 2), 1.3),
    "limit": ((1, 1.5), 1.4),
    "reference": ((8, 4), 0.7),
}
LOOKS = {  # colour, marker, worth
    "certified upper": (BLACK, INVISIBLE, "proved"),
    "certified lower": (GREY, INVISIBLE, "proved"),
    "exact": (BLACK, INVISIBLE, "proved"),
    "attack": (GREY, INVISIBLE, "proved"),
    "local budget": (GREY, INVISIBLE, "reference"),
    "in proportion": (BLUE, INVISIBLE, "reference"),
    "perfect privacy": (GREY, INVISIBLE, "limit"),
    "variation-ratio pair": (RED, "X", "pair"),
    "variation-ratio Thm 4.7": (RED, "X", "formula"),
    "variation-ratio Thm 4.8": (OCHRE, "D", "formula"),
    "advanced parallel": (RED, "P", "pair"),
    "advanced parallel, β of the code": (RED, "h", "pair"),
    "Echo, Liu'23": (RED, "p", "formula"),
    "Echo, Liu'23, numerical": (RED, "p", "pair"),
    "advanced composition DRV'10": (RED, "^", "formula"),
    "claim": (RED, "s", "formula"),
    "stronger clones FMT'23, pair": (BLUE, "v", "pair"),
    "stronger clones FMT'23, closed form": (BLUE, "v", "formula"),
    "clones FMT'21, pair": (BLUE, "^", "pair"),
    "clones FMT'21, closed form": (BLUE, "^", "formula"),
    "clones FMT'21, growth": (BLUE, "^", "limit"),
    "mixed clones pair": (BLUE, "<", "formula"),
    "basic parallel": (BLUE, ">", "pair"),
    "optimal composition KOV'15": (BLUE, "s", "formula"),
    "joint concavity": (BLUE, "o", "pair"),
    "advanced joint concavity": (BLUE, "D", "pair"),
    "moderate deviations": (BLUE, ">", "limit"),
    "privacy blanket": (GREEN, "s", "pair"),
    "blanket, specific": (GREEN, "o", "formula"),
    "blanket, generic": (GREEN, "P", "formula"),
    "Girgis'21, full sum": (GREEN, "h", "formula"),
    "Girgis'21, simplified": (GREEN, "d", "formula"),
    "Girgis'21, lower": (GREEN, "<", "formula"),
    "Girgis'21, subsampled": (GREEN, "8", "formula"),
    "separate, best": (GREEN, "H", "formula"),
    "shuffle index, blanket": (GREEN, "o", "limit"),
    "EFMRTT'19": (PURPLE, "s", "formula"),
    "EFMRTT'19, growth": (PURPLE, "s", "limit"),
    "separate, worst": (PURPLE, "P", "formula"),
    "via Rényi, CKS'20": (PURPLE, "p", "formula"),
    "shuffle index, attack": (PURPLE, "h", "limit"),
    "CCG'24, Corollary 2": (OCHRE, "s", "limit"),
    "CCG'24, Theorem 2": (OCHRE, "D", "limit"),
    "CCG'24, Theorem 3": (OCHRE, "X", "pair"),
    "GSPA'24, Theorem 2": (OCHRE, "v", "limit"),
    "pooled cells, from above": (GREY, "d", "limit"),
    "no noise": (BLACK, "o", "pair"),
    "no amplification": (GREY, "s", "pair"),
    "Bennett": (GREEN, "^", "formula"),
    "Hoeffding": (OCHRE, "v", "formula"),
    "central curator": (BLACK, INVISIBLE, "proved"),
    "randomized response": (BLUE, "H", "pair"),
    "binary randomized response": (OCHRE, "h", "pair"),
    "subset selection": (RED, "v", "pair"),
    "local hashing": (GREEN, "D", "pair"),
    "RAPPOR": (PURPLE, "s", "pair"),
    "optimized unary encoding": (PURPLE, "P", "pair"),
    "Hadamard response": (OCHRE, "^", "pair"),
    "any mechanism": (GREY, "h", "pair"),
    "Laplace": (GREEN, "v", "pair"),
    "Gaussian": (PURPLE, "d", "pair"),
    "piecewise": (RED, "<", "pair"),
}
PACKAGE = {  # names of the package, as tables and recommendations have them
    "generalized_rr": "randomized response",
    "binary_rr": "binary randomized response",
    "subset": "subset selection",
    "local_hash": "local hashing",
    "rappor": "RAPPOR",
    "optimized_unary": "optimized unary encoding",
    "hadamard": "Hadamard response",
    "generic": "any mechanism",
    "laplace": "Laplace",
    "gaussian": "Gaussian",
}
SPARE = [  # for names that the table does not have: told apart by marker and dash
    (colour, marker, worth)
    for worth in ("pair", "formula", "limit")
    for colour, marker in ((BLUE, "p"), (RED, "8"), (GREEN, "<"), (PURPLE, ">"), (OCHRE, "p"), (GREY, "P"))
]


def look(name, taken=()):
    """Return colour, marker, dash and width of a name; one that is not in the table gets a spare look.

    Which spare look follows from the name, so that it stays the same when other names come and go.

    Examples
    --------
    >>> import viz
    >>> viz.look("Gaussian")
    ('#9c3f8c', 'd', '', 1.6)
    >>> viz.look("a bound of one's own") == viz.look("a bound of one's own")
    True
    """
    name = PACKAGE.get(name, name)
    if name in LOOKS:
        colour, marker, worth = LOOKS[name]
        return (colour, marker, *STROKE[worth])
    first = zlib.crc32(str(name).encode()) % len(SPARE)
    for colour, marker, worth in SPARE[first:] + SPARE[:first]:
        if (found := (colour, marker, *STROKE[worth])) not in taken:
            return found
    raise ValueError(f"no look is left for {name!r}; draw fewer names, or name them in LOOKS")


def looks(frame, by="bound", named=None, joined=True):
    """Return keywords for `sns.lineplot` and `sns.relplot`: a look for each name, no averaging.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a point; a column ``stretch`` (see `stretches`) breaks lines.
    by : str
        The column of names.
    named : collection of str, optional
        Names that keep their looks; the others become one family of thin grey lines behind them.
    joined : bool
        False draws open markers and no lines, where nothing is known between the points.

    Examples
    --------
    >>> import pandas as pd, viz
    >>> frame = pd.DataFrame({"bound": ["exact", "EFMRTT'19"], "n": [10, 10], "eps": [0.3, 0.5]})
    >>> viz.looks(frame)["palette"]
    {'exact': '#000000', "EFMRTT'19": '#9c3f8c'}
    >>> viz.looks(frame, named=["exact"])["palette"]["EFMRTT'19"]
    '#949494'
    """
    if by not in frame:
        raise ValueError(f"by must be a column, got {by!r}; the frame has {', '.join(map(str, frame))}")
    names = list(frame[by].unique())
    kept = [name for name in names if named is None or name in named]
    found = {}
    for name in names:
        taken = [*found.values()]
        if not joined:  # a dot has no stroke to tell it apart
            taken = [(*one[:2], *stroke) for one in taken for stroke in STROKE.values()]
        found[name] = look(name, taken) if name in kept else (FAMILY, INVISIBLE, "", 0.7)
    order = [name for name in names if name not in kept] + kept  # what is named lies on top
    colour, marker, dash, width = (
        dict(zip(found, part, strict=True)) for part in zip(*found.values(), strict=True)
    )
    if not joined:
        marker = {name: "o" if one is INVISIBLE else one for name, one in marker.items()}
        dash, width = dict.fromkeys(found, ""), dict.fromkeys(found, 0.0)
    same = dict.fromkeys(("hue_order", "style_order", "size_order"), order)
    units = "stretch" if "stretch" in frame else None
    return {
        **{"hue": by, "style": by, "size": by, **same, "palette": colour, "markers": marker},
        **{"dashes": dash, "sizes": width, "estimator": None, "errorbar": None, "units": units},
        **({} if joined else {"mfc": "none", "mec": "auto", "mew": 1.4, "ms": 7}),
    }


def dots(frame, by="bound"):
    """Return keywords for `sns.scatterplot` and `sns.relplot(kind="scatter")`: colour and marker by name.

    Examples
    --------
    >>> import pandas as pd, viz
    >>> viz.dots(pd.DataFrame({"mechanism": ["Laplace", "Gaussian"]}), "mechanism")["markers"]
    {'Laplace': 'v', 'Gaussian': 'd'}
    """
    every = looks(frame, by, joined=False)
    return {key: every[key] for key in ("hue", "style", "hue_order", "style_order", "palette", "markers")}


def stretches(frame, y, by=("bound",)):
    """Return the rows with a number in column y, with a column ``stretch`` that breaks lines at missing ones.

    seaborn leaves out a missing value and draws the line across the gap; where a theorem does not apply,
    nothing may be drawn.

    Examples
    --------
    >>> import pandas as pd, viz
    >>> frame = pd.DataFrame({"bound": "exact", "n": [1, 2, 3], "eps": [3.0, float("nan"), 1.0]})
    >>> viz.stretches(frame, "eps")["stretch"].tolist()
    [0, 1]
    """
    missing = ~np.isfinite(frame[y].astype(float))
    return frame.assign(stretch=missing.groupby([frame[key] for key in by]).cumsum())[~missing]

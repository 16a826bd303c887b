r"""Figures: one style, one look per bound for life, and files that are the same on every run.

This is the only module that imports matplotlib.  It never touches global state: figures are built
without pyplot, and the style holds only inside `style()`, which every function here enters.

A bound is drawn the same way in all figures: colour says which analysis it comes from, the stroke
says what it proves.

==============  =========================  ====================================================
kind            stroke                     what it says
==============  =========================  ====================================================
certified       thick and solid            proved, floating-point and grid error included
published       dashed                     a closed form, evaluated as its paper prints it
asymptotic      dotted                     an approximation, proves nothing at finite n
refuted         thin, crosses              published as a bound, and below the truth somewhere
reference       hairline                   a landmark such as the local budget
==============  =========================  ====================================================

Where a theorem does not apply its curve holds NaN, and the line breaks.
"""

import csv
import io
import os
import textwrap
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation
from scipy.optimize import isotonic_regression

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "mathtext.fontset": "cm",
    "text.usetex": False,
    "axes.labelsize": 9,
    "axes.titlesize": 9,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.xmargin": 0.02,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.solid_capstyle": "round",
    "figure.facecolor": "white",
    "figure.constrained_layout.w_pad": 0.06,
    "figure.constrained_layout.h_pad": 0.06,
    "svg.hashsalt": "shufflelib",
}

WIDTH = {"certified": 2.0, "published": 1.2, "asymptotic": 1.2, "refuted": 0.8, "reference": 0.6}
SAYS = {
    "certified": "Certified (thick, solid)",
    "published": "As published (dashed)",
    "asymptotic": "Approximation, proves nothing (dotted)",
    "refuted": "Published as a bound on the mechanism, refuted (thin, crosses)",
}

DASHED, LONG, SHORT, DASH_DOT = (0, (5, 2)), (0, (9, 2)), (0, (3, 1.5)), (0, (6, 1.5, 1, 1.5))
DOTTED = (0, (1, 1.5))
BLACK, GREY, ORANGE, SKY, GREEN = "#000000", "#8c8c8c", "#e69f00", "#56b4e9", "#009e73"
BLUE, VERMILLION, PURPLE = "#0072b2", "#d55e00", "#cc79a7"


@dataclass(frozen=True)
class Look:
    """How one bound is drawn in every figure.

    Parameters
    ----------
    colour : str
        The family the analysis belongs to.
    dash : str or tuple
        Line style in matplotlib's notation.
    marker : str
        Marker that tells the line apart in grey, empty for none.
    kind : {'certified', 'published', 'asymptotic', 'refuted', 'reference'}
        What the line proves.
    side : {'upper', 'lower'}
        Which end of the bracket the line shows.
    """

    colour: str
    dash: str | tuple
    marker: str
    kind: str
    side: str = "upper"


LINE = {
    "certified upper": Look(BLACK, "-", "", "certified"),
    "certified lower": Look(GREY, "-", "", "certified", side="lower"),
    "variation-ratio pair": Look(VERMILLION, "-", "x", "refuted"),
    "variation-ratio Thm 4.7": Look(VERMILLION, "-", "X", "refuted"),
    "variation-ratio Thm 4.8": Look(VERMILLION, DASH_DOT, "D", "published"),
    "stronger clones FMT'23, pair": Look(BLUE, "-", "v", "certified"),
    "stronger clones FMT'23, closed form": Look(BLUE, DASHED, "v", "published"),
    "clones FMT'21, pair": Look(SKY, "-", "^", "certified"),
    "clones FMT'21, closed form": Look(SKY, DASHED, "^", "published"),
    "blanket, specific": Look(GREEN, LONG, "o", "published"),
    "blanket, generic": Look(GREEN, SHORT, "P", "published"),
    "EFMRTT'19": Look(PURPLE, DASHED, "*", "published"),
    "EFMRTT'19, growth": Look(PURPLE, DOTTED, "*", "asymptotic"),
    "Girgis'21, full sum": Look(GREEN, DASHED, "h", "published"),
    "Girgis'21, simplified": Look(GREEN, DASH_DOT, "d", "published"),
    "Girgis'21, lower": Look(GREEN, LONG, "1", "published", side="lower"),
    "clones FMT'21, growth": Look(SKY, DOTTED, "^", "asymptotic"),
    "CCG'24, Corollary 2": Look(ORANGE, DOTTED, "s", "asymptotic"),
    "CCG'24, Theorem 2": Look(ORANGE, DOTTED, "D", "asymptotic"),
    "GSPA'24, Theorem 2": Look(ORANGE, DOTTED, "v", "asymptotic"),
    "Echo, Liu'23": Look(VERMILLION, DASHED, "p", "published"),
    "exact": Look(BLACK, "-", ".", "certified"),
    "pooled cells, from above": Look(GREY, SHORT, ".", "asymptotic"),
    "joint concavity": Look(SKY, "-", "o", "certified"),
    "advanced joint concavity": Look(BLUE, "-", "D", "certified"),
    "perfect privacy": Look(BLACK, DOTTED, "", "reference"),
    "via Rényi, CKS'20": Look(PURPLE, LONG, "p", "published"),
    "via Rényi, Mironov'17": Look(PURPLE, SHORT, "<", "published"),
    "local budget": Look(GREY, (0, (8, 4)), "", "reference"),
}


@dataclass(frozen=True)
class Curve:
    """One line of one panel, as drawn and as written to the CSV.

    Parameters
    ----------
    bound : str
        A name in `LINE`.
    x, lower, upper : numpy.ndarray, shape (m,)
        Abscissae and the two ends; NaN where the theorem does not apply or nothing is proved.
    panel : Mapping
        What tells this curve's panel from the others, e.g. ``{"n": 10_000}``; columns of the CSV.
    """

    bound: str
    x: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    panel: Mapping = field(default_factory=dict)

    @property
    def y(self):
        """The end that is drawn, with NaN wherever the line must break."""
        y = self.lower if look(self.bound).side == "lower" else self.upper
        return np.where(np.isfinite(y), y, np.nan)

    def rows(self):
        """Yield the curve's points as rows of the CSV."""
        kind = look(self.bound).kind
        for x, lower, upper, y in zip(self.x, self.lower, self.upper, self.y, strict=True):
            status = "does not apply" if np.isnan(y) else kind
            yield {
                **self.panel,
                "bound": self.bound,
                "x": x,
                "lower": lower,
                "upper": upper,
                "status": status,
            }


def look(bound):
    """Return the look of a bound; an unknown name raises a KeyError naming it."""
    if bound not in LINE:
        raise KeyError(f"no look for the bound {bound!r}: add it to LINE, or use one of {', '.join(LINE)}")
    return LINE[bound]


def curve(bound, x, values, **panel):
    """Return the `Curve` of a bound from a certified bracket, or from plain published values.

    Parameters
    ----------
    bound : str
        A name in `LINE`.
    x : array_like, shape (m,)
        Abscissae.
    values : Certified or array_like, shape (m,)
        A bracket (anything with ``lower`` and ``upper``), or one number per abscissa, masked or
        NaN where the theorem does not apply; it counts as the end that the bound's look names.
    **panel
        What tells this curve's panel from the others.
    """
    x = np.atleast_1d(np.asarray(x, float))
    if hasattr(values, "lower") and hasattr(values, "upper"):
        lower, upper = (
            np.broadcast_to(np.asarray(end, float), x.shape) for end in (values.lower, values.upper)
        )
    else:
        known = np.broadcast_to(np.ma.filled(np.ma.asarray(values, float), np.nan), x.shape)
        unknown = np.full(x.shape, np.nan)
        lower, upper = (known, unknown) if look(bound).side == "lower" else (unknown, known)
    return Curve(bound, x, lower, upper, panel)


@contextmanager
def style():
    """Apply the project's style, and nothing of the reader's own, inside a ``with`` block."""
    with matplotlib.style.context(["default", STYLE]):
        yield


def figure(rows=1, columns=1, *, width=7.0, height=None, sharex=False, sharey=False, titles=(), **each):
    """Return a new figure and its axes in the project's style.

    Parameters
    ----------
    rows, columns : int
        Panels of the figure.
    width, height : float
        Inches: 3.4 fills a column and 7.0 a page; the height follows from the panels.
    sharex, sharey : bool or str
        Passed to ``Figure.subplots``.
    titles : iterable of str
        One per panel, in reading order.
    **each
        Properties of every panel: ``xlabel=``, ``ylabel=``, ``xscale=``, ``yscale=``, ...

    Returns
    -------
    tuple
        The figure, and one axes or an array of axes.
    """
    with style():
        size = (width, height or 0.4 + rows * 0.62 * width / columns)
        canvas = Figure(figsize=size, layout="constrained")
        axes = canvas.subplots(rows, columns, sharex=sharex, sharey=sharey)
        for ax in canvas.axes:
            ax.set(**each)
            if sharex or sharey:
                ax.label_outer()
        for ax, title in zip(canvas.axes, titles, strict=False):
            ax.set_title(title)
        return canvas, axes


def draw_curves(ax, curves):
    """Draw curves, or redraw those that the axes already show, each in its own look.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    curves : iterable of Curve
        At most one per bound.

    Raises
    ------
    KeyError
        If a bound has no look.
    """
    drawn = {line.get_label(): line for line in ax.get_lines()}
    with style():
        for one in curves:
            how = look(one.bound)
            if one.bound in drawn:
                drawn[one.bound].set_data(one.x, one.y)
                continue
            ax.plot(
                one.x,
                one.y,
                label=one.bound,
                color=how.colour,
                linestyle=how.dash,
                linewidth=WIDTH[how.kind],
                marker=how.marker or None,
                markersize=4,
                markerfacecolor="white",
                markevery=max(1, one.x.size // 8),
                zorder=3 if how.kind == "certified" else 2,
            )
        ax.relim()
        ax.autoscale_view()


def shade_bracket(ax, x, lower, upper):
    """Shade what lies between the best proved lower and upper end, replacing an earlier shade."""
    for earlier in [patch for patch in ax.collections if patch.get_gid() == "bracket"]:
        earlier.remove()
    ax.relim()  # the limits forget the earlier shade
    known = np.isfinite(lower) & np.isfinite(upper)
    with style():
        ax.fill_between(
            x, lower, upper, where=known, color=GREY, alpha=0.25, linewidth=0, gid="bracket", zorder=1
        )
        ax.autoscale_view()


def draw_map(ax, x, y, values, *, hatched, limits):
    """Colour a positive quantity over a grid by its decimal logarithm, and hatch where a mask is set.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw; the x axis keeps its scale, the cells are centred on the grid.
    x, y : array_like, shapes (m,) and (k,)
        Increasing centres.
    values : array_like, shape (k, m)
        Positive, NaN where the theorem does not apply: such cells stay empty.
    hatched : array_like of bool, shape (k, m)
        Cells to cross out.
    limits : tuple of float
        Values at the two ends of the colours, the same for all panels of a figure.

    Returns
    -------
    matplotlib.collections.QuadMesh
        For the figure's ``colorbar``.
    """
    with style(), np.errstate(invalid="ignore"):
        shades = np.ma.masked_invalid(np.log10(np.asarray(values, float)))
        low, high = np.log10(limits)
        drawn = ax.pcolormesh(
            x, y, shades, cmap="cividis", vmin=low, vmax=high, shading="nearest", rasterized=True
        )
        crossed = np.ma.masked_where(~np.asarray(hatched, bool), np.ones(shades.shape))
        ax.pcolor(x, y, crossed, shading="nearest", hatch="xxxx", facecolor="none", edgecolor="white", lw=0)
    return drawn


def label_directly(ax):
    """Write each bound's name beside the end of its line, moved apart where names would overlap."""
    for earlier in [text for text in ax.texts if text.get_gid() == "direct label"]:
        earlier.remove()
    with style():
        ax.figure.draw_without_rendering()
        ends = []
        for line in ax.get_lines():
            points = line.get_xydata()
            drawn = np.isfinite(points).all(axis=1) & ((points[:, 1] > 0) | (ax.get_yscale() != "log"))
            points = points[drawn]
            if line.get_label() in LINE and len(points):
                height = ax.transAxes.inverted().transform(ax.transData.transform(points[-1]))[1]
                ends.append((min(max(height, 0.0), 1.0), line, points[-1]))
        ends.sort(key=lambda end: end[0])
        beside = ax.transAxes + ScaledTranslation(8 / 72, 0, ax.figure.dpi_scale_trans)
        inches = ax.get_window_extent().height / ax.figure.dpi
        steps = 1.3 * STYLE["font.size"] / 72 / inches * np.arange(len(ends))
        heights = isotonic_regression([end[0] for end in ends] - steps).x + steps if ends else []
        for height, (_, line, point) in zip(heights, ends, strict=True):
            ax.annotate(
                line.get_label(),
                point,
                xytext=(1.0, height),
                textcoords=beside,
                color=line.get_color(),
                va="center",
                gid="direct label",
                annotation_clip=False,
                arrowprops={
                    "arrowstyle": "-",
                    "color": line.get_color(),
                    "linewidth": 0.4,
                    "relpos": (0, 0.5),
                    "shrinkA": 1,
                    "shrinkB": 0,
                },
            )


def legend_once(fig):
    """List all bounds of a figure beside its panels, where direct labels would take too much room."""
    for earlier in list(fig.legends):
        earlier.remove()
    shown = {line.get_label(): line for ax in fig.axes for line in ax.get_lines()}
    names = [bound for bound in LINE if bound in shown]
    with style():
        fig.legend(
            [shown[bound] for bound in names],
            names,
            loc="outside right upper",
            handlelength=3.5,
            labelspacing=0.3,
        )


def state_kinds(fig):
    """Write under the figure which of its curves are certified, and what the others are.

    Returns
    -------
    str
        The line that was written.
    """
    shown = {line.get_label() for ax in fig.axes for line in ax.get_lines()}
    groups = {kind: [bound for bound in LINE if bound in shown and LINE[bound].kind == kind] for kind in SAYS}
    parts = [f"{SAYS[kind]}: {'; '.join(bounds)}" for kind, bounds in groups.items() if bounds]
    if not groups["certified"]:
        parts.insert(0, "Nothing here is certified")
    said = ". ".join(parts) + "."
    with style():
        lines = textwrap.wrap(said, int(19 * fig.get_figwidth()))
        fig.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=6.5, color="0.3")
    return said


def png(fig, *, dpi=100):
    """Return the figure as PNG bytes."""
    return _render(fig, "png", {"Software": None}, dpi=dpi)


def _render(fig, form, metadata, **how):
    buffer = io.BytesIO()
    with style():
        fig.savefig(buffer, format=form, metadata=metadata, **how)
    return buffer.getvalue()


@contextmanager
def _settled(fig):
    """Lay the figure out once and hold it there, so that every format shows the same layout."""
    with style():
        fig.draw_without_rendering()
    engine = fig.get_layout_engine()
    fig.set_layout_engine("none")
    try:
        yield
    finally:
        fig.set_layout_engine(engine)


@dataclass(frozen=True)
class Saved:
    """What was written: file names as text, the picture or the table itself in a notebook."""

    paths: tuple
    picture: bytes | None = field(default=None, repr=False)
    markdown: str | None = field(default=None, repr=False)

    def __repr__(self):
        return ", ".join(path.name for path in self.paths)

    def _repr_png_(self):
        return self.picture

    def _repr_markdown_(self):
        return self.markdown


def save_figure(fig, data, name, *, parameters=None):
    """Write a figure as PNG, PDF and CSV; the CSV is the data of record.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        What to draw.
    data : iterable of Curve or of Mapping
        What the figure shows; a mapping is a row as it stands.
    name : str
        File name without suffix, beginning with the notebook's number.
    parameters : Mapping, optional
        Written above the data as ``# key: value``.

    Returns
    -------
    Saved
        The three paths; in a notebook it shows the picture.

    Notes
    -----
    Files go to the folder named by ``SHUFFLELIB_FIGURES``, else ``figures``.  Each is written
    beside its place and renamed, all are rendered before the first is written, and none holds
    a date or a version: a second run writes the same bytes.
    """
    rows = [row for one in data for row in (one.rows() if isinstance(one, Curve) else [one])]
    undated = {"CreationDate": None, "Producer": None, "Creator": None}
    with _settled(fig):
        content = {"png": png(fig, dpi=200), "pdf": _render(fig, "pdf", undated)}
    content["csv"] = _as_csv(rows, parameters or {})
    return Saved(_publish(content, name), picture=content["png"])


def save_table(rows, name, *, parameters=None):
    """Write a table as CSV (12 significant digits) and as Markdown (6).

    Parameters
    ----------
    rows : iterable of Mapping
        Column name to value; a column absent from a row stays empty.
    name : str
        File name without suffix, beginning with the notebook's number.
    parameters : Mapping, optional
        Written above the CSV's data as ``# key: value``.

    Returns
    -------
    Saved
        The two paths; in a notebook it shows the table.
    """
    rows = list(rows)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [columns, ["---"] * len(columns)]
    lines += [[_text(row.get(column), 6).replace("|", r"\|") for column in columns] for row in rows]
    markdown = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    content = {"csv": _as_csv(rows, parameters or {}), "md": markdown.encode()}
    return Saved(_publish(content, name), markdown=markdown)


def _text(value, digits=12):
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return ""
    return f"{value:.{digits}g}" if isinstance(value, float | np.floating) else str(value)


def _as_csv(rows, parameters):
    columns = list(dict.fromkeys(key for row in rows for key in row))
    out = io.StringIO()
    out.writelines(f"# {key}: {_text(value)}\n" for key, value in parameters.items())
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_text(row.get(column)) for column in columns] for row in rows)
    return out.getvalue().encode()


def _publish(content, name):
    folder = Path(os.environ.get("SHUFFLELIB_FIGURES") or "figures")
    folder.mkdir(parents=True, exist_ok=True)
    paths = tuple(folder / f"{name}.{suffix}" for suffix in content)
    for path, data in zip(paths, content.values(), strict=True):
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            beside.write_bytes(data)
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
    return paths

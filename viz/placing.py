"""Places for headline, names and marks: found once, when the figure is saved."""

import re

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox
from scipy.optimize import isotonic_regression

from viz.looks import LOOKS
from viz.theme import BLACK, FAMILY, GREY, WIDTH
from viz.wishes import figure_of, wishes

EDGE, BETWEEN = 0.07, 0.05  # inches beside the headline, and below each of its two parts
BESIDE = 1.04  # of a panel's width: where names of lines begin
OUTSIDE, COVERED, ASTRAY, CROWDED = 200.0, 60.0, 40.0, 25.0  # costs of a bad place
DIRECTIONS = [(0, 13), (8, 8), (-8, 8), (9, 0), (-9, 0), (8, -9), (-8, -9), (0, -14)]  # points
BESIDE_ARROW = [(7, 0), (-7, 0), (0, 9), (0, -9)]
REACHES = (1.0, 1.6, 2.4, 3.4)
NEAR = 4.0  # cost of the nearest reach, which needs no line to the point
MARKERS = 12  # on a line, about
DOT = 9  # a hidden dot costs as much as so many points of a line


def settle(place):
    """Lay the figure out once, then place everything that was asked for."""
    fig = figure_of(place)
    asked = wishes(fig)
    fig.set_figwidth(min(fig.get_figwidth(), WIDTH))  # relplot widens a figure for its legend
    for ax in fig.axes:
        ax.patch.set_visible(False)  # or a panel hides its neighbour's names
        for line in ax.lines:
            if line.get_linestyle() != "None":  # without a stroke each marker is a point
                line.set_markevery(max(1, round(len(line.get_xdata()) / MARKERS)))
    _read_names(fig, asked)
    head = write_head(fig, asked)
    panels = list(fig.axes)
    if any(ax.get_subplotspec() for ax in panels):  # else each panel has a place of its own
        fig.set_layout_engine("constrained", w_pad=0.06, h_pad=0.05, rect=(0, 0, 1, 1 - head))
    if asked.bar:  # only now: a colour bar fixes the engine, and FacetGrid does not know this one
        _draw_bar(fig, *asked.bar)
    shades = [text for one in asked.shades for text in _shade(panels, asked, *one)]
    every = asked.ends.pop(None, None)
    said = dict.fromkeys(panels, every) if every else {}
    ends = {ax: _write_ends(ax, asked.names, *words) for ax, words in (said | asked.ends).items()}
    fig.draw_without_rendering()
    for ax, names in ends.items():
        _move_apart(ax, names)
    fig.draw_without_rendering()
    fig.set_layout_engine("none")
    page = _Page(fig)
    for text, line, below in shades:
        page.place(text, line, below)
    rings = [page.ring(ax, x, y) if ring else None for ax, x, y, _, ring in asked.marks]
    for (ax, x, y, words, _), own in zip(asked.marks, rings, strict=True):
        page.mark(ax, x, y, words, own, [other for other in rings if other and other is not own])
    asked.marks, asked.shades, asked.ends = [], [], {}


def overlapping(place):
    """Return the pairs of texts in panels that overlap.

    Examples
    --------
    >>> import seaborn as sns, viz
    >>> ax = sns.lineplot(x=[1, 2], y=[1, 2])
    >>> _ = ax.text(1, 1, "here"), ax.text(1, 1, "there")
    >>> viz.overlapping(ax)
    [('there', 'here')]
    >>> viz.plt.close()
    """
    texts = [text for ax in figure_of(place).axes for text in ax.texts if text.get_text().strip()]
    boxes = [(text.get_text(), _box(text).padded(-1)) for text in texts]
    return [(a, b) for at, (a, p) in enumerate(boxes) for b, q in boxes[:at] if p.overlaps(q)]


def titles(ax):
    """Return the three texts of which one is a panel's title."""
    return [ax.title, ax._left_title, ax._right_title]  # there is no public way to ask for all


def _look(line):
    dash = tuple(line._unscaled_dash_pattern[1] or ())  # there is no public way to ask for it
    return to_hex(line.get_color()), str(line.get_marker()), dash, round(line.get_linewidth(), 2)


def _read_names(fig, asked):
    """Read names of lines from seaborn's legend, and remove it where ends are named."""
    legends = [one for one in (*(ax.get_legend() for ax in fig.axes), *fig.legends) if one is not None]
    if asked.ends and not (legends or asked.names):
        raise ValueError(
            "label_ends reads the names of lines from seaborn's legend, and there is none; draw with hue=… "
            "and without legend=False, and call add_legend() of a FacetGrid"
        )
    drawn = []
    for legend in legends:
        keys = [_look(line) if hasattr(line, "get_marker") else None for line in legend.legend_handles]
        drawn += (names := [text.get_text() for text in legend.texts])
        pairs = [*zip(keys, names, strict=True)]
        same = [name for key, name in pairs if keys.count(key) > 1 and key and key[0] != FAMILY]
        if same and asked.ends:
            raise ValueError(f"{', '.join(same)} look the same, so their ends cannot be told apart")
        asked.names |= dict(pairs)
        if asked.ends:
            legend.remove()
    meant = {name: None for words, _ in asked.ends.values() for name in words}
    if drawn and (wrong := [repr(name) for name in meant if name not in (*drawn, *LOOKS)]):
        raise ValueError(f"words must name lines, got {', '.join(wrong)}; lines are {str(drawn)[1:-1]}")
    asked.names = {key: name for key, name in asked.names.items() if key and key[0] != FAMILY}


def write_head(fig, asked):
    """Write headline and setting at the page's edge; return the share of the height that they take."""
    width, height = fig.get_size_inches()
    top = 0.06
    for words, how in (
        (asked.headline, {"size": 10.5, "weight": "bold"}),
        (asked.setting, {"size": 9, "color": "0.3"}),
    ):
        if words:
            text = fig.text(EDGE / width, 1 - top / height, "", va="top", linespacing=1.15, **how)
            _wrap(text, words, (width - 2 * EDGE) * fig.dpi)
            top += text.get_window_extent().height / fig.dpi + BETWEEN
    return (top + BETWEEN) / height


def _wrap(text, words, room):
    """Break words into the fewest lines that fit, as equally long as they can be."""
    text.set_text(words)
    wide = text.get_window_extent().width
    aim = wide / np.ceil(wide / room)
    lines = []
    for word in re.split(r" (?![%×])", words):
        longer = f"{lines[-1]} {word}" if lines else word
        text.set_text(longer)
        fits = text.get_window_extent().width <= room
        text.set_text(lines[-1] if lines else "")
        if lines and fits and text.get_window_extent().width < aim:
            lines[-1] = longer
        else:
            lines.append(word)
    text.set_text("\n".join(lines))


def _draw_bar(fig, shades, words, ticks):
    bar = fig.colorbar(shades, ax=fig.axes, ticks=list(ticks), label=words, aspect=30)
    bar.ax.set_yticklabels(ticks.values())


def _shade(panels, asked, only, name, words, below):
    """Shade below or above a line; yield the words, still without a place."""
    for ax in [only] if only else panels:
        lines = [line for line in ax.lines if asked.names.get(_look(line)) == name and len(line.get_xdata())]
        for line in lines:
            limits = ax.get_ylim()
            step = {"steps-pre": "pre", "steps-post": "post"}.get(line.get_drawstyle())
            edge = limits[0] if below else limits[1]
            ax.fill_between(*line.get_data(), edge, step=step, color="0.91", lw=0, zorder=0)
            ax.set_ylim(limits)
        if words and lines:
            yield ax.text(0, 0, words, color="0.3", in_layout=False), lines[0], below
            words = ""


def _around(directions):
    """Yield how far each place beside a point is, and the place."""
    for reach in REACHES:
        for dx, dy in directions:
            side = "center" if dx == 0 else "left" if dx > 0 else "right"
            yield NEAR * reach, {"position": (reach * dx, reach * dy), "ha": side}


def _corners(ax):
    """Yield how far each place inside a panel is from its lower left, and the place."""
    box = ax.get_window_extent()
    for y in (0.06, 0.2, 0.35, 0.5, 0.65, 0.8, 0.94):
        for x, side in ((0.04, "left"), (0.27, "center"), (0.5, "center"), (0.73, "center"), (0.96, "right")):
            at = ax.transData.inverted().transform((box.x0 + x * box.width, box.y0 + y * box.height))
            yield 3.0 * (y + x), {"position": at, "ha": side, "va": "bottom" if y < 0.5 else "top"}


def _beyond(box, line, below):
    """Return whether a box lies wholly on one side of a line."""
    x, y = line.axes.transData.transform(line.get_xydata()).T
    edge = np.interp(np.linspace(box.x0, box.x1, 9), x, y, *(2 * [-np.inf if below else np.inf]))
    return np.all(edge > box.y1) if below else np.all(edge < box.y0)


def _write_ends(ax, names, words, rest):
    """Write the name of each line beside the panel, all at one height still."""
    ends, family = [], []
    for line in ax.lines:
        points = np.asarray(line.get_xydata(), float)
        points = points[np.isfinite(points).all(axis=1)]
        if not len(points):
            continue
        point = max(points, key=lambda one: one[0])
        if to_hex(line.get_color()) == FAMILY:
            family.append(point)
            continue
        name = names.get(_look(line))
        if name and (said := words.get(name, name)):
            ends.append(_end(ax, said, point, line.get_color(), 1 if line.get_linewidth() else 5))
    if family and rest:
        family = sorted(tuple(one) for one in family if one[0] == max(family, key=lambda one: one[0])[0])
        ends.append(_end(ax, rest, family[len(family) // 2], GREY))
    return ends


def _end(ax, words, point, colour, gap=1):
    arrow = {"arrowstyle": "-", "lw": 0.5, "color": colour, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": gap}
    how = {"textcoords": ax.transAxes, "va": "center", "annotation_clip": False}
    return ax.annotate(words, point, (BESIDE, 0.5), color=colour, arrowprops=arrow, **how)


def _move_apart(ax, ends):
    """Move names to the nearest heights at which none overlap."""
    if not ends:
        return
    box = ax.get_window_extent()
    wanted = np.array([(ax.transData.transform(end.xy)[1] - box.y0) / box.height for end in ends])
    wanted = np.round(np.clip(wanted, 0.0, 1.0), 6)  # no last digit decides which of two is above
    order = np.argsort(wanted, kind="stable")
    sizes = np.array([_box(ends[at]).height + 3 for at in order]) / box.height
    middles = np.cumsum(sizes) - sizes / 2
    first = isotonic_regression(wanted[order] - middles).x
    lowest = -sizes[0] / 2
    first = np.clip(first, lowest, max(1 + sizes[-1] / 2 - sizes.sum(), lowest))
    for at, height in zip(order, first + middles, strict=True):
        ends[at].set_position((BESIDE, height))


def _box(text):
    text.get_window_extent()  # an annotation moves its words only when asked
    return Text.get_window_extent(text)  # without its arrow


class _Page:
    """What is drawn already, in pixels, so that words find a free place."""

    def __init__(self, fig):
        self.fig = fig
        self.taken = [text.get_window_extent() for text in fig.texts]
        for ax in fig.axes:
            box = ax.get_window_extent()
            self.taken.append(Bbox([[box.x0 - 30, box.y0], [box.x0 + 1, box.y1]]))  # its axes
            self.taken.append(Bbox([[box.x0, box.y0 - 20], [box.x1, box.y0 + 1]]))
            texts = [*titles(ax), ax.xaxis.label, ax.yaxis.label, *ax.texts]
            texts += [*ax.get_xticklabels(), *ax.get_yticklabels()]
            if legend := ax.get_legend():
                self.taken.append(legend.get_window_extent())
            self.taken += [_box(text).padded(2) for text in texts if text.get_text() and text.get_position()]
        self.drawn = np.concatenate([_drawn(ax) for ax in fig.axes] or [np.empty((0, 2))])

    def ring(self, ax, x, y):
        """Draw a ring around a point; return its box."""
        ax.plot([x], [y], "o", ms=9, mfc="none", mec=BLACK, mew=1.3, zorder=9, clip_on=False)
        box = Bbox([_pixels(ax, x, y) - 6, _pixels(ax, x, y) + 6])
        self.taken.append(box)
        return box

    def mark(self, ax, x, y, words, own, others):
        """Write words beside a point, with a thin line where they stand far from it."""
        halo = [withStroke(linewidth=2.5, foreground="white")]
        arrow = {"arrowstyle": "-", "lw": 0.6, "shrinkA": 0, "shrinkB": 5 if own else 0}
        x, y = float(ax.convert_xunits(x)), float(ax.convert_yunits(y))
        text = ax.annotate(
            words, (x, y), (0, 0), textcoords="offset points", va="center", weight="bold", zorder=10,
            annotation_clip=False, path_effects=halo, arrowprops=arrow,
        )  # fmt: skip
        point = _pixels(ax, x, y)
        others = [other.get_points().mean(axis=0) for other in others]

        def astray(box):
            return ASTRAY * any(_gap(box, other) < 1.5 * _gap(box, point) for other in others)

        far = self._put(text, _around(DIRECTIONS if own else BESIDE_ARROW), astray)
        text.arrow_patch.set_visible(far > NEAR)

    def place(self, text, line, below):
        """Put a text where it hides least, on one side of a line if there is room."""
        self._put(text, _corners(text.axes), lambda box: OUTSIDE * (not _beyond(box, line, below)))

    def _put(self, text, places, penalty):
        """Put a text at the first of the cheapest places; return how far that is."""

        def cost(place):
            far, how = place
            text.set(**how)
            box = _box(text)
            return self._cost(box) + penalty(box) + far

        far, how = min(places, key=cost)
        text.set(**how)
        self.taken.append(_box(text))
        return far

    def _cost(self, box):
        page = self.fig.bbox.padded(-2)
        outside = not (page.contains(box.x0, box.y0) and page.contains(box.x1, box.y1))
        around = box.padded(2)
        hidden = np.sum(np.all((self.drawn > around.min) & (self.drawn < around.max), axis=1))
        return (
            OUTSIDE * outside + COVERED * sum(box.overlaps(one) for one in self.taken) + min(hidden, CROWDED)
        )


def _pixels(ax, x, y):
    return ax.transData.transform((float(ax.convert_xunits(x)), float(ax.convert_yunits(y))))


def _gap(box, point):
    return np.hypot(*(np.clip(point, box.min, box.max) - point))


def _drawn(ax):
    """Return points along everything drawn in a panel."""
    found = [np.empty((0, 2))]
    for line in ax.lines:  # a line across the panel has a transform of its own
        points = line.get_transform().transform(np.asarray(line.get_xydata(), float))
        found.append(_along(points) if line.get_linewidth() else np.repeat(points, DOT, axis=0))
    for text in ax.texts:
        if isinstance(text, Annotation) and not text.get_text():  # an arrow
            found.append(_along(np.array([_pixels(ax, *text.xy), _pixels(ax, *text.xyann)])))
    for one in ax.collections:
        found.append(np.repeat(ax.transData.transform(one.get_offsets()), DOT, axis=0))
    for patch in ax.patches:
        box = patch.get_window_extent()
        found.append(
            np.array([(x, y) for x in np.linspace(box.x0, box.x1, 9) for y in np.linspace(box.y0, box.y1, 9)])
        )
    found = np.concatenate(found)
    return found[np.isfinite(found).all(axis=1)]


def _along(points):
    """Return many points on the line through some."""
    points = points[np.isfinite(points).all(axis=1)]
    at = np.linspace(0, len(points) - 1, 300)
    sides = [np.interp(at, range(len(points)), side) for side in points.T if len(points)]
    return np.column_stack(sides) if sides else np.empty((0, 2))

"""A figure as a notebook shows it: the picture, its finding as alternative text, a numbered caption below."""

import base64
import html
import re
from dataclasses import dataclass

from shufflelib.numerics.validation import instance
from shufflelib.plotting.saving import save_figure

NUMBER = re.compile(r"0*(?P<lesson>\d+)_(?P<figure>\d+)_\w+")
FIGURE = (
    '<figure id="fig-{name}" style="margin: 0; max-width: 700px">'
    '<img alt="{finding}" style="width: 100%; background: white" src="data:image/png;base64,{data}">'
    "<figcaption><b>{label}.</b> {caption}</figcaption></figure>"
)


@dataclass(frozen=True)
class Shown:
    """A figure that was saved: its name, its finding, its caption; a notebook shows all three.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> plotting.Shown("03_2_blanket", "Three in five reports come from the blanket", "It is hatched.", b"")
    03_2_blanket: Three in five reports come from the blanket
    """

    name: str
    finding: str
    caption: str
    picture: bytes
    label: str = ""

    def __repr__(self):
        return f"{self.name}: {self.finding}"

    def _repr_html_(self):
        words = {key: html.escape(getattr(self, key)) for key in ("name", "finding", "caption")}
        label = self.label or "Figure {lesson}.{figure}".format(**NUMBER.fullmatch(self.name).groupdict())
        data = base64.b64encode(self.picture).decode()
        return FIGURE.format(label=html.escape(label), data=data, **words)


def finding_of(fig):
    """Return the headline of a figure on one line; empty if it has none.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> from shufflelib.plotting.showing import finding_of
    >>> fig, ax = plotting.figure()
    >>> plotting.headline(ax, "A thousand users turn ε₀ = 2 into ε = 0.27", "randomized response, δ = 1e-6")
    >>> finding_of(fig)
    'A thousand users turn ε₀ = 2 into ε = 0.27'
    """
    titles = [fig.get_suptitle(), *(ax.get_title(loc="left") for ax in fig.axes)]
    return next((" ".join(title.split()) for title in titles if title.strip()), "")


def show_figure(fig, data, name, *, caption, label="", parameters=None):
    """Write a figure's files and show it with its caption; for the last line of a notebook's cell.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        With a `headline`, which becomes its alternative text.
    data : iterable of Curve or of Mapping
        What the figure shows, as for `save_figure`.
    name : str
        Lesson, number of the figure in it, and a word, such as ``"03_2_blanket"``.
    caption : str
        What to look at, in two or three sentences.
    label : str, optional
        What the figure is called, such as the paper's "Figure 3, left"; by default the name's numbers.
    parameters : Mapping, optional
        As for `save_figure`.

    Returns
    -------
    Shown
        A notebook shows the picture, and below it the label and the caption.

    Raises
    ------
    ValueError
        If neither name nor label has a number, or the figure has no headline.

    Examples
    --------
    >>> import os, tempfile
    >>> from unittest import mock
    >>> from shufflelib import plotting
    >>> fig, ax = plotting.figure(width=2.0)
    >>> curves = [plotting.curve("EFMRTT'19", [0.25, 0.5], [0.12, 0.23])]
    >>> plotting.draw_curves(ax, curves)
    >>> plotting.headline(ax, "Shuffling halves ε", "n = 10,000")
    >>> with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, SHUFFLELIB_FIGURES=folder):
    ...     plotting.show_figure(fig, curves, "00_1_example", caption="Read the line from left to right.")
    00_1_example: Shuffling halves ε
    """
    instance(caption, "caption", str, remedy="say in two or three sentences what to look at")
    if not label and not NUMBER.fullmatch(name):
        raise ValueError(
            f"name must be such as '03_2_blanket', lesson and number, got {name!r}; or pass a label"
        )
    if not (finding := finding_of(fig)):
        raise ValueError(f"the figure {name!r} has no headline; call `headline` first")
    saved = save_figure(fig, data, name, parameters=parameters)
    return Shown(name, finding, " ".join(caption.split()), saved.picture, label)

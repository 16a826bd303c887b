"""A figure's files: PNG, SVG and the CSV of record, the same bytes on every run, and nothing half-written."""

import base64
import html
import io
import os
import re
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt

from shufflelib.numerics.atomic_files import replace_all, writing
from viz.placing import settle, titles
from viz.wishes import figure_of, wishes

NUMBERED = re.compile(r"0*(?P<lesson>\d+)_(?P<figure>\d+)_\w+")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
UNDATED = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}
SHOWN = (
    '<figure id="fig-{name}" style="margin: 0; max-width: 700px">'
    '<img alt="{finding}" style="width: 100%; background: white" src="{src}">'
    "<figcaption><b>{label}.</b> {caption}</figcaption></figure>"
)


@dataclass(frozen=True)
class Saved:
    """A figure that was saved, as a notebook shows it: picture, finding as alternative text, caption."""

    name: str
    finding: str
    caption: str
    label: str
    picture: bytes

    def __repr__(self):
        return f"{self.name}: {self.finding}"

    def _repr_html_(self):
        words = {key: html.escape(getattr(self, key)) for key in ("name", "finding", "caption", "label")}
        return SHOWN.format(src=embedded(self.picture), **words)


def embedded(content, kind="image/png"):
    """Return bytes as an address, which a page can hold instead of a file."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def save(place, frame, name, *, caption, label=""):
    """Place what was asked for, check the headline, write the files and close the figure.

    Parameters
    ----------
    place : Axes, FacetGrid or Figure
        What seaborn returned, with a `finding`.
    frame : pandas.DataFrame
        What the figure shows: the CSV of record, 12 significant digits.
    name : str
        File name without suffix, such as ``"03_2_blanket"``: lesson, number of the figure in it, a word.
    caption : str
        What to look at, in two or three sentences.
    label : str, optional
        What the figure is called, such as a paper's "Figure 3, left"; by default the name's numbers.

    Returns
    -------
    Saved
        For the last line of a notebook's cell.

    Raises
    ------
    ValueError
        If there is no headline, or a number of the headline stands nowhere in the picture.

    Notes
    -----
    Files go to the folder that ``SHUFFLELIB_FIGURES`` names, else ``figures``, in the formats that
    ``SHUFFLELIB_FORMATS`` names, else PNG and SVG.  Older ones stay until all new ones are written.

    Examples
    --------
    >>> import os, tempfile
    >>> from unittest import mock
    >>> import pandas as pd, seaborn as sns, viz
    >>> frame = pd.DataFrame({"n": [10, 100], "eps": [1.9, 0.7]})
    >>> with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, SHUFFLELIB_FIGURES=folder):
    ...     ax = sns.lineplot(frame, x="n", y="eps")
    ...     viz.finding(ax, "A hundred people bring ε to 0.7", "ε₀ = 2", at=[(100, 0.7, "0.7")])
    ...     saved = viz.save(ax, frame, "00_1_example", caption="Read the line from left to right.")
    ...     sorted(os.listdir(folder))
    ['00_1_example.csv', '00_1_example.png', '00_1_example.svg']
    >>> saved
    00_1_example: A hundred people bring ε to 0.7
    """
    fig = figure_of(place)
    try:
        found = NUMBERED.fullmatch(name)
        if not (label or found):
            raise ValueError(
                f"label must be given for a name of your own, got {name!r}: label='Figure 1' is written "
                "before the caption; only a name such as '03_2_blanket', lesson and figure, has its own"
            )
        finding = wishes(fig).headline
        if not finding:
            raise ValueError(f"the figure {name!r} has no headline; call `finding` first")
        settle(fig)
        if missing := unmarked(fig):
            raise ValueError(
                f"{name}: {', '.join(missing)} of the headline is not in the picture; "
                "mark it with at=[(x, y, words)]"
            )
        wanted = os.environ.get("SHUFFLELIB_FORMATS", "png svg").split()
        content = {form: _render(fig, form) for form in wanted}
    finally:
        plt.close(fig)  # the next sns.lineplot would draw into it
    content["csv"] = frame.to_csv(index=False, float_format="%.12g", lineterminator="\n").encode()
    publish(name, content)
    label = label or "Figure {lesson}.{figure}".format(**found.groupdict())
    return Saved(name, finding, " ".join(caption.split()), label, content["png"])


def publish(name, content):
    """Write files of one name into the folder of figures: suffix -> bytes."""
    folder = Path(os.environ.get("SHUFFLELIB_FIGURES") or "figures")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    replace_all({folder / f"{name}.{suffix}": data for suffix, data in content.items()})


def unmarked(place):
    """Return the numbers of the headline that stand neither in a panel nor in the setting."""
    fig = figure_of(place)
    axes = [
        text
        for ax in fig.axes
        for text in (*ax.texts, *titles(ax), *ax.get_yticklabels(), *ax.get_xticklabels())
    ]
    written = " ".join(text.get_text() for text in axes)
    seen = _numbers(written) | _numbers(wishes(fig).setting)
    return [number for number in sorted(_numbers(wishes(fig).headline)) if number not in seen]


def _numbers(text):
    text = re.sub(r"(?<=\d),(?=\d{3})|ε₀", "", re.sub(r"[A-Za-z]+'\d\d", "", text))
    return set(NUMBER.findall(text))


def picture_of(place, *, dpi=200):
    """Return a figure as PNG bytes, everything that was asked for in its place.

    Examples
    --------
    >>> import seaborn as sns, viz
    >>> viz.picture_of(sns.lineplot(x=[1, 2], y=[1, 2]), dpi=50)[1:4]
    b'PNG'
    >>> viz.plt.close()
    """
    fig = figure_of(place)
    if wishes(fig).headline:
        settle(fig)
    else:
        fig.draw_without_rendering()  # a layout takes a second drawing to settle
    return _render(fig, "png", dpi=dpi)


def _render(fig, form, dpi=200):
    buffer = io.BytesIO()
    titled = {"Title": wishes(fig).headline or None}
    fig.savefig(buffer, format=form, metadata=UNDATED[form] | titled, dpi=dpi)
    return buffer.getvalue()

"""Pictures in a row as a GIF that begins again at its end, the same bytes on every run."""

import io

import numpy as np

from shufflelib.numerics.validation import count
from shufflelib.plotting.screen import quick_png


def gif(frame, stages, pauses, *, dpi):
    """Return the pictures of several stages as the bytes of a GIF.

    Parameters
    ----------
    frame : callable
        Takes ``stage`` and the last picture as ``fig``, at first None; returns the figure.
    stages : sequence
        What the pictures show.
    pauses : dict
        Milliseconds for which the picture of a stage stays, if not 90.
    dpi : int
        Pixels in an inch.

    Notes
    -----
    All pictures share the colours of the last one, so that unchanged areas are identical and take no
    space; matplotlib's writer chooses the colours of every picture separately.

    Examples
    --------
    >>> from shufflelib.plotting import figure
    >>> from viz.ideas.animation import gif
    >>> def frame(stage, fig):
    ...     return figure(width=1.0, title=str(stage))[0]
    >>> gif(frame, [0, 1], {1: 500}, dpi=40)[:6]
    b'GIF89a'
    """
    from PIL import Image

    dpi = count(dpi, "dpi", at_least=20, at_most=300, remedy="120 suits a page")
    fig, pictures = None, []
    for stage in stages:
        fig = frame(stage=stage, fig=fig)
        pictures.append(Image.open(io.BytesIO(quick_png(fig, dpi=dpi))))
    palette = pictures[-1].quantize(64, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    colours = np.reshape(palette.getpalette(), (-1, 3))
    colours[(colours > 245).all(axis=1)] = 255  # white stays white
    palette.putpalette(colours.ravel().tolist())
    first, *others = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
    out = io.BytesIO()
    duration = [pauses.get(stage, 90) for stage in stages]
    first.save(out, "gif", save_all=True, append_images=others, duration=duration, loop=0, optimize=False)
    return out.getvalue()

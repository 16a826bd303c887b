"""Pictures in a row as a GIF that begins again at its end, the same bytes on every run."""

import io

import numpy as np

from shufflelib.plotting.screen import Screen


def gif(frame, moments, pauses, *, dpi):
    """Return the pictures of several moments as the bytes of a GIF.

    Parameters
    ----------
    frame : callable
        Called with a moment and the figure of the last one, at first None; returns the figure.
    moments : sequence
        What the pictures show.
    pauses : sequence of int
        Milliseconds for which each picture stays.
    dpi : int
        Pixels in an inch.

    Notes
    -----
    All pictures share the colours of the last one, so that what stands still stays the same to the bit and
    costs nothing; matplotlib's own writer chooses colours anew for every picture.

    Examples
    --------
    >>> from shufflelib.plotting import figure
    >>> from shufflelib.plotting.ideas.animation import gif
    >>> def frame(moment, fig):
    ...     fig, ax = figure(width=1.0, title=str(moment))
    ...     return fig
    >>> gif(frame, [0, 1], [100, 100], dpi=40)[:6]
    b'GIF89a'
    """
    from PIL import Image

    fig, pictures = None, []
    for moment in moments:
        fig = frame(moment, fig)
        pictures.append(Image.open(io.BytesIO(Screen(fig, dpi=dpi).png())).convert("RGB"))
    palette = pictures[-1].quantize(64, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    colours = np.reshape(palette.getpalette(), (-1, 3))
    colours[(colours > 245).all(axis=1)] = 255  # white stays white
    palette.putpalette(colours.ravel().tolist())
    first, *others = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
    out = io.BytesIO()
    first.save(out, "gif", save_all=True, append_images=others, duration=list(pauses), loop=0, optimize=False)
    return out.getvalue()

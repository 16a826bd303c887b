"""Pictures in a row as a GIF that rests on its last picture, the same bytes on every run."""

import io

import numpy as np
from PIL import Image

from shufflelib.numerics.validation import count
from viz.files import picture_of


def gif(draw, stages, pauses, *, dpi):
    """Return the pictures of several stages as the bytes of a GIF that is shown three times.

    Parameters
    ----------
    draw : callable
        Takes ``stage``; returns the figure.
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
    """
    dpi = count(dpi, "dpi", at_least=20, at_most=300, remedy="120 suits a page")
    pictures = [
        Image.open(io.BytesIO(picture_of(draw(stage=stage), dpi=dpi))).convert("RGB") for stage in stages
    ]
    palette = pictures[-1].quantize(64, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    colours = np.reshape(palette.getpalette(), (-1, 3))
    colours[(colours > 245).all(axis=1)] = 255  # white stays white
    palette.putpalette(colours.ravel().tolist())
    first, *others = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
    out = io.BytesIO()
    duration = [pauses.get(stage, 90) for stage in stages]
    first.save(out, "gif", save_all=True, append_images=others, duration=duration, loop=2, optimize=False)
    return out.getvalue()

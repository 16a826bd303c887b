"""Fast drawing for the screen: one figure redrawn many times."""

import io

from shufflelib.plotting.style import style


def quick_png(fig, *, dpi):
    """Return a figure as PNG bytes; its layout is settled once, with what it first shows.

    `shufflelib.plotting.png` lays out and draws twice and compresses well; this does neither.

    Examples
    --------
    >>> from shufflelib import plotting
    >>> from shufflelib.plotting.screen import quick_png
    >>> quick_png(plotting.figure(width=2.0)[0], dpi=40)[1:4]
    b'PNG'
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    fig.set_dpi(dpi)
    with style():
        canvas = FigureCanvasAgg(fig)
        if fig.get_layout_engine() is not None:
            fig.draw_without_rendering()
            fig.set_layout_engine("none")
        canvas.draw()
    picture = Image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba(), "raw", "RGBA", 0, 1)
    out = io.BytesIO()
    picture.convert("RGB").save(out, "png", compress_level=1)
    return out.getvalue()

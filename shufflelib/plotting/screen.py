"""Fast drawing for the screen: one figure redrawn many times."""

import io

from shufflelib.plotting.style import style


class Screen:
    """A figure that is drawn often.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        Its layout is settled once, with what it shows by then.
    dpi : int
        Pixels in an inch.

    Notes
    -----
    `shufflelib.plotting.png` lays out and draws twice and compresses well; this does neither.
    """

    def __init__(self, fig, *, dpi=110):
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self.fig = fig
        fig.set_dpi(dpi)
        with style():
            self._canvas = FigureCanvasAgg(fig)
            if fig.get_layout_engine() is not None:
                fig.draw_without_rendering()
                fig.set_layout_engine("none")

    def png(self):
        """Return the figure as PNG bytes."""
        from PIL import Image

        with style():
            self._canvas.draw()
        size = self._canvas.get_width_height()
        picture = Image.frombuffer("RGBA", size, self._canvas.buffer_rgba(), "raw", "RGBA", 0, 1)
        out = io.BytesIO()
        picture.convert("RGB").save(out, "png", compress_level=1)
        return out.getvalue()

    def svg(self):
        """Return the figure as SVG bytes, sharp at any size."""
        out = io.BytesIO()
        with style():
            self.fig.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
        return out.getvalue()

"""What is written in a figure, and where."""

from matplotlib.text import Text

from shufflelib import plotting


def boxes(fig):
    """Return text and extent of everything that is written, annotations without their arrows."""
    with plotting.style():
        fig.draw_without_rendering()
    unseen = set()
    for ax in fig.axes:
        low, high = ax.get_xlim()
        unseen |= {tick.label1 for tick in ax.xaxis.get_major_ticks() if not low <= tick.get_loc() <= high}
    texts = [text for text in fig.findobj(Text) if text.get_visible() and text not in unseen]
    texts = [text for text in texts if text.get_text().strip()]
    return [(text.get_text().strip(), Text.get_window_extent(text)) for text in texts]

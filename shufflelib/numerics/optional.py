"""Packages that only some uses need: what to install, a progress bar, axes to draw on."""

import contextlib


@contextlib.contextmanager
def remedy(text):
    """Say what to install when an import fails."""
    try:
        yield
    except ModuleNotFoundError as wrong:
        raise ImportError(f"{wrong.name} is missing; {text}") from wrong


def progress(items, **options):
    """Return the items behind a progress bar on a terminal, or as they are where tqdm is not installed."""
    try:
        from tqdm import tqdm
    except ModuleNotFoundError:
        return items
    return tqdm(items, disable=None, leave=False, **options)


def axes(ax=None):
    """Return the axes given, or new ones."""
    if ax is not None:
        return ax
    with remedy("a plot needs it: pip install matplotlib"):
        from matplotlib import pyplot
    return pyplot.subplots(layout="constrained")[1]

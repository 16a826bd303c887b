"""Packages that only some uses need: what to install, progress bars, axes to draw on."""

import contextlib
import contextvars
import sys
import time

PATIENCE = 2.0  # seconds before a bar is shown
_counter = contextvars.ContextVar("counter", default=None)


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


class _Counter:
    """A progress bar without a total, shown after `PATIENCE` seconds."""

    def __init__(self, desc):
        self.desc, self.bar, self.due = desc, None, time.monotonic() + PATIENCE

    def tick(self):
        if self.bar is None and time.monotonic() > self.due:
            self.bar, self.due = progress(None, desc=self.desc), float("inf")
        if self.bar is not None:
            self.bar.update()


@contextlib.contextmanager
def counting(desc):
    """Count on a terminal what calls `tick` here or further in, once that takes two seconds."""
    if _counter.get() or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    counter = _Counter(desc)
    token = _counter.set(counter)
    try:
        yield
    finally:
        _counter.reset(token)
        if counter.bar is not None:
            counter.bar.close()


def tick():
    """Count one more."""
    if counter := _counter.get():
        counter.tick()


def axes(ax=None):
    """Return the axes given, or new ones."""
    if ax is not None:
        return ax
    with remedy("a plot needs it: pip install matplotlib"):
        from matplotlib import pyplot
    return pyplot.subplots(layout="constrained")[1]

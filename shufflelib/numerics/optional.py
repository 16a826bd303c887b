"""Packages that only some uses need: what to install, progress bars, axes to draw on."""

import contextlib
import contextvars
import os
import sys
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame

PATIENCE = 2.0  # seconds before a bar is shown
MINUTE = 60.0  # seconds between two lines in a log
_counter = contextvars.ContextVar("counter", default=None)
_unseen = contextvars.ContextVar("unseen", default=False)


@contextlib.contextmanager
def remedy(text):
    """Say what to install when an import fails."""
    try:
        yield
    except ModuleNotFoundError as wrong:
        raise ImportError(f"{wrong.name} is missing; {text}") from wrong


def data_frame(rows: Iterable[Mapping[str, Any]]) -> "DataFrame":
    """Return rows as a `pandas.DataFrame`."""
    with remedy("a frame needs pandas: pip install pandas"):
        import pandas
    return pandas.DataFrame(list(rows))


def watched():
    """Return whether somebody sees a bar: on a terminal or in a notebook, unless TQDM_DISABLE is set."""
    stream = sys.stderr
    if _silent():
        return False
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")


def _silent():
    return sys.stderr is None or bool(os.environ.get("TQDM_DISABLE")) or _unseen.get()


@contextlib.contextmanager
def unseen():
    """Show no progress of what is done here: there is a bar for all of it already."""
    token = _unseen.set(True)
    try:
        yield
    finally:
        _unseen.reset(token)


def reported(items, total):
    """Yield the items behind a progress bar or, in a log, with a line at most once a minute."""
    if watched() or _silent():
        from tqdm import tqdm

        yield from tqdm(items, total=total, disable=not watched())
        return
    begun = said = time.monotonic()
    for done, item in enumerate(items, 1):
        now = time.monotonic()
        if now - said >= MINUTE and done < total:
            said, spent = now, (now - begun) / 60.0
            more = spent * (total - done) / done
            line = f"{done / total:.0%} done after {spent:.0f} min, about {more:.0f} min more at this rate"
            print(line, file=sys.stderr, flush=True)
        yield item


def progress(items, **options):
    """Return the items behind a progress bar if it is seen, or as they are where tqdm is not installed."""
    try:
        from tqdm import tqdm
    except ModuleNotFoundError:
        return items
    return tqdm(items, disable=not watched(), leave=False, **options)


class _Counter:
    """A progress bar without a total, shown after `PATIENCE` seconds."""

    def __init__(self, desc):
        self.desc, self.bar, self.due = desc, None, time.monotonic() + PATIENCE

    def tick(self, count):
        if self.bar is None and time.monotonic() > self.due:
            self.bar, self.due = progress(None, desc=self.desc), float("inf")
        if self.bar is not None:
            self.bar.update(count)


@contextlib.contextmanager
def counting(desc):
    """Count what calls `tick` here or further in, once that takes two seconds, if somebody sees it."""
    if _counter.get() or not watched():
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


def tick(count=1):
    """Count so many more."""
    if counter := _counter.get():
        counter.tick(count)


def axes(ax=None, **figure):
    """Return the axes given, or new ones in a figure of these options."""
    if ax is not None:
        return ax
    with remedy("a plot needs it: pip install matplotlib"):
        from matplotlib import pyplot
    return pyplot.subplots(layout="constrained", **figure)[1]

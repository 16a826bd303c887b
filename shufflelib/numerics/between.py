"""Bounds between computed points, from what is known of a function: where a line through points is proved.

A straight line between two certified points is a guess.  A step is none where the function only falls or only
rises, and neither is a chord, or the extension of a chord, of a convex function.
"""

import numpy as np

KNOWN = ("falls", "rises")


def between(x, lower, upper, known):
    """Return the corners of two lines that bound a function everywhere from the first point to the last.

    Parameters
    ----------
    x : array_like, shape (m,)
        Rising abscissae.
    lower, upper : array_like, shape (m,)
        Bounds of the function there; NaN where none is known, and there the line breaks.
    known : {'falls', 'rises'}
        What is known of the function: it never rises, or it never falls.

    Returns
    -------
    tuple of numpy.ndarray
        The corners' abscissae, which both lines share, and their heights in the lower and the upper line.
        All edges are horizontal or vertical, so the lines are bounds on any scale of the axes.

    Examples
    --------
    >>> from shufflelib.numerics.between import between
    >>> x, lower, upper = between([1, 2, 3], [5, 3, 2], [6, 4, 3], "falls")
    >>> x.tolist(), lower.tolist(), upper.tolist()
    ([1.0, 1.0, 2.0, 2.0, 3.0, 3.0], [5.0, 3.0, 3.0, 2.0, 2.0, 2.0], [6.0, 6.0, 6.0, 4.0, 4.0, 3.0])
    """
    if known not in KNOWN:
        raise ValueError(f"known must be one of {', '.join(KNOWN)}, got {known!r}; draw the points alone")
    x, lower, upper = (np.asarray(one, float) for one in (x, lower, upper))
    later, earlier = (upper, lower) if known == "rises" else (lower, upper)
    later = np.append(np.repeat(later, 2)[1:], later[-1:])
    earlier = np.append(earlier[:1], np.repeat(earlier, 2)[:-1])
    return np.repeat(x, 2), *((earlier, later) if known == "rises" else (later, earlier))


def convex(x, lower, upper, at):
    """Return lower and upper bounds of a convex function that never rises, from its bounds at some points.

    Between two points the function is below the chord of its upper bounds.  It is above each chord from an
    upper bound to a lower one, extended beyond the lower one.

    Parameters
    ----------
    x, lower, upper : array_like, shape (m,)
        As for `between`; points at which a bound is missing are left out.
    at : array_like, shape (k,)
        Rising abscissae between the first point and the last.

    Returns
    -------
    tuple of numpy.ndarray
        NaN where nothing is known.

    Examples
    --------
    >>> from shufflelib.numerics.between import convex
    >>> lower, upper = convex([0, 1, 2, 3], [9, 4, 1, 0], [9, 4, 1, 0], [1.5])  # of (3 - x)²
    >>> lower.tolist(), upper.tolist()
    ([1.5], [2.5])
    """
    x, lower, upper, at = (np.asarray(one, float) for one in (x, lower, upper, at))
    above = np.isfinite(upper)
    most = np.interp(at, x[above], upper[above], np.nan, np.nan) if above.any() else np.full(at.shape, np.nan)
    both = above & np.isfinite(lower)
    x, low, high = x[both], lower[both], upper[both]
    if not x.size:
        return np.full(at.shape, np.nan), most
    gap = x[:, None] - x  # from column to row
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (low[:, None] - high) / gap  # of the chord from an upper bound to a lower one
    steepest = np.max(slope, axis=1, where=gap > 0.0, initial=-np.inf)  # coming from the left
    flattest = np.minimum(np.min(slope, axis=1, where=gap < 0.0, initial=np.inf), 0.0)  # from the right
    before = np.searchsorted(x, at, side="right") - 1
    after = np.searchsorted(x, at, side="left")
    least = np.full(at.shape, -np.inf)
    for point, rate in ((before, steepest), (after, flattest)):
        inside = (point >= 0) & (point < x.size)
        chosen = point[inside]
        away = at[inside] - x[chosen]
        beyond = np.multiply(rate[chosen], away, out=np.zeros(away.shape), where=away != 0.0)
        least[inside] = np.maximum(least[inside], low[chosen] + beyond)
    return np.where(np.isfinite(least), least, np.nan), most

"""Numbers as people read them: few digits, rounded to the side on which a sentence stays true."""

import math

import numpy as np

from shufflelib.numerics.certified import written

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
FEW_BITS = 1e-15  # relative: the last two bits of a float or so


def digits(value, significant=3):
    """Format a number for people: few digits, powers of ten with raised exponents.

    Examples
    --------
    >>> import viz
    >>> [viz.digits(value) for value in (0.02123, 9.361e-5, 1e-6, 1900.0)]
    ['0.0212', '9.36·10⁻⁵', '10⁻⁶', '1900']
    """
    value = float(f"{value:.{significant}g}")
    if value == 0.0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.{max(significant, 5)}g}"
    mantissa, power = f"{value:.{significant - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{'' if mantissa == '1' else mantissa + '·'}10{str(int(power)).translate(RAISED)}"


def at_most(value, significant=3):
    """Format a number as `digits` does, rounded up, for what is said to be at most that.

    A number that is a short decimal but for the last bits of a float is written as that decimal.

    Examples
    --------
    >>> import viz
    >>> viz.at_most(8.31, 2), viz.at_most(119.21), viz.at_most(1e-3)
    ('8.4', '120', '0.001')
    """
    return _rounded(value, significant, up=True)


def at_least(value, significant=3):
    """Format a number as `digits` does, rounded down, for what is said to be at least that; see `at_most`.

    Examples
    --------
    >>> import viz
    >>> viz.at_least(8.39, 2), viz.at_least(119.21), viz.at_least(0.7)
    ('8.3', '119', '0.7')
    """
    return _rounded(value, significant, up=False)


def _rounded(value, significant, *, up):
    short = float(f"{value:.{significant}g}")
    if not math.isclose(short, value, rel_tol=FEW_BITS):
        short = float(written(value, up=up, digits=significant))
    return digits(short, significant)


def span(values, significant=3):
    """Format the smallest and the largest of some numbers, NaN left out, each rounded outward.

    Examples
    --------
    >>> import viz
    >>> viz.span([2.534, 0.769, 1.0], 2)
    '0.76 to 2.6'
    """
    return f"{at_least(np.nanmin(values), significant)} to {at_most(np.nanmax(values), significant)}"

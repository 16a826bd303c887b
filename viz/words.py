"""Numbers as people read them: few digits, rounded to the side on which a sentence stays true."""

import numpy as np

from shufflelib.numerics.certified import written

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


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

    Examples
    --------
    >>> import viz
    >>> viz.at_most(8.31, 2), viz.at_most(119.21)
    ('8.4', '120')
    """
    return digits(float(written(value, up=True, digits=significant)), significant)


def at_least(value, significant=3):
    """Format a number as `digits` does, rounded down, for what is said to be at least that.

    Examples
    --------
    >>> import viz
    >>> viz.at_least(8.39, 2), viz.at_least(119.21)
    ('8.3', '119')
    """
    return digits(float(written(value, up=False, digits=significant)), significant)


def span(values, significant=3):
    """Format the smallest and the largest of some numbers, NaN left out, each rounded outward.

    Examples
    --------
    >>> import viz
    >>> viz.span([2.534, 0.769, 1.0], 2)
    '0.76 to 2.6'
    """
    return f"{at_least(np.nanmin(values), significant)} to {at_most(np.nanmax(values), significant)}"

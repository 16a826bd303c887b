"""Numbers as people type them: 1e5, 50k, 123,456, 5 %, 1/3, 10^-6 or log(3); nothing is evaluated.

The command line reads them here, the planner in ``typed`` of its ``lookup.js``;
``tests/typed_numbers.json`` lists cases for both.  What is read differently in different countries is
refused: ``0,5`` everywhere, and ``100.000`` where a count is meant.
"""

import math
import re

from shufflelib.numerics import validation

WHOLE = {
    "B",
    "K",
    "branching",
    "changed",
    "d",
    "draws",
    "h",
    "jobs",
    "k",
    "l",
    "n",
    "rounds",
    "s",
    "seed",
    "sensitivity",
    "trials",
}  # parameters that count something
SHARES = {"confidence", "delta", "dropout", "fpr", "rate", "redraw"}
SUCH_AS = {
    "count": "a whole number such as 1e5, 50k or 100,000",
    "share": "a share such as 0.05, 5 % or 1/20",
    "number": "a number such as 0.5, 1e-6 or log(3)",
}
SPACE = "[ \u00a0\u2009\u202f]"
PLAIN = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
DECIMAL = rf"{PLAIN}(?:[eE][+-]?[0-9]+)?"
POWER = r"10\^([+-]?[0-9]+)"
SCALED = rf"({PLAIN}){SPACE}?([kKM])"
PERCENT = rf"({PLAIN}){SPACE}?%"
FRACTION = rf"({DECIMAL}){SPACE}?/{SPACE}?({DECIMAL})"
LOGARITHM = rf"log\({SPACE}?({DECIMAL}){SPACE}?\)"
THOUSANDS = rf"[1-9][0-9]{{0,2}}([,_]|{SPACE})[0-9]{{3}}(?:\1[0-9]{{3}})*"
AMBIGUOUS = rf"[0-9]+\.[0-9]{{3}}(?:{SPACE}?[kKM])?"  # the point may separate thousands
LONGEST = 300  # characters


def kind_of(name):
    """Return whether a parameter is a "count", a "share" or another "number".

    Examples
    --------
    >>> from shufflelib.numerics.typed_numbers import kind_of
    >>> kind_of("n"), kind_of("rate"), kind_of("eps0")
    ('count', 'share', 'number')
    """
    return "count" if name in WHOLE else "share" if name in SHARES else "number"


def typed(text, kind="number"):
    """Return the number that somebody typed.

    Parameters
    ----------
    text : str
        Digits with a decimal point, perhaps with an exponent, or 10^-6.  A count may have thousands
        separated by commas, spaces or underscores, and end in k or M; a share may end in % or be a fraction
        1/3; another number may end in k or M or be log(3).
    kind : {"count", "share", "number"}
        What is asked for: see `kind_of`.

    Returns
    -------
    int or float
        An int where it is whole.

    Raises
    ------
    ValueError
        "must be …, got …" with a remedy, without the name of what was asked.

    Examples
    --------
    >>> from shufflelib.numerics.typed_numbers import typed
    >>> typed("50k", "count"), typed("123,456", "count"), typed("5 %", "share"), typed("log(1)")
    (50000, 123456, 0.05, 0)
    """
    words = text.strip()
    value = _value(words, kind)
    if value is None or not math.isfinite(value) or (kind == "count" and value != int(value)):
        raise ValueError(f"must be {SUCH_AS[kind]}, got {validation.shown(text)}{_remedy(words, kind)}")
    return int(value) if value == int(value) else value


def ambiguous(text):
    """Return whether the point of a count may separate thousands.

    Examples
    --------
    >>> from shufflelib.numerics.typed_numbers import ambiguous
    >>> ambiguous("100.000"), ambiguous("1.500e3")
    (True, False)
    """
    return bool(re.fullmatch(AMBIGUOUS, text))


def _value(words, kind):
    """Return the number, or None where the words are none of this kind."""
    if len(words) > LONGEST or (kind == "count" and ambiguous(words)):
        return None
    if kind == "count" and re.fullmatch(THOUSANDS, words):
        return int(re.sub("[^0-9]", "", words))
    if re.fullmatch("[0-9]+", words):
        return int(words)
    if re.fullmatch(DECIMAL, words):
        return float(words)
    if found := re.fullmatch(POWER, words):
        return float(f"1e{found[1]}")
    if kind != "share" and (found := re.fullmatch(SCALED, words)):
        return float(f"{found[1]}e{6 if found[2] == 'M' else 3}")
    if kind == "share" and (found := re.fullmatch(PERCENT, words)):
        return float(f"{found[1]}e-2")
    if kind == "share" and (found := re.fullmatch(FRACTION, words)) and float(found[2]):
        return float(found[1]) / float(found[2])
    if kind == "number" and (found := re.fullmatch(LOGARITHM, words)) and float(found[1]):
        return math.log(float(found[1]))
    return None


def _remedy(words, kind):
    if kind == "count" and ambiguous(words):
        return "; write thousands as 100,000 or 100000"
    if words.startswith("-"):
        return "; it cannot be negative"
    return "; write decimals with a point, and spaces between numbers" if "," in words else ""

"""Results as text: every float and array comes back bit for bit, and reading runs no code.

JSON holds numbers with all their digits, text, lists and dictionaries.  What it lacks is written as a
dictionary with one key that starts with ``!``: tuples, NumPy arrays and numbers, certified brackets.
"""

import base64

import numpy as np

from shufflelib.numerics import validation
from shufflelib.numerics.certified import Certified, Status

AS_THEY_ARE = (type(None), bool, int, float, str)
NUMBERS_AND_TEXT = "biufcSU"  # kinds of arrays that are plain bytes


def encode(value):
    """Return a value as what JSON can hold.

    Parameters
    ----------
    value : object
        None, a number, text, a list, tuple or dictionary of such, a NumPy array or number, a `Certified`.

    Returns
    -------
    object
        Made of dictionaries, lists, text, numbers and None; `decode` undoes it.

    Raises
    ------
    TypeError
        If a part of the value is anything else.
    """
    kind = type(value)
    if kind in AS_THEY_ARE:
        return value
    if kind is list:
        return [encode(item) for item in value]
    if kind is tuple:
        return {"!tuple": [encode(item) for item in value]}
    if kind is dict:
        if all(type(key) is str and not key.startswith("!") for key in value):
            return {key: encode(item) for key, item in value.items()}
        return {"!dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if kind is Certified:
        ends = [encode(value.lower), encode(value.upper)]
        return {"!certified": [*ends, value.status.name, value.source, value.statement]}
    if isinstance(value, np.generic) and value.dtype.kind in NUMBERS_AND_TEXT:
        return {"!number": [value.dtype.str, _text(value.tobytes())]}
    if kind is np.ndarray and value.dtype.kind in NUMBERS_AND_TEXT:
        return {"!array": [value.dtype.str, list(value.shape), _text(value.tobytes())]}
    raise TypeError(
        f"{validation.shown(value)} of type {kind.__name__} has no plain form; "
        "use numbers, text, lists, tuples, dictionaries or arrays of numbers"
    )


def decode(value):
    """Return what `encode` was given.

    Parameters
    ----------
    value : object
        As it comes from a JSON reader.

    Returns
    -------
    object
        Equal to the value that was encoded, type for type and bit for bit.

    Raises
    ------
    ValueError, TypeError, KeyError
        If `encode` cannot have written it.
    """
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    tags = [key for key in value if key.startswith("!")]
    if not tags:
        return {key: decode(item) for key, item in value.items()}
    (tag,) = value
    return FORMS[tag](value[tag])


def _text(content):
    return base64.b64encode(content).decode("ascii")


def _array(dtype, shape, text):
    dtype = np.dtype(dtype)
    if dtype.kind not in NUMBERS_AND_TEXT:
        raise ValueError(f"arrays hold numbers or text, got dtype {dtype}")
    return np.frombuffer(base64.b64decode(text, validate=True), dtype).reshape(shape).copy()


def _certified(lower, upper, status, source, statement):
    return Certified(decode(lower), decode(upper), Status[status], source, statement)


FORMS = {
    "!tuple": lambda items: tuple(decode(items)),
    "!dict": lambda items: {decode(key): decode(item) for key, item in items},
    "!certified": lambda parts: _certified(*parts),
    "!number": lambda parts: _array(parts[0], (1,), parts[1])[0],
    "!array": lambda parts: _array(*parts),
}

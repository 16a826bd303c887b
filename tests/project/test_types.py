"""Every public signature has types, and README's examples stand in the file that a strict checker reads."""

import functools
import inspect
import re
from pathlib import Path
from typing import get_overloads

import book_pages

ROOT = Path(__file__).resolve().parents[2]
BOUNDS = (ROOT / "book/bounds.md").read_text(encoding="utf-8")

# What pairs and profiles of the core have without types; a name that is done is taken off.
WITHOUT = {
    "attack_pairs",
    "attained_pairs",
    "beside_crowd",
    "cells",
    "discretised",
    "dominating_pairs",
    "dots",
    "envelope",
    "false_negatives",
    "fewest_missed",
    "forward_is_dominant",
    "from_losses",
    "high",
    "known_false_negatives",
    "known_renyi",
    "log_hockey_stick",
    "log_worst",
    "low",
    "max_privacy_loss",
    "normalised",
    "on_a_sample",
    "pair",
    "pure_epsilon",
    "renyi_ceiling",
    "renyi_directed",
    "renyi_worst",
    "reversed",
    "size",
    "slots",
}
CORE = ("profiles.", "shuffling.")


def functions(thing):
    """Yield the functions of a public name: itself, or the constructor, methods and properties of a class."""
    if inspect.isfunction(thing):
        yield thing
    elif inspect.isclass(thing):
        for kind in thing.__mro__:
            if kind.__module__.startswith("shufflelib"):
                for name, one in vars(kind).items():
                    if name == "__init__" or not name.startswith("_"):
                        yield from underlying(one)


def underlying(one):
    """Yield the function in a method, a property or what is computed once."""
    if isinstance(one, property):
        one = one.fget
    elif isinstance(one, functools.cached_property):
        one = one.func
    elif isinstance(one, classmethod | staticmethod):
        one = one.__func__
    if inspect.isfunction(one):
        yield inspect.unwrap(one)


PUBLIC = {
    f"{one.__module__.removeprefix('shufflelib.')}:{one.__qualname__}": one
    for module in book_pages.public_modules(BOUNDS)
    for name in book_pages.public_names(module)
    for one in functions(getattr(module, name))
    if one.__code__.co_filename.startswith(str(ROOT / "shufflelib"))
}


def complete(function):
    """Return whether each parameter and the result of a function, or of each of its overloads, has a type."""
    for one in get_overloads(function) or [function]:
        signature = inspect.signature(one)
        parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
        kinds = [p.annotation for p in parameters] + [signature.return_annotation]
        if inspect.Signature.empty in kinds:
            return False
    return True


def test_every_public_signature_has_types():
    assert len(PUBLIC) > 500
    untyped = {name for name, one in PUBLIC.items() if not complete(one)}
    excused = {name for name in untyped if name.startswith(CORE) and name.rpartition(".")[2] in WITHOUT}
    assert untyped - excused == set()
    assert {name.rpartition(".")[2] for name in excused} == WITHOUT


def test_a_users_file_has_the_examples_of_the_readme():
    """`make lint` checks it strictly, as a user would."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^>>> (.*?)(?: +#.*)?$", readme, re.MULTILINE)
    shown += re.findall(r"\| `(shuffle\(.*?\))`", readme)
    text = (ROOT / "tests/typing/readme.py").read_text(encoding="utf-8")
    assert len(shown) > 5
    for line in shown:
        assert line in text or re.fullmatch(r"from shufflelib import [\w, ]+", line), line

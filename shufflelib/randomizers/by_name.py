"""Mechanisms by the names of their constructors: what each takes, and what a near miss may have meant."""

import functools
import inspect
import re

from shufflelib import randomizers
from shufflelib.numerics import validation
from shufflelib.randomizers.integer_noise import NoisyCount
from shufflelib.randomizers.local_randomizer import LocalRandomizer
from shufflelib.randomizers.multi_message import MultiMessage

OTHERS = {"cdf", "matrix", "randomizer", "randomizers"}  # parameters that are not numeric
DEPLOYED = {  # encodings that take other parameters, and what has the same reports or dominates them
    "1bitmean": "1BitMean is duchi with d = 1, on values in [-1, 1]",
    "cms": "a count mean sketch, rows drawn by users in secret, is bounded by rappor, its d the hash range",
    "hcms": "shuffle(randomizers.binary_rr(eps0=…), n, labels=rows * indices) bounds this sketch in Python",
}


@functools.cache
def constructors():
    """Return the constructor of every randomizer with numeric parameters only, by its name."""
    built = {name: getattr(randomizers, name) for name in randomizers.__all__}
    return {
        name: build
        for name, build in built.items()
        if issubclass(build, LocalRandomizer | NoisyCount) and not OTHERS & set(parameters(build))
    }


def spelled(name):
    """Return a name as Python has it, with the usual one for ``krr`` and the like; empty if it is no text."""
    name = name.strip().lower().replace("-", "_").replace(" ", "_") if isinstance(name, str) else ""
    return randomizers.OTHER_NAMES.get(name, name)


def named(name):
    """Return the name of a randomizer as Python has it; ``generalized-rr`` and ``krr`` name it too.

    Examples
    --------
    >>> from shufflelib.randomizers.by_name import named
    >>> named("generalized-rr"), named("OUE")
    ('generalized_rr', 'optimized_unary')
    """
    wanted = spelled(name)
    if wanted not in constructors():
        near = validation.suggestion(wanted, constructors(), randomizers.OTHER_NAMES)
        if wanted in randomizers.__all__:
            near = f", which is for Python only: {_in_python(wanted)}"
        elif wanted in DEPLOYED:
            near = f"; {DEPLOYED[wanted]}"
        got = validation.shown(name) if isinstance(name, str) else f"a {type(name).__name__}"
        rest = f"{near}; shufflelib mechanisms lists all" if near else f"; known: {', '.join(constructors())}"
        raise ValueError(f"randomizer must be a known one, got {got}{rest}")
    return wanted


def _in_python(name):
    """Return what answers in Python for a randomizer without numeric parameters only."""
    build = getattr(randomizers, name)
    if issubclass(build, MultiMessage):
        arguments = ", ".join(f"{one}={one}" for one in parameters(build))
        made = f"randomizers.{name}({arguments})"
        return f"shuffling.multi_message.shuffle_messages({made}, n=n, dummy_messages=n*k), k for each"
    return f"see help(shufflelib.randomizers.{name})"


def parameters(build):
    """Return the named parameters of a constructor's signature."""
    found = inspect.signature(build).parameters
    return {name: one for name, one in found.items() if one.kind is not one.VAR_KEYWORD}


def required(build):
    """Return the names of a constructor's required parameters."""
    return [name for name, one in parameters(build).items() if one.default is inspect.Parameter.empty]


def described(build):
    """Return what a constructor builds, each parameter's domain, and the source, from its docstring."""
    lines = inspect.getdoc(build).splitlines()
    first = lines.index("Parameters") + 2
    last = next((i for i in range(first, len(lines)) if re.fullmatch("-+", lines[i])), len(lines) + 1) - 1
    domains, names = {}, ()
    for line in lines[first:last]:
        if line and not line.startswith(" "):
            names = re.split(", *", line.split(" : ")[0])
        else:
            for name in names:
                domains[name] = f"{domains.get(name, '')} {line.strip()}".strip()
    text = "\n".join(lines)
    source = re.search(r"Wang 2024, Tables? \d[^:;]*?(?=:|;|\. )|(?s:Source: .*?(?=\.(\s|$)))", text)
    return {
        "parameters": {name: domains.get(name, "") for name in parameters(build)},
        "what": re.sub(r"^Build (the |an? )?", "", lines[0]),
        "source": " ".join(source[0].split()) if source else "",
    }

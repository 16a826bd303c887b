"""From a record of a deployment to a verdict: its numbers computed again."""

import contextlib
import dataclasses
import inspect
import os
from collections.abc import Mapping
from typing import Any

from shufflelib import randomizers
from shufflelib.numerics import validation, yaml_files
from shufflelib.numerics.certified import written
from shufflelib.numerics.typed_numbers import typed
from shufflelib.randomizers.multi_message import MultiMessage
from shufflelib.registry.fields import (
    ALONE,
    BLOCK,
    DIGITS,
    FAILS,
    HOLDS,
    MADE_BY,
    MESSAGES,
    NEEDED,
    NEEDS,
    OPEN,
    OPTIONAL,
    PARAMETERS,
    RANDOMIZERS,
    REPORTS,
    SUMS,
    UNKNOWN,
    VERSION,
    copied_record,
    local_epsilon,
    relation,
)
from shufflelib.shuffling.aggregated import aggregate
from shufflelib.shuffling.multi_message import shuffle_messages
from shufflelib.shuffling.shuffled import shuffle


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What `check` says of a record.

    Attributes
    ----------
    verdict : str
        "holds", "does not hold", "is not decided" or "cannot be checked".
    sentence : str
        The verdict, both numbers and what they are of, or what is missing.
    lower, upper : float or None
        The certified bracket of ε at the printed δ, if it could be computed.

    Examples
    --------
    >>> from shufflelib.registry import check
    >>> check({}).verdict
    'cannot be checked'
    """

    verdict: str
    sentence: str
    lower: float | None = None
    upper: float | None = None

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as a dictionary that JSON can hold."""
        return dataclasses.asdict(self)


class _MissingError(Exception):
    """Names of fields without which nothing can be computed."""


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the record in a YAML file, read safely; needs PyYAML.

    Parameters
    ----------
    path : str or os.PathLike
        The file.

    Raises
    ------
    ValueError, OSError
        In one line, if it cannot be read or is no record.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from shufflelib import randomizers, record, registry, shuffle
    >>> found = record(shuffle(randomizers.binary_rr(eps0=1.0), n=1000), delta=1e-6)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "record.yaml")
    ...     path.write_text(registry.to_yaml(found), encoding="utf-8") > 1000
    ...     registry.read(path) == found
    True
    True
    """
    return copied_record(yaml_files.load(path, NEEDS))


def check(record: Mapping[str, Any]) -> Verdict:
    r"""Recompute a record and say whether its (ε, δ) holds.

    .. math:: \delta_{\text{upper}}(\varepsilon) \le \delta: \text{ holds}, \qquad
              \delta_{\text{lower}}(\varepsilon) > \delta: \text{ does not hold}

    Parameters
    ----------
    record : mapping
        In the form that `record` returns, or one of the registry's own.

    Returns
    -------
    Verdict
        "holds" if it is proved; "does not hold" if an attack exceeds it, or if the local ε that is printed
        is smaller than that of the mechanism; "is not decided" if what is proved and what is attacked are on
        its two sides; "cannot be checked" if a field is missing.

    Raises
    ------
    TypeError, ValueError
        If a field has no meaning; it names the field, the value and the remedy.

    Examples
    --------
    A record of today, with some of what it lacks:

    >>> from shufflelib.registry import check
    >>> printed = {"privacy_parameters": {"epsilon": 8.0, "delta": 1e-6}}
    >>> more = {"users": 10_000, "neighbours": "zero", "analyst_sees": "sums of reports"}
    >>> print(check({"deployment": {"privacy_loss": printed}, "shuffle_model": more}))
    cannot be checked: shuffle_model.mechanism is missing
    """
    record = copied_record(record)
    printed, block = _mapping(record, *PARAMETERS), _mapping(record, BLOCK)
    try:
        eps, delta = _printed(printed, block)
        base, profile = _rebuilt(block)
    except _MissingError as missing:
        names = missing.args[0]
        return Verdict(UNKNOWN, f"{UNKNOWN}: {', '.join(names)} {'are' if len(names) > 1 else 'is'} missing")
    alone, stated = local_epsilon(base.written), block.get("local_epsilon")
    at = profile.delta(eps)
    found = profile.epsilon(delta)
    lower, upper = float(found.lower), float(found.upper)
    if at.upper <= delta:
        verdict, lower, upper = HOLDS, min(lower, eps), min(upper, eps)
    elif at.lower > delta:
        verdict, lower, upper = FAILS, max(lower, eps), max(upper, eps)
    else:
        verdict = OPEN
    ends = written(lower, up=False, digits=DIGITS), written(upper, up=True, digits=DIGITS)
    words = (
        f"epsilon = {eps!r} at delta = {delta!r} {verdict}: certified {ends[0]} ≤ epsilon ≤ {ends[1]} of "
        f"{profile.statement}"
    )
    if str(profile.adjacency) not in profile.statement:
        words += f" (neighbours: {profile.adjacency})"
    if stated is not None:
        stated = validation.real(stated, f"{BLOCK}.local_epsilon", at_least=0.0, remedy="a budget is in nats")
        if alone is None or stated < alone * (1.0 - 1e-9):
            is_one = "has none" if alone is None else f"has {alone:.6g}"
            verdict, words = FAILS, f"local_epsilon = {stated!r} {FAILS}: the mechanism {is_one}; {words}"
    return Verdict(verdict, words, lower, upper)


def _mapping(record, *path):
    """Return the mapping at a path, an empty one if there is none."""
    for depth, key in enumerate(path):
        record = record.get(key) or {}
        if not isinstance(record, dict):
            name = ".".join(path[: depth + 1])
            raise ValueError(
                f"{name} must be a mapping, got {validation.shown(record)}; indent its fields under it"
            )
    return record


def _printed(printed, block):
    """Return ε and δ, once nothing is missing."""
    place = ".".join(PARAMETERS)
    missing = [f"{place}.{name}" for name in ("epsilon", "delta") if printed.get(name) is None]
    needed = [name for name in NEEDED if name != "users" or _name(block) != "sample_and_threshold"]
    missing += [f"{BLOCK}.{name}" for name in needed if block.get(name) is None]
    if missing:
        raise _MissingError(missing)
    if strange := [key for key in block if key not in NEEDED + OPTIONAL]:
        near = validation.suggestion(strange[0], NEEDED + OPTIONAL)
        raise ValueError(
            f"{BLOCK} must have known fields, got {strange[0]!r}{near}; leave out what is not known"
        )
    if block.get("version", VERSION) != VERSION:
        raise ValueError(
            f"{BLOCK}.version must be {VERSION}, got {validation.shown(block['version'])}; "
            "a newer shufflelib may know it"
        )
    eps = validation.real(
        printed["epsilon"], f"{place}.epsilon", at_least=0.0, remedy="a central budget is in nats"
    )
    delta = printed["delta"]
    if isinstance(delta, str):  # the registry takes text as well
        with _inside(f"{place}.delta"):
            delta = typed(delta, "share")
    return eps, validation.probability(delta, f"{place}.delta")


def _name(block):
    mechanism = block.get("mechanism")
    return mechanism.get("name") if isinstance(mechanism, dict) else None


def _rebuilt(block):
    """Return the profile of one round of all users, and that of the record."""
    mechanism, place = block["mechanism"], f"{BLOCK}.mechanism"
    given = {"neighbours": block["neighbours"]}
    if (name := _name(block)) in ALONE:
        own = {key: value for key, value in mechanism.items() if key != "name"}
        views = {MADE_BY[name][1]: MADE_BY[name][0]}
    else:
        further = {"changed", "dummy_messages", "labels"}
        own = {key: value for key, value in _checked(mechanism, place).items() if key in further}
        randomizer = _built({key: value for key, value in mechanism.items() if key not in further}, place)
        several = isinstance(randomizer, MultiMessage)
        views = {MESSAGES: shuffle_messages} if several else {REPORTS: shuffle, SUMS: aggregate}
        given["randomizer"] = randomizer
    function = views[validation.one_of(block["analyst_sees"], f"{BLOCK}.analyst_sees", views)]
    takes = inspect.signature(function).parameters
    elsewhere = ("randomizer", "n", "neighbours")
    _fits(own, {name: one for name, one in takes.items() if name not in elsewhere}, place)
    own |= {name: value for name, value in given.items() if name in takes}
    if "n" in takes:
        with _inside(f"{BLOCK}.users"):
            own["n"] = validation.users(block["users"])
    with _inside(BLOCK):
        base = function(**own)
        if "neighbours" not in takes:
            _same_relation(block["neighbours"], base)
    with _inside(f"{BLOCK}.sampling_rate"):
        drawn = base.subsample(block.get("sampling_rate", 1.0))
    with _inside(f"{BLOCK}.rounds"):
        return base, drawn.compose(block.get("rounds", 1))


def _same_relation(stated, base):
    if stated != relation(base):
        raise ValueError(
            f"neighbours must be {relation(base)!r} for this mechanism, got {validation.shown(stated)}; "
            f"its guarantee is for: {base.adjacency}"
        )


def _checked(mechanism, place):
    """Return a mechanism that is a mapping with the name of a randomizer."""
    if not isinstance(mechanism, dict):
        raise ValueError(
            f"{place} must be a mapping, got {validation.shown(mechanism)}; "
            "give name and parameters as fields"
        )
    if (name := mechanism.get("name")) is None:
        raise _MissingError([f"{place}.name"])
    if not isinstance(name, str) or name not in RANDOMIZERS:
        near = validation.suggestion(name, [*RANDOMIZERS, *ALONE], randomizers.OTHER_NAMES)
        raise ValueError(
            f"{place}.name must be that of a constructor, got {validation.shown(name)}{near}; known: "
            f"{', '.join([*RANDOMIZERS, *ALONE])}"
        )
    return mechanism


def _built(mechanism, place):
    """Return the randomizer that a mapping describes."""
    build = getattr(randomizers, _checked(mechanism, place)["name"])
    own = {key: value for key, value in mechanism.items() if key != "name"}
    _fits(own, inspect.signature(build).parameters, place)
    own = {key: _value(value, f"{place}.{key}") for key, value in own.items()}
    with _inside(place):
        return build(**own)


def _value(value, place):
    if isinstance(value, dict):
        return _built(value, place)
    return [_value(one, place) for one in value] if isinstance(value, list) else value


def _fits(own, takes, place):
    """Refuse parameters that a function does not take, and say which it needs."""
    if strange := [key for key in own if key not in takes]:
        near = validation.suggestion(strange[0], takes)
        raise ValueError(
            f"{place} must have the parameters {', '.join(takes)}, got {validation.shown(strange[0])}{near}; "
            "leave it out"
        )
    empty = inspect.Parameter.empty
    if missing := [
        f"{place}.{key}" for key, one in takes.items() if one.default is empty and own.get(key) is None
    ]:
        raise _MissingError(missing)


@contextlib.contextmanager
def _inside(place):
    """Name the place in a record of what is refused."""
    try:
        yield
    except (TypeError, ValueError) as wrong:
        raise ValueError(f"{place}: {wrong}") from None

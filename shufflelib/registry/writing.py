"""From a profile to a record of a deployment."""

import dataclasses
import math
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from shufflelib import randomizers
from shufflelib.numerics import validation
from shufflelib.numerics.certified import written
from shufflelib.numerics.optional import remedy
from shufflelib.profiles.questions import PrivacyProfile
from shufflelib.profiles.shown import Made
from shufflelib.randomizers.local_randomizer import LocalRandomizer
from shufflelib.registry.fields import (
    BLOCK,
    DIGITS,
    FILL_IN,
    MADE_BY,
    MODELS,
    NEEDS,
    RANDOMIZERS,
    VERSION,
    copied_record,
    local_epsilon,
    relation,
)


def record(profile: PrivacyProfile, *, delta: float, eps: float | None = None) -> dict[str, Any]:
    """Return the registry's record of a profile, with all that recomputes it.

    Parameters
    ----------
    profile : PrivacyProfile
        Of `shuffle`, `aggregate`, `shuffle_messages`, dummies or `sample_and_threshold`, as it is, drawn by
        ``subsample``, over rounds, or drawn and then over rounds.
    delta : float
        Central δ that is printed.
    eps : float, optional
        Central ε that is printed; by default the proved one, rounded up to four digits.

    Returns
    -------
    dict
        Text, numbers, lists and dictionaries alone.  What only the publisher knows is "to be filled in".

    Raises
    ------
    TypeError, ValueError
        If the profile is of something else, a parameter is a function, or no finite ε is proved.

    Notes
    -----
    `to_yaml` writes it.  The block ``shuffle_model`` is described in `shufflelib.registry`.

    Examples
    --------
    >>> import shufflelib
    >>> profile = shufflelib.shuffle(shufflelib.randomizers.generalized_rr(eps0=0.5, d=10), n=100_000)
    >>> found = shufflelib.record(profile.compose(30), delta=1e-8)
    >>> found["shuffle_model"]["users"], found["shuffle_model"]["mechanism"]
    (100000, {'name': 'generalized_rr', 'eps0': 0.5, 'd': 10})
    >>> print(shufflelib.registry.check(found).verdict)
    holds
    """
    base, rate, rounds = _taken_apart(profile)
    made = base.written
    own = dict(made.arguments)
    n, neighbours = own.pop("n", None), own.pop("neighbours", relation(base))
    found = profile.epsilon(delta)
    if eps is None:
        if math.isinf(found.upper):
            raise ValueError(
                f"delta must leave a finite ε, got {delta!r}: none is proved; give eps or a larger delta"
            )
        eps = float(written(found.upper, up=True, digits=DIGITS))
    eps = validation.central_budget(eps)
    sees = MADE_BY[made.function][1]
    block = {
        "version": VERSION,
        "users": n,
        **({"sampling_rate": rate} if rate < 1.0 else {}),
        "rounds": rounds,
        "local_epsilon": local_epsilon(made),
        "neighbours": neighbours,
        "analyst_sees": sees,
        "mechanism": ({"name": made.function} if made.of is None else _described(made.of)) | own,
        "certified_epsilon": {
            "lower": float(found.lower),
            "upper": float(found.upper),
            "by": f"shufflelib {version('shufflelib')}",
        },
    }
    return {
        "url_slug": FILL_IN,
        "status": "Draft",
        "tier": 2,
        "deployment": {
            "basic": {
                "name": FILL_IN,
                "data_curators": [FILL_IN],
                "intended_use": FILL_IN,
                "data_product_type": "Summary statistics",
                "data_product_region": FILL_IN,
                "description": FILL_IN,
                "publication_date": FILL_IN,
            },
            "dp_variant": {"variant_name": "Approximate DP"},
            "privacy_loss": {
                "privacy_unit": "User-level" + (f", {rounds} rounds together" if rounds > 1 else ""),
                "privacy_unit_details": str(profile.adjacency),
                "privacy_parameters": {"epsilon": eps, "delta": float(delta)},
            },
            "deployment_model": {
                "model_name": MODELS[sees],
                "model_name_details": f"the analyst sees {sees}",
                "actors": "; ".join(profile.assumptions),
                "release_type": "Many releases" if rounds > 1 else "One release",
                "access_type": "Non-interactive",
            },
            "accounting": {"composition": profile.source},
            "implementation": {"mechanisms": profile.statement},
            "administrative": {"registry_authors": [FILL_IN]},
        },
        BLOCK: block,
    }


def _taken_apart(profile):
    """Return the profile of one round of all users, the rate and the number of rounds."""
    validation.instance(profile, "profile", PrivacyProfile, remedy="shufflelib.shuffle makes one")
    base, rate, rounds = profile, 1.0, 1
    if len(base.rounds) == 1:
        ((base, rounds),) = base.rounds
    if isinstance(base.written, Made) and base.written.function == "subsample":
        base, rate = base.written.of, base.written.arguments["rate"]
    if base.rounds or not isinstance(base.written, Made) or base.written.function not in MADE_BY:
        raise ValueError(
            f"profile must be of one mechanism, perhaps drawn at one rate and then over rounds, got "
            f"{validation.shown(profile)}; record every mechanism by itself"
        )
    return base, rate, rounds


def _described(randomizer):
    """Return the name and the parameters of a randomizer."""
    name = type(randomizer).__name__
    if name not in RANDOMIZERS or getattr(randomizers, name) is not type(randomizer):
        raise ValueError(
            f"profile must be of a mechanism given by numbers, got {validation.shown(randomizer)}; "
            "randomizers.from_pmf takes its table of probabilities"
        )
    values = {one.name: getattr(randomizer, one.name) for one in dataclasses.fields(randomizer) if one.init}
    return {"name": name} | {key: _data(value) for key, value in values.items() if value is not None}


def _data(value):
    if isinstance(value, LocalRandomizer):
        return _described(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_data(one) for one in value] if isinstance(value, tuple | list) else value


def to_yaml(record: Mapping[str, Any]) -> str:
    """Return a record as YAML; needs PyYAML.

    Parameters
    ----------
    record : mapping
        Made by `record`.

    Examples
    --------
    >>> from shufflelib import randomizers, record, registry, shuffle
    >>> found = record(shuffle(randomizers.binary_rr(eps0=1.0), n=1000), delta=1e-6)
    >>> print(registry.to_yaml(found["shuffle_model"]["mechanism"]), end="")
    name: binary_rr
    eps0: 1.0
    """
    with remedy(NEEDS):
        import yaml
    return yaml.safe_dump(copied_record(record), sort_keys=False, allow_unicode=True, width=100)

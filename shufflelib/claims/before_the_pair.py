"""Claims made before the variation-ratio paper: closed forms in ε₀, clones, the privacy blanket."""

from shufflelib import closed_form, randomizers, renyi
from shufflelib.claims.claim import Claim, Verdict
from shufflelib.claims.upper_bounds import upper_bound

CLAIMS = (
    Claim(
        id="efmrtt19-closed-form",
        statement=(
            "For eps0 <= 1/2, n >= 1000 and delta < 1/100 shuffled eps0-LDP reports are "
            "(12 eps0 sqrt(log(1/delta)/n), delta)-DP."
        ),
        source="Erlingsson, Feldman, Mironov, Raghunathan, Talwar, Thakurta (SODA 2019), closed form",
        verdict=Verdict.HOLDS,
        check=upper_bound(closed_form.erlingsson19, randomizers.generic),
    ),
    Claim(
        id="fmt21-closed-form",
        statement=(
            "For eps0 <= log(n/(16 log(2/delta))) shuffled eps0-LDP reports have "
            "eps <= log(1 + (e^eps0 - 1)/(e^eps0 + 1) (8 sqrt(e^eps0 log(4/delta)/n) + 8 e^eps0/n))."
        ),
        source="Feldman, McMillan, Talwar (FOCS 2021), Theorem 3.1, closed form",
        verdict=Verdict.HOLDS,
        check=upper_bound(closed_form.clones_fmt21, randomizers.generic),
    ),
    Claim(
        id="fmt21-pair",
        statement="The pair with e^-eps0 clones per user dominates n shuffled eps0-LDP reports.",
        source="Feldman, McMillan, Talwar (FOCS 2021), Theorem 3.1",
        verdict=Verdict.HOLDS,
        check=upper_bound(
            lambda eps0, n, delta: renyi.clones_pair_fmt21(eps0=eps0, n=n).epsilon(delta).upper,
            randomizers.generic,
        ),
    ),
)

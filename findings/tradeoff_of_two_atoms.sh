#!/bin/sh
# riskcal 1.5.1 and gdpnum 0.1.2 on a loss distribution of dp-accounting 0.6.0: whole atoms go to the attacker.
#
# Guess: the trade-off function that both compute from a dp-accounting loss distribution is lower than the true
# one by about the width of its grid, 1e-4.
# Seen: for binary randomized response with ε = ln 3, an attacker who never raises a false alarm is credited with
# finding 75 % of the members; the true figure is 0 %, and 3 % with 1 % false alarms.  gdpnum's regret, which
# measures how far the trade-off function is from that of a Gaussian, is 0: a perfect fit.  With ε = 1, a
# multiple of the grid's width, both are exact.
# Why: the losses of both directions are rounded up to the grid.  Unless the loss is a multiple of its width, the
# largest loss is one step above the negative of the smallest of the other direction, and a test that looks for
# it finds no mass to pay for.  Noise with a density has no such atoms inside, so that nobody sees this there.
# Effect: any mechanism with few outcomes (randomized response, one-bit means) looks broken at small error rates.
#
# Output seen (attacker's misses at 0, 1, 10 and 25 % false alarms; regret):
#   ε = 1     exact  [1. 0.9728 0.7282 0.3204]  riskcal [1. 0.9728 0.7282 0.3204]  gdpnum the same, regret 0.058
#   ε = ln 3  exact  [1. 0.97 0.7 0.25]         riskcal [0.25 0.25 0.25 0.]        gdpnum the same, regret 0
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq dp-accounting==0.6.0 riskcal==1.5.1 gdpnum==0.1.2 numpy==2.1.3 scipy==1.17.1
"$folder/venv/bin/python" - <<'PYTHON'
import gdpnum
import numpy as np
from dp_accounting.pld import privacy_loss_distribution
from riskcal.analysis import get_beta_from_pld

alarms = np.array([0.0, 0.01, 0.1, 0.25])
for name, eps in (("1", 1.0), ("ln 3", np.log(3))):
    lie = 1 / (1 + np.exp(eps))
    losses = privacy_loss_distribution.from_randomized_response(noise_parameter=2 * lie, num_buckets=2)
    exact = np.maximum(1 - np.exp(eps) * alarms, np.exp(-eps) * (1 - alarms))
    risk = get_beta_from_pld(losses, alpha=alarms)
    converter = gdpnum.PLDConverter(losses)
    gdp, (_, regret) = converter.get_beta(alarms), converter.get_mu_and_regret()
    shown = f"exact {exact.round(4)}, riskcal {risk.round(4)}, gdpnum {gdp.round(4)}"
    print(f"ε = {name}: {shown}, regret {regret:.3f}")
    if name == "1":
        assert np.allclose(risk, exact, atol=1e-6) and np.allclose(gdp, exact, atol=1e-6) and regret > 0.05
    else:
        assert np.allclose(risk, [0.25, 0.25, 0.25, 0], atol=1e-3), "the atoms meet now"
        assert np.allclose(gdp, risk) and regret == 0
PYTHON

#!/bin/sh
# jax-privacy 2.0.0: asked for other noise, the cached accountant answers with the ε of the noise asked for first.
#
# Guess: `CachedExperimentAccountant(...).compute_epsilon(updates, parameters, allow_approximate_cache=True)` is at
# least the ε of these parameters, as it is for the numbers of updates that lie between those kept: "should always be
# an over-approximation of the true epsilon".
# Seen: whatever the noise multiplier, batch size or δ of later calls, the answer is that of the first: ε = 0.954 for
# noise 0.5, whose ε is 7.916.  Without `allow_approximate_cache` the same object answers each rightly.
# Why: the values are kept under the number of updates alone, and filled once.  One object for each set of parameters
# is what its constructor would suit, but the parameters are an argument of the question, and none is refused.
# Effect: a table of ε by noise, made in a loop over one accountant, is constant, and too small below the first noise.
#
# Output seen (100 updates of batches of 100 among 10,000 examples, δ = 1e-6):
#   noise  cached   exact
#     1.0   0.954   0.954
#     2.0   0.954   0.228
#     0.5   0.954   7.916
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq jax-privacy==2.0.0 jax==0.10.2 optax==0.2.8 dp-accounting==0.6.0 \
  numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" - <<'PYTHON'
from jax_privacy import accounting

one_run = accounting.DpsgdTrainingAccountant(accounting.PldAccountantConfig(value_discretization_interval=1e-3))
accountant = accounting.CachedExperimentAccountant(one_run, max_num_updates=100, num_cached_points=2)
found = {}
print("noise  cached   exact")
for noise in (1.0, 2.0, 0.5):
    asked = accounting.DpParams(noise_multipliers=noise, num_samples=10_000, batch_size=100, delta=1e-6)
    cached = accountant.compute_epsilon(100, asked, allow_approximate_cache=True)
    found[noise] = cached, accountant.compute_epsilon(100, asked)
    print(f"{noise:5.1f} {cached:7.3f} {found[noise][1]:7.3f}")
assert found[1.0][0] == found[1.0][1] and abs(found[1.0][0] - 0.954) < 1e-3
assert found[0.5][0] == found[2.0][0] == found[1.0][0], "the parameters are used now"
assert found[0.5][1] > 7.5 > 0.3 > found[2.0][1]
PYTHON

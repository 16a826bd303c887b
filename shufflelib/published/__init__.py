"""The bounds of the literature as printed, for comparison; certified profiles never use them.

One module or folder for each idea: `closed_form` for ε from (ε₀, n, δ), `renyi`, `conversions`,
`joint_concavity`, `personalized`, `parallel_composition`, `composition`, `multi_message`, and the asymptotic
`shuffle_index` and `central_limit`.  `comparison` evaluates all those that give ε at δ.

What the docstrings do not repeat:

=============  ==================================================================
eps0           local budget in nats, 0 < eps0 ≤ 700
n              number of users, including the one whose value changes, up to 10¹⁵
eps, delta     central ε in nats, not negative, and δ, strictly between 0 and 1
order          Rényi order above 1, λ in the papers
=============  ==================================================================

An argument outside its domain is refused by name with a TypeError or ValueError; where a hypothesis that a
theorem prints does not hold, with `closed_form.OutOfRegime`.
"""

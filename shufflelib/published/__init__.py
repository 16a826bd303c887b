"""The bounds of the literature as printed, for comparison; certified profiles never use them.

One module or folder for each idea: `closed_form` for ε from (ε₀, n, δ), `renyi`, `conversions`,
`joint_concavity`, `personalized`, `parallel_composition`, `composition`, `multi_message`, and the asymptotic
`shuffle_index` and `central_limit`.  `comparison` evaluates all those that give ε at δ.
"""

"""Certified arithmetic: intervals in log space, E[(G₁ + … + Gₙ)₊], roots that end on the safe side.

Nothing here knows about privacy.  `logspace` says which errors are proved and which are measured.
"""

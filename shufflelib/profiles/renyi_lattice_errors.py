r"""What a strided, windowed Rényi sum misses: bounds on its aliases and on its tails.

The summand is :math:`f(a,s) = \text{mass}(a,s)\,V\varphi(U/V)` of `renyi_lattice_sum`.  Everything here rests
on two shapes: the logarithm of the trinomial mass is concave, and so is :math:`\log U`, while :math:`-\log V`
is convex.  In a box the concave factors lie below their tangents; the sum of a linear and a convex function
is largest at a corner.
"""

import math

import numpy as np

from shufflelib.numerics.logspace import UNIT, logsumexp
from shufflelib.profiles.connect_the_dots import log_renyi_kernel


def _deviance(part, whole, share, other):
    """Return −log of Chernoff's bound, whole · KL(part/whole ‖ share), share + other = 1."""
    rest = whole - part
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(part > 0.0, part * np.log(part / (whole * share)), 0.0) + np.where(
            rest > 0.0, rest * np.log(rest / (whole * other)), 0.0
        )
    # both terms are large and cancel near the mean; their rounding is taken to the safe side
    return np.maximum(value - 16 * UNIT * whole, 0.0)


def box_edges(low, high, first, last, unit):
    """Return half-integer edges: even inside the window, ever wider outside it, up to both limits."""
    inside = np.linspace(low, high, 41)
    grow = 0.5 * unit * np.cumsum(1.3 ** np.arange(160))
    fine = np.cumsum(1.1 ** np.arange(60))
    edges = [low - grow, inside, high + grow, first + fine, last - fine]
    edges = np.concatenate(edges)
    edges = np.unique(np.floor(edges) + 0.5)
    edges = np.concatenate([[first], edges[(edges > first) & (edges < last)], [last]])
    # the window's own ends are edges, so that every box lies inside it or outside
    return np.unique(np.concatenate([edges, [max(low, first), min(high, last)]]))


def log_tails(terms, a_edges, s_edges, inside, order):
    """Bound log Σ f over the boxes between consecutive edges that are not inside the window."""
    a_low, a_high = np.ceil(a_edges[:-1]), np.ceil(a_edges[1:]) - 1.0
    s_low, s_high = np.ceil(s_edges[:-1]), np.ceil(s_edges[1:]) - 1.0
    a_low, a_high = a_low[:, None], a_high[:, None]
    s_low, s_high = s_low[None, :], s_high[None, :]
    possible = (a_low <= a_high) & (s_low <= s_high) & (a_low <= s_high) & ~inside
    a_low, a_high, s_low, s_high = (
        np.broadcast_to(part, possible.shape)[possible] for part in (a_low, a_high, s_low, s_high)
    )
    a_high = np.minimum(a_high, s_high)
    s_low = np.maximum(np.maximum(s_low, a_low), 1.0)
    mean = terms.n * terms.share
    nearest = np.clip(mean, s_low, s_high)
    minus = _deviance(nearest, float(terms.n), terms.share, terms.mass[2]) if terms.mass[2] > 0.0 else 0.0
    above = a_low > terms.rho * s_high
    below = a_high < terms.rho * s_low
    minus = minus + np.where(
        above,
        _deviance(a_low, s_high, terms.rho, terms.rest),
        np.where(below, _deviance(np.minimum(a_high, s_low), s_low, terms.rho, terms.rest), 0.0),
    )
    # extremes of affine functions of (a, b, c): b from s − a, corners of the box
    corners = [(np.minimum(a, s), s) for a in (a_low, a_high) for s in (s_low, s_high)]
    corners.append((a_high, np.maximum(s_low, a_high)))

    def extremes(weights):
        x, y, z = weights
        values = [x * a + y * (s - a) + z * (terms.n - s) for a, s in corners]
        return np.minimum.reduce(values), np.maximum.reduce(values)

    (v_low, v_high), (down, up) = extremes(terms.v), extremes(terms.gain)
    largest = float(np.max(terms.u[:2] / terms.v[:2]))
    roof = max(float(log_renyi_kernel(np.array([math.log(largest)]), order)[0]), math.log(order - 1.0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # φ(1 + x) is at most λ(λ−1)/2 x² (1 + x)^{λ−2}, without the power where it is below 1, …
        half = math.log(0.5 * order * (order - 1.0))
        x = np.maximum(up, 0.0) / v_low
        steep = np.log1p(x)
        # … and at most (1 + x)^λ for x > 0, λ − 1 for x < 0
        rise = np.log(v_low) + np.minimum(
            half + 2.0 * np.log(x) + max(order - 2.0, 0.0) * steep, order * steep
        )
        least = np.maximum(v_low, -down)  # V is at least V − U
        x = np.maximum(-down, 0.0) / least
        fall = np.log(least) + np.minimum(
            half + 2.0 * np.log(x) - (np.log1p(-x) * (2.0 - order) if order < 2.0 else 0.0),
            math.log(order - 1.0),
        )
        sharp, crude = np.fmax(rise, fall), np.log(v_high) + roof
        bound = np.where(np.isnan(rise), crude, np.minimum(sharp, crude)) - minus
        whole = s_low >= a_high  # boxes cut by a = s keep the bound above
        joint = _corner_bound(terms, a_low, a_high, s_low, s_high, order)
        bound = np.where(whole, np.minimum(bound, np.logaddexp(joint, fall - minus)), bound)
    return logsumexp(bound) + 1e-9


def _corner_bound(terms, a_low, a_high, s_low, s_high, order):
    r"""Bound log Σ mass · U^λ V^{1−λ} over boxes: tangents of the concave factors, V at the corners."""
    mid_a, mid_s = 0.5 * (a_low + a_high) + 0.5, 0.5 * (s_low + s_high) + 1.0
    mid = mid_a, mid_s - mid_a, np.maximum(terms.n - mid_s, 0.5)
    big_u = sum(u * part for u, part in zip(terms.u, mid, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        height = order * np.log(big_u) + 16 * UNIT * terms.n
        slope = []
        for part, u, m in zip(mid, terms.u, terms.mass, strict=True):
            lean = np.log(part / (terms.n * m)) if m > 0.0 else np.zeros_like(part)
            height = height - part * lean
            slope.append(order * u / big_u - lean - (1.0 if m > 0.0 else 0.0))
        corners = [(a, s) for a in (a_low, a_high) for s in (s_low, s_high)]
        best = -np.inf
        for a, s in corners:
            corner = a, s - a, terms.n - s
            big_v = sum(v * part for v, part in zip(terms.v, corner, strict=True))
            moved = sum((x - y) * g for x, y, g in zip(corner, mid, slope, strict=True))
            best = np.maximum(best, moved - (order - 1.0) * np.log(big_v))
        count = np.log1p(a_high - a_low) + np.log1p(s_high - s_low)
    return np.where(np.isnan(best), np.inf, height + best + count)


def log_aliases(terms, a, s, k, axis, log_mass, log_f, order):
    """Bound log of what summing every k-th point along one axis misses, all other points taken."""
    stride = k[axis]
    # along the other axis: whole steps between two nodes, or, on the second round, none
    half_a, half_s = (0.5 * k[0], 0.5 * (k[1] - 1.0)) if axis == 0 else (0.0, 0.5 * k[1])
    b, c = s - a, terms.n - s
    step = np.array([1.0, -1.0, 0.0]) if axis == 0 else np.array([0.0, 1.0, -1.0])
    smallest = a - half_a, b - half_a - half_s, c - half_s
    curvature = sum(
        abs(moves) / (np.maximum(part, 0.0) + 0.5) for part, moves in zip(smallest, step, strict=True)
    )
    # ψ(x + 1) to within 1/(24 (x + 1/2)²), and rounding
    logs = [np.log(part + 0.5) for part in (a, b, c)]
    doubt = [
        1.0 / (24.0 * (part + 0.5) ** 2) + 8 * UNIT * np.abs(log)
        for part, log in zip((a, b, c), logs, strict=True)
    ]
    slope_a = logs[1] - logs[0] + math.log(terms.mass[0] / terms.mass[1])
    unsure = half_a * (doubt[0] + doubt[1])
    slope_s = np.zeros_like(slope_a)
    if terms.mass[2] > 0.0:
        slope_s = logs[2] - logs[1] + math.log(terms.mass[1] / terms.mass[2])
        unsure = unsure + half_s * (doubt[1] + doubt[2])
    steps = half_a * np.abs(slope_a) + half_s * np.abs(slope_s)
    highest = log_mass + steps * (1.0 + 8 * UNIT) + unsure
    directions = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0 if terms.mass[2] > 0.0 else 0.0]])

    def swing(weights):
        return half_a * abs(weights @ directions[0]) + half_s * abs(weights @ directions[1])

    def extremes(weights):
        value = weights[0] * a + weights[1] * b + weights[2] * c
        return value - swing(weights), value + swing(weights)

    u_low, _ = extremes(terms.u)
    v_low, v_high = extremes(terms.v)
    gap_low, gap_high = extremes(terms.gain)
    along_u, along_v, along_gap = terms.u @ step, terms.v @ step, terms.gain @ step
    if np.min(u_low) <= 0.0 or np.min(v_low) <= 0.0:
        return math.inf
    curvature = curvature + max(order - 2.0, 0.0) * (along_u / u_low) ** 2
    typical = math.exp(logsumexp(log_f) - logsumexp(log_f - np.log(curvature)))
    bend = curvature[[0, -1], :] if axis == 0 else curvature[:, [0, -1]]
    tau = min(
        2.0 * math.pi / (stride * 1.1 * typical), 3.0 * math.pi / (stride * np.max(bend)), 10.0 * stride
    )
    gap = np.maximum(np.abs(gap_low), np.abs(gap_high))
    body = highest - np.log(v_low)
    if order >= 2.0:
        # mass · U^{λ−2} V^{1−λ}: tangents of the concave factors, V at the corners of the cell
        big_u, big_v = u_low + swing(terms.u), v_low + swing(terms.v)
        tilt_a, tilt_s = ((order - 2.0) * (terms.u @ way) / big_u for way in directions)
        tops = [
            i * half_a * (slope_a + tilt_a)
            + j * half_s * (slope_s + tilt_s)
            - (order - 1.0)
            * np.log(big_v + i * half_a * (terms.v @ directions[0]) + j * half_s * (terms.v @ directions[1]))
            for i in (-1.0, 1.0)
            for j in (-1.0, 1.0)
        ]
        tilted = log_mass + (order - 2.0) * np.log(big_u) + np.maximum.reduce(tops) + unsure
        body = np.maximum(body, tilted)
    else:
        real = (u_low * v_low - tau**2 * abs(along_u * along_v)) / (v_high**2 + (tau * along_v) ** 2)
        if np.min(real) <= 0.0:
            return math.inf
        body = body - (2.0 - order) * np.log(np.minimum(real, 1.0))
    body = body + math.log(0.5 * order * (order - 1.0)) + np.log(gap**2 + (tau * along_gap) ** 2)
    swell = 0.5 * tau**2 * curvature
    damp = [2.0 * math.pi * tau / step for step in (stride, 1.0)]
    factor = 2.0 * sum(math.exp(-x) / -math.expm1(-x) for x in damp)
    inner = logsumexp(body + swell) + math.log(k[0] * k[1]) + math.log(factor)
    # the two borders of each line
    border = body[[0, -1], :] if axis == 0 else body[:, [0, -1]]
    slow = [1.0 - tau * step * bend / (4.0 * math.pi) for step in (stride, 1.0)]
    length = (stride / slow[0] + 1.0 / slow[1]) / math.pi
    edges = logsumexp(border + np.log(length)) + math.log(k[0] * k[1] / stride)
    return float(np.logaddexp(inner, edges)) + 1e-9

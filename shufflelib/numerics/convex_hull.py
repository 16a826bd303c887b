"""The lower convex hull of points in the plane."""

import numpy as np


def hull(x, y):
    """Return the indices of the lower convex hull of points with rising x.

    Examples
    --------
    >>> import numpy as np
    >>> from shufflelib.numerics.convex_hull import hull
    >>> hull(np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.9, 0.0])).tolist()
    [0, 2]
    """
    x, y, chosen = x.tolist(), y.tolist(), []
    for i in range(len(x)):
        while len(chosen) > 1:
            a, b = chosen[-2], chosen[-1]
            if (y[b] - y[a]) * (x[i] - x[a]) < (y[i] - y[a]) * (x[b] - x[a]):
                break
            chosen.pop()
        if chosen and x[chosen[-1]] == x[i]:
            if y[chosen[-1]] <= y[i]:
                continue
            chosen.pop()
        chosen.append(i)
    return np.array(chosen)

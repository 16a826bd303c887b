"""Data that the notebooks run protocols on.  Nothing is downloaded; scikit-learn loads when asked for."""

DIGITS = 10


def digit_labels():
    """Return the labels of scikit-learn's bundled handwritten digits: one user each, one of ten options.

    Returns
    -------
    numpy.ndarray, shape (1797,), integer
        Values 0 to 9, each between 174 and 183 times.

    Notes
    -----
    Source: E. Alpaydin, C. Kaynak, "Optical Recognition of Handwritten Digits" (UCI, 1998), its test set.

    Examples
    --------
    >>> digit_labels().shape
    (1797,)
    """
    from sklearn.datasets import load_digits

    return load_digits().target

"""Warnings in words: targets that nobody means, and answers that are proved and yet of no use."""

import math

from shufflelib.numerics.certified import written

MEANINGLESS = 1000.0  # odds: a guess that was right once in a thousand cases may become right in every second
FEW_USERS = 10
MANY_MESSAGES = 1000  # of a user
USELESS = 0.5  # standard error of a share or of a mean in [0, 1]
NO_DISTANCE = 1e-12  # an ε that is (nearly) 0


def exactly(value):
    """Write a number in few digits, or in full where few would change it.

    Examples
    --------
    >>> from shufflelib.profiles.cautions import exactly
    >>> exactly(0.5), exactly(1e-8), exactly(0.12345678)
    ('0.5', '1e-08', '0.12345678')
    """
    few = f"{value:g}"
    return few if float(few) == value else repr(float(value))


def population(n, rate):
    """Return the users from whom n are drawn at a rate, rounded up.

    Examples
    --------
    >>> from shufflelib.profiles.cautions import population
    >>> population(100_000, 0.3), population(10, 0.1)
    (333334, 100)
    """
    return math.ceil(n / rate * (1.0 - 1e-12))


def odds(eps):
    """Return e^ε, rounded up, as text."""
    if eps >= 700.0:
        return f"e^{written(eps, up=True, digits=4)}"
    return f"{float(written(math.exp(eps), up=True, digits=3)):,g}"


def meaningless(eps):
    """Return whether a budget allows odds at which nothing is protected."""
    return eps >= math.log(MEANINGLESS)


def breach(eps0, reports="one report"):
    """Say what reports with a local budget reveal to whoever knows their senders.

    Examples
    --------
    >>> from shufflelib.profiles.cautions import breach
    >>> breach(1.0)
    'one report makes any guess about its sender at most 2.72 times as likely as before'
    >>> breach(200.0, "all 52 reports together")
    "all 52 reports together can reveal their sender's values: no meaningful protection remains"
    """
    one = reports.startswith("one ")
    make, whose, values = ("makes", "its", "value") if one else ("make", "their", "values")
    if meaningless(eps0):
        return f"{reports} can reveal {whose} sender's {values}: no meaningful protection remains"
    return f"{reports} {make} any guess about {whose} sender at most {odds(eps0)} times as likely as before"


def belief(eps, delta, known):
    """Say what (ε, δ) leaves of a fact that was as likely as not, or nothing where that is no protection.

    A loss exceeds ε + η with probability at most δ/(1 - e^-η); here e^-η = 0.9.

    Examples
    --------
    >>> from shufflelib.profiles.cautions import belief
    >>> belief(0.5, 1e-8, "that value").partition(" afterwards ")[2]
    'at most 64.7 % likely, except with probability at most 1e-07. '
    """
    if meaningless(eps) or delta >= 0.1:
        return ""
    percent = written(100.0 / (1.0 + 0.9 * math.exp(-eps)), up=True, digits=3)
    rare = f"{10.0 * delta:.3g}"
    if not math.isclose(float(rare), 10.0 * delta, rel_tol=1e-12):
        rare = written(10.0 * delta, up=True, digits=3)
    return (
        f"To somebody who knows all other users' values, a fact about {known} that was as likely as not is "
        f"afterwards at most {percent} % likely, except with probability at most {rare}. "
    )


def about_delta(delta, n, rate=1.0):
    """Return warnings about δ where n users report, drawn from a population at a rate; n may be unknown."""
    if n is None:
        return ()
    found, users = [], n / rate
    if delta * users >= 1.0 - 1e-12:
        found.append(
            f"delta = {exactly(delta)} is not below 1/users = {written(1.0 / users, up=False, digits=3)}: "
            f"publishing the value of one user, drawn at random from all {population(n, rate):,}, has this "
            "delta too; use a much smaller delta."
        )
    if n < FEW_USERS:
        found.append(f"n = {n}: is that the number of users who report? So few hide little.")
    return tuple(found)


def about_target(eps, delta, n, rate=1.0):
    """Return warnings about a target (ε, δ) where n users report, drawn from a population at a rate.

    Examples
    --------
    >>> from shufflelib.profiles.cautions import about_target
    >>> about_target(1.0, 1e-6, n=1000)
    ()
    >>> about_target(1e-7, 0.5, n=1000)[0]
    'delta = 0.5 is larger than eps = 1e-07: are the two exchanged?'
    """
    found = about_delta(delta, n, rate)
    if delta > eps:
        exchanged = f"delta = {exactly(delta)} is larger than eps = {exactly(eps)}: are the two exchanged?"
        found = (exchanged, *found)
    if meaningless(eps):
        lets = f"eps = {exactly(eps)} lets a result be {odds(eps)} times as likely: no meaningful protection."
        found = (*found, lets)
    return found


def about_epsilon(eps, delta, n, rate=1.0):
    """Return warnings about an answer ε at δ."""
    found = about_delta(delta, n, rate)
    if eps < NO_DISTANCE:
        covers = f"epsilon is (nearly) 0: delta = {exactly(delta)} covers whatever the results differ by."
        found = (*found, covers)
    return found


def about_error(error, what):
    """Return a warning about the standard error of a share or of a mean."""
    if error <= USELESS:
        return ()
    return (
        f"The standard error of {what} between 0 and 1 is {error:.3g}, so the estimate tells nothing; "
        "use more users, a larger eps or a larger delta.",
    )


def about_messages(messages, size, n):
    """Return a warning about the number of messages of a user."""
    if messages <= MANY_MESSAGES:
        return ()
    total = f"{n * messages:,} in a round together"
    return (f"Every user sends {messages:,} messages ({size:,} bytes), {total}.",)


def warning(cautions):
    """Return cautions as one line, or an empty text.

    Examples
    --------
    >>> from shufflelib.profiles.cautions import about_delta, warning
    >>> warning(about_delta(0.5, n=1000)).partition(":")[0]
    'Warning'
    """
    return f"Warning: {' '.join(cautions)}" if cautions else ""

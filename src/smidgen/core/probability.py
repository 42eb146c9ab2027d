"""Scores → probabilities, where scores times a temperature are logarithms of odds.

Imports `arrays` beside it. Written against the Array API; integer scores are taken as float64.
"""

from smidgen.core.arrays import Array, namespace_of


def softmax(scores: Array, temperature: float = 1.0) -> Array:
    """Return the probability of each class: a row of positive numbers whose sum is 1.

    Parameters
    ----------
    scores : array, shape (n, L)
    temperature : float
        What one unit of a score is worth.

    Examples
    --------
    >>> import numpy as np
    >>> softmax(np.array([[0, 0, 2000]])), softmax(np.array([[0, 10]]), temperature=0.0)
    (array([[0., 0., 1.]]), array([[0.5, 0.5]]))
    """
    xp = namespace_of(scores)
    scaled = _scaled(scores, temperature)
    grown = xp.exp(scaled - xp.max(scaled, axis=-1, keepdims=True))
    return grown / xp.sum(grown, axis=-1, keepdims=True)


def logistic(scores: Array, temperature: float = 1.0) -> Array:
    """Return the probability of each label by itself: 1/2 where its score is 0.

    Parameters
    ----------
    scores : array, shape (n, L)
    temperature : float
        What one unit of a score is worth.

    Examples
    --------
    >>> import numpy as np
    >>> logistic(np.array([[-2000, 0, 2000]]))
    array([[0. , 0.5, 1. ]])
    """
    xp = namespace_of(scores)
    scaled = _scaled(scores, temperature)
    small = xp.exp(-xp.abs(scaled))  # never overflows
    return xp.where(scaled < 0, small, xp.ones_like(small)) / (1 + small)


def _scaled(scores: Array, temperature: float) -> Array:
    xp = namespace_of(scores)
    floats = scores if xp.isdtype(scores.dtype, "real floating") else xp.astype(scores, xp.float64)
    return floats * temperature

"""Losses of scores: the mean over rows, and its gradient.

    cross_entropy   log-softmax of the row's class; where a row has one score, or a yes or no for every label: logistic
    squared         half the squared difference to the target
    hinge           how far the row's class is from leading every other one by 1; yes or no: from being right by 1

Every function takes scores of shape (n, L), targets and weights (n,) that sum to 1 (their mean is the weighted mean),
and returns the loss, shape (), and its gradient, shape (n, L). Targets of shape (n,) are class indices, of shape (n, L)
indicators (or real numbers, for `squared`). Written against the Array API; imports nothing of the house but
`core.arrays`.
"""

from collections.abc import Callable

from smidgen.core.arrays import Array, namespace_of

Loss = Callable[[Array, Array, Array], tuple[Array, Array]]


def cross_entropy(scores: Array, targets: Array, weight: Array) -> tuple[Array, Array]:
    """Minus the logarithm of the probability of what is true.

    Examples
    --------
    >>> import numpy as np
    >>> loss, gradient = cross_entropy(np.array([[0.0, 0.0]]), np.array([1]), np.array([1.0]))
    >>> round(float(loss), 4), gradient
    (0.6931, array([[ 0.5, -0.5]]))
    """
    xp = namespace_of(scores)
    if targets.ndim == 2:
        magnitude = xp.abs(scores)
        decay = xp.exp(-magnitude)
        loss = xp.log1p(decay) + xp.clip(scores, min=0) - scores * targets
        probability = xp.where(scores >= 0, 1 / (1 + decay), decay / (1 + decay))
        return xp.sum(weight * xp.sum(loss, axis=1)), weight[:, None] * (probability - targets)
    shifted = scores - xp.max(scores, axis=1, keepdims=True)
    exponentials = xp.exp(shifted)
    total = xp.sum(exponentials, axis=1, keepdims=True)
    true = _one_hot(targets, scores)
    loss = xp.log(total[:, 0]) - xp.sum(shifted * true, axis=1)
    return xp.sum(weight * loss), weight[:, None] * (exponentials / total - true)


def squared(scores: Array, targets: Array, weight: Array) -> tuple[Array, Array]:
    """Half the squared difference to the targets; a class is the target 1 among zeros, as in the ProtoNN paper."""
    xp = namespace_of(scores)
    difference = scores - (targets if targets.ndim == 2 else _one_hot(targets, scores))
    weighted = weight[:, None] * difference
    return xp.sum(weighted * difference) / 2, weighted


def hinge(scores: Array, targets: Array, weight: Array) -> tuple[Array, Array]:
    """How much is missing to a margin of 1, over the best rival class (Crammer and Singer) or over 0."""
    xp = namespace_of(scores)
    if targets.ndim == 2:
        signs = 2 * targets - 1
        missing = xp.clip(1 - signs * scores, min=0)
        gradient = xp.where(missing > 0, -signs, xp.zeros_like(signs))
        return xp.sum(weight * xp.sum(missing, axis=1)), weight[:, None] * gradient
    true = _one_hot(targets, scores)
    rival_scores = scores + 1 - true
    rival = _one_hot(xp.argmax(rival_scores, axis=1), scores)
    missing = xp.sum((rival - true) * rival_scores, axis=1)
    return xp.sum(weight * missing), weight[:, None] * (rival - true)


LOSSES: dict[str, Loss] = {"cross_entropy": cross_entropy, "squared": squared, "hinge": hinge}


def _one_hot(index: Array, like: Array) -> Array:
    xp = namespace_of(like)
    classes = xp.arange(like.shape[1], dtype=index.dtype, device=like.device)
    return xp.astype(index[:, None] == classes[None, :], like.dtype)

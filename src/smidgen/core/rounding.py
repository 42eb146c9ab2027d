"""Rounding to a grid of whole steps, with gradients that pass straight through.

A weight w on a grid of step s is ``s * q`` with ``q = round(clip(w / s, low, high))``. In training the weight's
gradient passes through the rounding as if it were not there, and is stopped where the clip binds; the step learns by
the exact derivative of what is left ("learned step size quantisation"). Steps are kept as logarithms, so that they stay
positive. Written against the Array API; imports nothing of the house but `core.arrays`.
"""

from typing import NamedTuple

from smidgen.core.arrays import Array, namespace_of


class Grid(NamedTuple):
    """The whole numbers that a weight may be."""

    low: int
    high: int


GRIDS = {"int4": Grid(-7, 7), "int8": Grid(-127, 127), "float32": None}
"""Of weights, by their number format."""


class OnGrid(NamedTuple):
    """Weights as whole numbers, and what their gradients need."""

    whole: Array  # q
    clipped: Array  # clip(w / s, low, high), of which q is the nearest whole number


def to_grid(weights: Array, step: Array, grid: Grid) -> OnGrid:
    """Return the whole numbers of steps nearest to the weights.

    Examples
    --------
    >>> import numpy as np
    >>> to_grid(np.array([0.26, -0.9, 40.0]), np.array(0.5), Grid(-7, 7)).whole
    array([ 1., -2.,  7.])
    """
    xp = namespace_of(weights)
    clipped = xp.clip(weights / step, grid.low, grid.high)
    return OnGrid(xp.round(clipped), clipped)


def through_grid(gradient: Array, on_grid: OnGrid, step: Array, grid: Grid) -> tuple[Array, Array]:
    """Return the gradients of the weights and of the step's logarithm.

    Parameters
    ----------
    gradient : array
        The loss's gradient with respect to ``s * q``.
    on_grid : OnGrid
        What `to_grid` gave.
    step : array, shape ()
    grid : Grid

    Returns
    -------
    of_weights : array, the shape of `gradient`
        The gradient where the clip leaves the weight alone, 0 elsewhere.
    of_log_step : array, shape ()
        ``s * sum(gradient * (q - w / s))``, w / s left out where the clip binds.
    """
    xp = namespace_of(gradient)
    free = (on_grid.clipped > grid.low) & (on_grid.clipped < grid.high)
    of_weights = xp.where(free, gradient, xp.zeros_like(gradient))
    of_log_step = step * (xp.sum(gradient * on_grid.whole) - xp.sum(of_weights * on_grid.clipped))
    return of_weights, of_log_step

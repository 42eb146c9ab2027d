"""A model's parameters in training: one flat array, what counts of it, and what happens to it now and then.

Written against the Array API. May import core, and `feed` beside it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

from smidgen.core.adam import Adam
from smidgen.core.arrays import Array, namespace_of
from smidgen.core.losses import Loss
from smidgen.core.rounding import Grid, OnGrid, through_grid, to_grid
from smidgen.models.feed import Feed

RATE_OF_STEPS = 0.02  # of the logarithms of grids' steps
LEAST_STEP = 1e-5
ROWS_FOR_UNITS = 2_048
LOG_STEP = "log_step."  # before the name of a part: the logarithm of its grid's step


@dataclass(frozen=True)
class Part:
    """One array of parameters.

    Parameters
    ----------
    start : array
    rate : float
        Its learning rate where the schedule is at its height.
    grid : Grid, optional
        The whole numbers its entries become; None for what the model rounds by itself.
    wide : bool
        Whether the grid first reaches the largest entry, or starts narrower, where learned steps usually do.
    decay : float
        Decoupled weight decay.
    least_step : float
        What the grid's step never falls below.
    by_feature : bool
        Whether it has a column for each feature.
    """

    start: Array
    rate: float
    grid: Grid | None = None
    wide: bool = True
    decay: float = 0.0
    least_step: float = LEAST_STEP
    by_feature: bool = False


@dataclass(frozen=True)
class Weights:
    """The parts as a forward pass uses them."""

    real: Mapping[str, Array]  # what each part counts as
    whole: Mapping[str, Array]  # on its grid; empty before the second phase
    step: Mapping[str, Array]  # of each grid


class Model(Protocol):
    """What the engine asks of a model."""

    @property
    def parts(self) -> Mapping[str, Part]:
        """The parameters."""

    @property
    def sparse(self) -> tuple[str, ...]:
        """The names of the parts that lose entries."""

    def forward(self, weights: Weights, x: Array, units: Any) -> tuple[Array, Any]:
        """Scores of a batch, and a memo for the way back; `units` is None until every number is the Program's."""

    def backward(self, weights: Weights, memo: Any, gradient: Array) -> dict[str, Array]:
        """Gradients of what the parts count as; that of "log_step.NAME" is added to what rounding gives."""

    def choose_support(self, magnitudes: Mapping[str, Array], progress: float) -> Mapping[str, Array]:
        """Choose which entries of the sparse parts stay, as bools; `progress` runs from 0 to 1, the final size."""

    def first_units(self, weights: Weights, x: Array) -> Mapping[str, Array]:
        """Return where the parts that measure activations start, when every number becomes the Program's."""

    def choose_units(self, weights: Weights) -> Any:
        """Choose shifts and tables for the present weights."""

    def of_columns(self, columns: Array) -> Self:
        """Return the same model of fewer features."""


@dataclass
class Parameters:
    """All parameters in one flat array, and how far training has come."""

    model: Any
    feed: Any  # Feed; None once training has ended
    columns: Array  # the features that are left
    theta: Array  # (P,)
    shapes: Mapping[str, tuple[int, ...]]  # of the parts, and of the logarithm of each grid's step
    adam: Adam
    decay: Array  # (P,)
    keep: dict[str, Array]  # 1 where an entry stays, else 0
    settled: bool = False  # which entries stay
    rounded: bool = False
    units: Any = None
    views: dict[str, Array] = field(init=False)  # of theta

    def __post_init__(self) -> None:
        self.views = _views(self.theta, self.shapes)

    @classmethod
    def start(cls, model: Model, feed: Feed) -> "Parameters":
        """Lay out a model's parts; constant features are left out."""
        like = feed.mean
        xp = namespace_of(like)
        parts = dict(model.parts)
        for name, part in model.parts.items():
            if part.grid is not None:
                parts[LOG_STEP + name] = Part(xp.zeros((), dtype=like.dtype, device=like.device), RATE_OF_STEPS)
        flat = [xp.reshape(part.start, (-1,)) for part in parts.values()]
        rates = xp.concat([xp.full_like(one, part.rate) for one, part in zip(flat, parts.values(), strict=True)])
        decay = [xp.full_like(one, part.rate * part.decay) for one, part in zip(flat, parts.values(), strict=True)]
        shapes = {name: part.start.shape for name, part in parts.items()}
        keep = {name: xp.ones_like(model.parts[name].start) for name in model.sparse}
        columns = xp.arange(feed.n_features, device=like.device)
        started = cls(model, feed, columns, xp.concat(flat), shapes, Adam(rates), xp.concat(decay), keep)
        started.restrict(feed.varied_columns())
        return started

    def copy_for(self, feed: Feed | None) -> "Parameters":
        """Return a copy that shares nothing which training changes, to go on with a feed or to keep."""
        xp = namespace_of(self.theta)
        theta = xp.asarray(self.theta, copy=True)
        return replace(self, feed=feed, theta=theta, adam=self.adam.copy(), keep=dict(self.keep))

    # What a step computes.

    def weights(self) -> tuple[Weights, dict[str, OnGrid]]:
        """Return the parts as they count now, and what rounding made of those with a grid."""
        xp = namespace_of(self.theta)
        real = {name: self.views[name] for name in self.model.parts}
        for name, keep in self.keep.items():
            real[name] = real[name] * keep
        if not self.rounded:
            return Weights(real, {}, {}), {}
        on_grid, step = {}, {}
        for name, part in self.model.parts.items():
            if part.grid is not None:
                step[name] = xp.clip(xp.exp(self.views[LOG_STEP + name]), min=part.least_step)
                on_grid[name] = to_grid(real[name], step[name], part.grid)
                real[name] = on_grid[name].whole * step[name]
        return Weights(real, {name: rounded.whole for name, rounded in on_grid.items()}, step), on_grid

    def gradient(self, x: Array, targets: Array, row_weight: Array, loss: Loss) -> tuple[Array, Array]:
        """Return the loss of a batch and its gradient, flat."""
        xp = namespace_of(self.theta)
        weights, on_grid = self.weights()
        scores, memo = self.model.forward(weights, x, self.units)
        value, of_scores = loss(scores, targets, row_weight)
        found = self.model.backward(weights, memo, of_scores)
        for name, rounded in on_grid.items():
            grid = self.model.parts[name].grid
            found[name], of_log_step = through_grid(found[name], rounded, weights.step[name], grid)
            found[LOG_STEP + name] = found.get(LOG_STEP + name, 0.0) + of_log_step
        for name, keep in self.keep.items():
            found[name] = found[name] * keep
        pieces = [found[name] if name in found else xp.zeros_like(view) for name, view in self.views.items()]
        return value, xp.concat([xp.reshape(piece, (-1,)) for piece in pieces])

    def update(self, gradient: Array, schedule: float) -> None:
        """Take a step."""
        self.theta *= 1 - schedule * self.decay
        self.adam.update(self.theta, gradient, schedule)

    # What happens now and then.

    def choose_support(self, progress: float) -> None:
        """Drop the weakest entries; at the end also the features that no weight looks at any more."""
        xp = namespace_of(self.theta)
        chosen = self.model.choose_support({name: xp.abs(self.views[name]) for name in self.keep}, progress)
        self.keep = {name: xp.astype(keep, self.theta.dtype) for name, keep in chosen.items()}
        if progress == 1.0:
            self.settled = True
            self.restrict(self._used_columns())

    def start_rounding(self) -> None:
        """Give every grid its first step."""
        xp = namespace_of(self.theta)
        real = self.weights()[0].real
        for name, part in self.model.parts.items():
            if part.grid is not None:
                magnitude, half = xp.abs(real[name]), (part.grid.high - part.grid.low) / 2
                n_kept = xp.sum(self.keep[name]) if name in self.keep else math.prod(magnitude.shape)
                step = xp.max(magnitude) / half if part.wide else 2 * xp.sum(magnitude) / (n_kept * half**0.5)
                self.views[LOG_STEP + name][...] = xp.log(xp.clip(step, min=part.least_step))
        self.rounded = True

    def choose_units(self) -> None:
        """Choose shifts and tables anew; at the first time also what activations are measured in."""
        xp = namespace_of(self.theta)
        if not self.rounded:
            self.start_rounding()
        if self.units is None:
            n_rows = min(ROWS_FOR_UNITS, self.feed.n_rows)
            x = self.feed.take(xp.arange(n_rows, device=self.theta.device) * (self.feed.n_rows // n_rows))
            for name, value in self.model.first_units(self.weights()[0], x).items():
                self.views[name][...] = value
        self.units = self.model.choose_units(self.weights()[0])

    def restrict(self, columns: Array) -> None:
        """Go on with some of the features alone."""
        xp = namespace_of(self.theta)
        if columns.shape[0] == self.columns.shape[0]:
            return
        places = _views(xp.arange(self.theta.shape[0], device=self.theta.device), self.shapes)
        for name, part in self.model.parts.items():
            if part.by_feature:
                places[name] = xp.take(places[name], columns, axis=1)
                if name in self.keep:
                    self.keep[name] = xp.take(self.keep[name], columns, axis=1)
        index = xp.concat([xp.reshape(place, (-1,)) for place in places.values()])
        self.theta, self.decay = xp.take(self.theta, index), xp.take(self.decay, index)
        self.adam.restrict(index)
        self.shapes = {name: place.shape for name, place in places.items()}
        self.views = _views(self.theta, self.shapes)
        self.columns = xp.take(self.columns, columns)
        self.feed, self.model = self.feed.of_columns(columns), self.model.of_columns(columns)

    def _used_columns(self) -> Array:
        """The features that a kept weight of any part looks at."""
        xp = namespace_of(self.theta)
        used = xp.zeros(self.columns.shape, dtype=xp.bool, device=self.theta.device)
        for name, part in self.model.parts.items():
            if part.by_feature:
                used = used | (xp.any(self.keep[name] > 0, axis=0) if name in self.keep else True)
        return xp.nonzero(used)[0]


def _views(theta: Array, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Cut a flat array into the named arrays it holds, one after the other."""
    xp = namespace_of(theta)
    views, start = {}, 0
    for name, shape in shapes.items():
        size = math.prod(shape)
        views[name] = xp.reshape(theta[start : start + size], shape)
        start += size
    return views

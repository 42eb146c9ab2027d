"""The training engine: mini-batches, Adam, a schedule, hard thresholding, and the phases that end in whole numbers.

A model brings its parts (arrays with a learning rate, a grid and a rule for which entries stay), its forward pass and
its backward pass; the engine brings everything else, so a network and a ProtoNN are trained alike. With f the share of
the steps done:

    f >= 0.0    real numbers; the learning rate rises until 0.05, then follows half a cosine down to 0
    f >= 0.1    the support shrinks on a cubic schedule; at 0.5 it has its final size and stays
    f >= 0.4    weights are rounded to their grids, with steps that are learned (`core.rounding`)
    f >= 0.7    every number is the Program's own: what is fitted is what is stored

Written against the Array API, in float32; what is read back to Python is read now and then, never every step. May import
core, and `feed` beside it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from smidgen.core.adam import Adam
from smidgen.core.arrays import Array, namespace_of
from smidgen.core.losses import Loss
from smidgen.core.rounding import Grid, OnGrid, through_grid, to_grid
from smidgen.models.feed import Feed

WARM_UP = 0.05
SPARSE_FROM, SPARSE_UNTIL = 0.1, 0.5
ROUNDED_FROM, WHOLE_FROM = 0.4, 0.7
RATE_OF_STEPS = 0.02  # of the logarithms of grids' steps
LEAST_STEP = 1e-8
ROWS_FOR_UNITS = 2_048
N_LOOKS = 200  # how often in a run supports and units are chosen anew

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
    by_feature : bool
        Whether it has a column for each feature.
    """

    start: Array
    rate: float
    grid: Grid | None = None
    wide: bool = True
    decay: float = 0.0
    by_feature: bool = False


@dataclass(frozen=True)
class Weights:
    """The parts as a forward pass uses them."""

    real: Mapping[str, Array]  # what each part counts as
    whole: Mapping[str, Array]  # on its grid; empty before the second phase
    step: Mapping[str, Array]  # of each grid


class Model(Protocol):
    """What the engine asks of a model."""

    parts: Mapping[str, Part]
    sparse: tuple[str, ...]  # the names of parts that lose entries

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


@dataclass(frozen=True)
class Recipe:
    """How long, and how far."""

    n_steps: int
    batch_size: int = 256
    whole_numbers: bool = True  # False: real numbers all the way
    seed: int = 0


@dataclass(frozen=True)
class Trained:
    """What training leaves."""

    model: Model  # of the columns
    weights: Weights
    units: Any  # None where the numbers stayed real
    columns: Array  # the features that any weight uses
    history: list[dict[str, float]]


def train(model: Model, feed: Feed, targets: Array, weight: Array, loss: Loss, recipe: Recipe) -> Trained:
    """Fit a model's parts to rows.

    Parameters
    ----------
    model : Model
    feed : Feed
        Gives batches of what the Input makes of the rows.
    targets : array, shape (n,) or (n, L)
    weight : array, shape (n,)
        A weight of 2 counts as a row given twice.
    loss : callable
        One of `core.losses`.
    recipe : Recipe
    """
    xp = namespace_of(weight)
    state = _State.start(model, feed)
    weight = weight / xp.mean(weight)
    an_epoch = math.ceil(weight.shape[0] / recipe.batch_size)
    history, so_far = [], 0.0
    for number, rows in enumerate(feed.batches(recipe.batch_size, recipe.n_steps, recipe.seed)):
        done = number / recipe.n_steps
        state.advance(done, recipe)
        row_weight = xp.take(weight, rows) / rows.shape[0]
        value, gradient = state.gradient(state.feed.take(rows), xp.take(targets, rows, axis=0), row_weight, loss)
        state.update(gradient, min(1.0, (done + 1 / recipe.n_steps) / WARM_UP) * (1 + math.cos(math.pi * done)) / 2)
        so_far += value
        if (number + 1) % an_epoch == 0:
            history.append({"step": number + 1, "loss": float(so_far) / an_epoch})
            so_far = 0.0
    weights, _ = state.weights()
    units = state.model.choose_units(weights) if recipe.whole_numbers else None
    return Trained(state.model, weights, units, state.columns, history)


@dataclass
class _State:
    """All parameters in one flat array, and how far training has come."""

    model: Model
    feed: Feed
    columns: Array
    theta: Array  # (P,)
    views: dict[str, Array]  # of theta, one a part and one for the logarithm of each grid's step
    adam: Adam
    decay: Array  # (P,)
    keep: dict[str, Array] = field(default_factory=dict)  # 1 where an entry stays, else 0
    rounded: bool = False
    frozen: bool = False
    units: Any = None
    n_looks: int = -1

    @classmethod
    def start(cls, model: Model, feed: Feed) -> "_State":
        parts = dict(model.parts)
        like = feed.mean
        xp = namespace_of(like)
        for name, part in model.parts.items():
            if part.grid is not None:
                parts[f"log_step.{name}"] = Part(xp.zeros((), dtype=like.dtype, device=like.device), RATE_OF_STEPS)
        flat = {name: xp.reshape(part.start, (-1,)) for name, part in parts.items()}
        rates = xp.concat([xp.full_like(flat[name], part.rate) for name, part in parts.items()])
        decay = xp.concat([xp.full_like(flat[name], part.rate * part.decay) for name, part in parts.items()])
        theta = xp.concat(list(flat.values()))
        shapes = {name: part.start.shape for name, part in parts.items()}
        state = cls(model, feed, xp.arange(feed.n_features), theta, _views(theta, shapes), Adam(rates), decay)
        state.keep = {name: xp.ones_like(model.parts[name].start) for name in model.sparse}
        state.restrict(feed.varied_columns())
        return state

    # What a step computes.

    def weights(self) -> tuple[Weights, dict[str, OnGrid]]:
        xp = namespace_of(self.theta)
        real = {name: self.views[name] * self.keep[name] if name in self.keep else self.views[name] for name in self.model.parts}
        if not self.rounded:
            return Weights(real, {}, {}), {}
        on_grid, step = {}, {}
        for name, part in self.model.parts.items():
            if part.grid is not None:
                step[name] = xp.exp(self.views[f"log_step.{name}"])
                on_grid[name] = to_grid(real[name], step[name], part.grid)
                real[name] = on_grid[name].whole * step[name]
        return Weights(real, {name: rounded.whole for name, rounded in on_grid.items()}, step), on_grid

    def gradient(self, x: Array, targets: Array, row_weight: Array, loss: Loss) -> tuple[Array, Array]:
        """The loss of a batch and its gradient, flat."""
        xp = namespace_of(self.theta)
        weights, on_grid = self.weights()
        scores, memo = self.model.forward(weights, x, self.units)
        value, of_scores = loss(scores, targets, row_weight)
        found = self.model.backward(weights, memo, of_scores)
        for name, rounded in on_grid.items():
            grid = self.model.parts[name].grid
            found[name], of_log_step = through_grid(found[name], rounded, weights.step[name], grid)
            found[f"log_step.{name}"] = found.get(f"log_step.{name}", 0.0) + of_log_step
        for name, keep in self.keep.items():
            found[name] = found[name] * keep
        pieces = [
            xp.reshape(found[name], (-1,)) if name in found else xp.zeros_like(xp.reshape(view, (-1,)))
            for name, view in self.views.items()
        ]
        return value, xp.concat(pieces)

    def update(self, gradient: Array, schedule: float) -> None:
        self.theta *= 1 - schedule * self.decay
        self.adam.update(self.theta, gradient, schedule)

    # What happens now and then.

    def advance(self, done: float, recipe: Recipe) -> None:
        look = int(done * N_LOOKS)
        if look == self.n_looks:
            return
        self.n_looks = look
        if recipe.whole_numbers and not self.rounded and done >= ROUNDED_FROM:
            self.start_rounding()
        if self.keep and not self.frozen and done >= SPARSE_FROM:
            self.choose_support(min(1.0, (done - SPARSE_FROM) / (SPARSE_UNTIL - SPARSE_FROM)))
        if recipe.whole_numbers and done >= WHOLE_FROM:
            if self.units is None:
                self.start_units()
            self.units = self.model.choose_units(self.weights()[0])

    def choose_support(self, progress: float) -> None:
        xp = namespace_of(self.theta)
        magnitudes = {name: xp.abs(self.views[name]) for name in self.keep}
        chosen = self.model.choose_support(magnitudes, progress)
        self.keep = {name: xp.astype(keep, self.theta.dtype) for name, keep in chosen.items()}
        if progress == 1.0:
            self.frozen = True
            self.restrict(self.used_columns())

    def used_columns(self) -> Array:
        """The features that a kept weight of any part looks at."""
        xp = namespace_of(self.theta)
        used = xp.zeros(self.columns.shape, dtype=xp.bool, device=self.theta.device)
        for name, part in self.model.parts.items():
            if part.by_feature:
                used = used | (xp.any(self.keep[name] > 0, axis=0) if name in self.keep else True)
        return xp.nonzero(used)[0]

    def start_rounding(self) -> None:
        xp = namespace_of(self.theta)
        real = self.weights()[0].real
        for name, part in self.model.parts.items():
            if part.grid is not None:
                magnitude = xp.abs(real[name])
                half = (part.grid.high - part.grid.low) / 2
                if part.wide:
                    step = xp.max(magnitude) / half
                else:
                    n_kept = xp.sum(self.keep[name]) if name in self.keep else math.prod(magnitude.shape)
                    step = 2 * xp.sum(magnitude) / n_kept / half**0.5
                self.views[f"log_step.{name}"][...] = xp.log(xp.clip(step, LEAST_STEP))
        self.rounded = True

    def start_units(self) -> None:
        xp = namespace_of(self.theta)
        n_rows = min(ROWS_FOR_UNITS, self.feed.n_rows)
        x = self.feed.take(xp.arange(n_rows) * (self.feed.n_rows // n_rows))
        for name, value in self.model.first_units(self.weights()[0], x).items():
            self.views[name][...] = value

    def restrict(self, columns: Array) -> None:
        """Go on with some of the features alone: the others are constant, or no weight looks at them."""
        xp = namespace_of(self.theta)
        if columns.shape[0] == self.columns.shape[0]:
            return
        places = _views(xp.arange(self.theta.shape[0]), {name: view.shape for name, view in self.views.items()})
        for name, part in self.model.parts.items():
            if part.by_feature:
                places[name] = xp.take(places[name], columns, axis=1)
                if name in self.keep:
                    self.keep[name] = xp.take(self.keep[name], columns, axis=1)
        index = xp.concat([xp.reshape(place, (-1,)) for place in places.values()])
        self.theta, self.decay = xp.take(self.theta, index), xp.take(self.decay, index)
        self.adam.restrict(index)
        self.views = _views(self.theta, {name: place.shape for name, place in places.items()})
        self.columns = xp.take(self.columns, columns)
        self.feed, self.model = self.feed.of_columns(columns), self.model.of_columns(columns)


def _views(theta: Array, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """A view of the flat array for each name, in order."""
    xp = namespace_of(theta)
    views, start = {}, 0
    for name, shape in shapes.items():
        size = math.prod(shape)
        views[name] = xp.reshape(theta[start : start + size], shape)
        start += size
    return views

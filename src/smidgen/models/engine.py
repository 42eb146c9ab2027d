"""The training engine: mini-batches, Adam, a schedule, hard thresholding, and the phases that end in whole numbers.

A model brings its parts, its forward pass and its backward pass; the engine brings everything else, so a network and a
ProtoNN are trained alike. With f the share of the steps done:

    f >= 0.0    real numbers; the learning rate rises until 0.05, then follows half a cosine down to 0
    f >= 0.1    the support shrinks on a cubic schedule; at 0.5 it has its final size and stays
    f >= 0.4    weights are rounded to their grids, with steps that are learned (`core.rounding`)
    f >= 0.7    every number is the Program's own: what is fitted is what is stored

The parameters themselves, and what happens to them now and then, are in `parameters`. Written against the Array API, in
float32; what is read back to Python is read once an epoch or less. May import core, and `feed` and `parameters`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from smidgen.core.arrays import Array, namespace_of
from smidgen.core.losses import Loss
from smidgen.models.feed import Feed
from smidgen.models.parameters import Model, Parameters, Weights

WARM_UP = 0.05
SPARSE_FROM, SPARSE_UNTIL = 0.1, 0.5
ROUNDED_FROM, WHOLE_FROM = 0.4, 0.7
N_LOOKS = 200  # how often in a run supports and units are chosen anew
N_VALIDATIONS = 100  # how often in a run held-out rows are asked, once the model has its final form
PATIENCE = 5  # of them without a new best end it
GOING_ON = 0.05  # of the learning rate, in `go_on`


@dataclass(frozen=True)
class Recipe:
    """How long, and how far.

    Parameters
    ----------
    n_steps, batch_size : int
    whole_numbers : bool
        Whether training ends in the Program's integers; if not, all numbers stay real.
    seed : int
        Of the order of the rows.
    validate : callable, Trained → float, optional
        How good a model is on held-out rows: the best is kept, and training stops when it gets no better.
    """

    n_steps: int
    batch_size: int = 256
    whole_numbers: bool = True
    seed: int = 0
    validate: "Callable[[Trained], float] | None" = None


@dataclass(frozen=True)
class Trained:
    """What training leaves."""

    parameters: Parameters
    history: list[dict[str, float]]  # a row for each epoch

    @property
    def model(self) -> Any:
        """The model, of the features that any weight uses."""
        return self.parameters.model

    @property
    def columns(self) -> Array:
        """Which features those are."""
        return self.parameters.columns

    @property
    def units(self) -> Any:
        """What the last phase computes with beside the weights; None where numbers stayed real."""
        return self.parameters.units

    @property
    def weights(self) -> Weights:
        """The parts as they are used."""
        return self.parameters.weights()[0]


def train(model: Model, feed: Feed, targets: Array, weight: Array, *, loss: Loss, recipe: Recipe) -> Trained:
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
    parameters, diary = Parameters.start(model, feed), _Diary()
    best = _Best(recipe)
    batches = feed.batches(recipe.batch_size, recipe.n_steps, recipe.seed)
    row_weight = weight / namespace_of(weight).mean(weight)
    for number, rows in enumerate(batches):
        done = number / recipe.n_steps
        if _is_look(number, recipe):
            _advance(parameters, done, recipe)
        value = _step(parameters, rows, targets, row_weight, loss=loss, schedule=_schedule(number, recipe.n_steps))
        diary.note(number, value, feed.batches_an_epoch(recipe.batch_size))
        if recipe.validate is not None and best.is_enough(parameters, diary, number):
            break
    return best.trained or _ended(parameters, recipe, diary)


def go_on(trained: Trained, feed: Feed, targets: Array, weight: Array, *, loss: Loss, recipe: Recipe) -> Trained:
    """Take further steps from where a training ended, on other rows; which weights stay is settled.

    Parameters are those of `train`, the feed one of all features.
    """
    parameters = trained.parameters.copy_for(feed.of_columns(trained.columns))
    diary = _Diary(list(trained.history), n_before=int(trained.history[-1]["step"]) if trained.history else 0)
    row_weight = weight / namespace_of(weight).mean(weight)
    for number, rows in enumerate(feed.batches(recipe.batch_size, recipe.n_steps, recipe.seed)):
        if _is_look(number, recipe) and recipe.whole_numbers:
            parameters.choose_units()
        value = _step(parameters, rows, targets, row_weight, loss=loss, schedule=GOING_ON)
        diary.note(number, value, feed.batches_an_epoch(recipe.batch_size))
    return _ended(parameters, recipe, diary)


def _schedule(number: int, n_steps: int) -> float:
    """The share of each learning rate that a step takes."""
    return min(1.0, (number + 1) / (WARM_UP * n_steps)) * (1 + math.cos(math.pi * number / n_steps)) / 2


def _is_look(number: int, recipe: Recipe) -> bool:
    return number * N_LOOKS // recipe.n_steps != (number - 1) * N_LOOKS // recipe.n_steps


def _advance(parameters: Parameters, done: float, recipe: Recipe) -> None:
    """Do what is due by now."""
    if recipe.whole_numbers and done >= ROUNDED_FROM and not parameters.rounded:
        parameters.start_rounding()
    if done >= SPARSE_FROM and not parameters.settled:
        parameters.choose_support(min(1.0, (done - SPARSE_FROM) / (SPARSE_UNTIL - SPARSE_FROM)))
    if recipe.whole_numbers and done >= WHOLE_FROM:
        parameters.choose_units()


def _step(
    parameters: Parameters, rows: Array, targets: Array, row_weight: Array, *, loss: Loss, schedule: float
) -> Array:
    """One batch: forward, backward, Adam. Gives the loss."""
    xp = namespace_of(row_weight)
    of_rows = xp.take(row_weight, rows) / rows.shape[0]
    x = parameters.feed.take(rows)
    value, gradient = parameters.gradient(x, xp.take(targets, rows, axis=0), of_rows, loss)
    parameters.update(gradient, schedule)
    return value


def _ended(parameters: Parameters, recipe: Recipe, diary: "_Diary") -> Trained:
    if recipe.whole_numbers:
        parameters.choose_units()
    return Trained(parameters.copy_for(None), diary.rows)


@dataclass
class _Diary:
    """The mean loss of each epoch."""

    rows: list[dict[str, float]] = field(default_factory=list)
    n_before: int = 0
    total: Any = 0.0

    def note(self, number: int, value: Array, batches_an_epoch: int) -> None:
        self.total = self.total + value
        if (number + 1) % batches_an_epoch == 0:
            self.rows.append({"step": self.n_before + number + 1, "loss": float(self.total) / batches_an_epoch})
            self.total = 0.0


@dataclass
class _Best:
    """The best model by held-out rows, among those that have their final form."""

    recipe: Recipe
    score: float = -math.inf
    trained: Trained | None = None
    n_worse: int = 0

    def is_enough(self, parameters: Parameters, diary: _Diary, number: int) -> bool:
        recipe = self.recipe
        final_from = WHOLE_FROM if recipe.whole_numbers else SPARSE_UNTIL
        if recipe.validate is None or number < final_from * recipe.n_steps or not parameters.settled:
            return False
        last = number + 1 == recipe.n_steps
        if (number + 1) % max(1, recipe.n_steps // N_VALIDATIONS) and not last:
            return False
        reached = _ended(parameters, recipe, replace(diary, rows=list(diary.rows)))
        score = recipe.validate(reached)
        if score > self.score:
            self.score, self.trained, self.n_worse = score, reached, 0
        else:
            self.n_worse += 1
        return self.n_worse == PATIENCE

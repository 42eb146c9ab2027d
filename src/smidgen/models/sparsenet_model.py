"""SparseNet as the training engine sees it: sizes, start, forward, backward, and the Program's steps.

The symbols are those of `sparsenet`, where the estimators are. Written against the Array API but for the start and the
end. May import core, the Program and the files of models/ that know no algorithm.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from smidgen.core.arrays import Array, namespace_of
from smidgen.core.rounding import GRIDS
from smidgen.models.engine import Trained
from smidgen.models.fitting import (
    Start,
    Values,
    bytes_at_the_ends,
    least_output_step,
    n_scores,
    named_formats,
    start_outputs,
)
from smidgen.models.parameters import RATE_OF_STEPS, Part, Weights
from smidgen.models.plans import LEAST_ENTRIES, SparseNetPlan, plan_sparsenet
from smidgen.models.projection import Projected, Projection, Shifts, real_bias, whole_array
from smidgen.models.rows import TrainingRows
from smidgen.models.support import fill_room, shrinking, spread_out, strongest
from smidgen.program import Input, Linear, Matrix
from smidgen.program.storage import Format

LEARNING_RATE = 0.0135
LARGEST_BYTE = 255
LEAST_HIDDEN = 16  # units, however few the rows are


class SparseNetFamily:
    """What `fitting` asks of the network."""

    default_rate = LEARNING_RATE

    def formats(self, weight_format: Any) -> Mapping[str, Format]:
        """Return the format of each matrix."""
        return named_formats(weight_format, ("projection", "outputs"))

    def knobs(self, sizes: Mapping[str, Any], rows: TrainingRows) -> Mapping[str, Sequence[Any]]:  # noqa: ARG002  (ProtoNN looks)
        """Return what a trial may turn: how many hidden units there are."""
        return {} if sizes.get("n_hidden") is not None else {"width_factor": (1.0, 0.7, 1.4)}

    def plan(
        self, budget: int, rows: TrainingRows, scaling: Input, formats: Mapping[str, Format], **sizes: Any
    ) -> SparseNetPlan:
        """Return the sizes that a budget buys."""
        input_bytes = bytes_at_the_ends(rows, scaling)
        most = max(LEAST_HIDDEN, len(rows.y))
        return plan_sparsenet(
            budget, scaling.width, n_scores(rows), formats, most_hidden=most, input_bytes=input_bytes, **sizes
        )

    def start(self, start: Start) -> "SparseNetModel":
        """Return a model to train."""
        return start_model(start)

    def steps(self, trained: Trained, values: Values) -> tuple[tuple[Any, ...], float]:
        """Return the Program's steps between Input and Decide, and what one count of a score is worth."""
        return trained.model.steps(trained, values)

    def matrices(self, trained: Trained) -> Mapping[str, NDArray]:
        """Return both layers' weights as they count."""
        real = {name: np.array(part) for name, part in trained.weights.real.items()}
        W = spread_out(real["W"], trained.model.projection.columns)
        return {"projection_": W, "output_weights_": real["Z"]}


# The model.


class Memo(NamedTuple):
    """What the way back needs."""

    projected: Projected
    hidden: Array  # (n, h)


@dataclass(frozen=True, eq=False)
class SparseNetModel:
    """Forward and backward, for the training engine."""

    parts: Mapping[str, Part]
    plan: SparseNetPlan
    projection: Projection
    budget: int | None
    sparse: tuple[str, ...] = ("W",)

    def of_columns(self, columns: Array) -> Self:
        """Return the same model of fewer features."""
        return replace(self, projection=self.projection.of_columns(columns))

    def forward(self, weights: Weights, x: Array, units: Shifts | None) -> tuple[Array, Memo]:
        """Return the scores of a batch, and a memo for the way back."""
        xp = namespace_of(x)
        real, whole, step = weights.real, weights.whole, weights.step
        if units is None:
            projected = self.projection.forward(x, real["W"], real["b"])
            hidden = xp.clip(projected.values, min=0)
            return hidden @ real["Z"].T + real["c"], Memo(projected, hidden)
        unit, count = self.unit(weights), self.count(weights)
        projected, y = self.projection.forward_whole(x, whole["W"], step["W"], real["b"], unit=unit, shifts=units)
        scores = (y @ whole["Z"].T + xp.round(real["c"] / count)) * count
        return scores, Memo(projected, projected.values)

    def backward(self, weights: Weights, memo: Memo, gradient: Array) -> dict[str, Array]:
        """Return the gradients of what the parts count as."""
        xp = namespace_of(gradient)
        of_p = gradient @ weights.real["Z"]
        if memo.projected.free is None:
            of_p = xp.where(memo.hidden > 0, of_p, xp.zeros_like(of_p))
        of_W, of_b, of_log_unit = self.projection.backward(of_p, memo.projected)
        found = {"W": of_W, "b": of_b, "Z": gradient.T @ memo.hidden, "c": xp.sum(gradient, axis=0)}
        if of_log_unit is not None:
            found["log_unit"] = of_log_unit
        return found

    def unit(self, weights: Weights) -> Array:
        """What one count of a hidden byte is worth."""
        return namespace_of(weights.real["W"]).exp(weights.real["log_unit"])

    def count(self, weights: Weights) -> Array:
        """What one count of a score is worth."""
        return weights.step["Z"] * self.unit(weights)

    def choose_support(self, magnitudes: Mapping[str, Array], progress: float) -> Mapping[str, Array]:
        """Choose the strongest entries of W; at the end it fills its room."""
        W = magnitudes["W"]
        if progress < 1.0 or self.budget is None or self.plan.projection_is_fixed:
            return {"W": strongest(W, shrinking(math.prod(W.shape), self.plan.n_entries, progress), LEAST_ENTRIES)}
        room = self.budget - self.plan.bytes_but_projection
        return {"W": fill_room(W, self.projection.columns, room, self.plan.formats["projection"], LEAST_ENTRIES)}

    def first_units(self, weights: Weights, x: Array) -> Mapping[str, Array]:
        """One count is a 255th of what only one in a thousand of the units that are on exceeds."""
        xp = namespace_of(x)
        hidden = xp.sort(xp.reshape(self.forward(weights, x, None)[1].hidden, (-1,)))
        n_off = int(xp.sum(xp.astype(hidden <= 0, xp.int64)))
        high = (
            hidden[n_off + (hidden.shape[0] - 1 - n_off) * 999 // 1000] if n_off < hidden.shape[0] else xp.max(hidden)
        )
        return {"log_unit": xp.log(xp.clip(high, min=1e-6) / LARGEST_BYTE)}

    def choose_units(self, weights: Weights) -> Shifts:
        """Choose the first layer's shifts."""
        return self.projection.choose_shifts(
            weights.whole["W"], weights.step["W"], weights.real["b"], self.unit(weights)
        )

    def steps(self, trained: Trained, values: Values) -> tuple[tuple[Any, ...], float]:
        """Return the Program's steps between Input and Decide, and what one count of a score is worth."""
        weights = trained.weights
        if trained.units is None:
            return self._float_steps(weights, values)
        real, whole, step, formats = weights.real, weights.whole, weights.step, self.plan.formats
        first = self.projection.whole_step(
            whole["W"],
            step["W"],
            real["b"],
            unit=self.unit(weights),
            shifts=trained.units,
            weight_format=formats["projection"],
        )
        count = float(self.count(weights))
        outputs = np.asarray(real["c"], np.float64) + values.centre / values.deviation
        bias = whole_array(np.round(outputs / count).astype(np.int64))
        return (first, Linear(Matrix.pack(np.asarray(whole["Z"]), formats["outputs"]), bias)), count

    def _float_steps(self, weights: Weights, values: Values) -> tuple[tuple[Any, ...], float]:
        real = {name: np.asarray(part, np.float64) for name, part in weights.real.items()}
        W, bias = self.projection.real_layer(real["W"], real["b"])
        outputs = (real["c"] * values.deviation + values.centre).astype(np.float32)
        Z = (real["Z"].T * values.deviation).T
        return (
            Linear(Matrix.pack(spread_out(W, self.projection.columns), "float32"), real_bias(bias), "relu"),
            Linear(Matrix.pack(Z, "float32"), real_bias(outputs)),
        ), 1.0


def start_model(start: Start) -> SparseNetModel:
    """Gaussian weights, as wide as inputs and hidden units ask for; no biases."""
    plan, rate = start.plan, start.learning_rate
    n_features, n_hidden = plan.n_features, plan.n_hidden
    draw = np.random.default_rng(start.seed)
    varied = max(1, int((start.x.max(axis=0) > start.x.min(axis=0)).sum()))
    W = draw.normal(size=(n_hidden, n_features)) / math.sqrt(2 * varied)
    Z = draw.normal(size=(plan.n_outputs, n_hidden)) / math.sqrt(n_hidden)
    formats = plan.formats
    parts = {
        "W": Part(
            W.astype(np.float32),
            rate,
            GRIDS[formats["projection"]],
            wide=False,
            by_feature=True,
            decay=start.weight_decay,
        ),
        "b": Part(np.zeros(n_hidden, np.float32), rate),
        "Z": Part(Z.astype(np.float32), rate, GRIDS[formats["outputs"]], least_step=least_output_step(start.rows)),
        "c": Part(start_outputs(start.rows, plan.n_outputs), rate),
        "log_unit": Part(np.zeros((), np.float32), RATE_OF_STEPS),
    }
    projection = replace(start.projection, zero=0, largest_bias=plan.largest_bias)
    return SparseNetModel(parts, plan, projection, start.budget)

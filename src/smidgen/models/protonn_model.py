"""ProtoNN as the training engine sees it: sizes, start, forward, backward, and the Program's steps.

The symbols are those of `protonn`, where the estimators are. Written against the Array API but for the start and the
end. May import core, the Program and the files of models/ that know no algorithm.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.utils.extmath import randomized_svd

from smidgen.core.arrays import Array, namespace_of
from smidgen.core.distances import squared_distances
from smidgen.core.rounding import GRIDS, Grid
from smidgen.core.threshold import keep_largest_per_row
from smidgen.errors import UsageError
from smidgen.models.clusters import cluster_centres, share_out
from smidgen.models.engine import Trained
from smidgen.models.fitting import (
    Start,
    Values,
    bytes_at_the_ends,
    least_output_step,
    n_scores,
    named_formats,
    start_outputs,
    training_targets,
)
from smidgen.models.parameters import Part, Weights
from smidgen.models.plans import LEAST_ENTRIES, ProtoNNPlan, plan_protonn, wants_all_labels
from smidgen.models.projection import Projected, Projection, Shifts, real_bias, whole_array
from smidgen.models.rows import TrainingRows
from smidgen.models.support import fill_room, shrinking, spread_out, strongest
from smidgen.program import Distance, Gaussian, Input, Linear, Matrix, arith
from smidgen.program.storage import Format

LEARNING_RATE = 0.045
START_LABEL = 4.0
LEAST_RATE = 1e-2  # of Z's largest start, in regression
GAMMA = 2.5  # over the median distance
POINT_GRIDS = {"int4": Grid(-8, 7), "int8": Grid(-128, 127), "float32": None}
POINT_SHIFT = {"int4": 4, "int8": 0}
ZERO = 128
KERNEL_ONE = 255  # what the table has for a distance of 0
FINEST_TABLE = 31  # steps, at the most

MOST_CLUSTERED = 3_000  # rows of a class
MOST_MEASURED = 4_000  # rows whose distances gamma comes from


class ProtoNNFamily:
    """What `fitting` asks of ProtoNN."""

    default_rate = LEARNING_RATE

    def formats(self, weight_format: Any) -> Mapping[str, Format]:
        """Return the format of each matrix."""
        return named_formats(weight_format, ("projection", "prototypes", "labels"))

    def knobs(self, sizes: Mapping[str, Any], rows: TrainingRows) -> Mapping[str, Sequence[Any]]:
        """Return what a trial may turn: the width, and whether prototypes vote for all classes."""
        knobs: dict[str, Sequence[Any]] = {}
        if sizes.get("width") is None:
            knobs["width_factor"] = (1.0, 0.7, 1.4)
        if sizes.get("n_labels") is None and not wants_all_labels(rows.X.shape[1], n_scores(rows)):
            knobs["all_labels"] = (False, True)
        return knobs

    def plan(
        self, budget: int, rows: TrainingRows, scaling: Input, formats: Mapping[str, Format], **sizes: Any
    ) -> ProtoNNPlan:
        """Return the sizes that a budget buys."""
        least = rows.n_outputs if rows.task == "classification" else 1
        if sizes.get("n_prototypes", least) < least:
            raise UsageError(
                f"n_prototypes is {sizes['n_prototypes']}, but there are {least} classes: each needs one at least"
            )
        return plan_protonn(
            budget,
            scaling.width,
            n_scores(rows),
            formats,
            most_prototypes=len(rows.y),
            least_prototypes=least,
            input_bytes=bytes_at_the_ends(rows, scaling),
            output_bias=rows.task != "classification" or rows.n_outputs == 2,
            **sizes,
        )

    def start(self, start: Start) -> "ProtoNNModel":
        """Return a model to train."""
        return start_model(start)

    def steps(self, trained: Trained, values: Values) -> tuple[tuple[Any, ...], float]:
        """Return the Program's steps between Input and Decide, and what one count of a score is worth."""
        return trained.model.steps(trained, values)

    def matrices(self, trained: Trained) -> Mapping[str, NDArray]:
        """Return W, B and Z as they count."""
        real = {name: np.array(part) for name, part in trained.weights.real.items()}
        W = spread_out(real["W"], trained.model.projection.columns)
        return {"projection_": W, "prototypes_": real["B"], "prototype_labels_": real["Z"]}


# The model.


class Units(NamedTuple):
    """What the last phase computes with beside the weights."""

    shifts: Shifts
    table: Array
    expanded: Array  # the table at every distance (`arith.expand_table`)
    table_shift: int


class Memo(NamedTuple):
    """What the way back needs."""

    projected: Projected
    kernel: Array  # (n, m)


@dataclass(frozen=True, eq=False)
class ProtoNNModel:
    """Forward and backward, for the training engine."""

    parts: Mapping[str, Part]
    plan: ProtoNNPlan
    projection: Projection
    budget: int | None
    sparse: tuple[str, ...] = ("W", "Z")

    def of_columns(self, columns: Array) -> Self:
        """Return the same model of fewer features."""
        return replace(self, projection=self.projection.of_columns(columns))

    def forward(self, weights: Weights, x: Array, units: Units | None) -> tuple[Array, Memo]:
        """Return the scores of a batch, and a memo for the way back."""
        xp = namespace_of(x)
        real, whole, step = weights.real, weights.whole, weights.step
        if units is None:
            projected = self.projection.forward(x, real["W"], real["b"])
            kernel = similarities(projected.values, real["B"])
        else:
            unit = self.unit(weights)
            projected, y = self.projection.forward_whole(
                x, whole["W"], step["W"], real["b"], unit=unit, shifts=units.shifts
            )
            points = ZERO + whole["B"] * 2.0**self.point_shift
            sq_dist = arith.square_distances(xp, y, points)
            kernel = arith.gaussian(xp, sq_dist, units.expanded, units.table_shift) / KERNEL_ONE
        scores = kernel @ real["Z"]
        if "c" in real:
            constant = real["c"]
            if units is not None:
                count = self.count(weights)
                constant = xp.round(constant / count) * count
            scores = scores + constant
        return scores, Memo(projected, kernel)

    def backward(self, weights: Weights, memo: Memo, gradient: Array) -> dict[str, Array]:
        """Return the gradients of what the parts count as."""
        xp = namespace_of(gradient)
        B, Z = weights.real["B"], weights.real["Z"]
        p, kernel = memo.projected.values, memo.kernel
        pull = kernel * (gradient @ Z.T)  # of every row on every prototype, and back
        of_p = 2 * (pull @ B - xp.sum(pull, axis=1)[:, None] * p)
        of_B = 2 * (pull.T @ p - xp.sum(pull, axis=0)[:, None] * B)
        of_W, of_b, of_log_unit = self.projection.backward(of_p, memo.projected)
        found = {"W": of_W, "b": of_b, "B": of_B, "Z": kernel.T @ gradient}
        if "c" in weights.real:
            found["c"] = xp.sum(gradient, axis=0)
        if of_log_unit is not None:
            found["log_step.B"] = of_log_unit
        return found

    @property
    def point_shift(self) -> int:
        """How many bits a point's whole number stands above a byte's: the t of `Distance`."""
        return POINT_SHIFT[self.plan.formats["prototypes"]]

    def unit(self, weights: Weights) -> Array:
        """What one count of a projected byte is worth: points and bytes share a grid."""
        return weights.step["B"] / 2.0**self.point_shift

    def count(self, weights: Weights) -> Array:
        """What one count of a score is worth."""
        return weights.step["Z"] / KERNEL_ONE

    def choose_support(self, magnitudes: Mapping[str, Array], progress: float) -> Mapping[str, Array]:
        """Choose the strongest entries of W, and each prototype's strongest labels; at the end W fills its room."""
        W, Z = magnitudes["W"], magnitudes["Z"]
        keep_Z, _ = keep_largest_per_row(Z, shrinking(Z.shape[1], self.plan.n_labels, progress))
        if progress < 1.0 or self.budget is None or self.plan.projection_is_fixed:
            n_entries = shrinking(math.prod(W.shape), self.plan.n_entries, progress)
            return {"W": strongest(W, n_entries, LEAST_ENTRIES), "Z": keep_Z}
        labels = Matrix.pack(np.asarray(keep_Z).T.astype(np.int8), self.plan.formats["labels"])
        room = self.budget - (self.plan.bytes_but_projection - self.plan.label_bytes + labels.n_bytes)
        return {
            "W": fill_room(W, self.projection.columns, room, self.plan.formats["projection"], LEAST_ENTRIES),
            "Z": keep_Z,
        }

    def first_units(self, weights: Weights, x: Array) -> Mapping[str, Array]:  # noqa: ARG002  (other models look)
        """Return nothing: bytes are measured in what the points' grid says."""
        return {}

    def choose_units(self, weights: Weights) -> Units:
        """Choose the projection's shifts and the Gaussian's table."""
        xp = namespace_of(weights.real["W"])
        unit = self.unit(weights)
        shifts = self.projection.choose_shifts(weights.whole["W"], weights.step["W"], weights.real["b"], unit)
        reach = math.log(2 * KERNEL_ONE) / float(unit) ** 2  # the distance from which the kernel rounds to 0
        reach = min(reach, self.plan.width * 2.0**16)  # no two rows of bytes are farther from each other
        table_shift = min(31, max(arith.FRACTION_BITS, math.ceil(math.log2(reach / FINEST_TABLE))))
        places = 2.0**table_shift * np.arange(max(2, math.ceil(reach / 2**table_shift) + 1))
        table = xp.asarray(np.round(KERNEL_ONE * np.exp(-(float(unit) ** 2) * places)).astype(np.float32))
        return Units(shifts, table, arith.expand_table(xp, table), table_shift)

    def steps(self, trained: Trained, values: Values) -> tuple[tuple[Any, ...], float]:
        """Return the Program's steps between Input and Decide, and what one count of a score is worth."""
        weights = trained.weights
        return (
            self._float_steps(weights, values)
            if trained.units is None
            else self._whole_steps(weights, trained.units, values)
        )

    def _float_steps(self, weights: Weights, values: Values) -> tuple[tuple[Any, ...], float]:
        real = {name: np.asarray(part, np.float64) for name, part in weights.real.items()}
        W, bias = self.projection.real_layer(real["W"], real["b"])
        outputs = real.get("c", np.zeros(1)) * values.deviation + values.centre
        return (
            Linear(Matrix.pack(spread_out(W, self.projection.columns), "float32"), real_bias(bias)),
            Distance(Matrix.pack(real["B"], "float32", "dense"), kernel=1.0),
            Linear(
                Matrix.pack((real["Z"] * values.deviation).T, "float32"),
                real_bias(outputs),
            ),
        ), 1.0

    def _whole_steps(self, weights: Weights, units: Units, values: Values) -> tuple[tuple[Any, ...], float]:
        real, whole, step, formats = weights.real, weights.whole, weights.step, self.plan.formats
        first = self.projection.whole_step(
            whole["W"],
            step["W"],
            real["b"],
            unit=self.unit(weights),
            shifts=units.shifts,
            weight_format=formats["projection"],
        )
        kernel = Gaussian(np.asarray(units.table).astype(np.uint8), units.table_shift)
        points = Matrix.pack(np.asarray(whole["B"]), formats["prototypes"], "dense")
        count = float(self.count(weights))
        outputs = np.asarray(real.get("c", np.zeros(1)), np.float64) + values.centre / values.deviation
        third = Linear(
            Matrix.pack(np.asarray(whole["Z"]).T, formats["labels"]),
            whole_array(np.round(outputs / count).astype(np.int64)),
        )
        return (first, Distance(points, zero=ZERO, shift=self.point_shift, kernel=kernel), third), count


def similarities(p: Array, B: Array) -> Array:
    """exp(-|b_j - p|²) for every row and prototype, in as few passes as there can be."""
    xp = namespace_of(p)
    sq_p, sq_b = xp.sum(p * p, axis=1)[:, None], xp.sum(B * B, axis=1)[None, :]
    return xp.exp(p @ (2 * B).T - sq_b - sq_p)


# The start.


def start_model(start: Start) -> ProtoNNModel:
    """PCA for W, k-means in each class for B, the class itself for Z, gamma folded into W and B."""
    plan, rate = start.plan, start.learning_rate
    x = start.x - start.projection.mean
    x *= np.float32(1 / start.projection.spread)
    W = principal_directions(x, plan.width, start.seed)
    projected = x @ W.T
    B, Z = start_prototypes(projected, start.rows, plan.n_prototypes, start.seed)
    distances = np.sqrt(squared_distances(projected[:MOST_MEASURED], B))
    gamma = np.float32(GAMMA / max(float(np.median(distances)), 1e-6))
    W, B = W * gamma, B * gamma
    rate_W = rate * float(np.abs(W).mean() / max(np.abs(B).mean(), 1e-6))
    rate_Z = START_LABEL * rate
    if start.rows.task == "regression":
        Z *= _best_scale(similarities(projected * gamma, B) @ Z, start_targets(start.rows))
        rate_Z = rate * max(float(np.abs(Z).max()), LEAST_RATE)
    formats = plan.formats
    parts = {
        "W": Part(W, rate_W, GRIDS[formats["projection"]], wide=False, by_feature=True, decay=start.weight_decay),
        "b": Part(np.zeros(plan.width, np.float32), rate),
        "B": Part(B, rate, POINT_GRIDS[formats["prototypes"]]),
        "Z": Part(Z, rate_Z, GRIDS[formats["labels"]], least_step=least_output_step(start.rows)),
    }
    if plan.output_bias:
        parts["c"] = Part(start_outputs(start.rows, plan.n_outputs), START_LABEL * rate)
    projection = replace(start.projection, zero=ZERO, largest_bias=plan.largest_bias)
    return ProtoNNModel(parts, plan, projection, start.budget)


def _best_scale(scores: NDArray, values: NDArray) -> np.float32:
    """By what scores of many similar prototypes come nearest to the values they shall have."""
    return np.float32(np.sum(scores * values) / max(float(np.sum(scores * scores)), 1e-6))


def principal_directions(x: NDArray[np.float32], n_directions: int, seed: int) -> NDArray[np.float32]:
    """The directions in which centred rows vary most, each with a fixed sign; random ones beyond those there are."""
    n_found = min(n_directions, *x.shape)
    with config_context(array_api_dispatch=False):  # else it goes another way, to other last bits
        found = randomized_svd(x, n_found, n_iter=4, power_iteration_normalizer="QR", random_state=seed)
    directions = found[2].astype(np.float32)
    draw = np.random.default_rng(seed)
    more = draw.normal(size=(n_directions - n_found, x.shape[1])).astype(np.float32) / np.float32(math.sqrt(x.shape[1]))
    return np.vstack([directions, more])


def start_prototypes(
    projected: NDArray[np.float32], rows: TrainingRows, n_prototypes: int, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Cluster the rows of each class, or all rows at once; Z has what the rows of a cluster have on average."""
    targets = start_targets(rows)
    of_classes = rows.task == "classification"
    group, n_groups = (rows.y, rows.n_outputs) if of_classes else (np.zeros(len(rows.y), np.intp), 1)
    n_own = np.bincount(group, minlength=n_groups)
    shares = share_out(np.bincount(group, weights=rows.weight, minlength=n_groups), n_own, n_prototypes)
    draw = np.random.default_rng(seed)
    points, labels = [], []
    for label, n_clusters in enumerate(shares):
        own = np.flatnonzero(group == label)[:MOST_CLUSTERED]
        if len(own) == 0:  # a class that only later rows will show: it waits amid all others
            points.append(projected.mean(axis=0)[None])
            labels.append(start_targets(replace(rows, y=np.full(1, label))))
            continue
        centres = cluster_centres(projected[own], rows.weight[own], int(n_clusters), seed)
        centres = centres[np.arange(n_clusters) % len(centres)].astype(np.float32)
        spread = projected[own].std(axis=0) / 10  # copies of a centre must not stay copies
        centres[:n_clusters] += (
            (np.arange(n_clusters) >= len(np.unique(centres, axis=0)))[:, None]
            * spread
            * draw.normal(size=centres.shape)
        )
        nearest = np.argmin(squared_distances(projected[own], centres), axis=1)
        counts = np.bincount(nearest, minlength=n_clusters)[:, None]
        sums = np.zeros((n_clusters, targets.shape[1]))
        np.add.at(sums, nearest, targets[own])
        points.append(centres)
        labels.append(np.where(counts > 0, sums / np.maximum(counts, 1), targets[own].mean(axis=0)))
    return np.vstack(points).astype(np.float32), np.vstack(labels).astype(np.float32)


def start_targets(rows: TrainingRows) -> NDArray:
    """What a prototype in the place of each row would vote for."""
    targets, _ = training_targets(rows)
    if rows.task == "regression":
        return targets
    if rows.task == "multilabel":
        return START_LABEL * targets
    if rows.n_outputs == 2:
        return START_LABEL * (2 * targets - 1)
    return START_LABEL * np.eye(rows.n_outputs, dtype=np.float32)[targets]

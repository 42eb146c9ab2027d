"""ProtoNN."""
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from smidgen.core.arrays import Array, namespace_of
from smidgen.core.distances import squared_distances
from smidgen.core.rounding import Grid
from smidgen.core.threshold import keep_largest, keep_largest_per_row
from smidgen.models.engine import Part, Weights
from smidgen.models.projection import (
    Projected, Scale, Shifts, choose_shifts, linear_step, project, project_back, project_to_bytes)
from smidgen.program import Decide, Distance, Gaussian, Input, Linear, Matrix, Program, arith

GRID_W = {"int4": Grid(-7, 7), "int8": Grid(-127, 127)}
GRID_B = {"int4": Grid(-8, 7), "int8": Grid(-128, 127)}
POINT_SHIFT = {"int4": 4, "int8": 0}
ZERO = 128
MOST_TABLE = 55


class Units(NamedTuple):
    shifts: Shifts
    table: Array
    expanded: Array
    table_shift: int


class Memo(NamedTuple):
    projected: Projected
    kernel: Array


@dataclass(frozen=True)
class ProtoNN:
    parts: Mapping[str, Part]
    formats: Mapping[str, str]
    scale: Scale
    reach: tuple[NDArray, NDArray]
    n_W: int
    n_Z: int          # per prototype
    sparse = ("W", "Z")

    def of_columns(self, columns):
        xp = namespace_of(self.scale.mean)
        scale = Scale(xp.take(self.scale.mean, columns), self.scale.spread)
        return replace(self, scale=scale, reach=tuple(end[np.asarray(columns)] for end in self.reach))

    def forward(self, weights, x, units):
        xp = namespace_of(x)
        real = weights.real
        if units is None:
            projected = project(x, real["W"], real["b"], self.scale)
            kernel = xp.exp(-squared_distances(projected.values, real["B"]))
        else:
            projected, y = project_to_bytes(x, weights.whole["W"], weights.step["W"], real["b"], self.unit(weights), self.scale, units.shifts, ZERO)
            sq_dist = arith.square_distances(xp, y, ZERO + weights.whole["B"] * 2.0 ** POINT_SHIFT[self.formats["B"]])
            kernel = arith.gaussian(xp, sq_dist, units.expanded, units.table_shift) / 255
        return kernel @ real["Z"], Memo(projected, kernel)

    def unit(self, weights):
        return weights.step["B"] / 2.0 ** POINT_SHIFT[self.formats["B"]]

    def backward(self, weights, memo, gradient):
        xp = namespace_of(gradient)
        B, Z = weights.real["B"], weights.real["Z"]
        p, kernel = memo.projected.values, memo.kernel
        of_Z = kernel.T @ gradient
        of_sq_dist = -kernel * (gradient @ Z.T)
        of_p = 2 * (xp.sum(of_sq_dist, axis=1)[:, None] * p - of_sq_dist @ B)
        of_B = 2 * (xp.sum(of_sq_dist, axis=0)[:, None] * B - of_sq_dist.T @ p)
        of_W, of_b, of_log_unit = project_back(of_p, memo.projected, self.scale)
        found = {"W": of_W, "b": of_b, "B": of_B, "Z": of_Z}
        if memo.projected.free is not None:
            found["log_step.B"] = of_log_unit
        return found

    def choose_support(self, magnitudes, progress):
        xp = namespace_of(magnitudes["W"])
        W, Z = magnitudes["W"], magnitudes["Z"]
        left = (1 - progress) ** 3
        n_W = round(self.n_W + (math.prod(W.shape) - self.n_W) * left)
        n_Z = max(1, round(self.n_Z + (Z.shape[1] - self.n_Z) * left))
        two, _ = keep_largest_per_row(W, 2)
        keep_W, _ = keep_largest(xp.where(two, W + 1e6, W), n_W)
        keep_Z, _ = keep_largest_per_row(Z, n_Z)
        return {"W": keep_W, "Z": keep_Z}

    def first_units(self, weights, x):
        return {}

    def choose_units(self, weights):
        xp = namespace_of(weights.real["W"])
        unit = float(self.unit(weights))
        shifts = choose_shifts(np.asarray(weights.whole["W"]), float(weights.step["W"]), np.asarray(weights.real["b"]), unit, self.scale, self.reach)
        reach = math.log(2 * 255) / unit**2
        table_shift = max(8, math.ceil(math.log2(reach / MOST_TABLE)))
        n = math.ceil(reach / 2**table_shift) + 1
        table = np.round(255 * np.exp(-(unit**2) * 2.0**table_shift * np.arange(n))).astype(np.float32)
        table = xp.asarray(table)
        return Units(shifts, table, arith.expand_table(xp, table), table_shift)

    def program(self, trained, scaling: Input, classes):
        weights, units = trained.weights, trained.units
        whole = np.zeros((weights.whole["W"].shape[0], scaling.width), np.float32)
        whole[:, trained.columns] = weights.whole["W"]
        mean = np.zeros(scaling.width, np.float32)
        mean[trained.columns] = self.scale.mean
        first = linear_step(self.formats["W"], whole, weights.step["W"], weights.real["b"], self.unit(weights), Scale(mean, self.scale.spread), units.shifts, relu=False)
        points = Matrix.pack(weights.whole["B"], self.formats["B"], "dense")
        kernel = Gaussian(np.asarray(units.table).astype(np.uint8), units.table_shift)
        second = Distance(points, zero=ZERO, shift=POINT_SHIFT[self.formats["B"]], kernel=kernel)
        third = Linear(Matrix.pack(weights.whole["Z"].T, self.formats["Z"]))
        return Program((scaling, first, second, third, Decide("argmax")), classes=classes)


def start(values, y, n_classes, feed, plan, lr, seed):
    """PCA, k-means, one-hot."""
    from smidgen.models.clusters import cluster_centres
    from smidgen.models.feed import spread_of
    spread = spread_of(feed.deviation)
    draw = np.random.default_rng(seed)
    chosen = draw.permutation(len(values))[:20000]
    X = (values[chosen].astype(np.float32) - feed.mean) / spread
    y = y[chosen]
    h, m = plan["h"], plan["m"]
    covariance = X[:10000].T @ X[:10000]
    _, vectors = np.linalg.eigh(covariance.astype(np.float64))
    W = vectors[:, ::-1][:, :h].T.astype(np.float32)
    sign = np.sign(W[np.arange(len(W)), np.abs(W).argmax(axis=1)])
    W = W * sign[:, None]
    if len(W) < h:
        W = np.vstack([W, draw.normal(size=(h - len(W), X.shape[1])).astype(np.float32) / math.sqrt(X.shape[1])])
    P = X @ W.T
    counts = np.bincount(y, minlength=n_classes)
    order = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")
    per = [m // n_classes + int(order[c] < m % n_classes) for c in range(n_classes)]
    B, owner = [], []
    for c in range(n_classes):
        own = P[y == c]
        centres = cluster_centres(own[:3000], np.ones(len(own[:3000])), per[c], seed)
        while len(centres) < per[c]:
            centres = np.vstack([centres, centres[: per[c] - len(centres)]])
        B.append(centres)
        owner += [c] * per[c]
    B = np.vstack(B).astype(np.float32)
    gamma = 2.5 / np.median(np.sqrt(np.asarray(squared_distances(P[:4000], B))))
    W, B = (W * gamma).astype(np.float32), (B * gamma).astype(np.float32)
    Z = 4 * np.eye(n_classes, dtype=np.float32)[owner]
    f = plan.get("formats", {"W": "int4", "B": "int4", "Z": "int4"})
    parts = {
        "W": Part(W, lr * float(np.abs(W).mean() / np.abs(B).mean()), GRID_W[f["W"]], wide=False, by_feature=True),
        "b": Part(np.zeros(h, np.float32), lr),
        "B": Part(B, lr, GRID_B[f["B"]]),
        "Z": Part(Z, 4 * lr, GRID_W[f["Z"]]),
    }
    return parts, f, Scale(feed.mean, spread)

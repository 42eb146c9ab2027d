"""SparseNet draft."""
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from smidgen.core.arrays import Array, namespace_of
from smidgen.core.rounding import Grid
from smidgen.core.threshold import keep_largest, keep_largest_per_row
from smidgen.models.engine import Part, Weights
from smidgen.models.projection import (
    Projected, Scale, Shifts, bias_array, choose_shifts, linear_step, project, project_back, project_to_bytes)
from smidgen.program import Decide, Input, Linear, Matrix, Program

GRID_W = {"int4": Grid(-7, 7), "int8": Grid(-127, 127)}


class Memo(NamedTuple):
    projected: Projected
    hidden: Array


@dataclass(frozen=True)
class SparseNet:
    parts: Mapping[str, Part]
    formats: Mapping[str, str]
    scale: Scale
    reach: tuple[NDArray, NDArray]
    n_W: int
    sparse = ("W",)

    def of_columns(self, columns):
        xp = namespace_of(self.scale.mean)
        scale = Scale(xp.take(self.scale.mean, columns), self.scale.spread)
        return replace(self, scale=scale, reach=tuple(end[np.asarray(columns)] for end in self.reach))

    def forward(self, weights, x, units):
        xp = namespace_of(x)
        real = weights.real
        if units is None:
            projected = project(x, real["W"], real["b"], self.scale)
            hidden = xp.clip(projected.values, min=0)
            return hidden @ real["Z"].T + real["c"], Memo(projected, hidden)
        unit = xp.exp(real["log_unit"])
        projected, y = project_to_bytes(x, weights.whole["W"], weights.step["W"], real["b"], unit, self.scale, units, 0)
        count = weights.step["Z"] * unit
        scores = (y @ weights.whole["Z"].T + xp.round(real["c"] / count)) * count
        return scores, Memo(projected, projected.values)

    def backward(self, weights, memo, gradient):
        xp = namespace_of(gradient)
        of_Z = gradient.T @ memo.hidden
        of_c = xp.sum(gradient, axis=0)
        of_p = gradient @ weights.real["Z"]
        if memo.projected.free is None:
            of_p = xp.where(memo.hidden > 0, of_p, xp.zeros_like(of_p))
        of_W, of_b, of_log_unit = project_back(of_p, memo.projected, self.scale)
        found = {"W": of_W, "b": of_b, "Z": of_Z, "c": of_c}
        if memo.projected.free is not None:
            found["log_unit"] = of_log_unit
        return found

    def choose_support(self, magnitudes, progress):
        xp = namespace_of(magnitudes["W"])
        W = magnitudes["W"]
        left = (1 - progress) ** 3
        n_W = round(self.n_W + (math.prod(W.shape) - self.n_W) * left)
        two, _ = keep_largest_per_row(W, 2)
        keep_W, _ = keep_largest(xp.where(two, W + 1e6, W), n_W)
        return {"W": keep_W}

    def first_units(self, weights, x):
        xp = namespace_of(x)
        hidden = xp.sort(xp.reshape(self.forward(weights, x, None)[1].hidden, (-1,)))
        n_off = xp.sum(xp.astype(hidden <= 0, xp.int64))
        place = n_off + (hidden.shape[0] - 1 - n_off) * 999 // 1000
        return {"log_unit": xp.log(xp.clip(hidden[place], 1e-6) / 255)}

    def choose_units(self, weights):
        unit = float(np.exp(np.asarray(weights.real["log_unit"])))
        return choose_shifts(np.asarray(weights.whole["W"]), float(weights.step["W"]), np.asarray(weights.real["b"]), unit, self.scale, self.reach)

    def program(self, trained, scaling, classes):
        weights, units = trained.weights, trained.units
        whole = np.zeros((weights.whole["W"].shape[0], scaling.width), np.float32)
        whole[:, trained.columns] = weights.whole["W"]
        mean = np.zeros(scaling.width, np.float32)
        mean[trained.columns] = self.scale.mean
        unit = np.exp(weights.real["log_unit"])
        first = linear_step(self.formats["W"], whole, weights.step["W"], weights.real["b"], unit, Scale(mean, self.scale.spread), units, relu=True)
        c = np.round(weights.real["c"] / (weights.step["Z"] * unit)).astype(np.int64)
        second = Linear(Matrix.pack(weights.whole["Z"], self.formats["Z"]), bias_array(c))
        return Program((scaling, first, second, Decide("argmax")), classes=classes)


def start(values, y, n_classes, feed, plan, lr, seed):
    from smidgen.models.feed import spread_of
    spread = spread_of(feed.deviation)
    draw = np.random.default_rng(seed)
    h, n = plan["h"], values.shape[1]
    lr = .3 * lr
    W = draw.normal(size=(h, n)).astype(np.float32) / math.sqrt(2 * n)
    varied = (feed.deviation>0).mean()
    W = W / np.float32(math.sqrt(varied))
    f = plan.get("formats", {"W": "int4", "Z": "int4"})
    parts = {
        "W": Part(W, lr, GRID_W[f["W"]], wide=False, by_feature=True),
        "b": Part(np.zeros(h, np.float32), lr),
        "Z": Part((draw.normal(size=(n_classes, h)) / math.sqrt(h)).astype(np.float32), lr, GRID_W[f["Z"]]),
        "c": Part(np.zeros(n_classes, np.float32), lr),
        "log_unit": Part(np.zeros((), np.float32), .02),
    }
    return parts, f, Scale(feed.mean, spread)

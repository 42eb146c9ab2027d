"""The gradient of everything that is learned, against finite differences in float64, at every phase of training.

Where gradients pass straight through a rounding, they are those of a smooth stand-in: what the rounding adds at the
point in question is held as a constant, all the rest is derived exactly. The stand-ins below are written by hand, from
the models' equations.
"""

from dataclasses import replace

import numpy as np
import pytest

from smidgen.core.losses import LOSSES
from smidgen.models.fitting import training_targets
from smidgen.models.parameters import LOG_STEP
from tests.models.training import FAMILIES, TASKS, in_float64, loss_of, rows_of, trained_briefly

SMALL = 1e-6
every_family = pytest.mark.parametrize("family", FAMILIES)


def at_phase(family, task, phase, weight_format="int4", loss=None):
    """Parameters in float64 as they are in the middle of a training, bytes to derive at, and their targets."""
    rows = rows_of(task)
    _, _, trained = trained_briefly(family, rows, task, weight_format=weight_format, loss=loss)
    parameters = in_float64(trained.parameters)
    parameters.rounded, parameters.units = phase > 1, in_float64(trained.parameters).units if phase == 3 else None
    draw = np.random.default_rng(3)
    parameters.theta += 0.02 * draw.normal(size=parameters.theta.shape)  # away from what every rounding found before
    x = rows.X[:12, trained.columns].astype(np.float64)
    weight = draw.uniform(0.5, 2, 12)
    targets = np.roll(training_targets(rows)[0][:12], 1, axis=0)  # mostly wrong, so that there is much to learn
    return parameters, x, targets, weight / weight.sum()


def views(parameters, theta):
    """The named arrays that a flat one of the parameters' kind holds."""
    return replace(parameters, theta=theta).views


class StandIn:
    """The scores of a model as a smooth function of theta, what rounding adds held as it is at one point."""

    def __init__(self, parameters, x):
        self.parameters, self.x = parameters, x
        self.added, self.held = {}, {}
        self.holding = True
        self.scores(parameters.theta)
        self.holding = False

    def hold(self, name, value):
        """The value at the point in question."""
        if self.holding:
            self.held[name] = value
        return self.held[name]

    def weights(self, theta):
        parts = views(self.parameters, theta)
        real, step = {}, {}
        for name, part in self.parameters.model.parts.items():
            value = parts[name] * self.parameters.keep.get(name, 1.0)
            if self.parameters.rounded and part.grid is not None:
                step[name] = np.exp(parts[LOG_STEP + name])
                clipped = np.clip(value / step[name], part.grid.low, part.grid.high)
                value = step[name] * (clipped + self.hold("q " + name, np.round(clipped) - clipped))
            real[name] = value
        return real, step

    def projected(self, real, step, unit):
        """p: where a byte is free, the real layer and what rounding adds; elsewhere so many units."""
        projection, units = self.parameters.model.projection, self.parameters.units
        p = (self.x - projection.mean) @ real["W"].T / projection.spread + real["b"]
        if units is None:
            return p
        shifts = getattr(units, "shifts", units)
        whole = self.hold("whole W", np.round(real["W"] / step["W"]))
        bias = self.hold("whole b", projection.whole_bias(whole, step["W"], real["b"]))
        m = self.hold("m", np.clip(np.round(2.0 ** sum(shifts) * step["W"] / unit / projection.spread), 1, 255))
        accumulators = self.x @ whole.T + bias
        unclipped = projection.zero + np.floor(np.floor(accumulators / 2.0**shifts.pre) * m / 2.0**shifts.shift)
        byte = self.hold("byte", np.clip(unclipped, 0, 255))
        real_byte = projection.zero + accumulators * m / 2.0 ** sum(shifts)
        free = self.hold("free", (real_byte >= 0) & (real_byte < 256))
        added = self.hold("p added", unit * (byte - projection.zero) - p)
        return np.where(free, p + added, unit * (byte - projection.zero))

    def scores(self, theta):
        real, step = self.weights(theta)
        return {"ProtoNNModel": self.protonn, "SparseNetModel": self.sparsenet}[type(self.parameters.model).__name__](
            real, step, views(self.parameters, theta)
        )

    def protonn(self, real, step, parts):
        model = self.parameters.model
        unit = step["B"] / 2.0**model.point_shift if "B" in step else None
        p = self.projected(real, step, unit)
        sq_dist = ((p[:, None] - real["B"][None]) ** 2).sum(axis=2)
        kernel = np.exp(-sq_dist)
        if self.parameters.units is not None:
            units = self.parameters.units
            points = 128 + 2**model.point_shift * np.round(real["B"] / step["B"])
            counts = ((self.held["byte"][:, None] - points[None]) ** 2).sum(axis=2)
            place, fraction = np.divmod(np.floor(counts / 2.0 ** (units.table_shift - 8)), 256)
            table = np.append(units.table, np.zeros(2))
            place = np.minimum(place, len(units.table) - 1).astype(int)
            inner = place < len(units.table) - 1
            exact = table[place] - np.floor((table[place] - table[place + 1]) * fraction / 256)
            of_table = self.hold("kernel", np.where(inner, exact, 0) / 255)
            kernel = of_table * np.exp(self.hold("distance", sq_dist) - sq_dist)
        scores = kernel @ real["Z"]
        return scores + self.output_bias(real["c"], step.get("Z", 0) / 255) if "c" in real else scores

    def sparsenet(self, real, step, parts):
        p = self.projected(real, step, np.exp(parts["log_unit"]))
        hidden = np.maximum(p, 0) if self.parameters.units is None else p
        count = step["Z"] * np.exp(parts["log_unit"]) if step else None
        return hidden @ real["Z"].T + self.output_bias(real["c"], count)

    def output_bias(self, c, count):
        if self.parameters.units is None:
            return c
        return c + self.hold("c added", count * np.round(c / count) - c)


def check_gradient(parameters, x, targets, weight, loss):
    value, gradient = parameters.gradient(x, targets, weight, loss)
    stand_in = StandIn(parameters, x)
    theta = parameters.theta
    assert loss(stand_in.scores(theta), targets, weight)[0] == pytest.approx(value, rel=1e-9)
    slopes = np.empty_like(theta)
    for place in range(len(theta)):
        at = []
        for way in (SMALL, -SMALL):
            moved = theta.copy()
            moved[place] += way
            at.append(loss(stand_in.scores(moved), targets, weight)[0])
        slopes[place] = (at[0] - at[1]) / (2 * SMALL)
    assert np.abs(gradient).max() > 1e-3
    found, expected = views(parameters, gradient), views(parameters, slopes)
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], atol=2e-7, rtol=1e-5, err_msg=name)


@every_family
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("phase", [1, 2, 3])
def test_gradient_of_every_phase_and_task(family, task, phase):
    check_gradient(*at_phase(family, task, phase), loss_of(task))


@every_family
@pytest.mark.parametrize("phase", [1, 2, 3])
def test_gradient_with_eight_bits(family, phase):
    check_gradient(*at_phase(family, "classes", phase, weight_format="int8"), loss_of("classes"))


@every_family
@pytest.mark.parametrize("name", LOSSES)
def test_gradient_of_every_loss(family, name):
    check_gradient(*at_phase(family, "classes", 3, loss=LOSSES[name]), LOSSES[name])


@every_family
def test_steps_are_learned_in_both_rounded_phases(family):
    for phase in (2, 3):
        parameters, x, targets, weight = at_phase(family, "classes", phase)
        if phase == 3 and "log_unit" in parameters.views:  # of a unit nothing is learned where no byte is clipped
            parameters.views["log_unit"][...] -= 1
            parameters.choose_units()
        of = views(parameters, parameters.gradient(x, targets, weight, loss_of("classes"))[1])
        steps = [name for name in of if name.startswith("log_")]
        assert {LOG_STEP + "W", LOG_STEP + "Z"} <= set(steps)
        assert all(of[name] != 0 for name in steps if name != "log_unit" or phase == 3)

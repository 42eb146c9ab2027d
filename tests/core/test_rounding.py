import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smidgen.core.rounding import GRIDS, Grid, through_grid, to_grid

some_grid = st.sampled_from([Grid(-7, 7), Grid(-8, 7), Grid(-127, 127), Grid(0, 3)])


@settings(max_examples=30, deadline=None)
@given(grid=some_grid, step=st.floats(0.01, 3), seed=st.integers(0, 1000))
def test_takes_the_nearest_point_of_the_grid(grid, step, seed):
    weights = np.random.default_rng(seed).normal(size=50) * step * grid.high
    points = step * np.arange(grid.low, grid.high + 1)
    distance = np.abs(weights[:, None] - points)
    whole = to_grid(weights, np.array(step), grid).whole
    assert ((whole >= grid.low) & (whole <= grid.high) & (whole == np.rint(whole))).all()
    np.testing.assert_allclose(np.abs(weights - step * whole), distance.min(axis=1), atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(grid=some_grid, log_step=st.floats(-3, 1), seed=st.integers(0, 1000))
def test_gradients_are_those_of_learned_steps_by_definition(grid, log_step, seed):
    """Esser et al., LSQ: what rounding adds is held, and all the rest is derived exactly."""
    draw = np.random.default_rng(seed)
    weights = draw.normal(size=20) * np.exp(log_step) * grid.high
    pull = draw.normal(size=20)
    rounded = to_grid(weights, np.exp(log_step), grid)
    added = rounded.whole - np.clip(weights / np.exp(log_step), grid.low, grid.high)

    def loss(weights, log_step):
        step = np.exp(log_step)
        return pull @ (step * (np.clip(weights / step, grid.low, grid.high) + added))

    of_weights, of_log_step = through_grid(pull, rounded, np.exp(log_step), grid)
    small = 1e-7
    nudge = small * np.eye(20)
    slopes = [(loss(weights + each, log_step) - loss(weights - each, log_step)) / (2 * small) for each in nudge]
    np.testing.assert_allclose(of_weights, slopes, atol=1e-6)
    slope = (loss(weights, log_step + small) - loss(weights, log_step - small)) / (2 * small)
    assert of_log_step == pytest.approx(slope, abs=1e-4)


def test_what_is_clipped_stands_still_and_pulls_the_step():
    rounded = to_grid(np.array([10.0, -10.0, 0.2]), np.array(1.0), GRIDS["int4"])
    of_weights, of_log_step = through_grid(np.array([1.0, 1.0, 1.0]), rounded, np.array(1.0), GRIDS["int4"])
    assert of_weights.tolist() == [0, 0, 1]
    assert of_log_step == pytest.approx(7 - 7 - 0.2)


def test_grids_are_those_of_the_formats():
    assert GRIDS == {"int4": (-7, 7), "int8": (-127, 127), "float32": None}


def test_on_another_namespace():
    weights, pull, step = (np.array(part, np.float32) for part in ([0.3, -2.0, 9.0], [1.0, -1.0, 0.5], 0.4))
    strict = [array_api_strict.asarray(part) for part in (weights, pull, step)]
    theirs, ours = to_grid(strict[0], strict[2], Grid(-7, 7)), to_grid(weights, step, Grid(-7, 7))
    np.testing.assert_array_equal(np.asarray(theirs.whole), ours.whole)
    of_weights, of_step = through_grid(strict[1], theirs, strict[2], Grid(-7, 7))
    expected = through_grid(pull, ours, step, Grid(-7, 7))
    np.testing.assert_array_equal(np.asarray(of_weights), expected[0])
    assert float(of_step) == pytest.approx(float(expected[1]), rel=1e-6)

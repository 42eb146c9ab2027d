import math

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smidgen.core.losses import LOSSES, cross_entropy, hinge, squared

KINDS = ("classes", "indicator", "one score")
every_loss = pytest.mark.parametrize("name", LOSSES)
every_kind = pytest.mark.parametrize("kind", KINDS)


def drawn(kind, seed=0, n=6):
    draw = np.random.default_rng(seed)
    n_scores = 1 if kind == "one score" else 4
    scores = 2 * draw.normal(size=(n, n_scores))
    targets = draw.integers(0, 4, n) if kind == "classes" else draw.integers(0, 2, (n, n_scores)).astype(float)
    weight = draw.uniform(0.1, 2, n)
    return scores, targets, weight / weight.sum()


def of_one_row(name, scores, target):
    """Each loss of one row, from its definition in plain Python."""
    if np.ndim(target):
        pairs = list(zip(scores, target, strict=True))
        return {
            "cross_entropy": lambda: sum(math.log(1 + math.exp(-(2 * t - 1) * s)) for s, t in pairs),
            "squared": lambda: sum((s - t) ** 2 for s, t in pairs) / 2,
            "hinge": lambda: sum(max(0, 1 - (2 * t - 1) * s) for s, t in pairs),
        }[name]()
    return {
        "cross_entropy": lambda: math.log(sum(math.exp(s) for s in scores)) - scores[target],
        "squared": lambda: sum((s - (i == target)) ** 2 for i, s in enumerate(scores)) / 2,
        "hinge": lambda: max(s + (i != target) for i, s in enumerate(scores)) - scores[target],
    }[name]()


@every_loss
@every_kind
def test_is_what_its_name_says(name, kind):
    scores, targets, weight = drawn(kind)
    expected = sum(w * of_one_row(name, s, t) for s, t, w in zip(scores, targets, weight, strict=True))
    assert LOSSES[name](scores, targets, weight)[0] == pytest.approx(expected, rel=1e-12)


@every_loss
@every_kind
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_gradient_is_that_of_finite_differences(name, kind, seed):
    scores, targets, weight = drawn(kind, seed)
    _, gradient = LOSSES[name](scores, targets, weight)
    small = 1e-6
    for place in np.ndindex(*scores.shape):
        up, down = scores.copy(), scores.copy()
        up[place] += small
        down[place] -= small
        slope = (LOSSES[name](up, targets, weight)[0] - LOSSES[name](down, targets, weight)[0]) / (2 * small)
        assert gradient[place] == pytest.approx(slope, abs=1e-7)


@every_loss
@every_kind
def test_a_weight_of_two_is_a_row_given_twice(name, kind):
    scores, targets, _ = drawn(kind)
    weight = np.array([2.0, 1, 1, 2, 1, 1])
    twice = np.repeat(np.arange(6), weight.astype(int))
    value, gradient = LOSSES[name](scores, targets, weight / weight.sum())
    value_twice, gradient_twice = LOSSES[name](scores[twice], targets[twice], np.full(8, 1 / 8))
    assert value == pytest.approx(value_twice)
    summed = np.zeros_like(gradient)
    np.add.at(summed, twice, gradient_twice)
    np.testing.assert_allclose(gradient, summed, rtol=1e-12, atol=1e-15)


def test_huge_scores_overflow_nowhere():
    one = np.array([1.0])
    for value in (1e4, -1e4):
        for targets in (np.array([0]), np.array([[0.0, 1.0]])):
            loss, gradient = cross_entropy(np.array([[value, -value]], np.float32), targets, one)
            assert np.isfinite(loss)
            assert np.isfinite(gradient).all()
    assert cross_entropy(np.array([[-1e4, 1e4]]), np.array([0]), one)[0] == 2e4
    assert cross_entropy(np.array([[-1e4, 1e4]]), np.array([[0.0, 1.0]]), one)[0] == 0


def test_values_are_squared_s_targets_as_they_are():
    loss, gradient = squared(np.array([[1.0, -2.0]]), np.array([[0.5, -4.0]]), np.array([1.0]))
    assert loss == (0.25 + 4) / 2
    assert gradient.tolist() == [[0.5, 2.0]]


def test_hinge_is_content_with_a_margin_of_one():
    loss, gradient = hinge(np.array([[3.0, 2.0, 0.0]]), np.array([0]), np.array([1.0]))
    assert loss == 0
    assert not gradient.any()
    assert hinge(np.array([[3.0, 2.5, 0.0]]), np.array([0]), np.array([1.0]))[1].tolist() == [[-1, 1, 0]]


@every_loss
@every_kind
def test_keeps_float32_and_runs_on_another_namespace(name, kind):
    scores, targets, weight = drawn(kind)
    single = [part.astype(np.float32) if part.dtype.kind == "f" else part for part in (scores, targets, weight)]
    value, gradient = LOSSES[name](*single)
    assert value.dtype == gradient.dtype == np.float32
    strict_value, strict_gradient = LOSSES[name](*map(array_api_strict.asarray, single))
    assert float(strict_value) == pytest.approx(float(value), rel=1e-6)
    np.testing.assert_allclose(np.asarray(strict_gradient), gradient, rtol=1e-5, atol=1e-7)

import numpy as np
import pytest
from scipy.special import expit
from scipy.special import softmax as scipys_softmax

from smidgen.core.probability import logistic, softmax

SCORES = np.array([[-3.0, 0.0, 2.5], [1e4, 1e4 - 1, -1e4], [-7.0, -7.0, -7.0]])


@pytest.mark.parametrize("temperature", [0.01, 1.0, 3.0])
def test_against_scipy(temperature):
    np.testing.assert_allclose(softmax(SCORES, temperature), scipys_softmax(SCORES * temperature, axis=1), atol=1e-15)
    np.testing.assert_allclose(logistic(SCORES, temperature), expit(SCORES * temperature), rtol=1e-13)


def test_ranks_stay_as_they_are_far_out():
    probability = logistic(np.arange(-600.0, 30.0))
    assert (np.diff(probability) > 0).all()


def test_integer_scores_count_as_float64_and_floats_keep_their_type():
    scores = np.array([[2**31 - 1, -(2**31)], [3, 4]])
    for function in (softmax, logistic):
        assert function(scores, 1e-9).dtype == np.float64
        assert function(scores.astype(np.float32), 1e-9).dtype == np.float32
        np.testing.assert_allclose(function(scores, 1e-9), function(scores.astype(float), 1e-9))


def test_two_classes_are_one_score():
    scores = np.array([[0.0, 1.7], [0.0, -0.4]])
    np.testing.assert_allclose(softmax(scores, 2.0)[:, 1], logistic(scores[:, 1], 2.0))


def test_other_arrays():
    xp = pytest.importorskip("array_api_strict")
    for function in (softmax, logistic):
        for scores in (SCORES, SCORES.astype(np.int64)):
            ours = np.asarray(function(xp.asarray(scores), 0.5))
            np.testing.assert_allclose(ours, function(scores, 0.5))

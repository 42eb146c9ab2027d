"""Every form of answer that the bases give, of Programs made by hand."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.special import softmax as scipys_softmax
from sklearn.utils import get_tags

from smidgen.models.base import ProgramClassifier
from smidgen.models.rows import TrainingRows
from smidgen.program import Decide, GroupReduce, Input, Linear, Matrix, Program
from tests.models.least_squares import LeastSquaresClassifier, LeastSquaresRegressor

X = np.array([[0, 3], [9, 3], [3, 3], [200, 100]])


def kept(base, weights, decide, rows, *between):
    """An estimator as `fit` leaves it: scores are whole numbers times the two features."""
    linear = Linear(Matrix.pack(np.array(weights), "int8"))
    model = base()
    model._keep(Program((Input("uint8", 2), linear, *between, decide)), rows)
    model.n_features_in_ = 2
    return model


def classes(*names):
    return TrainingRows(X.astype(np.uint8), np.zeros(4, np.intp), np.ones(4), np.array(names))


LABELS = TrainingRows(X.astype(np.uint8), np.zeros((4, 3), np.uint8), np.ones(4), np.arange(3))


def test_a_single_score_decides_between_two_classes():
    model = kept(LeastSquaresClassifier, [[1, -1]], Decide("threshold"), classes("no", "yes"))
    assert model.decision_function(X).tolist() == [-3, 6, 0, 100]
    assert model.predict(X).tolist() == ["no", "yes", "no", "yes"]
    np.testing.assert_allclose(model._probabilities(X, 0.1)[:, 1], expit([-0.3, 0.6, 0, 10]))
    np.testing.assert_allclose(model._probabilities(X, 0.1).sum(axis=1), 1)


def test_two_scores_give_their_difference():
    larger = kept(LeastSquaresClassifier, [[0, 1], [1, 0]], Decide("argmax"), classes("no", "yes"))
    assert larger.decision_function(X).tolist() == [-3, 6, 0, 100]
    assert larger.predict(X).tolist() == ["no", "yes", "no", "yes"]
    less = kept(LeastSquaresClassifier, [[0, 1], [1, 0]], Decide("argmin"), classes("no", "yes"))
    assert less.decision_function(X).tolist() == [3, -6, 0, -100]
    assert less.predict(X).tolist() == ["yes", "no", "no", "no"]
    np.testing.assert_allclose(less._probabilities(X, 0.1)[:, 1], expit([0.3, -0.6, 0, -10]))


@pytest.mark.parametrize(("kind", "sign"), [("argmax", 1), ("argmin", -1)])
def test_three_classes_have_a_score_each(kind, sign):
    counts = GroupReduce(np.array([1, 1, 1], np.uint8), "max")
    model = kept(LeastSquaresClassifier, [[0, 1], [1, 0], [-1, 2]], Decide(kind), classes(5, 7, 9), counts)
    scores = sign * np.array([[3, 0, 6], [3, 9, -3], [3, 3, 3], [100, 200, 0]])
    assert model.decision_function(X).dtype == np.float64
    np.testing.assert_array_equal(model.decision_function(X), scores)
    np.testing.assert_array_equal(model.predict(X), np.array([5, 7, 9])[scores.argmax(axis=1)])
    np.testing.assert_allclose(model._probabilities(X, 0.02), scipys_softmax(0.02 * scores, axis=1))


@pytest.mark.parametrize(
    ("decide", "on"),
    [
        (Decide("labels"), [[1, 0, 1], [1, 1, 0], [1, 1, 1], [1, 1, 0]]),
        (Decide("best", k=2), [[1, 0, 1], [1, 1, 0], [1, 1, 0], [1, 1, 0]]),
    ],
)
def test_labels_are_an_indicator(decide, on):
    model = kept(LeastSquaresClassifier, [[0, 1], [1, 0], [-1, 2]], decide, LABELS)
    assert model.predict(X).dtype == np.int64
    assert model.predict(X).tolist() == on
    scores = [[3, 0, 6], [3, 9, -3], [3, 3, 3], [100, 200, 0]]
    assert model.decision_function(X).tolist() == scores
    np.testing.assert_allclose(model._probabilities(X, 0.02), expit(0.02 * np.array(scores)))
    two = kept(LeastSquaresClassifier, [[0, 1], [1, -1]], Decide("labels"), LABELS)
    assert two.decision_function(X).shape == two.predict(X).shape == (4, 2)


@pytest.mark.parametrize(("y_is_1d", "shape"), [(True, (4,)), (False, (4, 1))])
def test_values_have_the_form_of_y(y_is_1d, shape):
    rows = TrainingRows(X.astype(np.uint8), np.zeros((4, 1)), np.ones(4), y_is_1d=y_is_1d)
    model = kept(LeastSquaresRegressor, [[1, -1]], Decide("value", scale=np.array([0.5], np.float32)), rows)
    assert model.predict(X).tolist() == np.reshape([-1.5, 3, 0, 50], shape).tolist()
    assert model.n_outputs_ == 1


def test_tags_follow_what_an_estimator_takes():
    tags = get_tags(ProgramClassifier())
    assert (tags.classifier_tags.multi_label, tags.target_tags.multi_output, tags.input_tags.sparse) == (0, 0, 1)
    tags = get_tags(LeastSquaresClassifier())
    assert (tags.classifier_tags.multi_label, tags.target_tags.multi_output, tags.input_tags.sparse) == (1, 1, 1)
    tags = get_tags(LeastSquaresRegressor())
    assert (tags.target_tags.multi_output, tags.target_tags.single_output, tags.input_tags.sparse) == (1, 1, 1)

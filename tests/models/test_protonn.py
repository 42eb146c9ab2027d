"""What is ProtoNN's own; what it shares with SparseNet is in test_trained.py, the gradient in test_parameters.py."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR

from smidgen import ProtoNNClassifier, ProtoNNRegressor
from smidgen.errors import UsageError
from smidgen.models.fitting import Values
from smidgen.models.parameters import Part, Weights
from smidgen.models.plans import plan_protonn
from smidgen.models.projection import Projection
from smidgen.models.protonn_model import ProtoNNModel, start_prototypes
from smidgen.models.rows import TrainingRows
from smidgen.models.support import Columns
from smidgen.program import Decide, Input, Program
from tests.models.training import rows_of, trained_briefly

FLOATS = dict.fromkeys(("projection", "prototypes", "labels"), "float32")


def expansion(X, dual, gamma, bias):
    """A ProtoNN whose prototypes are all rows and whose projection changes nothing but the scale."""
    n, d = X.shape
    plan = plan_protonn(10**7, d, dual.shape[1], FLOATS, width=d, n_prototypes=n, output_bias=True)
    ends = np.zeros(d)
    mean, spread = X.mean(axis=0), 3.0
    projection = Projection(mean, spread, ends, ends, Columns(np.arange(d), d), zero=128, largest_bias=2**31 - 1)
    scale = np.sqrt(gamma)
    real = {"W": scale * spread * np.eye(d), "b": scale * mean, "B": scale * X, "Z": dual, "c": bias}
    parts = {name: Part(value, 0.0) for name, value in real.items()}
    return ProtoNNModel(parts, plan, projection, None), Weights(real, {}, {})


@pytest.mark.parametrize("machine", ["regressor", "classifier"])
def test_with_all_rows_and_no_projection_it_is_an_expansion_in_gaussian_kernels(machine):
    """m = n, W = I: the decision function of a support vector machine, from its own dual coefficients."""
    X, y = load_iris(return_X_y=True)
    gamma = 0.3
    svm = SVR(gamma=gamma).fit(X, X[:, 2] * X[:, 0]) if machine == "regressor" else SVC(gamma=gamma).fit(X, y == 1)
    dual = np.zeros((150, 1))
    dual[svm.support_] = svm.dual_coef_.T
    model, weights = expansion(X, dual, gamma, svm.intercept_)
    scores, memo = model.forward(weights, X, None)
    expected = svm.predict(X) if machine == "regressor" else svm.decision_function(X)
    np.testing.assert_allclose(memo.kernel, rbf_kernel(X, gamma=gamma), atol=1e-10)
    np.testing.assert_allclose(scores[:, 0], expected, atol=1e-8)


def test_and_so_is_its_program():
    X, _ = load_iris(return_X_y=True)
    dual = np.random.default_rng(0).normal(size=(150, 2))
    model, weights = expansion(X, dual, 0.3, np.array([0.5, -0.5]))
    trained = type("", (), {"weights": weights, "units": None, "model": model})
    steps, unit = model.steps(trained, Values(np.zeros(1), np.ones(1)))
    program = Program((Input("float32", 4, output="float32"), *steps, Decide("value")))
    expected = rbf_kernel(X, gamma=0.3) @ dual + [0.5, -0.5]
    np.testing.assert_allclose(program.run(X.astype(np.float32)).scores, expected, atol=1e-4)
    assert unit == 1


def test_prototypes_start_in_their_classes():
    rows = rows_of("classes")
    projected = rows.X.astype(np.float32)
    B, Z = start_prototypes(projected, rows, 9, seed=0)
    assert B.shape == (9, 6)
    owner = np.argmax(Z, axis=1)
    assert np.bincount(owner).tolist() == [3, 3, 3]
    means = np.stack([projected[rows.y == label].mean(axis=0) for label in range(3)])
    nearest = np.argmin(((B[:, None] - means) ** 2).sum(axis=2), axis=1)
    np.testing.assert_array_equal(nearest, owner)
    np.testing.assert_array_equal(np.sort(Z, axis=1), np.tile([0, 0, 4], (9, 1)))


def test_prototypes_of_labels_and_values_have_what_their_rows_have_on_average():
    for task in ("labels", "values"):
        rows = rows_of(task)
        B, Z = start_prototypes(rows.X.astype(np.float32), rows, 3, seed=0)
        nearest = np.argmin(((rows.X[:, None] - B.astype(float)) ** 2).sum(axis=2), axis=1)
        target = 4.0 * rows.y if task == "labels" else (rows.y - rows.y.mean(axis=0)) / rows.y.std(axis=0)
        expected = [target[nearest == j].mean(axis=0) for j in range(3)]
        np.testing.assert_allclose(Z, expected, rtol=1e-4)


def test_more_prototypes_than_distinct_rows():
    X = np.repeat(np.eye(2, dtype=np.uint8) * 9, 5, axis=0)
    rows = TrainingRows(X, np.repeat([0, 1], 5), np.ones(10), np.array(["a", "b"]))
    B, Z = start_prototypes(X.astype(np.float32), rows, 6, seed=0)
    assert B.shape == (6, 2)
    assert np.isfinite(Z).all()


def test_a_class_without_rows_has_a_prototype_that_waits():
    rows = rows_of("classes")
    for missing in range(3):
        some = rows.take(np.flatnonzero(rows.y != missing))
        B, Z = start_prototypes(some.X.astype(np.float32), some, 7, seed=0)
        assert len(B) == len(Z) == 7
        assert np.count_nonzero(np.argmax(Z, axis=1) == missing) == 1


def test_labels_of_a_prototype_are_as_many_as_planned():
    draw = np.random.default_rng(0)
    X, y = draw.integers(0, 256, (200, 30)), np.arange(200) % 12
    model = ProtoNNClassifier(n_labels=3, n_steps=60, trial=False, random_state=0).fit(X, y)
    assert (np.count_nonzero(model.prototype_labels_, axis=1) <= 3).all()


def test_the_table_is_the_gaussian():
    _, _, trained = trained_briefly("protonn", rows_of("classes"), "classes")
    model, weights, units = trained.model, trained.weights, trained.units
    unit = float(model.unit(weights))
    sq_dist = np.arange(0, len(units.expanded)) * 2.0 ** (units.table_shift - 8)
    exact = 255 * np.exp(-(unit**2) * sq_dist)
    # half a count of each entry, less than one for the floor, and the chord above the curve
    assert np.abs(units.expanded - exact).max() < 4
    assert 2 <= len(units.table) <= 33
    assert units.table[0] == 255
    assert (np.diff(units.table) <= 0).all()


def test_values_start_near_what_they_shall_be():
    """However many prototypes overlap: their sum is scaled to the values (it was 20 times as large)."""
    X, _ = load_iris(return_X_y=True)
    y = X[:, 2] * X[:, 0]
    for n_prototypes in (5, 150):
        model = ProtoNNRegressor(n_prototypes=n_prototypes, n_steps=30, trial=False, random_state=0).fit(X, y)
        assert model.history_[0]["loss"] < 0.5
        assert model.score(X, y) > 0.9


def test_fewer_prototypes_than_classes_are_refused():
    with pytest.raises(UsageError, match="n_prototypes is 2, but there are 3 classes: each needs one at least"):
        ProtoNNClassifier(n_prototypes=2).fit([[0], [1], [2]] * 5, [0, 1, 2] * 5)

"""What is SparseNet's own; what it shares with ProtoNN is in test_trained.py, the gradient in test_parameters.py."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from smidgen import SparseNetClassifier
from smidgen.models.parameters import Parameters
from tests.models.training import TASKS, pieces, rows_of, trained_briefly


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X.astype(np.uint8), y


@pytest.mark.parametrize("task", TASKS)
def test_in_real_numbers_it_is_a_network_of_one_hidden_layer(task):
    rows = rows_of(task)
    _, _, trained = trained_briefly("sparsenet", rows, task, weight_format="float32", budget=2000)
    real, projection = trained.weights.real, trained.model.projection
    x = rows.X[:, trained.columns].astype(np.float32)
    expected = []
    for row in x:
        hidden = [
            max(0.0, w @ (row - projection.mean) / projection.spread + b)
            for w, b in zip(real["W"], real["b"], strict=True)
        ]
        expected.append(real["Z"] @ np.array(hidden) + real["c"])
    np.testing.assert_allclose(trained.model.forward(trained.weights, x, None)[0], expected, atol=1e-4)


def test_hidden_bytes_are_measured_so_that_hardly_any_is_clipped():
    rows = rows_of("classes", n=300)
    _, _, feed, model = pieces("sparsenet", rows)
    parameters = Parameters.start(model, feed)
    weights = parameters.weights()[0]
    x = feed.take(np.arange(300))
    hidden = parameters.model.forward(weights, x, None)[1].hidden
    unit = np.exp(parameters.model.first_units(weights, x)["log_unit"])
    on = hidden[hidden > 0]
    assert 0 < np.mean(on / unit > 255) < 0.002


def test_nothing_on_is_no_ground_to_fail():
    rows = rows_of("classes")
    _, _, feed, model = pieces("sparsenet", rows)
    parameters = Parameters.start(model, feed)
    parameters.views["b"][...] = -1e6
    units = parameters.model.first_units(parameters.weights()[0], feed.take(np.arange(60)))
    assert np.isfinite(units["log_unit"])


def test_digits_in_one_kilobyte(digits):
    X, y = digits
    model = SparseNetClassifier(budget="1kB", random_state=0, n_steps=1500, trial=False).fit(X[:1300], y[:1300])
    assert model.score(X[1300:], y[1300:]) > 0.9
    assert model.projection_.shape == (model.plan_.n_hidden, 64)
    assert model.output_weights_.shape == (10, model.plan_.n_hidden)

"""Measures against scikit-learn's, and against numbers counted by hand."""

import numpy as np
import pytest
from sklearn import metrics

from smidgen.boards.measures import measures
from smidgen.errors import DataError
from smidgen.program import Decide, Input, Linear, Matrix, Program


def program(n_outputs: int, decide: Decide, classes=None) -> Program:
    weights = np.arange(1, n_outputs + 1)[:, None] % 7 - 3
    return Program((Input("uint8", 1), Linear(Matrix.pack(weights, "int8", "dense")), decide), classes=classes)


def test_classes_against_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    scores, y = rng.integers(-9, 9, (200, 4)), rng.integers(0, 4, 200)
    names = np.array(["w", "x", "y", "z"])
    found = measures(program(4, Decide("argmax"), tuple(names.tolist())), scores, names[y])
    answers = scores.argmax(axis=1)
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y, answers))
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, answers))


@pytest.mark.parametrize("y", [[3, 5, 5], ["3", "5", "5"], [3.0, 5.0, 5.0], np.array([3, 5, 5])])
def test_numbers_may_come_as_words(y) -> None:
    scores = np.array([[-1], [4], [0]])
    assert measures(program(1, Decide("threshold"), (3, 5)), scores, y)["accuracy"] == pytest.approx(2 / 3)


def test_a_class_the_model_never_saw_is_a_wrong_answer() -> None:
    found = measures(program(2, Decide("argmax"), ("a", "b")), np.array([[1, 0], [0, 1], [1, 0]]), ["a", "b", "new"])
    assert found == {"accuracy": pytest.approx(2 / 3), "balanced_accuracy": 1.0}


def test_labels_of_another_world_are_an_error() -> None:
    with pytest.raises(DataError, match="none of the labels is a class of the model: 'x' is none of a, b"):
        measures(program(2, Decide("argmax"), ("a", "b")), np.array([[1, 0]]), ["x"])
    with pytest.raises(DataError, match="y has 2 entries for 1 rows"):
        measures(program(2, Decide("argmax")), np.array([[1, 0]]), [0, 1])
    with pytest.raises(DataError, match="classes are one name a row"):
        measures(program(2, Decide("argmax")), np.array([[1, 0]]), [[0, 1]])


def test_multilabel_against_scikit_learn_and_by_hand() -> None:
    rng = np.random.default_rng(1)
    scores, y = rng.integers(-9, 9, (100, 4)), rng.integers(0, 2, (100, 4))
    found = measures(program(4, Decide("labels")), scores, y)
    assert found["micro_f1"] == pytest.approx(metrics.f1_score(y, scores > 0, average="micro"))
    assert set(found) == {"micro_f1", "p_at_1", "p_at_3"}
    # ties to the lowest index: of scores 5, 5, 1 the first comes first
    by_hand = measures(program(3, Decide("labels")), np.array([[5, 5, 1], [0, 2, 9]]), [[1, 0, 0], [1, 0, 1]])
    assert by_hand["p_at_1"] == 1.0
    assert by_hand["p_at_3"] == pytest.approx(3 / 6)
    with pytest.raises(DataError, match="y has 2 columns; the Program gives 3"):
        measures(program(3, Decide("labels")), np.zeros((1, 3)), [[1, 0]])


def test_values_against_scikit_learn() -> None:
    rng = np.random.default_rng(2)
    scores = rng.integers(-90, 90, (50, 2))
    scale = np.array([0.5, 0.25], np.float32)
    y = scores * scale + rng.normal(0, 1, (50, 2))
    found = measures(program(2, Decide("value", scale=scale)), scores, y)
    assert found["mae"] == pytest.approx(metrics.mean_absolute_error(y, scores * scale))
    assert found["r2"] == pytest.approx(metrics.r2_score(y, scores * scale))
    assert "r2" not in measures(program(1, Decide("value", scale=scale[:1])), scores[:, :1], np.ones(50))

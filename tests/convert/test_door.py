import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from smidgen import PrototypeClassifier, load_dataset, to_program
from smidgen.errors import DataError, UsageError
from smidgen.program import load_program

X = np.array([[0, 1], [1, 0], [200, 180], [210, 190]])
y = np.array(["low", "low", "high", "high"])


@pytest.mark.parametrize("weight_format", ["int4", "int8", "auto", "float32"])
def test_an_estimator_hands_over_its_own_program(weight_format):
    model = PrototypeClassifier(weight_format=weight_format, random_state=0).fit(X, y)
    program = to_program(model)
    assert program is model.program_
    assert program.arithmetic == ("float32" if weight_format == "float32" else "integer")
    np.testing.assert_array_equal(program.predict(X), model.predict(X))


def test_it_survives_the_file(tmp_path):
    model = PrototypeClassifier(random_state=0).fit(X, y)
    to_program(model).save(tmp_path / "model.smg")
    loaded = load_program(tmp_path / "model.smg")
    assert loaded.hash == model.program_.hash
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_integers_need_no_calibration():
    model = PrototypeClassifier(random_state=0).fit(X, y)
    assert to_program(model, calibration=X) is model.program_


def test_float32_is_quantised():
    digits = load_dataset("digits")
    model = PrototypeClassifier(weight_format="float32", random_state=0).fit(digits.X_train, digits.y_train)
    program = to_program(model, calibration=digits.X_train)
    assert program.arithmetic == "integer"
    assert program.input.raw == model.program_.input.raw == "uint8"
    assert (program.predict(digits.X_test) == model.predict(digits.X_test)).mean() >= 0.99
    assert to_program(model, digits.X_train, weight_format="int4").cost().model_bytes < program.cost().model_bytes


def test_sensors_of_our_own_are_those_of_training():
    """Calibration rows that happen to be whole numbers do not narrow what was trained on fractions."""
    rng = np.random.default_rng(0)
    rows = np.vstack((rng.normal(60, 20, (60, 3)), rng.normal(180, 20, (60, 3))))
    model = PrototypeClassifier(weight_format="float32", random_state=0).fit(rows, np.repeat([0, 1], 60))
    assert to_program(model, np.rint(rows)).input.raw == "float32"
    foreign = NearestCentroid().fit(rows, np.repeat([0, 1], 60))
    assert to_program(foreign, np.rint(rows).clip(0, 255)).input.raw == "uint8"
    assert to_program(foreign, np.rint(rows).clip(0, 255), raw="int16").input.raw == "int16"


def test_how_to_quantise_needs_rows():
    model = NearestCentroid().fit(X, y)
    for options in ({"raw": "uint8"}, {"held_out": X}):
        with pytest.raises(UsageError, match="give calibration rows as well"):
            to_program(model, **options)


def test_too_few_rows():
    model = NearestCentroid().fit(X, y)
    with pytest.raises(DataError, match="there are 4 calibration rows: quantising takes 8 at least"):
        to_program(model, X)


def test_unfitted():
    with pytest.raises(UsageError, match="this PrototypeClassifier is not fitted yet"):
        to_program(PrototypeClassifier())


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogisticRegression(), "this LogisticRegression is not fitted yet"),
        (make_pipeline(StandardScaler(), PrototypeClassifier()), "this StandardScaler is not fitted yet"),
        (
            DecisionTreeClassifier().fit(X, y),
            "DecisionTreeClassifier cannot become a Program: smidgen's estimators can",
        ),
        (PrototypeClassifier, "PrototypeClassifier cannot become a Program: give to_program a fitted estimator"),
        (None, "NoneType cannot become a Program"),
    ],
)
def test_anything_else_is_refused_by_name(model, message):
    with pytest.raises(UsageError, match=message):
        to_program(model)

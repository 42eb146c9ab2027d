import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smidgen import PrototypeClassifier, to_program
from smidgen.errors import UsageError
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


def test_quantising_float32_is_refused():
    model = PrototypeClassifier(weight_format="float32", random_state=0).fit(X, y)
    with pytest.raises(UsageError, match="cannot be quantised yet"):
        to_program(model, calibration=X)


def test_unfitted():
    with pytest.raises(UsageError, match="this PrototypeClassifier is not fitted yet"):
        to_program(PrototypeClassifier())


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (LogisticRegression(), "LogisticRegression"),
        (make_pipeline(StandardScaler(), PrototypeClassifier()), "Pipeline"),
        (PrototypeClassifier, "ABCMeta|type"),
        (None, "NoneType"),
    ],
)
def test_anything_else_is_refused_by_name(model, name):
    with pytest.raises(UsageError, match=f"({name}) cannot become a Program"):
        to_program(model)

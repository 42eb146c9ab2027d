"""What may stand before an estimator, each transformer by itself and in company, against the Pipeline's own predict."""

import numpy as np
import pytest
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

from smidgen import PrototypeClassifier, load_dataset, to_program
from smidgen.errors import UsageError
from smidgen.program import Distance, Linear

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:Features .* are constant"),  # pixels that are always white
    pytest.mark.filterwarnings("ignore:invalid value encountered"),
]


@pytest.fixture(scope="module")
def wine():
    return load_dataset("wine")


@pytest.fixture(scope="module")
def digits():
    return load_dataset("digits")


CHAINS = {
    "standard": [StandardScaler()],
    "without mean": [StandardScaler(with_mean=False)],
    "without deviation": [StandardScaler(with_std=False)],
    "min and max": [MinMaxScaler((-1, 2))],
    "largest": [MaxAbsScaler()],
    "robust": [RobustScaler()],
    "robust centre alone": [RobustScaler(with_scaling=False)],
    "two scalers": [MinMaxScaler(), StandardScaler()],
    "the best": [StandardScaler(), SelectKBest(k=5)],
    "the best, scaled": [SelectKBest(k=5), RobustScaler()],
    "projected": [StandardScaler(), PCA(6)],
    "whitened": [StandardScaler(), PCA(6, whiten=True)],
    "projected and scaled": [MaxAbsScaler(), TruncatedSVD(5, random_state=0), StandardScaler()],
    "projected and selected": [StandardScaler(), PCA(6), SelectKBest(k=3)],
    "projected from the best": [SelectKBest(k=8), StandardScaler(), PCA(4)],
    "two projections": [StandardScaler(), PCA(8), PCA(3)],
    "nested": [make_pipeline(StandardScaler(), "passthrough"), PCA(6)],
    "filled": [SimpleImputer(), StandardScaler()],
    "filled later": [StandardScaler(), SimpleImputer(strategy="median")],
    "filled between": [MinMaxScaler(), SimpleImputer(strategy="constant", fill_value=0.5), StandardScaler()],
    "filled twice": [SimpleImputer(), SimpleImputer(strategy="median"), StandardScaler(), PCA(6)],
}


def with_gaps(X, name):
    rng = np.random.default_rng(0)
    return np.where(rng.random(X.shape) < 0.05, np.nan, X) if name.startswith("filled") else X


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("last", [LogisticRegression(max_iter=300), KNeighborsClassifier(1)], ids=["linear", "nearest"])
def test_float32_labels_and_integers(name, last, wine):
    X_train, X_test = (with_gaps(X.astype(np.float64), name) for X in (wine.X_train, wine.X_test))
    model = make_pipeline(*CHAINS[name], last).fit(X_train, wine.y_train)
    program = to_program(model)
    X = np.vstack((X_train, X_test))
    near = program.near_ties(X)
    assert near.mean() < 0.02
    np.testing.assert_array_equal(program.predict(X)[~near], model.predict(X)[~near])
    if name in ("without deviation", "robust centre alone") and isinstance(last, KNeighborsClassifier):
        return  # by proline alone
    integer = to_program(model, X_train, held_out=X_test, tolerance=0.05)
    assert integer.arithmetic == "integer"
    assert sum(isinstance(step, Linear) for step in integer.steps) == sum(
        isinstance(step, Linear) for step in program.steps
    )
    assert integer.input.missing == ("nan" if name.startswith("filled") else None)


@pytest.mark.parametrize("weight_format", ["int4", "int8", "float32"])
def test_a_selection_before_our_own_is_exact(weight_format, digits):
    model = make_pipeline(SelectKBest(k=30), PrototypeClassifier(weight_format=weight_format, random_state=0))
    model.fit(digits.X_train, digits.y_train)
    program = to_program(model)
    assert program.n_features == 64
    np.testing.assert_array_equal(program.predict(digits.X_test), model.predict(digits.X_test))


@pytest.mark.parametrize("weight_format", ["int4", "int8"])
@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler()])
def test_a_scaler_before_our_own_integers_is_merged_into_the_input(scaler, weight_format, digits, caplog):
    model = make_pipeline(scaler, PrototypeClassifier(weight_format=weight_format, random_state=0))
    model.fit(digits.X_train, digits.y_train)
    with caplog.at_level("INFO", logger="smidgen"):
        program = to_program(model, digits.X_train, tolerance=0.02)
    assert "of 1347 rows" in caplog.text
    assert program.arithmetic == "integer"
    assert [type(step) for step in program.steps] == [type(step) for step in model[-1].program_.steps]
    assert (program.predict(digits.X_test) == model.predict(digits.X_test)).mean() > 0.98


def test_an_imputer_before_our_own_integers(wine):
    X = with_gaps(wine.X_train.astype(np.float64), "filled")
    model = make_pipeline(SimpleImputer(), PrototypeClassifier(random_state=0)).fit(X, wine.y_train)
    program = to_program(model, X, tolerance=0.05)
    assert program.input.missing == "nan"


def test_a_float32_estimator_of_ours_behind_anything(wine):
    model = make_pipeline(StandardScaler(), PCA(6), PrototypeClassifier(weight_format="float32", random_state=0))
    model.fit(wine.X_train, wine.y_train)
    program = to_program(model)
    np.testing.assert_array_equal(program.predict(wine.X_test), model.predict(wine.X_test))
    integer = to_program(model, wine.X_train, held_out=wine.X_test, tolerance=0.05)
    assert [type(step) for step in integer.steps[1:3]] == [Linear, Distance]


def test_a_pipeline_of_our_own_estimator_alone_is_its_program(digits):
    model = Pipeline([("nothing", "passthrough"), ("last", PrototypeClassifier(random_state=0))])
    model.fit(digits.X_train[:200], digits.y_train[:200])
    assert to_program(model) is model[-1].program_


def test_missing_features_of_wide_rows_cost_little_in_a_linear(digits):
    model = make_pipeline(SelectKBest(k=8), LogisticRegression(max_iter=200))
    model.fit(digits.X_train, digits.y_train)
    program = to_program(model, digits.X_train, tolerance=0.05)
    assert program.steps[1].weights.storage != "dense"


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([Normalizer()], "Normalizer before an estimator cannot become a part of a Program; these can: StandardScaler"),
        ([VarianceThreshold()], "VarianceThreshold before an estimator"),
        ([MinMaxScaler(clip=True)], r"MinMaxScaler\(clip=True\)"),
        ([MaxAbsScaler(clip=True)], r"MaxAbsScaler\(clip=True\)"),
        ([SimpleImputer(missing_values=0)], "marked by 0: for a Program, mark missing values by NaN"),
        ([SimpleImputer(add_indicator=True)], r"SimpleImputer\(add_indicator=True\)"),
    ],
)
def test_other_transformers_are_refused_by_name(steps, message, wine):
    model = make_pipeline(*steps, LogisticRegression(max_iter=50)).fit(wine.X_train, wine.y_train)
    with pytest.raises(UsageError, match=message):
        to_program(model)


@pytest.mark.filterwarnings("ignore:Skipping features")
def test_a_feature_that_an_imputer_drops_is_refused(wine):
    X = wine.X_train.astype(float).copy()
    X[:, 3] = np.nan
    model = make_pipeline(SimpleImputer(), LogisticRegression(max_iter=50)).fit(X, wine.y_train)
    with pytest.raises(UsageError, match="SimpleImputer drops a feature"):
        to_program(model)


def test_a_projection_before_our_own_integers_is_refused(wine):
    model = make_pipeline(PCA(3), PrototypeClassifier(random_state=0)).fit(wine.X_train, wine.y_train)
    with pytest.raises(UsageError, match='fit it with weight_format="float32"'):
        to_program(model)


def test_an_unfitted_part_is_named(wine):
    model = make_pipeline(StandardScaler(), LogisticRegression())
    with pytest.raises(UsageError, match="this StandardScaler is not fitted yet: call fit"):
        to_program(model)

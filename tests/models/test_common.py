"""What every estimator must do: one entry in ESTIMATORS or REGRESSORS and it is held to all of this.

A classifier that takes an indicator of labels, as its tags say, is held to it with labels, too.
"""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import clone, config_context
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_info, threadpool_limits

from smidgen import load_program, to_program
from smidgen.errors import BudgetError, DataError
from smidgen.models import plumbing
from smidgen.models.protonn import ProtoNNClassifier, ProtoNNRegressor
from smidgen.models.prototypes import PrototypeClassifier
from smidgen.models.sparsenet import SparseNetClassifier, SparseNetRegressor
from smidgen.models.trained import TrainedByEngine
from tests.models.least_squares import LeastSquaresClassifier, LeastSquaresRegressor

# Of those that are trained step by step, one classifier and one regressor go through everything as they come; the
# others take fewer steps, so that all of this takes two minutes and not five.
ESTIMATORS = [
    PrototypeClassifier(random_state=0),
    PrototypeClassifier(weight_format="float32", random_state=0),
    LeastSquaresClassifier(random_state=0),
    ProtoNNClassifier(random_state=0),
    ProtoNNClassifier(weight_format="float32", n_steps=150, trial=False, random_state=0),
    SparseNetClassifier(n_steps=150, random_state=0),
    SparseNetClassifier(weight_format="float32", n_steps=150, trial=False, random_state=0),
]
REGRESSORS = [
    LeastSquaresRegressor(random_state=0),
    ProtoNNRegressor(n_steps=150, random_state=0),
    SparseNetRegressor(random_state=0),
]
MULTILABEL = [each for each in ESTIMATORS if get_tags(each).classifier_tags.multi_label]
CASES = [
    *((each, "classification") for each in ESTIMATORS),
    *((each, "multilabel") for each in MULTILABEL),
    *((each, "regression") for each in REGRESSORS),
]

every_classifier = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
every_multilabel = pytest.mark.parametrize("estimator", MULTILABEL, ids=repr)
every_regressor = pytest.mark.parametrize("estimator", REGRESSORS, ids=repr)
every_estimator = pytest.mark.parametrize(
    ("estimator", "task"), CASES, ids=[f"{each!r}-{task}" for each, task in CASES]
)


def excused(estimator):
    """What scikit-learn excuses in its own SGD, too; test_engine.py shows what holds instead."""
    if not isinstance(estimator, TrainedByEngine):
        return {}
    reason = "batches are drawn, so that a row given twice is not drawn as one of weight two"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@parametrize_with_checks([*ESTIMATORS, *REGRESSORS], expected_failed_checks=excused)
def test_scikit_learn_to_the_letter(estimator, check):
    check(estimator)


def brief(estimator, n_steps=60):
    """The same, in few steps if it takes steps: for tests of many fits where it does not matter how good they are."""
    options = {"n_steps": n_steps, "trial": False} if isinstance(estimator, TrainedByEngine) else {}
    return clone(estimator).set_params(**options)


@pytest.fixture(scope="module")
def iris():
    """Task → X, y: the species by name; three labels of a flower, some of them all off; a product of two lengths."""
    X, species = load_iris(return_X_y=True, as_frame=True)
    length, width = X["petal length (cm)"], X["sepal width (cm)"]
    return {
        "classification": (X, species.map(dict(enumerate(["setosa", "versicolor", "virginica"])))),
        "multilabel": (X, pd.DataFrame({"long": length > 4.5, "wide": width > 3.2, "round": length < 2}).astype(int)),
        "regression": (X, length * X["sepal length (cm)"]),
    }


@every_classifier
def test_predicts_what_its_program_says(estimator, iris):
    X, y = iris["classification"]
    model = clone(estimator).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.program_.predict(X.to_numpy()))
    assert model.program_.classes == tuple(model.classes_) == ("setosa", "versicolor", "virginica")
    assert model.program_.feature_names == tuple(model.feature_names_in_) == tuple(X.columns)
    assert model.score(X, y) > 0.8


@every_multilabel
def test_labels_are_what_its_program_says(estimator, iris):
    X, y = iris["multilabel"]
    model = clone(estimator).fit(X, y)
    prediction = model.predict(X)
    np.testing.assert_array_equal(prediction, model.program_.predict(X.to_numpy()))
    assert model.program_.task == "multilabel"
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.mean(prediction == y) > 0.9
    np.testing.assert_array_equal(model.decision_function(X) > 0, prediction)


@every_multilabel
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, np.ndarray.tolist, lambda y: y.astype(bool)])
def test_labels_in_any_form(estimator, form, iris):
    X, y = iris["multilabel"]
    y = y.to_numpy()
    assert brief(estimator).fit(X, form(y)).program_.hash == brief(estimator).fit(X, y).program_.hash


@every_regressor
def test_values_are_what_its_program_says(estimator, iris):
    X, y = iris["regression"]
    model = clone(estimator).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.program_.predict(X.to_numpy()))
    assert model.program_.task == "regression"
    assert model.program_.feature_names == tuple(X.columns)
    assert model.score(X, y) > 0.9


@every_regressor
def test_predictions_have_the_form_of_y(estimator, iris):
    X, y = iris["regression"]
    single = clone(estimator).fit(X, y).predict(X)
    assert single.shape == (150,)
    column = clone(estimator).fit(X, y.to_numpy()[:, None]).predict(X)
    np.testing.assert_array_equal(column, single[:, None])
    table = pd.DataFrame({"product": y, "length": X["petal length (cm)"]})
    model = clone(estimator).fit(X, table)
    assert model.predict(X).shape == (150, 2)
    assert model.n_outputs_ == 2
    assert model.score(X, table) > 0.9


@every_regressor
def test_far_values_in_small_units(estimator, iris):
    """What y is measured in, and from where, changes the predictions by no more than rounding does."""
    X, y = iris["regression"]
    near = clone(estimator).fit(X, y).predict(X)
    far = clone(estimator).fit(X, 1e-3 * y - 50).predict(X)
    np.testing.assert_allclose((far + 50) * 1e3, near, atol=0.1 * y.std())


@every_estimator
def test_same_bytes_for_any_number_of_threads(estimator, task, iris, monkeypatch):
    X, y = iris[task]
    X = np.tile(X, (10, 5)) + np.random.default_rng(0).normal(size=(1500, 20)).astype(np.float32)
    n_threads_within, name = [], "regression_rows" if task == "regression" else "training_rows"
    check_rows = getattr(plumbing, name)

    def spy(*args, **options):
        n_threads_within.append({pool["num_threads"] for pool in threadpool_info()})
        return check_rows(*args, **options)

    monkeypatch.setattr(plumbing, name, spy)
    hashes = set()
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            hashes.add(brief(estimator).fit(X, np.concatenate([y] * 10)).program_.hash)
    assert len(hashes) == 1
    assert n_threads_within == [{1}, {1}]


@every_estimator
def test_same_seed_same_model_and_cloning_and_pickling(estimator, task, iris):
    X, y = iris[task]
    model = clone(estimator).fit(X, y)
    for twin in (clone(model).fit(X, y), pickle.loads(pickle.dumps(model))):
        assert twin.program_.hash == model.program_.hash
        np.testing.assert_array_equal(twin.predict(X), model.predict(X))


@every_estimator
def test_goes_through_the_door_and_the_file(estimator, task, iris, tmp_path):
    X, y = iris[task]
    model = brief(estimator).fit(X, y)
    program = to_program(model)
    assert program is model.program_
    program.save(tmp_path / "model.smg")
    loaded = load_program(tmp_path / "model.smg")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@every_estimator
def test_keeps_its_budget_or_refuses_it(estimator, task, iris):
    X, y = iris[task]
    with pytest.raises(BudgetError, match=r"takes? [0-9]+") as refusal:
        brief(estimator).set_params(budget=3).fit(X, y)
    least = int(str(refusal.value).split()[-1])
    for budget in (least, least + 100, "1kB"):
        model = brief(estimator).set_params(budget=budget).fit(X, y)
        assert model.program_.cost().model_bytes <= (1024 if budget == "1kB" else budget)
    with pytest.raises(BudgetError):
        brief(estimator).set_params(budget=least - 1).fit(X, y)


@every_estimator
def test_within_scikit_learn(estimator, task, iris):
    X, y = iris[task]
    # fitted a third at a time, in the order of the species, of which a plain draw shows all
    order = np.random.default_rng(0).permutation(150)
    X, y = X.iloc[order], y.iloc[order]
    assert cross_val_score(make_pipeline(StandardScaler(), brief(estimator, n_steps=200)), X, y, cv=3).mean() > 0.7
    search = GridSearchCV(brief(estimator, n_steps=200), {"budget": ["256 B", "1kB"]}, cv=3).fit(X, y)
    assert search.best_params_["budget"] in ("256 B", "1kB")


@every_estimator
def test_metadata_routing(estimator, task, iris):
    X, y = iris[task]
    weight = (iris["classification"][1] != "setosa").astype(float)
    alone = brief(estimator).fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, brief(estimator).set_fit_request(sample_weight=True))
        pipeline.fit(X, y, sample_weight=weight)
    assert pipeline[-1].program_.hash == alone.program_.hash
    if task == "classification":
        assert list(pipeline.classes_) == ["versicolor", "virginica"]


@every_estimator
def test_not_fitted(estimator, task, iris):
    with pytest.raises(NotFittedError):
        clone(estimator).predict(iris[task][0])


@every_classifier
def test_one_class_is_refused_by_name(estimator):
    with pytest.raises(DataError, match="only one class, 'walking'"):
        clone(estimator).fit([[1.0], [2.0]], ["walking", "walking"])


@every_classifier
def test_a_column_of_classes_is_taken_with_a_warning(estimator, iris):
    X, y = iris["classification"]
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        column = brief(estimator).fit(X, y.to_frame())
    np.testing.assert_array_equal(column.predict(X), brief(estimator).fit(X, y).predict(X))


@every_estimator
def test_more_than_float32_holds_is_refused_by_name(estimator, task):
    y = {"classification": [0, 1], "multilabel": [[0, 1], [1, 0]], "regression": [0.5, 2]}[task]
    with pytest.raises(DataError, match=r"row 1, column 0 of X holds 1e\+300"):
        clone(estimator).fit([[1.0], [1e300]], y)


@every_estimator
def test_concurrent_fits_give_the_same_bytes(estimator, task, iris):
    X, y = iris[task]
    alone = brief(estimator).fit(X, y).program_.hash
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda _: brief(estimator).fit(X, y).program_.hash, range(6)))
    assert set(together) == {alone}


@every_estimator
def test_sparse_rows_are_learned_from_as_dense_ones(estimator, task, monkeypatch):
    X, digit = load_digits(return_X_y=True)
    X, digit = X[:400], digit[:400]
    y = {"classification": digit, "multilabel": digit[:, None] % [2, 3, 5] == 0, "regression": digit.astype(float)}[
        task
    ]
    X = np.where(X > 12, X, 0)
    monkeypatch.setattr(plumbing, "DENSE_ANYWAY", 0)  # small as they are, they may stay sparse
    assert sparse.issparse(plumbing.training_rows(brief(estimator), sparse.csr_matrix(X), digit, keep_sparse=True).X)
    model, of_sparse = brief(estimator).fit(X, y), brief(estimator).fit(sparse.csr_matrix(X), y)
    ours, theirs = model.predict(X), of_sparse.predict(sparse.csr_matrix(X))
    if task == "regression":
        np.testing.assert_allclose(theirs, ours, atol=0.05)
    else:
        assert np.mean(ours == theirs) > 0.99
